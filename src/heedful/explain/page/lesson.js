/** Twelve cards that lead through the paper on the reader's own sentence: guess, then reveal. */

import { element } from "./elements.js";
import { number, percent, whole } from "./numbers.js";
import { fill } from "./texts.js";

/** @typedef {import("./main.js").Context} Context */
/** @typedef {import("./reading.js").Reading} Reading */
/** @typedef {import("./state.js").Selection} Selection */
/** @typedef {import("./texts.js").Texts} Texts */

/**
 * What a card asks: answers to choose from, which of them is right, and what its texts speak of.
 * @typedef {object} Question
 * @property {string[]} options
 * @property {number} right
 * @property {Record<string, string | number>} values
 */

/** @typedef {{ name: string, selection: (reading: Reading) => Selection, ask: (reading: Reading, texts: Texts) => Question }} Card */

/** @type {Card[]} in the order of the paper */
const CARDS = [
  { name: "translation", selection: (reading) => ({ panel: "head", ...aligner(reading) }), ask: askAlignment },
  { name: "pieces", selection: () => ({ panel: "pieces", kind: "encoder", piece: 0 }), ask: askPieces },
  { name: "positions", selection: (reading) => ({ panel: "pieces", kind: "encoder", piece: middle(reading) }), ask: askPositions },
  { name: "product", selection: (reading) => ({ panel: "hand", ...aligner(reading) }), ask: askProduct },
  { name: "scale", selection: (reading) => ({ panel: "hand", ...aligner(reading) }), ask: (reading, texts) => asked([texts.scaleA, texts.scaleB], 0, { d_k: reading.config.d_k }) },
  { name: "heads", selection: () => ({ panel: "heads", kind: "encoder" }), ask: askHeads },
  { name: "feed", selection: () => ({ panel: "hand", kind: "encoder", layer: 0, head: 0, piece: 0 }), ask: askFeedForward },
  { name: "cross", selection: (reading) => ({ panel: "heads", ...aligner(reading), piece: undefined }), ask: (_, texts) => asked([texts.crossA, texts.crossB], 0) },
  { name: "learning", selection: () => ({ panel: "learning", kind: "decoder", layer: 0, head: 0, piece: undefined }), ask: askLoss },
  { name: "writing", selection: (reading) => ({ panel: "steps", step: unsure(reading) }), ask: askNext },
  { name: "beam", selection: () => ({ panel: "beam", hypothesis: undefined }), ask: (_, texts) => asked([texts.beamA, texts.beamB], 1) },
  { name: "own", selection: () => ({ panel: "what-if" }), ask: (_, texts) => asked([texts.ownA, texts.ownB], 1) },
];

/** A card above the panels; the panel below is what it speaks of. */
export class Lesson {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    /** @type {Reading | undefined} */
    this.reading = undefined;
    this.shown = "";
    const { texts } = context;
    this.opener = element("button", { type: "button", class: "button", click: () => this.go(0) }, texts.lesson);
    this.card = element("section", { class: "card", "aria-label": texts.lesson, hidden: true });
    this.card.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.close();
    });
  }

  /** @param {Reading} reading */
  read(reading) {
    this.reading = reading;
    this.shown = "";
  }

  /** @param {Selection} selection */
  selected({ card }) {
    const { reading } = this;
    this.opener.hidden = card !== undefined;
    this.card.hidden = card === undefined;
    if (card === undefined || !reading) return;
    const at = Math.min(card, CARDS.length - 1);
    if (this.shown === String(at)) return;
    this.shown = String(at);
    this.draw(at, reading);
  }

  /** @private @param {number} at */
  go(at) {
    const { reading } = this;
    if (!reading) return;
    const open = { kind: undefined, layer: undefined, head: undefined, piece: undefined, seen: undefined, step: undefined };
    this.context.state.keep({ ...open, ...CARDS[at].selection(reading), card: at });
    this.card.focus();
  }

  /** @private */
  close() {
    this.context.state.keep({ card: undefined });
    this.opener.focus();
  }

  /** @private @param {number} at @param {Reading} reading */
  draw(at, reading) {
    const { texts } = this.context;
    const { name, ask } = CARDS[at];
    const { options, right, values } = ask(reading, texts);
    const told = (/** @type {string} */ part) => fill(/** @type {Record<string, string>} */ (texts)[`card_${name}_${part}`], values);
    const answer = element("p", { class: "answer", role: "status" });
    const buttons = options.map((option, place) =>
      element("button", { type: "button", dir: "auto", click: () => reveal(place) }, option));
    const reveal = (/** @type {number} */ chosen) => {
      buttons.forEach((button, place) => {
        button.classList.toggle("right", place === right);
        button.classList.toggle("wrong", place === chosen && place !== right);
      });
      answer.textContent = `${chosen === right ? texts.guessedRight : texts.guessedWrong} ${told("answer")}`;
    };
    const step = (/** @type {number} */ to, /** @type {string} */ label) =>
      element("button", { type: "button", disabled: !CARDS[to], click: () => this.go(to) }, label);
    this.card.tabIndex = -1;
    this.card.replaceChildren(
      element("p", { class: "card-place" }, `${at + 1} / ${CARDS.length}`),
      element("h3", {}, told("title")), element("p", {}, told("text")), element("p", { class: "question" }, told("question")),
      element("div", { class: "tools options" }, ...buttons), answer,
      element("div", { class: "tools" }, step(at - 1, texts.cardBack), step(at + 1, texts.cardNext),
        element("button", { type: "button", click: () => this.close() }, texts.cardEnd)),
    ); // prettier-ignore
  }
}

