/** Learning: a given translation, read at once, and what the model pays for each piece of it. */

import { paintNumbers, paintWeights } from "../drawing.js";
import { element, scrolling } from "../elements.js";
import { number, percent, whole } from "../numbers.js";
import { BOS, EOS } from "../specials.js";
import { fill } from "../texts.js";
import { onTheme } from "../theme.js";
import { slider } from "./strip.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../reading.js").Reading} Reading */
/** @typedef {import("../state.js").Selection} Selection */
/** @typedef {import("../worker.js").Pass} Pass */

const SMOOTHING = 0.1; // ε of section 5.4
const PATIENCE = 300; // milliseconds without a key

/** One step of training, as far as the loss. */
export class LearningPanel {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    /** @type {Reading | undefined} */
    this.reading = undefined;
    /** @type {Pass | undefined} */
    this.pass = undefined;
    /** @type {number[]} */
    this.target = [];
    this.smoothing = SMOOTHING;
    /** @type {import("../reading.js").Look | undefined} */
    this.name = undefined;
    this.asking = new AbortController();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    const { texts } = context;
    this.reference = element("input", { id: "reference", type: "text", dir: "auto", spellcheck: "false", input: () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.ask(), PATIENCE);
    } }); // prettier-ignore
    this.epsilon = slider("smoothing", "ε", { max: 0.4, step: 0.05, value: SMOOTHING }, (value) => {
      this.smoothing = value;
      this.tabulate();
    });
    this.table = element("table", { class: "numbers" });
    this.told = element("p", { role: "status", class: "told" });
    this.before = element("canvas", { class: "map masked", role: "img", "aria-label": texts.maskBefore });
    this.after = element("canvas", { class: "map", role: "img", "aria-label": texts.maskAfter });
    this.same = element("p", {});
    this.top = element("section", { class: "learning-panel" },
      element("p", { class: "lead" }, texts.learningLead),
      element("label", { class: "reference", for: "reference" }, texts.reference, this.reference),
      this.told, scrolling(texts.learningTitle, this.table),
      element("h3", {}, texts.smoothingTitle), element("p", { class: "lead" }, texts.smoothingLead), this.epsilon.top,
      element("h3", {}, texts.maskTitle), element("p", { class: "lead" }, texts.maskLead),
      element("div", { class: "pair" },
        element("figure", {}, element("figcaption", {}, texts.maskBefore), this.before),
        element("figure", {}, element("figcaption", {}, texts.maskAfter), this.after)),
      element("h3", {}, texts.sameTitle), this.same,
      element("button", { type: "button", click: () => this.compare() }, texts.sameButton),
    ); // prettier-ignore
    onTheme(() => this.drawMask());
  }

  /** @param {Reading} reading */
  read(reading) {
    this.reading = reading;
    this.reference.value = reading.sentence.text;
    this.ask();
  }

  /** @param {Selection} selection */
  selected(selection) {
    const look = this.reading?.look({ ...selection, kind: "decoder" });
    this.name = look;
    this.drawMask();
  }

  /** Read the reference at once (teacher forcing). @private */
  async ask() {
    const { reading } = this;
    if (!reading) return;
    const { engine, tokenizer, data } = this.context;
    this.asking.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    const most = data.config.positions === "learned" ? data.config.max_length - 1 : Infinity;
    const target = tokenizer.encode(this.reference.value).slice(0, most);
    try {
      this.pass = await engine.ask("forward", { source: reading.sentence.source, target, keep: ["decoder."] }, { signal });
      this.target = target;
      this.same.textContent = "";
      this.tabulate();
      this.drawMask();
    } catch (error) {
      if (!signal.aborted) this.told.textContent = String(error);
    }
  }

  /** @private */
  tabulate() {
    const { pass, target } = this;
    if (!pass) return;
    const { texts, tokenizer } = this.context;
    const { data, width } = pass.scores;
    const [inputs, labels] = [[BOS, ...target], [...target, EOS]].map((ids) => tokenizer.show(ids));
    const wanted = [...target, EOS];
    this.epsilon.shown.value = number(this.smoothing);
    let [total, smoothed] = [0, 0];
    const rows = wanted.map((id, row) => {
      const scores = data.subarray(row * width, (row + 1) * width);
      const loss = -scores[id];
      let [sum, rank] = [0, 1];
      for (const score of scores) {
        sum -= score;
        if (score > scores[id]) rank++;
      }
      const smooth = (1 - this.smoothing) * loss + (this.smoothing * sum) / width;
      total += loss;
      smoothed += smooth;
      const dot = element("span", { class: "bar-fill" });
      dot.style.width = `${Math.min(100, 12 * loss)}%`;
      return element("tr", {},
        element("th", { scope: "row" }, String(row + 1)), element("td", { class: "text", dir: "auto" }, inputs[row]),
        element("td", { class: "text", dir: "auto" }, labels[row]), element("td", {}, percent(Math.exp(-loss))), element("td", {}, whole(rank)),
        element("td", {}, number(loss)), element("td", {}, number(smooth)), element("td", { class: "bar-cell", "aria-hidden": "true" }, dot)); // prettier-ignore
    });
    const heads = [texts.position, texts.decoderReads, texts.shouldSay, "p", texts.rank, texts.loss, texts.smoothedLoss];
    this.table.replaceChildren(
      element("caption", {}, texts.learningTitle),
      element("thead", {}, element("tr", {}, ...heads.map((it) => element("th", { scope: "col" }, it)), element("td", {}))),
      element("tbody", {}, ...rows),
    ); // prettier-ignore
    const mean = total / wanted.length;
    this.told.textContent = fill(texts.lossTold, {
      loss: number(mean, 3), perplexity: number(Math.exp(mean)), smoothed: number(smoothed / wanted.length, 3), count: wanted.length,
    }); // prettier-ignore
  }

  /** The decoder's own attention before and after softmax. @private */
  drawMask() {
    const { pass, name } = this;
    if (!pass || !name) return;
    const path = `decoder.${name.layer}.`;
    const count = this.target.length + 1;
    const [scores, weights] = ["scores", "weights"].map((part) => pass.kept[path + part].data.subarray(name.head * count * count, (name.head + 1) * count * count));
    const part = { from: 0, rows: count, width: count };
    paintNumbers(this.before, { ...part, data: scores.map((score) => (score === -Infinity ? NaN : score)) });
    paintWeights(this.after, { ...part, data: weights });
  }

  /** Write the reference piece by piece, as in translating, and compare. @private */
  async compare() {
    const { pass, reading, target } = this;
    if (!pass || !reading) return;
    const { engine, texts } = this.context;
    const stepwise = await engine.ask("stepwise", { source: reading.sentence.source, target });
    const { data, width } = pass.scores;
    const off = Math.max(...[...target, EOS].map((id, row) => Math.abs(data[row * width + id] - stepwise[row])));
    this.same.textContent = fill(texts.sameTold, { off: off.toExponential(0), count: target.length + 1 });
  }
}
