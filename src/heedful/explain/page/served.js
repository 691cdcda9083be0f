/** The engine of a page that a server gives: translating happens there, looking inside here. */

import { Engine, startWorker } from "./engine.js";
import { Tokenizer } from "./tokenizer.js";
import { assembled } from "./translator.js";
import { wordsOf } from "./words.js";

/** @typedef {import("./translator.js").PageData} PageData */
/** @typedef {import("./translator.js").Sentence} Sentence */
/** @typedef {import("./translator.js").Translation} Translation */
/** @typedef {import("./translator.js").Wish} Wish */
/** @typedef {import("./words.js").Word} Word */

/**
 * What a page knows of the server that gave it.
 * @typedef {object} Served
 * @property {string} weights where the model's weights are
 * @property {{ name: string, directions: { from: string, to: string }[] }[]} models
 * @property {boolean} needsKey
 * @property {string[]} files what names of files may end in
 */

/** @typedef {{ text: string, confidence: number }} ToldWord */

/**
 * A sentence as the server tells it. Places count code points.
 * @typedef {object} Told
 * @property {number} start
 * @property {number} end
 * @property {string} text
 * @property {string} from
 * @property {number} from_confidence
 * @property {number} score
 * @property {{ source_words: string[], words: ToldWord[], alignment: [number, number][] }} [details]
 */

/**
 * How far a file is.
 * @typedef {object} Report
 * @property {string} id
 * @property {string} name
 * @property {"working" | "done" | "failed"} state
 * @property {number} texts
 * @property {number} translated
 * @property {number} unchanged
 * @property {string} [url]
 * @property {string} [error]
 */

const BETWEEN_LOOKS = 300; // milliseconds between two looks at how far a file is

/** Asks the server for translations; the worker gets the weights when something looks inside. */
export class ServedEngine extends Engine {
  /** @param {PageData} data @param {Served} served */
  constructor(data, served) {
    super(startWorker());
    this.data = data;
    this.served = served;
    this.tokenizer = new Tokenizer(data.vocabulary);
    this.key = "";
    /** @type {string} language that was detected in what was translated last */
    this.detected = "";
    /** @type {Promise<unknown> | undefined} */
    this.opened = undefined;
  }

  /**
   * @template {keyof import("./worker.js").Tasks} Task
   * @param {Task} task
   * @param {Parameters<import("./worker.js").Tasks[Task]>[0]} asked
   * @param {import("./engine.js").Manner<Task>} [manner]
   * @param {Transferable[]} [handedOver]
   * @returns {Promise<any>}
   */
  async ask(task, asked, manner = {}, handedOver = []) {
    if (task === "translate") return this.translate(/** @type {any} */ (asked), /** @type {any} */ (manner));
    this.opened ??= this.open();
    await this.opened;
    return super.ask(task, asked, manner, handedOver);
  }

  /** Fetch the weights and hand them to the worker. @private */
  async open() {
    const answer = await this.fetch(this.served.weights, {});
    const weights = await answer.arrayBuffer();
    return super.ask("open", { data: this.data, weights }, {}, [weights]);
  }

  /**
   * Translate a text, and tell of each sentence as it comes.
   * @private
   * @param {{ text: string, wish: Wish }} asked
   * @param {import("./engine.js").Manner<"translate">} manner
   * @returns {Promise<Translation>}
   */
  async translate({ text, wish }, { signal, tell }) {
    if (!text.trim()) return assembled(text, [], true);
    const body = { text, to: wish.target, model: this.data.name, details: true };
    const answer = await this.post("/v1/translate/stream", body, signal);
    const places = placesOf(text);
    /** @type {Sentence[]} */
    const sentences = [];
    for await (const { name, data } of eventsOf(answer)) {
      if (name === "error") throw new Error(data.error);
      if (name !== "sentence") continue;
      const told = /** @type {Told} */ (data);
      this.detected = told.from_confidence ? told.from : "";
      const [start, end] = [places[told.start], places[told.end]];
      sentences.push(this.sentence(text.slice(start, end), told, start, wish));
      /** @type {any} */ (tell)?.(assembled(text, sentences, false));
    }
    return assembled(text, sentences, true);
  }

