/** A sentence with its translation as the model reads both at once, with all that it computes. */

import { measure } from "./roles.js";
import { EOS, BOS } from "./specials.js";

/** @typedef {import("./main.js").Context} Context */
/** @typedef {import("./matrix.js").Matrix} Matrix */
/** @typedef {import("./roles.js").Measures} Measures */
/** @typedef {import("./state.js").Kind} Kind */
/** @typedef {import("./state.js").Selection} Selection */
/** @typedef {import("./translator.js").Sentence} Sentence */

/** @type {Kind[]} */
export const KINDS = ["encoder", "decoder", "cross"];

/** What one head of a reading does. @typedef {{ kind: Kind, layer: number, head: number }} HeadName */

/** @typedef {HeadName & { row: number, column: number }} Look what is selected, with nothing left open */

/** All that was computed on the way of a source and a target. */
export class Reading {
  /**
   * @param {Context} context
   * @param {Sentence} sentence
   * @param {import("./worker.js").Pass} pass
   */
  constructor({ data, tokenizer }, sentence, { scores, kept }) {
    this.config = data.config;
    this.alignment = data.alignment;
    this.sentence = sentence;
    /** What the encoder reads. */
    this.source = [...sentence.source, EOS];
    /** What the decoder reads, and what it should say to each of these. */
    this.target = [BOS, ...sentence.target].slice(0, scores.rows);
    this.wanted = [...sentence.target, EOS].slice(0, scores.rows);
    this.sourceLabels = tokenizer.show(this.source);
    this.targetLabels = tokenizer.show(this.target);
    this.wantedLabels = tokenizer.show(this.wanted);
    /** Pieces that say which language is wanted, and spell nothing. */
    this.numTags = Math.max(sentence.source.findIndex((id) => data.vocabulary.kinds[id] !== "c"), 0);
    this.scores = scores;
    this.kept = kept;
    /** @private @type {Map<string, Measures>} */
    this.measured = new Map();
    this.aligned = this.alignedPlaces();
  }

  /**
   * Read a sentence of a translation.
   * @param {Context} context
   * @param {Sentence} sentence
   * @param {AbortSignal} signal
   */
  static async of(context, sentence, signal) {
    const most = context.data.config.positions === "learned" ? context.data.config.max_length - 1 : Infinity;
    const { source, target } = sentence;
    const asked = { source, target: target.slice(0, most), keep: [""] };
    return new Reading(context, sentence, await context.engine.ask("forward", asked, { signal }));
  }

  /** Labels of those who look. @param {Kind} kind */
  rows(kind) {
    return kind === "encoder" ? this.sourceLabels : this.targetLabels;
  }

  /** Labels of those who are looked at. @param {Kind} kind */
  columns(kind) {
    return kind === "decoder" ? this.targetLabels : this.sourceLabels;
  }

  /**
   * The weights of a head: a row for each who looks, a column for each at whom.
   * @param {HeadName} name
   * @param {"weights" | "scores"} [part]
   */
  weights({ kind, layer, head }, part = "weights") {
    const { data, width } = this.kept[`${kind}.${layer}.${part}`];
    const rows = this.rows(kind).length;
    return { data, from: head * rows * width, rows, width };
  }

  /** @param {Look} look @returns {number[]} the weights of who looks */
  row({ row, ...name }) {
    const { data, from, width } = this.weights(name);
    return Array.from(data.subarray(from + row * width, from + (row + 1) * width));
  }

  /** What a head does in this sentence. @param {HeadName} name */
  measures(name) {
    const key = `${name.kind}.${name.layer}.${name.head}`;
    let found = this.measured.get(key);
    if (!found) this.measured.set(key, (found = measure(name.kind, this.weights(name), this.aligned)));
    return found;
  }

  /** Close what a selection leaves open, and bring it within bounds. @param {Selection} selection @returns {Look} */
  look({ kind = "cross", layer, head, piece, seen }) {
    const { num_layers, num_heads } = this.config;
    const name = {
      kind,
      layer: Math.min(layer ?? (kind === "cross" ? this.alignment.layer : 0), num_layers - 1),
      head: Math.min(head ?? (kind === "cross" ? (this.alignment.head ?? 0) : 0), num_heads - 1),
    };
    const last = this.rows(kind).length - 1;
    const row = Math.min(piece ?? (kind === "decoder" ? last : 0), last);
    const weights = this.row({ ...name, row, column: 0 });
    const column = Math.min(seen ?? weights.indexOf(Math.max(...weights)), weights.length - 1);
    return { ...name, row, column };
  }

  /** @param {HeadName} name */
  heads({ kind, layer }) {
    return Array.from({ length: this.config.num_heads }, (_, head) => ({ kind, layer, head }));
  }

  /**
   * Which places belong together, as pieces or as words.
   * @param {"source" | "target"} side
   * @param {boolean} byWords
   * @returns {{ label: string, places: number[] }[]}
   */
  groups(side, byWords) {
    const labels = side === "source" ? this.sourceLabels : this.targetLabels;
    const alone = labels.map((label, place) => ({ label, places: [place] }));
    if (!byWords) return alone;
    const words = side === "source" ? this.sentence.sourceWords : this.sentence.words;
    const shift = side === "source" ? 0 : 1; // BOS comes first
    const grouped = words.map(({ text, pieces }) => ({ label: text, places: pieces.map((at) => at + shift).filter((at) => at < labels.length) }));
    const before = alone.slice(0, side === "source" ? this.numTags : 1);
    return [...before, ...grouped.filter(({ places }) => places.length), ...(side === "source" ? alone.slice(-1) : [])];
  }

  /** @private For each row of attention over the source, the place that it belongs to. */
  alignedPlaces() {
    const { layer, head, shift } = this.alignment;
    const heads = head === null ? this.heads({ kind: "cross", layer, head: 0 }) : [{ kind: KINDS[2], layer, head }];
    const found = new Map();
    for (let row = shift; row < Math.min(this.target.length - 1 + shift, this.target.length); row++) {
      const sums = this.sourceLabels.slice(0, -1).map((_, column) =>
        column < this.numTags ? 0 : heads.reduce((sum, name) => {
          const { data, from, width } = this.weights(name);
          return sum + data[from + row * width + column];
        }, 0),
      );
      if (sums.length) found.set(row, sums.indexOf(Math.max(...sums)));
    }
    return found;
  }
}
