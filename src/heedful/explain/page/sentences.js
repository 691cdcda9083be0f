/** Cutting a text into what is translated at once; all that lies between comes back as it was.
 *
 * As text/sentences.py, but for tags and addresses, which are not told from other text here.
 */

const LONG = 256; // bytes: what is longer is cut into sentences, for it is longer than most of training
const LONGEST = 1_000; // bytes: a sentence longer than this is cut, wherever that can be done

// Controls (tabs, line ends, NUL), and spacing that is layout.
const SEPARATOR = /[\0-\x1f\x7f-\x9f\u2028\u2029]+|(?<=[.!?…])\s{2,}|\s{3,}/gu;
// A stop, closing quotes, a space; or a stop that needs no space.
const STOP = /(?<![.!?…؟।॥])[.!?…؟।॥]+["'”’»)\]]*(?=\s)|[。！？｡]+[」』”’）]*/gu;
const ABBREVIATION = new RegExp(
  String.raw`(?:^|[\s("'“‘«\[])(?:\d{1,2}|[\p{L}_]|(?:[\p{L}\p{N}]\.)+[\p{L}\p{N}]` +
    "|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Pres|Gov|Sen|Rep|Mt|Ft" +
    "|vs|etc|cf|ca|approx|Fig|Figs|Eq|No|Nos|Vol|pp|ed|eds|Inc|Ltd|Co|Corp|Dept|Univ|Ave|Blvd" +
    "|Hr|Hrn|Frl|Nr|Str|bzw|usw|vgl|Abb|Tab|Kap|Jh|geb|gest|Mio|Mrd|Mme|Mlle|MM|Sra|Srta|Sig|Dott" +
    String.raw`)\.$`,
  "u",
);
const CLAUSE_END = /[,;:،؛—–](?=\s)|[、，；：]/gu;
const NOT_SEEN = String.raw`[\s\x1c-\x1f\x85\u00ad\u034f\u061c\u200b\u200e\u200f\u2060\ufeff]`;
const EDGES = new RegExp(`^${NOT_SEEN}+|${NOT_SEEN}+$`, "gu");
const START = new RegExp(`^${NOT_SEEN}*`, "u");
const OPENING = /^["'“‘«([ \u00a0¿¡]+/;

/** @typedef {{ start: number, end: number }} Range */

const encoder = new TextEncoder();

/**
 * Find the ranges to be translated one by one, in order. None has more than `longest` bytes,
 * unless it must stay whole, as a character must.
 * @param {string} text
 * @param {number} [longest]
 * @returns {Range[]}
 */
export function cutText(text, longest = LONGEST) {
  const most = Math.min(longest, LONGEST);
  return between(text, { start: 0, end: text.length }, SEPARATOR).flatMap((range) =>
    numBytes(text, range) <= Math.min(LONG, most) ? [range] : cutPassage(text, range, most),
  );
}

/** @param {string} text @param {Range} range @param {RegExp} separator */
function between(text, { start, end }, separator) {
  const ranges = [];
  let from = start;
  for (const found of text.slice(start, end).matchAll(separator)) {
    ranges.push({ start: from, end: start + found.index });
    from = start + found.index + found[0].length;
  }
  return trimmed(text, [...ranges, { start: from, end }]);
}

/** @param {string} text @param {Range} range @param {number} longest */
function cutPassage(text, { start, end }, longest) {
  const passage = text.slice(start, end);
  const ranges = [];
  let from = start;
  for (const stop of passage.matchAll(STOP)) {
    if (!endsSentence(text, stop[0], start + stop.index)) continue;
    const to = start + stop.index + stop[0].length;
    ranges.push({ start: from, end: to });
    from = to;
  }
  ranges.push({ start: from, end });
  return trimmed(text, ranges).flatMap((range) => trimmed(text, cutSentence(text, range, longest)));
}

/**
 * Tell the end of a sentence from an abbreviation, by what stands on both sides.
 * @param {string} text
 * @param {string} stop
 * @param {number} at
 */
function endsSentence(text, stop, at) {
  const end = at + stop.length;
  const following = text.slice(end, end + 20).replace(OPENING, "");
  const isLower = /^\p{Ll}/u.test(following);
  if (isLower || stop !== ".") return !isLower;
  return !ABBREVIATION.test(text.slice(Math.max(at - 12, 0), end));
}

/**
 * Cut after clauses, else between words, else between characters.
 * @param {string} text
 * @param {Range} range
 * @param {number} longest
 */
function cutSentence(text, { start, end }, longest) {
  const ranges = [];
  while (end - start > longest || numBytes(text, { start, end }) > longest) {
    const cut = lastBreak(text, start, fitting(text, start, Math.min(end, start + longest), longest));
    ranges.push({ start, end: cut });
    start = cut;
  }
  return [...ranges, { start, end }];
}

/**
 * How far a text goes that has no more bytes than that; at least one character.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {number} longest
 */
function fitting(text, start, end, longest) {
  const { read } = encoder.encodeInto(text.slice(start, end), new Uint8Array(longest));
  return start + (read || (text.codePointAt(start) ?? 0) > 0xffff ? Math.max(read, 2) : 1);
}

/** @param {string} text @param {number} start @param {number} end */
function lastBreak(text, start, end) {
  const middle = (start + end) >> 1;
  const clauses = [...text.slice(middle, end).matchAll(CLAUSE_END)];
  const clause = clauses.at(-1);
  if (clause) return middle + clause.index + clause[0].length;
  const space = text.lastIndexOf(" ", end - 1);
  if (space >= Math.max(middle, start + 1)) return space;
  for (let at = end; at > middle; at--)
    if (!/^(?:\p{M}|\u200d|[\udc00-\udfff]|[🏻🏼🏽🏾🏿])/u.test(text.slice(at, at + 2)) && text[at - 1] !== "\u200d")
      return at;
  return end;
}

/** @param {string} text @param {Range} range */
function numBytes(text, { start, end }) {
  return encoder.encode(text.slice(start, end)).length;
}

/**
 * Take off both ends of ranges what is not seen, and leave out those that are nothing else.
 * @param {string} text
 * @param {Range[]} ranges
 */
function trimmed(text, ranges) {
  return ranges.flatMap(({ start, end }) => {
    const part = text.slice(start, end);
    const content = part.replace(EDGES, "");
    if (!content) return [];
    const from = start + (START.exec(part)?.[0].length ?? 0);
    return [{ start: from, end: from + content.length }];
  });
}
