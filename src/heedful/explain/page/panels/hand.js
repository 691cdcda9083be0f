/** One weight by hand: from two vectors to a weight, and from all weights to what the layer hands on. */

import { largest } from "../drawing.js";
import { element, scrolling } from "../elements.js";
import { number, percent } from "../numbers.js";
import { fill } from "../texts.js";
import { onTheme } from "../theme.js";
import { slider, Strip } from "./strip.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../matrix.js").Matrix} Matrix */
/** @typedef {import("../reading.js").Look} Look */
/** @typedef {import("../reading.js").Reading} Reading */
/** @typedef {import("../state.js").Selection} Selection */

const EPSILON = 1e-6; // in layer normalisation, as in matrix.js
const NUM_TERMS = 3; // of a long sum, that are written out

/** The eight steps of one head at one position. */
export class HandPanel {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    /** @type {Reading | undefined} */
    this.reading = undefined;
    /** @type {Look | undefined} */
    this.look = undefined;
    this.dimension = 0; // of q, k and v
    this.feature = 0; // of d_model
    this.withoutScale = false;
    /** @type {Map<string, Matrix>} weights that were asked for */
    this.weights = new Map();
    const { texts, data } = context;
    const { d_k, d_v, d_model } = data.config;
    const turn = (/** @type {number} */ at) => { this.dimension = at; this.draw(); };
    const turnFeature = (/** @type {number} */ at) => { this.feature = at; this.draw(); };
    this.q = new Strip("q", turn);
    this.k = new Strip("k", turn);
    this.products = new Strip("q × k", turn);
    this.choose = slider("hand-dimension", texts.dimension, { max: Math.max(d_k, d_v) - 1 }, turn);
    this.v = new Strip("v", turn);
    this.head = new Strip(texts.handHead, turn);
    this.all = new Strip(texts.handConcat);
    this.change = new Strip("· W^O", turnFeature);
    this.x = new Strip("x", turnFeature);
    this.sum = new Strip("x + …", turnFeature);
    this.output = new Strip(texts.handNormed, turnFeature);
    this.chooseFeature = slider("hand-feature", texts.dimension, { max: d_model - 1 }, turnFeature);
    this.hidden = new Strip("max(0, xW₁ + b₁)");
    /** @type {Record<string, HTMLElement>} */
    this.told = {};
    this.table = element("table", { class: "numbers" });
    this.scaleButton = element("button", { type: "button", "aria-pressed": "false", click: () => {
      this.withoutScale = !this.withoutScale;
      this.scaleButton.setAttribute("aria-pressed", String(this.withoutScale));
      this.draw();
    } }, texts.dropScale); // prettier-ignore
    this.top = element("section", { class: "hand-panel" },
      element("p", { class: "lead" }, texts.handLead),
      element("ol", { class: "hand-steps" },
        this.step("projected", texts.hand1, this.q.top, this.k.top, this.choose.top),
        this.step("dot", texts.hand2, this.products.top),
        this.step("scaled", texts.hand3),
        this.step("softmax", texts.hand4, scrolling(texts.hand4, this.table), this.scaleButton),
        this.step("blended", texts.hand5, this.v.top, this.head.top),
        this.step("joined", texts.hand6, this.all.top, this.change.top),
        this.step("normed", texts.hand7, this.x.top, this.sum.top, this.output.top, this.chooseFeature.top),
        this.step("fed", texts.hand8, this.hidden.top)),
    ); // prettier-ignore
    this.top.addEventListener("keydown", (event) => this.pressed(event));
    onTheme(() => this.draw());
  }

  /** @private @param {string} name @param {string} title @param {...Node} parts */
  step(name, title, ...parts) {
    this.told[name] = element("p", { class: "sum" });
    return element("li", { tabindex: -1 }, element("h3", {}, title), ...parts, this.told[name]);
  }

  /** Space goes on to the next step, Backspace goes back. @private @param {KeyboardEvent} event */
  pressed(event) {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLButtonElement) return;
    if (event.key !== " " && event.key !== "Backspace") return;
    const steps = /** @type {HTMLElement[]} */ ([...this.top.querySelectorAll("li")]);
    const at = steps.findIndex((step) => step.contains(document.activeElement));
    const next = steps[at + (event.key === " " ? 1 : -1)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  /** @param {Reading} reading */
  read(reading) {
    this.reading = reading;
  }

  /** @param {Selection} selection */
  selected(selection) {
    if (!this.reading) return;
    this.look = this.reading.look(selection);
    this.draw();
    this.ask(this.look);
  }

  /** Fetch the weights that this head is made with, once. @private @param {Look} look */
  async ask({ kind, layer }) {
    const module = moduleOf(kind, layer);
    const [path, name] = [module.slice(0, module.lastIndexOf(".")), module.slice(module.lastIndexOf(".") + 1)];
    const wanted = ["query", "key"].flatMap((part) => [`${module}.${part}.weight`, `${module}.${part}.bias`]);
    wanted.push(`${path}.around_${name}.norm.weight`, `${path}.around_${name}.norm.bias`);
    const missing = wanted.filter((each) => !this.weights.has(each));
    if (!missing.length) return;
    for (const each of missing) this.weights.set(each, await this.context.engine.ask("weight", { name: each }));
    this.draw();
  }

  /** @private */
  draw() {
    const { reading, look } = this;
    if (!reading || !look || !this.top.isConnected) return;
    const { texts, data } = this.context;
    const { d_k, d_v, num_heads } = data.config;
    const path = `${look.kind}.${look.layer}`;
    const kept = (/** @type {string} */ part) => reading.kept[`${path}.${part}`];
    const q = slice(kept("query"), look.row, look.head * d_k, d_k);
    const k = slice(kept("key"), look.column, look.head * d_k, d_k);
    const who = reading.rows(look.kind)[look.row];
    const whom = reading.columns(look.kind)[look.column];
    const at = Math.min(this.dimension, d_k - 1);
    this.choose.input.value = String(this.dimension);
    this.choose.shown.value = String(this.dimension + 1);
    this.drawProducts(q, k, at, { who, whom });
    this.drawSoftmax(look, { who, whom });
    const v = slice(kept("value"), look.column, look.head * d_v, d_v);
    const head = slice(kept("gathered"), look.row, look.head * d_v, d_v);
    const most = biggest(v, head);
    const of = Math.min(this.dimension, d_v - 1);
    this.v.show(v, most, of);
    this.head.show(head, most, of);
    const weights = reading.row(look);
    this.told.blended.textContent = fill(texts.handBlended, {
      whom, weight: number(weights[look.column], 3), v: number(v[of], 3), part: number(weights[look.column] * v[of], 3), sum: number(head[of], 3), dimension: of + 1,
    }); // prettier-ignore
    const all = slice(kept("gathered"), look.row, 0, num_heads * d_v);
    this.all.show(all, biggest(all), Infinity);
    this.all.outline(look.head * d_v, (look.head + 1) * d_v);
    this.drawResidual(look);
  }

  /** @private @param {Float32Array} q @param {Float32Array} k @param {number} at @param {Record<string, string>} names */
  drawProducts(q, k, at, names) {
    const { texts, data } = this.context;
    const most = biggest(q, k);
    this.q.show(q, most, at);
    this.k.show(k, most, at);
    const products = q.map((value, i) => value * k[i]);
    this.products.show(products, biggest(products), at);
    this.told.projected.textContent = fill(texts.handProjected, { ...names, dimension: at + 1, width: data.config.d_k }) + " " + this.howProjected(at);
    const terms = Array.from(products.subarray(0, NUM_TERMS), (_, i) => `${number(q[i])} · ${bracketed(k[i])}`).join(" + ");
    const sum = dot(q, k);
    this.told.dot.textContent = `${terms}${products.length > NUM_TERMS ? " + …" : ""} = ${number(sum)}. ${fill(texts.handDot, { one: number(products[at], 3), dimension: at + 1 })}`;
    const root = Math.sqrt(data.config.d_k);
    this.told.scaled.textContent = `${number(sum)} / √${data.config.d_k} = ${number(sum)} / ${number(root)} = ${number(sum / root)}. ${texts.handScaled}`;
  }

  /** How one number of q is made of x: its largest terms. @private @param {number} at */
  howProjected(at) {
    const { reading, look } = this;
    if (!reading || !look) return "";
    const module = moduleOf(look.kind, look.layer);
    const weight = this.weights.get(`${module}.query.weight`);
    const bias = this.weights.get(`${module}.query.bias`);
    if (!weight || !bias) return "";
    const { d_k, d_model } = this.context.data.config;
    const row = look.head * d_k + at;
    const x = this.input(look);
    const terms = Array.from(x, (value, i) => ({ i, value, by: weight.data[row * d_model + i] }));
    terms.sort((a, b) => Math.abs(b.value * b.by) - Math.abs(a.value * a.by));
    const written = terms.slice(0, NUM_TERMS).map(({ value, by }) => `${number(value)} · ${bracketed(by)}`);
    const total = terms.reduce((sum, { value, by }) => sum + value * by, bias.data[row]);
    return fill(this.context.texts.handTerms, { dimension: at + 1, terms: written.join(" + "), bias: bracketed(bias.data[row]), sum: number(total, 3) });
  }

  /** What attention reads of who looks. @private @param {Look} look */
  input(look) {
    const reading = /** @type {Reading} */ (this.reading);
    const { d_model } = this.context.data.config;
    const ready = reading.kept[`${look.kind}.${look.layer}.ready`];
    return slice(ready ?? this.residual(look), look.row, 0, d_model);
  }

  /** What attention's change is added to. @private @param {Look} look */
  residual({ kind, layer }) {
    const { kept } = /** @type {Reading} */ (this.reading);
    if (kind === "cross") return kept[`decoder.${layer}.output`];
    return layer ? kept[`${kind}.${layer - 1}.ffn.output`] : kept[`${kind}.embedded`];
  }

  /** @private @param {Look} look @param {Record<string, string>} names */
  drawSoftmax(look, names) {
    const { texts, data } = this.context;
    const reading = /** @type {Reading} */ (this.reading);
    const { data: scores, from, width } = reading.weights(look, "scores");
    const root = Math.sqrt(data.config.d_k);
    const row = Array.from(scores.subarray(from + look.row * width, from + (look.row + 1) * width), (score) => (this.withoutScale ? score * root : score));
    const most = Math.max(...row);
    const exponentials = row.map((score) => Math.exp(score - most));
    const total = exponentials.reduce((sum, value) => sum + value, 0);
    const columns = reading.columns(look.kind);
    this.table.replaceChildren(
      element("caption", {}, fill(texts.handRow, names)),
      element("thead", {}, element("tr", {}, ...[texts.atWhom, texts.handScore, "e^(s − max)", texts.weight].map((it) => element("th", { scope: "col" }, it)))),
      element("tbody", {}, ...row.map((score, at) => element("tr", { class: at === look.column ? "chosen" : "" },
        element("th", { scope: "row", dir: "auto" }, columns[at]), element("td", {}, number(score)),
        element("td", {}, number(exponentials[at], 3)), element("td", {}, number(exponentials[at] / total, 3))))),
      element("tfoot", {}, element("tr", {}, element("th", { scope: "row" }, texts.sumOf), element("td", {}), element("td", {}, number(total, 3)), element("td", {}, number(1, 3)))),
    ); // prettier-ignore
    const off = this.check(look);
    const masked = row.some((score) => score === -Infinity) ? ` ${texts.handMasked}` : "";
    this.told.softmax.textContent = `${fill(texts.handWeight, { ...names, one: number(exponentials[look.column], 3), total: number(total, 3), weight: number(exponentials[look.column] / total, 3) })}${masked} ${fill(texts.handCheck, { off: off.toExponential(0) })}`;
  }

  /** Compute all weights of this head anew from q and k; return the largest difference from the model's. @private @param {Look} look */
  check(look) {
    const reading = /** @type {Reading} */ (this.reading);
    const { d_k } = this.context.data.config;
    const { data, from, rows, width } = reading.weights(look);
    const [query, key] = ["query", "key"].map((part) => reading.kept[`${look.kind}.${look.layer}.${part}`]);
    let off = 0;
    for (let row = 0; row < rows; row++) {
      const q = slice(query, row, look.head * d_k, d_k);
      const visible = look.kind === "decoder" ? row + 1 : width;
      const scores = Array.from({ length: visible }, (_, at) => dot(q, slice(key, at, look.head * d_k, d_k)) / Math.sqrt(d_k));
      const most = Math.max(...scores);
      const total = scores.reduce((sum, score) => sum + Math.exp(score - most), 0);
      scores.forEach((score, at) => (off = Math.max(off, Math.abs(Math.exp(score - most) / total - data[from + row * width + at]))));
    }
    return off;
  }

  /** @private @param {Look} look */
  drawResidual(look) {
    const { texts, data } = this.context;
    const reading = /** @type {Reading} */ (this.reading);
    const { d_model, d_ff, normalisation } = data.config;
    const part = (/** @type {string} */ name) => slice(reading.kept[`${look.kind}.${look.layer}.${name}`], look.row, 0, d_model);
    const [change, sum, output] = ["change", "sum", "output"].map(part);
    const x = slice(this.residual(look), look.row, 0, d_model);
    const at = this.feature;
    this.chooseFeature.input.value = String(at);
    this.chooseFeature.shown.value = String(at + 1);
    const most = biggest(x, sum, output);
    this.change.show(change, biggest(change), at);
    this.told.joined.textContent = fill(texts.handJoined, { heads: data.config.num_heads, width: data.config.d_v, all: data.config.num_heads * data.config.d_v, model: d_model });
    this.x.show(x, most, at);
    this.sum.show(sum, most, at);
    this.output.show(output, most, at);
    this.output.top.hidden = normalisation === "pre";
    this.told.normed.textContent = this.howNormed(look, { x: x[at], change: change[at], sum, output: output[at], at });
    const stack = look.kind === "encoder" ? "encoder" : "decoder";
    const hidden = slice(reading.kept[`${stack}.${look.layer}.ffn.hidden`], look.row, 0, d_ff);
    this.hidden.show(hidden, biggest(hidden), Infinity);
    const on = hidden.filter((value) => value > 0).length;
    this.told.fed.textContent = fill(texts.handFed, { on, all: d_ff, share: percent(on / d_ff), model: d_model });
  }

  /** @private @param {Look} look @param {{ x: number, change: number, sum: Float32Array, output: number, at: number }} numbers */
  howNormed(look, { x, change, sum, output, at }) {
    const { texts, data } = this.context;
    const added = `${number(x)} + ${bracketed(change)} = ${number(sum[at])}.`;
    const isPre = data.config.normalisation === "pre";
    const normed = isPre ? slice(this.residual(look), look.row, 0, data.config.d_model) : sum;
    const mean = normed.reduce((total, value) => total + value, 0) / normed.length;
    const variance = normed.reduce((total, value) => total + (value - mean) ** 2, 0) / normed.length;
    const module = moduleOf(look.kind, look.layer);
    const path = `${module.slice(0, module.lastIndexOf("."))}.around_${module.slice(module.lastIndexOf(".") + 1)}.norm`;
    const gain = this.weights.get(`${path}.weight`)?.data[at];
    const bias = this.weights.get(`${path}.bias`)?.data[at];
    if (gain === undefined || bias === undefined) return added;
    const result = ((normed[at] - mean) / Math.sqrt(variance + EPSILON)) * gain + bias;
    const values = { mean: number(mean, 3), variance: number(variance, 3), gain: number(gain, 3), bias: number(bias, 3), value: number(normed[at], 3), result: number(isPre ? result : output, 3), dimension: at + 1 };
    return `${added} ${fill(isPre ? texts.handNormPre : texts.handNorm, values)}`;
  }
}

/** The module of an attention, as it is called in the weights. @param {string} kind @param {number} layer */
function moduleOf(kind, layer) {
  return kind === "cross" ? `decoder.${layer}.source_attention` : `${kind}.${layer}.self_attention`;
}

/** @param {Matrix} from @param {number} row @param {number} column @param {number} width */
function slice({ data, width: all }, row, column, width) {
  return data.subarray(row * all + column, row * all + column + width);
}

/** @param {Float32Array} a @param {Float32Array} b */
function dot(a, b) {
  return a.reduce((sum, value, i) => sum + value * b[i], 0);
}

/** @param {...Float32Array} vectors */
function biggest(...vectors) {
  return Math.max(...vectors.map((data) => largest({ data, from: 0, rows: 1, width: data.length })));
}

/** @param {number} value */
function bracketed(value) {
  return value < 0 ? `(${number(value)})` : number(value);
}
