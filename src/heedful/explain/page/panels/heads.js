/** All heads at once: what each does in this sentence. */

import { paintWeights } from "../drawing.js";
import { element } from "../elements.js";
import { number, percent } from "../numbers.js";
import { KINDS } from "../reading.js";
import { fill } from "../texts.js";
import { onTheme } from "../theme.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../reading.js").HeadName} HeadName */
/** @typedef {import("../reading.js").Reading} Reading */
/** @typedef {import("../state.js").Kind} Kind */
/** @typedef {import("../state.js").Selection} Selection */

/** @typedef {"layer" | "entropy" | "distance" | "share" | "lost"} Order */
/** @type {Order[]} */
const ORDERS = ["layer", "entropy", "distance", "share", "lost"];

/** A table of pictures: layers by heads. */
export class HeadsPanel {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    /** @type {Reading | undefined} */
    this.reading = undefined;
    /** @type {Kind} */
    this.kind = "cross";
    /** @type {Order} */
    this.order = "layer";
    /** @type {Map<string, number>} log-probability that is lost without a head, by its name */
    this.lost = new Map();
    this.asking = new AbortController();
    const { texts, state } = context;
    this.sorter = element("select", { id: "order", change: () => this.sort() });
    this.sorter.append(...ORDERS.map((order) => element("option", { value: order }, texts[`order_${order}`])));
    this.told = element("p", { class: "told", role: "status" });
    this.table = element("div", { class: "heads", role: "grid", "aria-label": texts.headsTitle });
    this.top = element("section", { class: "heads-panel" },
      element("p", { class: "lead" }, texts.headsLead),
      element("div", { class: "pickers" }, element("label", { for: "order" }, texts.order, " ", this.sorter)),
      this.table, this.told,
    ); // prettier-ignore
    this.table.addEventListener("keydown", (event) => this.move(event));
    this.table.addEventListener("pointerover", (event) => event.pointerType === "mouse" && this.tell(event.target));
    this.table.addEventListener("focusin", ({ target }) => this.tell(target));
    this.table.addEventListener("pointerleave", () => state.preview({}));
    this.table.addEventListener("focusout", () => state.preview({}));
    this.table.addEventListener("click", ({ target }) => {
      const name = nameOf(target);
      if (name) state.keep({ ...name, panel: "head", piece: undefined, seen: undefined });
    });
    onTheme(() => this.draw());
  }

  /** @param {Reading} reading */
  read(reading) {
    this.reading = reading;
    this.lost.clear();
    if (this.order === "lost") this.measureLost();
    this.draw();
  }

  /** @param {Selection} selection */
  selected(selection) {
    const look = this.reading?.look(selection);
    if (look && look.kind !== this.kind) {
      this.kind = look.kind;
      this.draw();
    }
    const name = look && `${look.layer}.${look.head}`;
    for (const cell of this.table.querySelectorAll("button"))
      cell.setAttribute("aria-pressed", String(`${cell.dataset.layer}.${cell.dataset.head}` === name));
  }

  /** @private */
  sort() {
    this.order = /** @type {Order} */ (this.sorter.value);
    if (this.order === "lost" && !this.lost.size) this.measureLost();
    this.draw();
  }

  /** Ask what the translation loses without each head. @private */
  async measureLost() {
    const { reading } = this;
    if (!reading) return;
    this.asking.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    const { engine, texts, data } = this.context;
    const names = KINDS.flatMap((kind) =>
      Array.from({ length: data.config.num_layers }, (_, layer) => reading.heads({ kind, layer, head: 0 })).flat(),
    ).map(({ kind, layer, head }) => `${kind}.${layer}.${head}`);
    const { source, target } = reading.sentence;
    const take = (/** @type {number[]} */ losses) => {
      losses.forEach((loss, at) => this.lost.set(names[at], loss));
      this.told.textContent = losses.length < names.length ? fill(texts.measuring, { done: losses.length, all: names.length }) : "";
    };
    try {
      const asked = { source, target: target.slice(0, reading.target.length - 1), heads: names };
      take(await engine.ask("losses", asked, { signal, tell: take }));
      this.draw();
    } catch (error) {
      if (!signal.aborted) this.told.textContent = String(error);
    }
  }

  /** @private */
  draw() {
    const { reading, kind } = this;
    if (!reading) return;
    const { num_layers } = this.context.data.config;
    const layers = Array.from({ length: num_layers }, (_, layer) => reading.heads({ kind, layer, head: 0 }));
    const rows = this.order === "layer" ? layers : inRows(this.sorted(layers.flat()), layers[0].length);
    this.table.style.setProperty("--columns", String(layers[0].length));
    this.table.replaceChildren(...rows.map((row, at) => this.drawnRow(row, at)));
    const first = this.table.querySelector("button");
    if (first) first.tabIndex = 0;
    this.selected(this.context.state.shown);
  }

  /** @private @param {HeadName[]} names */
  sorted(names) {
    const value = (/** @type {HeadName} */ name) => {
      const measures = this.measures(name);
      if (this.order === "lost") return -(measures.lost ?? 0);
      if (this.order === "share") return -measures.share;
      return measures[/** @type {"entropy" | "distance"} */ (this.order)];
    };
    return [...names].sort((a, b) => value(a) - value(b));
  }

  /** @private @param {HeadName} name */
  measures(name) {
    const measures = /** @type {Reading} */ (this.reading).measures(name);
    return { ...measures, lost: this.lost.get(`${name.kind}.${name.layer}.${name.head}`) };
  }

  /** @private @param {HeadName[]} names @param {number} row */
  drawnRow(names, row) {
    const { texts } = this.context;
    const title = this.order === "layer" ? `${texts.layer} ${row + 1}` : "";
    return element("div", { role: "row", class: "heads-row" },
      element("div", { role: "rowheader", class: "heads-layer" }, title),
      ...names.map((name) => element("div", { role: "gridcell" }, this.drawn(name)))); // prettier-ignore
  }

  /** @private @param {HeadName} name */
  drawn(name) {
    const { texts } = this.context;
    const measures = this.measures(name);
    const canvas = element("canvas", { "aria-hidden": "true", class: "map" });
    paintWeights(canvas, /** @type {Reading} */ (this.reading).weights(name));
    const place = this.order === "layer" ? "" : `${name.layer + 1}.${name.head + 1} `;
    const lost = this.order === "lost" && measures.lost !== undefined ? ` −${number(measures.lost, 1)}` : "";
    return element("button", {
      type: "button", tabindex: -1, class: `head-cell role-${measures.role}`,
      "data-kind": name.kind, "data-layer": name.layer, "data-head": name.head,
      "aria-label": this.said(name),
    }, canvas, element("span", {}, `${place}${texts[`role_${measures.role}`]}${lost}`)); // prettier-ignore
  }

  /** @private @param {HeadName} name */
  said(name) {
    const { texts } = this.context;
    const { role, share, entropy, distance, lost } = this.measures(name);
    const values = { layer: name.layer + 1, head: name.head + 1, share: percent(share), entropy: number(entropy, 1), distance: number(distance, 1) };
    const said = [fill(texts.headIs, values), fill(texts[`does_${role}`], values), fill(texts.headMeasures, values)];
    if (lost !== undefined) said.push(fill(texts.headLost, { lost: number(lost, 2) }));
    return said.join(" ");
  }

  /** @private @param {EventTarget | null} target */
  tell(target) {
    const name = nameOf(target);
    if (!name) return;
    this.told.textContent = this.said(name);
    this.context.state.preview(name);
  }

  /** Arrow keys go in two directions. @private @param {KeyboardEvent} event */
  move(event) {
    const rows = [...this.table.children].map((row) => [...row.querySelectorAll("button")]);
    const y = rows.findIndex((row) => row.includes(/** @type {HTMLButtonElement} */ (event.target)));
    if (y < 0) return;
    const x = rows[y].indexOf(/** @type {HTMLButtonElement} */ (event.target));
    /** @type {Record<string, [number, number]>} */
    const places = {
      ArrowLeft: [x - 1, y], ArrowRight: [x + 1, y], ArrowUp: [x, y - 1], ArrowDown: [x, y + 1],
      Home: [0, y], End: [rows[y].length - 1, y],
    }; // prettier-ignore
    const [column, row] = places[event.key] ?? [-1, -1];
    const next = rows[row]?.[column];
    if (!next) return;
    event.preventDefault();
    for (const cell of rows.flat()) cell.tabIndex = cell === next ? 0 : -1;
    next.focus();
  }
}

/** @param {EventTarget | null} target @returns {HeadName | undefined} */
function nameOf(target) {
  const cell = target instanceof Element && target.closest("button");
  if (!cell) return undefined;
  const { kind, layer, head } = cell.dataset;
  return { kind: /** @type {Kind} */ (kind), layer: Number(layer), head: Number(head) };
}

/**
 * @template T
 * @param {T[]} all
 * @param {number} each
 */
function inRows(all, each) {
  return Array.from({ length: Math.ceil(all.length / each) }, (_, at) => all.slice(at * each, (at + 1) * each));
}
