/** Words, which pieces spell which, and from attention between pieces to links between words. */

// Vowel signs, joiners and the like: parts of a word, though not letters. As in text/words.py.
const MARKS =
  "\\u0300-\\u036f\\u0483-\\u0489\\u0591-\\u05c7\\u0610-\\u061a\\u064b-\\u065f\\u0670\\u06d6-\\u06ed" +
  "\\u0900-\\u0963\\u0966-\\u0eff\\u1000-\\u109f\\u1780-\\u17d3\\u200c\\u200d\\ufe00-\\ufe0f";
const IDEOGRAPHS = "\\u3040-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
const WORD = new RegExp(`(?:(?![${IDEOGRAPHS}])[\\p{L}\\p{N}_${MARKS}])+|\\S`, "gu");

/** @typedef {import("./matrix.js").Matrix} Matrix */

/**
 * A word of a text.
 * @typedef {object} Word
 * @property {string} text
 * @property {number} start where it starts in the text, as JavaScript counts
 * @property {number} end
 * @property {number[]} pieces numbers of the pieces that spell it; a piece may be part of several
 */

/**
 * Find the words in what each piece spells. A space, or a byte that does not complete a character,
 * belongs to what follows.
 * @param {readonly string[]} spelling
 * @returns {Word[]}
 */
export function wordsOf(spelling) {
  const text = spelling.join("");
  let at = 0;
  const spans = spelling.map((part) => {
    at += part.length;
    const start = at - part.trimStart().length;
    return { start, end: Math.max(at, start + 1) };
  });
  let first = 0;
  return Array.from(text.matchAll(WORD), ({ 0: word, index: start }) => {
    const end = start + word.length;
    while (spans[first].end <= start) first++;
    const pieces = [];
    for (let i = first; i < spans.length && spans[i].start < end; i++) pieces.push(i);
    return { text: word, start, end, pieces };
  });
}

/**
 * Add up how much the pieces of each word looked at those of each source word.
 * @param {Matrix} attention a row for each piece of the target, a column for each of the source
 * @param {Word[]} source
 * @param {Word[]} target
 * @returns {number[][]} a row for each word of the target
 */
export function betweenWords(attention, source, target) {
  return target.map((word) =>
    source.map((seen) => {
      let sum = 0;
      for (const row of word.pieces)
        for (const column of seen.pieces) sum += attention.data[row * attention.width + column];
      return sum;
    }),
  );
}

/**
 * The place of the largest value, or of the first of equals; 0 if there are none.
 * @param {readonly number[]} values
 */
export function placeOfLargest(values) {
  return Math.max(values.indexOf(Math.max(...values)), 0);
}
