/** The one selection that all panels share: hover previews, a click keeps, Esc lets go.
 *
 * What is kept is in the address of the page, after #, so a link opens the very picture.
 */

/** Of attention: source to source, target to target, target to source.
 * @typedef {"encoder" | "decoder" | "cross"} Kind
 */

/**
 * What is selected. Whatever is left out is open.
 * @typedef {object} Selection
 * @property {string} [panel] which panel is seen
 * @property {string} [lang] the language of the page, if not the browser's
 * @property {Kind} [kind]
 * @property {number} [layer]
 * @property {number} [head]
 * @property {number} [sentence] of the text
 * @property {number} [piece] who looks: a number in the target, or for the encoder in the source
 * @property {number} [seen] at whom: a number in the source, or for the decoder in the target
 * @property {number} [step] of writing, counted from 0
 * @property {number} [hypothesis] node of the beam search
 * @property {number} [card] of the lesson
 */

const KINDS = ["encoder", "decoder", "cross"];
const NUMBERS = ["layer", "head", "sentence", "piece", "seen", "step", "hypothesis", "card"];
const LET_GO = NUMBERS.concat("kind").filter((name) => name !== "sentence" && name !== "card");

/** Holds the selection and tells whoever listens. */
export class State {
  /** @param {{ hash: string }} place where the address is read and written, as `location` */
  constructor(place) {
    this.place = place;
    /** @type {Selection} */
    this.kept = readHash(place.hash);
    /** @private @type {Selection} */
    this.previewed = {};
    /** @private @type {Set<(shown: Selection) => void>} */
    this.listeners = new Set();
  }

  /** What is to be shown: what is kept, and over it what is previewed. @returns {Selection} */
  get shown() {
    return { ...this.kept, ...this.previewed };
  }

  /** Show for as long as the pointer is there. @param {Selection} changes */
  preview(changes) {
    this.previewed = changes;
    this.tell();
  }

  /** Keep it; undefined opens a part again. @param {Selection} changes */
  keep(changes) {
    this.kept = known({ ...this.kept, ...changes });
    this.previewed = {};
    this.place.hash = writeHash(this.kept);
    this.tell();
  }

  /** End the preview, or else let go of all but the panel, the sentence and the card. */
  release() {
    const isPreview = Object.keys(this.previewed).length > 0;
    this.previewed = {};
    if (isPreview) this.tell();
    else this.keep(Object.fromEntries(LET_GO.map((name) => [name, undefined])));
  }

  /** Take what the address says, as after "back". */
  follow() {
    this.kept = readHash(this.place.hash);
    this.previewed = {};
    this.tell();
  }

  /**
   * Be told whenever what is shown changes; call what is returned to be told no more.
   * @param {(shown: Selection) => void} listener
   */
  listen(listener) {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** @private */
  tell() {
    const shown = this.shown;
    for (const listener of this.listeners) listener(shown);
  }
}

/**
 * Read a selection; whatever makes no sense is passed over.
 * @param {string} hash
 * @returns {Selection}
 */
export function readHash(hash) {
  /** @type {Record<string, string | number>} */
  const found = {};
  for (const [name, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (name === "panel" && /^[a-z-]{1,20}$/.test(value)) found.panel = value;
    if (name === "lang" && /^[a-z]{2,3}$/.test(value)) found.lang = value;
    if (name === "kind" && KINDS.includes(value)) found.kind = value;
    if (NUMBERS.includes(name) && /^\d{1,6}$/.test(value)) found[name] = Number(value);
  }
  return found;
}

/** @param {Selection} selection */
export function writeHash(selection) {
  return new URLSearchParams(
    Object.entries(known(selection)).map(([name, value]) => [name, String(value)]),
  ).toString();
}

/** @param {Selection} selection @returns {Selection} */
function known(selection) {
  return Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== undefined));
}
