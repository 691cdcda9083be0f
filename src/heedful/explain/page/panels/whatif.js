/** What if: the same model with something switched off, computed at once. */

import { element, scrolling } from "../elements.js";
import { number, percent } from "../numbers.js";
import { KINDS } from "../reading.js";
import { fill } from "../texts.js";
import { slider } from "./strip.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../reading.js").Reading} Reading */
/** @typedef {import("../state.js").Selection} Selection */
/** @typedef {import("../transformer.js").WhatIf} WhatIf */

const DRAWN = 3; // translations that are drawn by chance

/** Switches, and what becomes of the translation. */
export class WhatIfPanel {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    /** @type {Reading | undefined} */
    this.reading = undefined;
    this.temperature = 1;
    this.asking = new AbortController();
    /** @type {Record<string, HTMLInputElement>} */
    this.switches = {};
    const { texts, data } = context;
    const { num_layers, num_heads } = data.config;
    const upTo = (/** @type {number} */ count) => Array.from({ length: count }, (_, at) => element("option", { value: at }, String(at + 1)));
    const choose = (/** @type {string} */ label, /** @type {HTMLOptionElement[]} */ options) => {
      const made = element("select", { "aria-label": label, change: () => this.ask() });
      made.append(...options);
      return made;
    };
    this.kind = choose(texts.attention, KINDS.map((kind) => element("option", { value: kind }, texts[`${kind}Kind`])));
    this.layer = choose(texts.layer, upTo(num_layers));
    this.head = choose(texts.head, [element("option", { value: "" }, texts.allHeads), ...upTo(num_heads)]);
    this.result = element("div", { class: "result", "aria-live": "polite" });
    this.drawn = element("ul", { class: "branches" });
    this.heat = slider("temperature", texts.temperature, { min: 0.1, max: 2, step: 0.1, value: 1 }, (value) => {
      this.temperature = value;
      this.heat.shown.value = number(value, 1);
    });
    this.heat.shown.value = number(1, 1);
    this.top = element("section", { class: "whatif-panel" },
      element("p", { class: "lead" }, texts.whatIfLead),
      element("div", { class: "switches" },
        this.switch("silenced", texts.silence, this.kind, texts.layer, this.layer, texts.head, this.head),
        this.switch("withoutPositions", texts.withoutPositions), this.switch("shuffled", texts.shuffled),
        this.switch("withoutMask", texts.withoutMask), this.switch("withoutScale", texts.withoutScale)),
      this.result,
      element("h3", {}, texts.chanceTitle), element("p", { class: "lead" }, texts.chanceLead),
      element("div", { class: "tools" }, this.heat.top, element("button", { type: "button", click: () => this.draw() }, texts.draw)), this.drawn,
    ); // prettier-ignore
  }

  /** @private @param {string} name @param {string} label @param {...(Node | string)} others */
  switch(name, label, ...others) {
    const box = element("input", { type: "checkbox", id: `switch-${name}`, change: () => this.ask() });
    this.switches[name] = box;
    for (const other of others)
      if (other instanceof HTMLSelectElement) other.addEventListener("change", () => { box.checked = true; }, { capture: true }); // prettier-ignore
    return element("div", { class: "switch" }, element("label", { for: box.id }, box, " ", label), ...others);
  }

  /** @param {Reading} reading */
  read(reading) {
    this.reading = reading;
    this.drawn.replaceChildren();
    this.ask();
  }

  /** @param {Selection} selection */
  selected(selection) {
    const look = this.reading?.look(selection);
    if (!look || this.switches.silenced.checked) return;
    this.kind.value = look.kind;
    this.layer.value = String(look.layer);
    this.head.value = String(look.head);
  }

  /** @private @returns {WhatIf} */
  whatIf() {
    const { silenced, withoutPositions, withoutMask, withoutScale } = this.switches;
    const heads = this.head.value ? [Number(this.head.value)] : Array.from({ length: this.context.data.config.num_heads }, (_, at) => at);
    return {
      silenced: silenced.checked ? heads.map((head) => `${this.kind.value}.${this.layer.value}.${head}`) : [],
      withoutPositions: withoutPositions.checked,
      withoutMask: withoutMask.checked,
      withoutScale: withoutScale.checked,
    };
  }

  /** @private */
  async ask() {
    const { reading } = this;
    if (!reading) return;
    this.asking.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    const { engine, texts, tokenizer } = this.context;
    const { target } = reading.sentence;
    const own = reading.sentence.source;
    const order = this.order(own.length);
    const source = order.map((at) => own[at]);
    const whatIf = this.whatIf();
    if (!this.result.childElementCount) this.result.textContent = texts.searching;
    try {
      const { hypotheses } = await engine.ask("search", { source, wish: {}, whatIf }, { signal });
      const most = reading.target.length - 1;
      const pass = await engine.ask("forward", { source, target: target.slice(0, most), whatIf, keep: ["encoder.output"] }, { signal });
      const told = whatIf.withoutPositions && this.switches.shuffled.checked ? await this.compareOrders(own, order, pass.kept["encoder.output"], whatIf) : "";
      this.show(tokenizer.decode(hypotheses[0].pieces), tokenizer.decode(source), pass, told);
    } catch (error) {
      if (!signal.aborted) this.result.textContent = String(error);
    }
  }

  /** The places of the source, as they are or in a new order; tags stay in front. @private @param {number} count */
  order(count) {
    const places = Array.from({ length: count }, (_, at) => at);
    const first = this.reading?.numTags ?? 0;
    if (!this.switches.shuffled.checked) return places;
    // Not by chance, so that it can be talked about: every second one first.
    const moved = places.slice(first);
    return [...places.slice(0, first), ...moved.filter((_, at) => at % 2), ...moved.filter((_, at) => at % 2 === 0)];
  }

  /** Without positions each piece gets the same vector in any order. @private
   * @param {number[]} source @param {number[]} order @param {import("../matrix.js").Matrix} shuffled @param {WhatIf} whatIf */
  async compareOrders(source, order, shuffled, whatIf) {
    const { kept } = await this.context.engine.ask("forward", { source, target: [], whatIf, keep: ["encoder.output"] });
    const usual = kept["encoder.output"];
    let off = 0;
    order.forEach((from, to) => {
      for (let i = 0; i < usual.width; i++)
        off = Math.max(off, Math.abs(usual.data[from * usual.width + i] - shuffled.data[to * usual.width + i]));
    });
    return fill(this.context.texts.orderTold, { off: off.toExponential(0) });
  }

  /** @private @param {string} text @param {string} source @param {import("../worker.js").Pass} pass @param {string} told */
  show(text, source, { scores }, told) {
    const { texts } = this.context;
    const reading = /** @type {Reading} */ (this.reading);
    const chance = (/** @type {import("../matrix.js").Matrix} */ { data, width }, /** @type {number} */ row) => data[row * width + reading.wanted[row]];
    const [before, after] = [reading.scores, scores].map((it) => reading.wanted.reduce((sum, _, row) => sum + chance(it, row), 0));
    const bar = (/** @type {number} */ share, /** @type {string} */ name) => {
      const made = element("span", { class: `bar-fill ${name}` });
      made.style.width = `${100 * share}%`;
      return made;
    };
    const row = (/** @type {number} */ _, /** @type {number} */ at) => {
      const [usual, changed] = [reading.scores, scores].map((it) => Math.exp(chance(it, at)));
      return element("tr", {}, element("th", { scope: "row", dir: "auto" }, reading.wantedLabels[at]),
        element("td", { class: "bar-cell", "aria-hidden": "true" }, bar(usual, "usual"), bar(changed, "changed")),
        element("td", {}, percent(usual)), element("td", {}, percent(changed))); // prettier-ignore
    };
    const isOff = !Object.values(this.switches).some(({ checked }) => checked);
    this.result.replaceChildren(
      element("dl", { class: "outcome" },
        ...(this.switches.shuffled.checked ? [element("dt", {}, texts.sourcePieces), element("dd", { dir: "auto" }, source)] : []),
        element("dt", {}, texts.asItIs), element("dd", { dir: "auto" }, reading.sentence.text),
        element("dt", {}, texts.changed), element("dd", { dir: "auto", class: text === reading.sentence.text ? "" : "other" }, isOff ? texts.nothingOff : text)),
      element("p", {}, fill(texts.whatIfTold, { before: number(before), after: number(after) }), this.switches.withoutMask.checked ? ` ${texts.maskTold}` : "", told && ` ${told}`),
      scrolling(texts.whatIfTable, element("table", { class: "likely" },
        element("caption", {}, texts.whatIfTable),
        element("thead", {}, element("tr", {}, element("th", { scope: "col" }, texts.piece), element("td", {}), element("th", { scope: "col" }, texts.asItIs), element("th", { scope: "col" }, texts.changed))),
        element("tbody", {}, ...reading.wanted.map(row)))),
    ); // prettier-ignore
  }

  /** Draw pieces by chance instead of searching for the likeliest. @private */
  async draw() {
    const { reading } = this;
    if (!reading) return;
    const { engine, tokenizer } = this.context;
    const { source } = reading.sentence;
    const asked = { source, temperature: this.temperature, whatIf: this.whatIf() };
    for (let count = 0; count < DRAWN; count++) {
      const pieces = await engine.ask("draw", asked);
      this.drawn.prepend(element("li", {}, element("span", { class: "quiet" }, `T ${number(asked.temperature, 1)} `), element("span", { dir: "auto" }, tokenizer.decode(pieces))));
    }
    while (this.drawn.childElementCount > 4 * DRAWN) this.drawn.lastChild?.remove();
  }
}