/** @param {string[]} options @param {number} right @param {Record<string, string | number>} [values] @returns {Question} */
function asked(options, right, values = {}) {
  return { options, right, values };
}

/** The head that aligns words, at the word with the plainest partner. @param {Reading} reading @returns {Selection} */
function aligner(reading) {
  const { layer, head, shift } = reading.alignment;
  const piece = Math.min(plainest(reading) + shift, reading.target.length - 1);
  return { kind: "cross", layer, head: head ?? 0, piece };
}

/** The longest piece that begins a word, as one that has a meaning. @param {Reading} reading */
function plainest(reading) {
  const lengths = reading.wantedLabels.slice(0, -1).map((label) => label.length);
  return Math.max(lengths.indexOf(Math.max(...lengths)), 0);
}

/** @param {Reading} reading */
function middle(reading) {
  return Math.floor((reading.numTags + reading.source.length - 1) / 2);
}

/** The step with the smallest probability. @param {Reading} reading */
function unsure(reading) {
  const { data, width } = reading.scores;
  const sure = reading.wanted.map((id, row) => data[row * width + id]);
  return sure.indexOf(Math.min(...sure));
}

/** Three different places, one of them right, in the order of the sentence. @param {string[]} labels @param {number} right */
function three(labels, right) {
  const others = labels.map((_, at) => at).filter((at) => labels[at] !== labels[right]);
  const near = others.sort((a, b) => Math.abs(a - right) - Math.abs(b - right));
  const chosen = [right];
  for (const at of near) if (chosen.length < 3 && !chosen.some((it) => labels[it] === labels[at])) chosen.push(at);
  chosen.sort((a, b) => a - b);
  return asked(chosen.map((at) => labels[at]), chosen.indexOf(right));
}

/** @param {Reading} reading */
function askAlignment(reading) {
  const look = reading.look(aligner(reading));
  const weights = reading.row(look);
  const best = weights.indexOf(Math.max(...weights));
  const values = { word: reading.wantedLabels[plainest(reading)], whom: reading.sourceLabels[best], weight: number(weights[best]) };
  return { ...three(reading.sourceLabels, best), values };
}

/** @param {Reading} reading */
function askPieces({ source, sentence, sourceLabels, numTags }) {
  const right = source.length - 1 - numTags;
  const words = sentence.sourceWords.length;
  const counts = [...new Set([words, right, right + 4])].sort((a, b) => a - b);
  const values = { words, pieces: right, longest: sourceLabels.reduce((a, b) => (b.length > a.length ? b : a)) };
  return asked(counts.map(String), counts.indexOf(right), values);
}

/** @param {Reading} reading @param {Texts} texts */
function askPositions(reading, texts) {
  const kind = reading.config.positions === "learned" ? texts.learnedKind : texts.waveKind;
  return asked([texts.positionsA, texts.positionsB], 1, { kind });
}

/** @param {Reading} reading @param {Texts} texts */
function askProduct(reading, texts) {
  const look = reading.look(aligner(reading));
  const { data, from, width } = reading.weights(look, "scores");
  const score = data[from + look.row * width + look.column];
  const values = { who: reading.rows(look.kind)[look.row], whom: reading.columns(look.kind)[look.column], score: number(score * Math.sqrt(reading.config.d_k)) };
  return asked([texts.positive, texts.negative], score > 0 ? 0 : 1, values);
}

/** @param {Reading} reading */
function askHeads(reading) {
  const { num_layers, num_heads } = reading.config;
  let near = 0;
  for (let layer = 0; layer < num_layers; layer++)
    for (let head = 0; head < num_heads; head++)
      if (["previous", "next", "same"].includes(reading.measures({ kind: "encoder", layer, head }).role)) near++;
  const all = num_layers * num_heads;
  const counts = [...new Set([0, near, Math.min(all, near + 3), all])].sort((a, b) => a - b);
  return asked(counts.map(String), counts.indexOf(near), { near, all });
}

/** @param {Reading} reading */
function askFeedForward(reading) {
  const { data, width } = reading.kept["encoder.0.ffn.hidden"];
  const share = data.subarray(0, width).filter((value) => value > 0).length / width;
  const shares = [0.1, 0.3, 0.5, 0.9];
  const nearest = shares.reduce((best, one) => (Math.abs(one - share) < Math.abs(best - share) ? one : best));
  return asked(shares.map(percent), shares.indexOf(nearest), { share: percent(share), all: whole(width) });
}

/** @param {Reading} reading */
function askLoss(reading) {
  const at = unsure(reading);
  const loss = -reading.scores.data[at * reading.scores.width + reading.wanted[at]];
  return { ...three(reading.wantedLabels, at), values: { piece: reading.wantedLabels[at], loss: number(loss), chance: percent(Math.exp(-loss)) } };
}

/** @param {Reading} reading @param {Texts} texts */
function askNext(reading, texts) {
  const at = unsure(reading);
  const chance = Math.exp(reading.scores.data[at * reading.scores.width + reading.wanted[at]]);
  const values = { before: reading.targetLabels[at], step: at + 1, piece: reading.wantedLabels[at], chance: percent(chance), count: reading.source.length };
  return asked([texts.writingA, texts.writingB], 1, values);
}
