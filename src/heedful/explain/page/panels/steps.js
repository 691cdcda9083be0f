/** Writing, step by step: what could come next, and what would become of it. */

import { best } from "../search.js";
import { element } from "../elements.js";
import { number, percent, whole } from "../numbers.js";
import { fill } from "../texts.js";
import { SHADE } from "./bar.js";
import { slider } from "./strip.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../reading.js").Reading} Reading */
/** @typedef {import("../state.js").Selection} Selection */

const NUM_LIKELY = 10;
const PACE = 1_100; // milliseconds between two steps that play
const MOST_CACHED = 60; // positions that are drawn of the cache

/** One step of the decoder at a time. */
export class StepsPanel {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    /** @type {Reading | undefined} */
    this.reading = undefined;
    this.step = -1;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    this.asking = new AbortController();
    const { texts } = context;
    const button = (/** @type {string} */ label, /** @type {string} */ text, /** @type {() => void} */ click) =>
      element("button", { type: "button", "aria-label": label, title: label, click }, text);
    this.slider = slider("step", texts.step, { max: 1 }, (step) => this.go(step));
    this.play = button(texts.play, "▶", () => this.switchPlay());
    this.written = element("p", { class: "written", dir: "auto" });
    this.source = element("div", { class: "pieces whom", "aria-hidden": "true" });
    this.told = element("p", { class: "told", role: "status" });
    this.likely = element("table", { class: "likely" });
    this.softmax = element("p", {});
    this.cache = element("div", { class: "cache", "aria-hidden": "true" });
    this.cacheTold = element("p", {});
    this.branches = element("ul", { class: "branches" });
    this.top = element("section", { class: "steps-panel" },
      element("p", { class: "lead" }, texts.stepsLead),
      element("div", { class: "tools" }, button(texts.back, "←", () => this.go(this.step - 1)),
        ...(matchMedia("(prefers-reduced-motion: reduce)").matches ? [] : [this.play]), button(texts.next, "→", () => this.go(this.step + 1)), this.slider.top),
      this.written,
      element("div", { class: "pieces-row" }, element("span", { class: "label" }, texts.looksAt), this.source), this.told,
      element("div", { class: "two" },
        element("div", {}, this.likely, this.softmax),
        element("div", {}, element("h3", {}, texts.cacheTitle), this.cache, this.cacheTold,
          element("h3", {}, texts.branchesTitle), element("p", { class: "quiet" }, texts.branchesLead), this.branches)),
    ); // prettier-ignore
    this.top.addEventListener("keydown", (event) => this.pressed(event));
  }

  /** @private @param {KeyboardEvent} event */
  pressed(event) {
    const isField = event.target instanceof HTMLInputElement;
    if (event.key === "ArrowLeft" && !isField) this.go(this.step - 1);
    else if (event.key === "ArrowRight" && !isField) this.go(this.step + 1);
    else return;
    event.preventDefault();
  }

  /** @private @param {number} step */
  go(step) {
    const last = (this.reading?.target.length ?? 1) - 1;
    this.context.state.keep({ step: Math.max(0, Math.min(last, step)) });
  }

  /** Play the steps one after another, until the last or a second press. @private */
  switchPlay() {
    if (this.timer) return this.stop();
    const last = (this.reading?.target.length ?? 1) - 1;
    if (this.step === last) this.go(0);
    this.play.textContent = "❚❚";
    this.timer = setInterval(() => {
      if (!this.top.isConnected || this.step >= last) return this.stop();
      this.go(this.step + 1);
    }, PACE);
  }

  /** @private */
  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.play.textContent = "▶";
  }

  /** @param {Reading} reading */
  read(reading) {
    this.stop();
    this.reading = reading;
    this.step = -1;
    this.branches.replaceChildren();
    this.slider.input.max = String(reading.target.length - 1);
    this.source.replaceChildren(...reading.sourceLabels.map((label) => element("span", { class: "piece" }, label)));
  }

  /** @param {Selection} selection */
  selected(selection) {
    const { reading } = this;
    if (!reading) return;
    const step = Math.min(selection.step ?? 0, reading.target.length - 1);
    if (step === this.step) return;
    this.step = step;
    this.slider.input.value = String(step);
    this.slider.shown.value = `${step + 1} / ${reading.target.length}`;
    this.written.replaceChildren(
      ...reading.targetLabels.slice(0, step + 1).map((label) => element("span", { class: "done" }, label)),
      element("span", { class: "coming" }, reading.wantedLabels[step]),
    );
    this.shade(step);
    this.tabulate(step);
    this.fillCache(step);
  }

  /** Show where the layer that aligns words looks in this step. @private @param {number} step */
  shade(step) {
    const reading = /** @type {Reading} */ (this.reading);
    const { layer, head } = reading.alignment;
    const heads = head === null ? reading.heads({ kind: "cross", layer, head: 0 }) : [{ kind: /** @type {const} */ ("cross"), layer, head }];
    const rows = heads.map((name) => reading.row({ ...name, row: step, column: 0 }));
    const weights = rows[0].map((_, at) => rows.reduce((sum, row) => sum + row[at], 0) / rows.length);
    [...this.source.children].forEach((piece, at) => {
      /** @type {HTMLElement} */ (piece).style.setProperty("--weight", `${SHADE * Math.sqrt(weights[at])}%`);
    });
    const whom = weights.indexOf(Math.max(...weights));
    this.told.textContent = fill(this.context.texts.stepTold, {
      step: step + 1,
      read: reading.targetLabels[step],
      next: reading.wantedLabels[step],
      whom: reading.sourceLabels[whom],
      layer: layer + 1,
    });
  }

  /** @private @param {number} step */
  tabulate(step) {
    const { texts, tokenizer, data } = this.context;
    const reading = /** @type {Reading} */ (this.reading);
    const { width } = reading.scores;
    const scores = reading.scores.data.subarray(step * width, (step + 1) * width);
    const ids = best(scores, NUM_LIKELY);
    if (!ids.includes(reading.wanted[step])) ids.push(reading.wanted[step]);
    const row = (/** @type {number} */ id) => {
      const [label] = tokenizer.show([id]);
      const chance = Math.exp(scores[id]);
      const bar = element("span", { class: "bar-fill" });
      bar.style.width = `${100 * chance}%`;
      return element("tr", { class: id === reading.wanted[step] ? "chosen" : "" },
        element("th", { scope: "row", dir: "auto" }, label),
        element("td", { class: "bar-cell", "aria-hidden": "true" }, bar),
        element("td", {}, percent(chance)), element("td", {}, number(scores[id], 2)),
        element("td", {}, element("button", { type: "button", "aria-label": fill(texts.takeInstead, { piece: label }), click: () => this.branch(step, id) }, texts.take))); // prettier-ignore
    };
    this.likely.replaceChildren(
      element("caption", {}, texts.likelyTitle),
      element("thead", {}, element("tr", {}, ...[texts.piece, "", "p", "log p", ""].map((it) => (it ? element("th", { scope: "col" }, it) : element("td", {}))))),
      element("tbody", {}, ...ids.map(row)),
    ); // prettier-ignore
    const normaliser = reading.kept.normaliser.data[step];
    const [first] = ids;
    this.softmax.textContent = fill(texts.softmaxTold, {
      width: data.config.d_model, size: whole(width), piece: tokenizer.show([first])[0],
      logit: number(scores[first] + normaliser), normaliser: number(normaliser), chance: percent(Math.exp(scores[first])),
    }); // prettier-ignore
  }

  /** Draw what is kept of the pieces read so far: keys and values of every layer. @private @param {number} step */
  fillCache(step) {
    const { texts, data } = this.context;
    const { num_layers, num_heads, d_k, d_v } = data.config;
    const reading = /** @type {Reading} */ (this.reading);
    const count = Math.min(reading.target.length, MOST_CACHED);
    this.cache.style.setProperty("--columns", String(count));
    this.cache.replaceChildren(...Array.from({ length: num_layers * count }, (_, at) => {
      const position = at % count;
      return element("span", { class: position < step ? "kept" : position === step ? "new" : "" });
    })); // prettier-ignore
    const each = num_layers * num_heads * (d_k + d_v);
    this.cacheTold.textContent = fill(texts.cacheTold, {
      count: step + 1, layers: num_layers, heads: num_heads, key: d_k, value: d_v,
      numbers: whole((step + 1) * each), source: reading.source.length, again: step,
    }); // prettier-ignore
  }

  /** Take another piece, and see what becomes of the sentence. @private @param {number} step @param {number} id */
  async branch(step, id) {
    const { texts, engine, tokenizer } = this.context;
    const reading = /** @type {Reading} */ (this.reading);
    const { source, target } = reading.sentence;
    const prefix = [...target.slice(0, step), id];
    const [label] = tokenizer.show([id]);
    const line = element("li", {}, element("b", {}, label), " ", texts.searching);
    this.branches.prepend(line);
    try {
      const ended = prefix[step] === reading.wanted[target.length] && step <= target.length && tokenizer.kinds[id] === "c";
      const { hypotheses } = ended
        ? { hypotheses: [{ pieces: target.slice(0, step) }] }
        : await engine.ask("search", { source, prefix, wish: { beamSize: 1 } });
      const { pieces } = hypotheses[0];
      const total = await this.total(source, pieces);
      const usual = await this.total(source, target);
      line.replaceChildren(
        element("b", {}, `${step + 1}: ${label}`), " ", element("span", { dir: "auto" }, tokenizer.decode(pieces)), " ",
        element("span", { class: "quiet" }, fill(texts.branchTold, { total: number(total), usual: number(usual) })),
      ); // prettier-ignore
    } catch (error) {
      line.textContent = String(error);
    }
  }

  /** The log-probability of a whole translation. @private @param {number[]} source @param {number[]} target */
  async total(source, target) {
    const { logProbability } = await this.context.engine.ask("likelihood", { source, target });
    return logProbability;
  }
}