  /**
   * Put together what the page knows of a sentence: what the server told, and the ids that the
   * model reads and writes.
   * @private
   * @param {string} source
   * @param {Told} told
   * @param {number} start
   * @param {Wish} wish
   * @returns {Sentence}
   */
  sentence(source, told, start, wish) {
    const tags = this.data.targets.find(({ code }) => code === wish.target)?.ids ?? [];
    const [ids, target] = [source, told.text].map((text) => this.tokenizer.encode(text));
    const sourceWords = this.words(ids, tags.length);
    const found = this.words(target, 0);
    const details = told.details ?? { source_words: [], words: [], alignment: [] };
    const isAlike = details.words.length === found.length;
    const sources = new Map(details.alignment.map(([from, to]) => [to, from]));
    const words = found.map((word, at) => ({
      ...word,
      confidence: isAlike ? details.words[at].confidence : 1,
      source: (isAlike && sources.get(at)) || 0,
    }));
    const read = this.tokenizer.spell(ids).join("");
    const own = this.tokenizer.spell(target).join("");
    // A text that pieces cannot spell, such as one with two spaces, is shown without its words.
    const shift = told.text.indexOf(own.trim()) - (own.length - own.trimStart().length);
    const shown = own.trim() === told.text ? moved(words, shift) : [];
    const [end, text] = [start + source.length, told.text];
    return { start, end, text, score: told.score, source: [...tags, ...ids], target, read, sourceWords, words: shown };
  }

  /** @private @param {number[]} ids @param {number} numBefore pieces that stand before */
  words(ids, numBefore) {
    return wordsOf(this.tokenizer.spell(ids)).map((word) => ({
      ...word,
      pieces: word.pieces.map((piece) => piece + numBefore),
    }));
  }

  /**
   * Translate a file.
   * @param {File} file
   * @param {Wish} wish
   * @param {AbortSignal} signal
   * @param {(report: Report) => void} tell
   * @returns {Promise<Report>}
   */
  async translateFile(file, wish, signal, tell) {
    const form = new FormData();
    const to = wish.target || this.data.languages.to;
    for (const [name, value] of [["source", "auto"], ["target", to]]) form.append(name, value);
    form.append("file", file);
    let report = await this.report("/v1/files", { method: "POST", body: form, signal });
    while (report.state === "working") {
      tell(report);
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS));
      report = await this.report(`/v1/files/${report.id}`, { signal });
    }
    if (report.state === "failed") throw new Error(report.error);
    return report;
  }

  /** @private @param {string} path @param {RequestInit} how @returns {Promise<Report>} */
  async report(path, how) {
    return (await this.fetch(path, how)).json();
  }

  /** @private @param {string} path @param {object} body @param {AbortSignal} [signal] */
  post(path, body, signal) {
    const headers = { "Content-Type": "application/json" };
    return this.fetch(path, { method: "POST", body: JSON.stringify(body), headers, signal });
  }

  /** @private @param {string} path @param {RequestInit} how */
  async fetch(path, how) {
    const headers = new Headers(how.headers);
    if (this.key) headers.set("Authorization", `Bearer ${this.key}`);
    const answer = await fetch(path, { ...how, headers });
    if (!answer.ok) throw new Error((await answer.json()).error);
    return answer;
  }
}

/**
 * Where each code point of a text stands, as JavaScript counts, and where it ends.
 * @param {string} text
 */
function placesOf(text) {
  const places = [0];
  for (const character of text) places.push(places[places.length - 1] + character.length);
  return places;
}

/**
 * Count the places of words from elsewhere.
 * @template {Word} Each
 * @param {Each[]} words
 * @param {number} by
 */
function moved(words, by) {
  return words.map((word) => ({ ...word, start: word.start + by, end: word.end + by }));
}

/**
 * Read events as a server sends them.
 * @param {Response} answer
 * @returns {AsyncGenerator<{ name: string, data: any }>}
 */
async function* eventsOf(answer) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    rest += decoder.decode(value, { stream: !done });
    const parts = rest.split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const [name, data] = part.split("\n");
      yield { name: name.replace("event: ", ""), data: JSON.parse(data.replace("data: ", "")) };
    }
    if (done) return;
  }
}
