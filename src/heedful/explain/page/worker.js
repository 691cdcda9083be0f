/** What the worker does when it is asked. Every task is a message with a number; so is its answer. */

import { bestFirst } from "./search.js";
import { Translator } from "./translator.js";
import { readWeights } from "./weights.js";

/** @typedef {import("./matrix.js").Matrix} Matrix */
/** @typedef {import("./search.js").Hypothesis} Hypothesis */
/** @typedef {import("./search.js").SearchStep} SearchStep */
/** @typedef {import("./transformer.js").WhatIf} WhatIf */
/** @typedef {import("./translator.js").Alternative} Alternative */
/** @typedef {import("./translator.js").PageData} PageData */
/** @typedef {import("./translator.js").Sentence} Sentence */
/** @typedef {import("./translator.js").Translation} Translation */
/** @typedef {import("./translator.js").Wish} Wish */

/**
 * What can be asked, and what is answered. Ids are without BOS and EOS.
 * @typedef {object} Tasks
 * @property {(asked: { data: PageData, weights: ArrayBuffer }) => true} open comes first
 * @property {(asked: { text: string, wish: Wish }) => Translation} translate tells what it has
 *   so far, sentence by sentence
 * @property {(asked: { sentence: Sentence, word: number, count: number, wish: Wish }) => Alternative[]} alternatives
 * @property {(asked: { text: string, target?: string }) => number[]} ids of a source
 * @property {(asked: Forward) => Pass} forward one pass over source and target at once
 * @property {(asked: Beam) => Found} search step by step, for the tree of hypotheses
 * @property {(asked: { source: number[], target: number[], heads: string[] }) => number[]} losses
 *   how much of the target's log-probability goes without each head; tells as they come
 * @property {(asked: { source: number[], target: number[], whatIf?: WhatIf }) => { logProbability: number }} likelihood
 *   of a whole target, its end included
 * @property {(asked: { source: number[], target: number[] }) => number[]} stepwise
 *   log-probability of each target piece and of the end, computed piece by piece
 * @property {(asked: { source: number[], temperature: number, whatIf?: WhatIf }) => number[]} draw
 *   a translation by chance
 * @property {(asked: { id: number, count: number }) => { id: number, cosine: number }[]} nearest
 *   pieces whose embeddings point where that of one does
 * @property {(asked: { name: string }) => Matrix} weight by its name in model.safetensors
 */

/**
 * A pass over a source and a given target.
 * @typedef {object} Forward
 * @property {number[]} source
 * @property {number[]} target
 * @property {WhatIf} [whatIf]
 * @property {string[]} [keep] beginnings of names of what is wanted (see `Keep` in transformer.js),
 *   such as "cross.2." or, for all, ""
 */

/**
 * Log-probabilities of all next pieces (a row after BOS and each target piece), and what was kept.
 * @typedef {{ scores: Matrix, kept: Record<string, Matrix> }} Pass
 */

/** @typedef {{ source: number[], wish: Wish, prefix?: number[], whatIf?: WhatIf }} Beam */
/** @typedef {{ steps: SearchStep[], hypotheses: Hypothesis[] }} Found */

/** @typedef {{ number: number, task: keyof Tasks, asked: any } | { cancel: number }} Question */
/** @typedef {{ number: number, answer?: any, soFar?: any, error?: string }} Answer */

/** Answers questions, one after another, and hears between two steps which are given up. */
class Desk {
  /** @param {(answer: Answer) => void} send */
  constructor(send) {
    this.send = send;
    /** @type {Set<number>} */
    this.open = new Set();
    /** @type {Promise<void>} */
    this.last = Promise.resolve();
    /** @type {Translator | undefined} */
    this.translator = undefined;
  }

  /** @param {Question} question */
  hear(question) {
    if ("cancel" in question) {
      this.open.delete(question.cancel);
    } else {
      this.open.add(question.number);
      this.last = this.last.then(() => this.answer(question));
    }
  }

  /** @param {Exclude<Question, { cancel: number }>} question */
  async answer({ number, task, asked }) {
    try {
      const pause = () => this.pause(number);
      await pause();
      const tell = (/** @type {any} */ soFar) => this.send({ number, soFar });
      this.send({ number, answer: await this.work(task, asked, pause, tell) });
    } catch (error) {
      if (!(error instanceof GivenUp)) this.send({ number, error: String(error) });
    }
    this.open.delete(number);
  }

  /** Let messages in. @param {number} number */
  async pause(number) {
    await new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage(null);
    });
    if (!this.open.has(number)) throw new GivenUp();
  }

  /**
   * @param {keyof Tasks} task
   * @param {any} asked
   * @param {import("./translator.js").Pause} pause
   * @param {(soFar: any) => void} tell
   */
  async work(task, asked, pause, tell) {
    if (task === "open") {
      this.translator = new Translator(asked.data, readWeights(asked.data.places, asked.weights));
      return true;
    }
    if (!this.translator) throw new Error("nothing is open");
    return answers[task](this.translator, asked, pause, tell);
  }
}

/** Nobody wants the answer any more. */
class GivenUp extends Error {}

/** @type {Record<Exclude<keyof Tasks, "open">, (translator: Translator, asked: any, pause: import("./translator.js").Pause, tell: (soFar: any) => void) => any>} */
const answers = {
  translate: (translator, { text, wish }, pause, tell) =>
    translator.translate(text, wish, pause, tell),
  alternatives: (translator, { sentence, word, count, wish }, pause) =>
    translator.alternatives(sentence, word, count, wish, pause),
  ids: (translator, { text, target }) => translator.sourceIds(text, target),
  forward: (translator, { source, target, whatIf, keep = [] }) => {
    /** @type {Record<string, Matrix>} */
    const kept = {};
    const { scores } = translator.score(source, target, whatIf, (name, value) => {
      if (keep.some((/** @type {string} */ start) => name.startsWith(start))) kept[name] = value;
    });
    return { scores, kept };
  },
  search: async (translator, { source, wish, prefix, whatIf }, pause) => {
    const steps = await translator.steps(source, wish, pause, prefix, whatIf);
    const config = { ...translator.data.search, ...wish };
    return { steps, hypotheses: bestFirst(steps[steps.length - 1].found, config) };
  },
  losses: (translator, { source, target, heads }, pause, tell) =>
    translator.losses(source, target, heads, pause, tell),
  likelihood: (translator, { source, target, whatIf }) => ({
    logProbability: translator.logProbability(source, target, whatIf),
  }),
  stepwise: (translator, { source, target }) => translator.stepwise(source, target),
  draw: (translator, { source, temperature, whatIf }, pause) =>
    translator.draw(source, temperature, whatIf, pause),
  nearest: (translator, { id, count }) => translator.nearest(id, count),
  weight: (translator, { name }) => translator.model.weight(name),
};

/**
 * Answer whatever the page asks.
 * @param {{ onmessage: ((event: MessageEvent) => void) | null, postMessage: (message: any) => void }} worker
 */
export function serve(worker) {
  const desk = new Desk((answer) => worker.postMessage(answer));
  worker.onmessage = ({ data }) => desk.hear(data);
}
