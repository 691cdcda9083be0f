/** One head: its whole map, the lines of a piece, the most that it looks at, and words for it. */

import { paintWeights } from "../drawing.js";
import { element, shape } from "../elements.js";
import { number, percent } from "../numbers.js";
import { asPng, asSvg, download } from "../pictures.js";
import { fill } from "../texts.js";
import { onTheme } from "../theme.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../reading.js").HeadName} HeadName */
/** @typedef {import("../reading.js").Look} Look */
/** @typedef {import("../reading.js").Reading} Reading */
/** @typedef {import("../state.js").Selection} Selection */

const MOST_PINNED = 3; // as many hues as everybody tells apart
const MASS = 0.75; // of the weights that lines of all pieces are drawn for
const NUM_BEST = 5;
const LINE = 26; // pixels between two labels of the lines

/** Weights between groups of pieces. @typedef {{ rows: { label: string, places: number[] }[], columns: { label: string, places: number[] }[], data: Float32Array }} Grouped */

/** The map and what is beside it. */
export class HeadPanel {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    /** @type {Reading | undefined} */
    this.reading = undefined;
    /** @type {HeadName[]} */
    this.pinned = [];
    this.byWords = false;
    this.showsAll = false;
    /** @type {Grouped | undefined} */
    this.shown = undefined;
    this.key = "";
    const { texts, state } = context;
    const button = (/** @type {string} */ text, /** @type {() => void} */ click) => element("button", { type: "button", click }, text);
    this.canvas = element("canvas", { class: "map", "aria-hidden": "true" });
    this.cross = element("div", { class: "crosshair", hidden: true });
    this.columns = element("div", { class: "map-columns", "aria-hidden": "true" });
    this.rows = element("div", { class: "map-rows", "aria-hidden": "true" });
    this.map = element("div", { class: "map-scroll", tabindex: 0, role: "img", "aria-label": texts.mapLabel },
      element("div", { class: "map-grid" }, this.columns, this.rows, element("div", { class: "map-cells" }, this.canvas, this.cross))); // prettier-ignore
    this.lookers = element("div", { class: "line-labels" });
    this.looked = element("div", { class: "line-labels" });
    this.drawing = shape("svg", {});
    this.lines = element("div", { class: "lines" }, this.lookers, this.drawing, this.looked);
    this.table = element("table", { class: "numbers" });
    this.does = element("p", { class: "lead" });
    this.unit = toggle(texts.byWords, (on) => { this.byWords = on; this.redraw(); });
    this.all = toggle(texts.allLines, (on) => { this.showsAll = on; this.redraw(); });
    this.pins = element("p", { class: "pins" });
    this.top = element("section", { class: "head-panel" }, this.does,
      element("div", { class: "two" },
        element("figure", {}, element("figcaption", {}, texts.mapTitle), this.map,
          element("div", { class: "tools" }, this.unit.top,
            button(texts.saveSvg, () => this.save("svg")), button(texts.savePng, () => this.save("png"))),
          this.table,
          element("p", {}, button(texts.how, () => state.keep({ ...this.kept(), panel: "hand" })))),
        element("div", {},
          element("figure", {}, element("figcaption", {}, texts.linesTitle), this.lines,
            element("div", { class: "tools" }, this.all.top, button(texts.pin, () => this.pin())), this.pins)))); // prettier-ignore
    this.listen();
    onTheme(() => this.redraw());
  }

  /** @private */
  listen() {
    const { state } = this.context;
    const at = (/** @type {PointerEvent | MouseEvent} */ { offsetX, offsetY }) => {
      const { shown } = this;
      if (!shown) return {};
      const row = Math.floor((offsetY / this.canvas.clientHeight) * shown.rows.length);
      const column = Math.floor((offsetX / this.canvas.clientWidth) * shown.columns.length);
      return { piece: shown.rows[row]?.places[0], seen: shown.columns[column]?.places[0] };
    };
    let last = "";
    this.canvas.addEventListener("pointermove", (event) => {
      const found = at(event);
      const key = `${found.piece}.${found.seen}`;
      if (event.pointerType !== "mouse" || key === last) return;
      last = key;
      state.preview({ ...this.kept(), ...found });
    });
    this.canvas.addEventListener("pointerleave", () => {
      last = "";
      state.preview({});
    });
    this.canvas.addEventListener("click", (event) => state.keep({ ...this.kept(), ...at(event) }));
    this.top.addEventListener("keydown", (event) => this.pressed(event));
  }

  /** Brackets go through the heads, braces through the layers; arrows through the map. @private @param {KeyboardEvent} event */
  pressed(event) {
    const { reading } = this;
    if (!reading) return;
    const { num_heads, num_layers } = this.context.data.config;
    const look = reading.look(this.context.state.kept);
    const isMap = event.target === this.map;
    const within = (/** @type {number} */ value, /** @type {number} */ count) => Math.max(0, Math.min(count - 1, value));
    const [rows, columns] = [reading.rows(look.kind).length, reading.columns(look.kind).length];
    /** @type {Record<string, Selection>} */
    const changes = {
      "[": { head: within(look.head - 1, num_heads) }, "]": { head: within(look.head + 1, num_heads) },
      "{": { layer: within(look.layer - 1, num_layers) }, "}": { layer: within(look.layer + 1, num_layers) },
      ...(isMap && {
        ArrowUp: { piece: within(look.row - 1, rows) }, ArrowDown: { piece: within(look.row + 1, rows) },
        ArrowLeft: { seen: within(look.column - 1, columns) }, ArrowRight: { seen: within(look.column + 1, columns) },
        Enter: { panel: "hand" },
      }),
    }; // prettier-ignore
    const change = changes[event.key];
    if (!change) return;
    event.preventDefault();
    this.context.state.keep({ ...this.kept(), seen: look.column, ...change });
  }

  /** @private @returns {Selection} */
  kept() {
    if (!this.reading) return {};
    const { kind, layer, head, row, column } = this.reading.look(this.context.state.kept);
    return { kind, layer, head, piece: row, seen: column };
  }

  /** @param {Reading} reading */
  read(reading) {
    this.reading = reading;
    this.key = "";
  }

  /** @private */
  redraw() {
    this.key = "";
    this.selected(this.context.state.shown);
  }

  /** @param {Selection} selection */
  selected(selection) {
    const { reading } = this;
    if (!reading) return;
    const look = reading.look(selection);
    const key = `${look.kind}.${look.layer}.${look.head}`;
    if (key !== this.key) {
      this.key = key;
      this.shown = this.grouped(look);
      this.drawMap(look);
    }
    this.point(look);
    this.drawLines(look);
    this.tabulate(look);
  }

  /** Add up weights over the pieces looked at of a word, and average over those that look. @private @param {HeadName} name @returns {Grouped} */
  grouped(name) {
    const reading = /** @type {Reading} */ (this.reading);
    const rows = reading.groups(name.kind === "encoder" ? "source" : "target", this.byWords);
    const columns = reading.groups(name.kind === "decoder" ? "target" : "source", this.byWords);
    const { data, from, width } = reading.weights(name);
    const grouped = new Float32Array(rows.length * columns.length);
    rows.forEach((row, y) =>
      columns.forEach((column, x) => {
        let sum = 0;
        for (const who of row.places) for (const whom of column.places) sum += data[from + who * width + whom];
        grouped[y * columns.length + x] = sum / row.places.length;
      }),
    );
    return { rows, columns, data: grouped };
  }

  /** @private @param {Look} look */
  drawMap(look) {
    const { texts } = this.context;
    const { rows, columns, data } = /** @type {Grouped} */ (this.shown);
    paintWeights(this.canvas, { data, from: 0, rows: rows.length, width: columns.length });
    const size = Math.max(rows.length, columns.length) > 40 ? 12 : Math.max(rows.length, columns.length) > 22 ? 18 : 24;
    this.map.style.setProperty("--cell", `${size}px`);
    this.rows.replaceChildren(...rows.map(({ label }) => element("span", { dir: "auto" }, label)));
    this.columns.replaceChildren(...columns.map(({ label }) => element("span", { dir: "auto" }, element("bdi", {}, label))));
    this.lookers.replaceChildren(...rows.map(({ label }) => element("span", { dir: "auto" }, label)));
    this.looked.replaceChildren(...columns.map(({ label }) => element("span", { dir: "auto" }, label)));
    this.showPins();
    this.canvas.style.width = `${size * columns.length}px`;
    this.canvas.style.height = `${size * rows.length}px`;
    const { role, share, entropy } = /** @type {Reading} */ (this.reading).measures(look);
    const values = { layer: look.layer + 1, head: look.head + 1, share: percent(share), entropy: number(entropy, 1) };
    this.does.textContent = `${fill(texts.headIs, values)} ${fill(texts[`does_${role}`], values)} ${fill(texts.entropyIs, values)}`;
  }

  /** The row and column of a look in what is shown. @private @param {Look} look */
  placed(look) {
    const { rows, columns } = /** @type {Grouped} */ (this.shown);
    const row = Math.max(rows.findIndex(({ places }) => places.includes(look.row)), 0);
    const column = Math.max(columns.findIndex(({ places }) => places.includes(look.column)), 0);
    return { row, column };
  }

  /** @private @param {Look} look */
  point(look) {
    const { row, column } = this.placed(look);
    this.cross.hidden = false;
    this.cross.style.setProperty("--row", String(row));
    this.cross.style.setProperty("--column", String(column));
    mark(this.rows, row);
    mark(this.columns, column);
  }

  /** Draw the lines of the selected piece, or those of all that carry most of the weight. @private @param {Look} look */
  drawLines(look) {
    const { rows, columns } = /** @type {Grouped} */ (this.shown);
    const { row } = this.placed(look);
    const heads = this.pinned.length ? this.pinned.filter(({ kind }) => kind === look.kind) : [look];
    const height = LINE * Math.max(rows.length, columns.length);
    const drawing = shape("svg", { viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    drawing.style.height = `${height}px`;
    heads.forEach((name, hue) => {
      const { data } = this.pinned.length ? this.grouped(name) : /** @type {Grouped} */ (this.shown);
      for (const link of links(data, columns.length, this.showsAll ? undefined : row)) {
        const [from, to] = [link.row, link.column].map((at) => LINE * (at + 0.5) + 3 * (hue - (heads.length - 1) / 2));
        const line = shape("line", { x1: 0, x2: 100, y1: from, y2: to, class: this.pinned.length ? `hue-${hue}` : "hue" });
        line.style.strokeWidth = `${1 + 5 * link.weight}px`;
        line.style.opacity = String(0.15 + 0.85 * Math.sqrt(link.weight));
        drawing.append(line);
      }
    });
    this.drawing.replaceWith(drawing);
    this.drawing = drawing;
    mark(this.lookers, row);
    mark(this.looked, this.placed(look).column);
  }

  /** The places that a piece looks at most, as a table that can be read out. @private @param {Look} look */
  tabulate(look) {
    const { texts } = this.context;
    const { columns, rows, data } = /** @type {Grouped} */ (this.shown);
    const { row } = this.placed(look);
    const weights = [...data.subarray(row * columns.length, (row + 1) * columns.length)];
    const best = weights.map((weight, at) => ({ weight, at })).sort((a, b) => b.weight - a.weight).slice(0, NUM_BEST);
    this.table.replaceChildren(
      element("caption", {}, fill(texts.bestTitle, { who: rows[row].label })),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, texts.atWhom), element("th", { scope: "col" }, texts.weight))),
      element("tbody", {}, ...best.map(({ weight, at }) => element("tr", {},
        element("th", { scope: "row", dir: "auto" }, columns[at].label), element("td", {}, number(weight, 3))))),
    ); // prettier-ignore
  }

  /** @private */
  pin() {
    const { reading } = this;
    if (!reading) return;
    const { kind, layer, head } = reading.look(this.context.state.kept);
    const isPinned = this.pinned.some((it) => it.kind === kind && it.layer === layer && it.head === head);
    if (isPinned || this.pinned.length === MOST_PINNED) return;
    if (this.pinned.some((it) => it.kind !== kind)) this.pinned = [];
    this.pinned = [...this.pinned, { kind, layer, head }];
    this.redraw();
  }

  /** @private */
  showPins() {
    const { texts } = this.context;
    this.pins.replaceChildren(...this.pinned.map((name, hue) => {
      const values = { layer: name.layer + 1, head: name.head + 1 };
      const remove = () => { this.pinned = this.pinned.filter((it) => it !== name); this.redraw(); };
      return element("button", { type: "button", class: `pin hue-${hue}`, click: remove, title: texts.unpin },
        element("span", { class: "swatch", "aria-hidden": "true" }), fill(texts.headShort, values), " ×");
    })); // prettier-ignore
  }

  /** @private @param {"svg" | "png"} kind */
  async save(kind) {
    const { texts, state } = this.context;
    const { reading, shown } = this;
    if (!reading || !shown) return;
    const look = reading.look(state.kept);
    const title = `${texts[`${look.kind}Kind`]}, ${fill(texts.headShort, { layer: look.layer + 1, head: look.head + 1 })}`;
    const figure = {
      title,
      rows: shown.rows.map(({ label }) => label),
      columns: shown.columns.map(({ label }) => label),
      weight: (/** @type {number} */ row, /** @type {number} */ column) => shown.data[row * shown.columns.length + column],
    };
    const name = `${look.kind}-${look.layer + 1}-${look.head + 1}.${kind}`;
    download(name, kind === "svg" ? new Blob([asSvg(figure)], { type: "image/svg+xml" }) : await asPng(figure));
  }
}

/**
 * The links of one row, or the fewest of each row that carry three quarters of its weight.
 * @param {Float32Array} data
 * @param {number} width
 * @param {number | undefined} only
 */
function links(data, width, only) {
  const found = [];
  for (let row = 0; row * width < data.length; row++) {
    if (only !== undefined && row !== only) continue;
    const all = [...data.subarray(row * width, (row + 1) * width)].map((weight, column) => ({ row, column, weight }));
    all.sort((a, b) => b.weight - a.weight);
    let mass = 0;
    for (const link of all) {
      if (only === undefined && mass >= MASS) break;
      mass += link.weight;
      if (link.weight > 0.005) found.push(link);
    }
  }
  return found;
}

/** @param {HTMLElement} labels @param {number} at */
function mark(labels, at) {
  labels.querySelector(".chosen")?.classList.remove("chosen");
  labels.children[at]?.classList.add("chosen");
}

/** @param {string} text @param {(on: boolean) => void} change */
function toggle(text, change) {
  const button = element("button", { type: "button", "aria-pressed": "false", click: () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    change(on);
  } }, text); // prettier-ignore
  return { top: button };
}
