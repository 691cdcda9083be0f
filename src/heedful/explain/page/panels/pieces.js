/** From pieces to numbers: ids, embeddings, positions, and their sum. */

import { largest, paintNumbers } from "../drawing.js";
import { element, rove, shape } from "../elements.js";
import { number, whole } from "../numbers.js";
import { fill } from "../texts.js";
import { onTheme } from "../theme.js";
import { sinusoid } from "../transformer.js";
import { press } from "./bar.js";
import { slider, Strip } from "./strip.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../matrix.js").Matrix} Matrix */
/** @typedef {import("../reading.js").Reading} Reading */
/** @typedef {import("../state.js").Selection} Selection */

const NUM_NEAREST = 6;
const FEWEST_POSITIONS = 64; // in the picture of all

/** What the encoder and the decoder begin with. */
export class PiecesPanel {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    /** @type {Reading | undefined} */
    this.reading = undefined;
    /** @type {Matrix | undefined} learned positions, if the model has such */
    this.learned = undefined;
    this.dimension = 0;
    this.moved = /** @type {number | undefined} */ (undefined); // where the piece is put instead
    this.shown = "";
    const { texts, state, data } = context;
    const point = (/** @type {number} */ dimension) => this.turn(dimension);
    this.source = this.toolbar(texts.sourcePieces, "source");
    this.target = this.toolbar(texts.targetPieces, "target");
    this.told = element("p", { class: "told", role: "status" });
    this.strips = [
      new Strip(texts.embeddingStrip, point),
      new Strip(texts.positionStrip, point),
      new Strip(texts.sumStrip, point),
    ];
    this.choose = slider("dimension", texts.dimension, { max: data.config.d_model - 1 }, point);
    this.move = slider("position", texts.movePiece, { max: FEWEST_POSITIONS - 1 }, (at) => {
      this.moved = at;
      this.draw();
    });
    this.wave = element("div", { class: "wave" });
    this.waveTold = element("p", {});
    this.picture = element("canvas", { class: "map positions", role: "img", "aria-label": texts.positionsLabel });
    this.nearest = element("table", { class: "numbers" });
    this.top = element("section", { class: "pieces-panel" },
      element("p", { class: "lead" }, texts.piecesLead),
      this.source.top, this.target.top, this.told,
      element("h3", {}, texts.vectorTitle),
      element("p", { class: "lead" }, fill(texts.vectorLead, { width: data.config.d_model, root: number(Math.sqrt(data.config.d_model), 1) })),
      this.strips[0].top, element("p", { class: "sign" }, "+"), this.strips[1].top,
      element("p", { class: "sign" }, "="), this.strips[2].top,
      element("div", { class: "sliders" }, this.choose.top, this.move.top),
      element("div", { class: "two" },
        element("div", {}, element("h3", {}, texts.positionsTitle), this.waveTold, this.wave, this.picture),
        element("div", {}, this.nearest)),
    ); // prettier-ignore
    this.picture.addEventListener("click", ({ offsetX, offsetY }) => {
      this.moved = Math.floor((offsetY / this.picture.clientHeight) * this.picture.height);
      this.turn(Math.floor((offsetX / this.picture.clientWidth) * data.config.d_model));
    });
    for (const [row, kind] of /** @type {const} */ ([[this.source.pieces, "encoder"], [this.target.pieces, "decoder"]]))
      row.addEventListener("click", ({ target }) => {
        const button = target instanceof Element && target.closest("button");
        if (button) state.keep({ kind, piece: Number(button.dataset.at), seen: undefined });
      });
    onTheme(() => this.draw());
  }

  /** @private @param {string} label @param {string} name */
  toolbar(label, name) {
    const pieces = element("div", { class: "pieces ids", role: "toolbar", "aria-labelledby": `pieces-${name}`, dir: "auto" });
    rove(pieces, "button");
    const top = element("div", { class: "pieces-row" }, element("span", { class: "label", id: `pieces-${name}` }, label), pieces);
    return { pieces, top };
  }

  /** @param {Reading} reading */
  async read(reading) {
    this.reading = reading;
    this.shown = "";
    const buttons = (/** @type {string[]} */ labels, /** @type {number[]} */ ids) => labels.map((label, at) =>
      element("button", { type: "button", class: "piece", "data-at": at, tabindex: at ? -1 : 0, "aria-pressed": "false" },
        label, element("small", {}, whole(ids[at])))); // prettier-ignore
    this.source.pieces.replaceChildren(...buttons(reading.sourceLabels, reading.source));
    this.target.pieces.replaceChildren(...buttons(reading.targetLabels, reading.target));
    const { data, engine } = this.context;
    if (data.config.positions === "learned" && !this.learned) {
      this.learned = await engine.ask("weight", { name: "positions.learned" });
      this.draw();
    }
  }

  /** @param {Selection} selection */
  selected(selection) {
    const { reading } = this;
    if (!reading) return;
    const stack = selection.kind && selection.kind !== "encoder" ? "decoder" : "encoder";
    const ids = stack === "encoder" ? reading.source : reading.target;
    const at = Math.min(selection.piece ?? 0, ids.length - 1);
    press(this.source.pieces, stack === "encoder" ? at : -1);
    press(this.target.pieces, stack === "decoder" ? at : -1);
    if (this.shown === `${stack}.${at}`) return;
    this.shown = `${stack}.${at}`;
    this.moved = undefined;
    this.draw();
    this.tell(stack, at, ids[at]);
  }

  /** @private @param {number} dimension */
  turn(dimension) {
    this.dimension = dimension;
    this.draw();
  }

  /** Say what a piece is, and find those whose vectors point in the same direction. @private
   * @param {string} stack @param {number} at @param {number} id */
  async tell(stack, at, id) {
    const { texts, engine, data, tokenizer } = this.context;
    const [label] = tokenizer.show([id]);
    const values = { piece: label, id: whole(id), size: whole(data.vocabulary.pieces.length), at };
    const isTag = stack === "encoder" && at < /** @type {Reading} */ (this.reading).numTags;
    const kind = isTag ? texts.pieceTag : data.vocabulary.kinds[id] === "c" ? texts.pieceControl : data.vocabulary.kinds[id] === "b" ? texts.pieceByte : tokenizer.beginsWord(id) ? texts.pieceBegins : texts.pieceInside;
    this.told.textContent = `${fill(texts.pieceIs, values)} ${kind}`;
    const found = await engine.ask("nearest", { id, count: NUM_NEAREST });
    if (this.shown !== `${stack}.${at}`) return;
    this.nearest.replaceChildren(
      element("caption", {}, fill(texts.nearestTitle, { piece: label })),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, texts.piece), element("th", { scope: "col" }, texts.cosine))),
      element("tbody", {}, ...found.map((it) => element("tr", {},
        element("th", { scope: "row", dir: "auto" }, tokenizer.show([it.id])[0]), element("td", {}, number(it.cosine))))),
    ); // prettier-ignore
  }

  /** The vector of a position. @private @param {number} position */
  position(position) {
    const { d_model, positions } = this.context.data.config;
    if (positions !== "learned") return sinusoid(position, d_model, positions);
    return this.learned?.data.subarray(position * d_model, (position + 1) * d_model) ?? new Float32Array(d_model);
  }

  /** @private */
  draw() {
    const { reading } = this;
    if (!reading || !this.shown) return;
    const { texts, data } = this.context;
    const { d_model } = data.config;
    const [stack, own] = this.shown.split(".");
    const place = this.moved ?? Number(own);
    const embedding = reading.kept[`${stack}.embedding`].data.subarray(Number(own) * d_model, (Number(own) + 1) * d_model);
    const encoded = this.position(place);
    const sum = embedding.map((value, at) => value + encoded[at]);
    const most = Math.max(...[embedding, encoded, sum].map((it) => largest({ data: it, from: 0, rows: 1, width: d_model })));
    [embedding, encoded, sum].forEach((vector, at) => this.strips[at].show(vector, most, this.dimension));
    const count = this.numPositions();
    this.move.input.max = String(count - 1);
    this.move.input.value = String(place);
    this.move.shown.value = String(place);
    this.choose.input.value = String(this.dimension);
    this.choose.shown.value = String(this.dimension);
    this.drawPositions(count, place);
    this.waveTold.textContent = fill(this.waveLength() ? texts.waveIs : texts.waveLearned, {
      dimension: this.dimension,
      length: number(this.waveLength() ?? 0, 1),
      value: number(encoded[this.dimension], 3),
      at: place,
    });
  }

  /** @private */
  numPositions() {
    const { positions, max_length } = this.context.data.config;
    const count = Math.max(FEWEST_POSITIONS, this.reading?.source.length ?? 0, this.reading?.target.length ?? 0);
    return positions === "learned" ? Math.min(count, max_length) : count;
  }

  /** Positions after which a dimension is as it was. @private */
  waveLength() {
    const { positions, d_model } = this.context.data.config;
    if (positions === "learned") return undefined;
    const half = d_model / 2;
    const exponent = positions === "halves" ? (this.dimension % half) / Math.max(half - 1, 1) : (2 * Math.floor(this.dimension / 2)) / d_model;
    return 2 * Math.PI * 10_000 ** exponent;
  }

  /** @private @param {number} count @param {number} place */
  drawPositions(count, place) {
    const { d_model } = this.context.data.config;
    const all = new Float32Array(count * d_model);
    for (let at = 0; at < count; at++) all.set(this.position(at), at * d_model);
    paintNumbers(this.picture, { data: all, from: 0, rows: count, width: d_model });
    const most = largest({ data: all, from: 0, rows: count, width: d_model }) || 1;
    const y = (/** @type {number} */ at) => 20 - 18 * (all[at * d_model + this.dimension] / most);
    const drawing = shape("svg", { viewBox: `-1 0 ${count + 1} 40`, preserveAspectRatio: "none", "aria-hidden": "true" });
    const line = shape("polyline", { points: Array.from({ length: count }, (_, at) => `${at},${y(at)}`).join(" ") });
    const here = shape("line", { x1: place, x2: place, y1: 0, y2: 40 });
    drawing.append(here, line);
    this.wave.replaceChildren(drawing);
  }
}
