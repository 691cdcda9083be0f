/** Text to piece ids and back: SentencePiece BPE with byte fallback, as in text/tokenizer.py. */

const SPACE = "\u2581"; // SentencePiece writes a space so; the character itself goes in as its bytes
const MOST_MARKS = 30; // in a row, by Unicode's Stream-Safe Text Format (UAX 15, section 13)
const MANY_MARKS = /\p{M}{31}/u;
const FIRST_ABOVE = "\u0334"; // a mark of class 1, which is sorted before any other mark
const LAST_BELOW = "\u0345"; // a mark of class 240, which is sorted after any other mark

/**
 * A vocabulary as Python hands it over.
 * @typedef {object} Vocabulary
 * @property {string[]} pieces by id
 * @property {number[]} scores by id: the higher, the sooner a piece is merged
 * @property {string} kinds a letter for each id: "n" spells text, "b" is a byte, "c" says something
 *   to the model and spells nothing
 */

/**
 * Compose Unicode (NFC), fold runs of ASCII white space to one space, and trim.
 * Halves of characters, which Python refuses, become U+FFFD.
 * @param {string} text
 */
export function normalise(text) {
  const whole = text.replace(/\p{Surrogate}/gu, "\uFFFD");
  return compose(whole).replace(/[ \t\n\v\f\r]+/g, " ").replace(/^ | $/g, "");
}

/**
 * Compose Unicode, but leave alone what has more marks in a row than any language.
 * @param {string} text
 */
function compose(text) {
  if (!MANY_MARKS.test(text)) return text.normalize("NFC");
  /** @type {string[]} */
  const parts = [""]; // what is composed and what is left alone take turns
  for (const row of rowsOf(text)) {
    if (isMark(row[0]) && row.length > MOST_MARKS) parts.push(row.join(""), "");
    else parts[parts.length - 1] += row.join("");
  }
  return parts.map((part, i) => (i % 2 ? part : part.normalize("NFC"))).join("");
}

/**
 * Cut a text into rows of marks and rows of what is none.
 * @param {string} text
 */
function rowsOf(text) {
  /** @type {string[][]} */
  const rows = [];
  let before;
  for (const character of text) {
    const mark = isMark(character);
    if (mark === before) rows[rows.length - 1].push(character);
    else rows.push([character]);
    before = mark;
  }
  return rows;
}

/**
 * Whether a character, or the first of those it is made of, is sorted among others.
 * @param {string} character
 */
function isMark(character) {
  if (character <= "\u02FF") return false;
  const [first] = character.normalize("NFD");
  return (
    (first + FIRST_ABOVE).normalize("NFD") !== first + FIRST_ABOVE ||
    (LAST_BELOW + first).normalize("NFD") !== LAST_BELOW + first
  );
}

/** A trained vocabulary. `decode(encode(text)) === normalise(text)` for any text. */
export class Tokenizer {
  /** @param {Vocabulary} vocabulary */
  constructor({ pieces, scores, kinds }) {
    this.pieces = pieces;
    this.kinds = kinds;
    /** @private */
    this.scores = scores;
    /** @private @type {Map<string, number>} */
    this.ids = new Map();
    /** @private @type {number[]} the id of every byte */
    this.bytes = [];
    pieces.forEach((piece, id) => {
      if (kinds[id] === "n") this.ids.set(piece, id);
      if (kinds[id] === "b") this.bytes[parseInt(piece.slice(1, -1), 16)] = id;
    });
  }

  get size() {
    return this.pieces.length;
  }

  /**
   * Cut a text into piece ids, without BOS and EOS.
   * @param {string} text
   * @returns {number[]}
   */
  encode(text) {
    const [first, ...others] = normalise(text).split(SPACE);
    // The space in front lets a word look the same at the start of a sentence and inside it.
    const ids = first || others.length ? this.cut(" " + first) : [];
    for (const part of others) ids.push(...this.spellOut(SPACE), ...this.cut(part));
    return ids;
  }

  /**
   * Join piece ids to text; what spells nothing is left out.
   * @param {readonly number[]} ids
   * @returns {string}
   */
  decode(ids) {
    let text = "";
    /** @type {number[]} */
    let bytes = [];
    for (const id of ids) {
      if (this.kinds[id] === "b") {
        bytes.push(this.byteOf(id));
      } else if (this.kinds[id] === "n") {
        text += readBytes(bytes) + this.pieces[id].replaceAll(SPACE, " ");
        bytes = [];
      }
    }
    return (text + readBytes(bytes)).replace(/^ /, "");
  }

  /**
   * Return what each piece adds to the text; the last byte of a character adds all of it.
   * @param {readonly number[]} ids
   * @returns {string[]}
   */
  spell(ids) {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const spelt = ids.map((id) => {
      if (this.kinds[id] === "c") return "";
      if (this.kinds[id] === "b")
        return decoder.decode(Uint8Array.of(this.byteOf(id)), { stream: true });
      return decoder.decode() + this.pieces[id].replaceAll(SPACE, " ");
    });
    if (spelt.length) spelt[0] = spelt[0].replace(/^ /, "");
    return spelt;
  }

  /**
   * Show pieces to people: a word's start is "▁", a byte "<E4>".
   * @param {readonly number[]} ids
   * @returns {string[]}
   */
  show(ids) {
    return ids.map((id) =>
      this.kinds[id] === "b" ? this.pieces[id].replace("0x", "") : this.pieces[id],
    );
  }

  /**
   * Whether a piece begins with a space.
   * @param {number} id
   */
  beginsWord(id) {
    return this.kinds[id] === "n" && this.pieces[id].startsWith(SPACE);
  }

  /** @private @param {number} id */
  byteOf(id) {
    return parseInt(this.pieces[id].slice(1, -1), 16);
  }

  /** @private @param {string} text */
  spellOut(text) {
    return Array.from(new TextEncoder().encode(text), (byte) => this.bytes[byte]);
  }

  /**
   * Merge neighbours into pieces, the best pair first, until none is in the vocabulary (BPE).
   * @private @param {string} text without "▁"
   */
  cut(text) {
    const symbols = new Symbols(Array.from(text.replaceAll(" ", SPACE)));
    const queue = new Queue();
    /** @param {number} left @param {number} right */
    const consider = (left, right) => {
      if (left < 0 || right < 0) return;
      const piece = symbols.texts[left] + symbols.texts[right];
      const id = this.ids.get(piece);
      if (id !== undefined)
        queue.push({ score: this.scores[id], left, right, size: piece.length });
    };
    for (let at = 1; at < symbols.texts.length; at++) consider(at - 1, at);
    for (let pair = queue.pop(); pair; pair = queue.pop()) {
      if (!symbols.stillHolds(pair)) continue;
      symbols.merge(pair.left, pair.right);
      consider(symbols.before[pair.left], pair.left);
      consider(pair.left, symbols.after[pair.left]);
    }
    return symbols.rest().flatMap((piece) => this.ids.get(piece) ?? this.spellOut(piece));
  }
}

/** Pieces that are being merged, as a list in which each knows its neighbours. */
class Symbols {
  /** @param {string[]} texts */
  constructor(texts) {
    this.texts = texts;
    this.before = texts.map((_, at) => at - 1);
    this.after = texts.map((_, at) => (at + 1 < texts.length ? at + 1 : -1));
  }

  /** @param {Pair} pair */
  stillHolds({ left, right, size }) {
    const [first, second] = [this.texts[left], this.texts[right]];
    return first && second && first.length + second.length === size;
  }

  /** @param {number} left @param {number} right */
  merge(left, right) {
    this.texts[left] += this.texts[right];
    this.texts[right] = "";
    this.after[left] = this.after[right];
    if (this.after[left] >= 0) this.before[this.after[left]] = left;
  }

  rest() {
    return this.texts.filter((text) => text);
  }
}

/** @typedef {{ score: number, left: number, right: number, size: number }} Pair */

/** Pairs by score, of equals the leftmost first (a binary heap). */
class Queue {
  constructor() {
    /** @type {Pair[]} */
    this.heap = [];
  }

  /** @param {Pair} pair */
  push(pair) {
    const { heap } = this;
    let at = heap.push(pair) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isSooner(pair, heap[parent])) break;
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = pair;
  }

  /** @returns {Pair | undefined} */
  pop() {
    const { heap } = this;
    const best = heap[0];
    const last = heap.pop();
    if (!last || !heap.length) return best;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isSooner(heap[child + 1], heap[child])) child++;
      if (!isSooner(heap[child], last)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = last;
    return best;
  }
}

/** @param {Pair} one @param {Pair} other */
function isSooner(one, other) {
  return one.score > other.score || (one.score === other.score && one.left < other.left);
}

/**
 * Read UTF-8 as SentencePiece does: each byte that is part of no character becomes U+FFFD.
 * @param {number[]} bytes
 */
function readBytes(bytes) {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const length = bytes[at] < 0x80 ? 1 : bytes[at] < 0xe0 ? 2 : bytes[at] < 0xf0 ? 3 : 4;
    try {
      text += strict.decode(Uint8Array.from(bytes.slice(at, at + length)));
      at += length;
    } catch {
      text += "\uFFFD";
      at++;
    }
  }
  return text;
}
