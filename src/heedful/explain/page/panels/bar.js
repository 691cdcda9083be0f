/** Who looks, at whom, and which head: what the panels about attention share. */

import { element, rove } from "../elements.js";
import { number } from "../numbers.js";
import { KINDS } from "../reading.js";
import { fill } from "../texts.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../reading.js").Look} Look */
/** @typedef {import("../reading.js").Reading} Reading */
/** @typedef {import("../state.js").Selection} Selection */

/** Percent of the fullest colour that a weight of 1 gets behind text, which has to stay readable. */
export const SHADE = 55;

/** Pieces as buttons: those who look above, and below them, shaded, those who are looked at. */
export class Bar {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    /** @type {Reading | undefined} */
    this.reading = undefined;
    const { texts } = context;
    this.pickers = element("div", { class: "pickers" });
    this.who = toolbar(texts.whoLooks, "who");
    this.whom = toolbar(texts.atWhom, "whom");
    this.told = element("p", { class: "told", role: "status" });
    this.top = element("div", { class: "bar" }, this.pickers, this.who.top, this.whom.top, this.told);
    this.listen(this.who.pieces, (piece) => ({ piece, seen: undefined }));
    this.listen(this.whom.pieces, (seen) => ({ seen }));
  }

  /** @private @param {HTMLElement} pieces @param {(at: number) => Selection} change */
  listen(pieces, change) {
    const { state } = this.context;
    const at = (/** @type {Event} */ { target }) => {
      const button = target instanceof Element && target.closest("button");
      return button ? Number(button.dataset.at) : undefined;
    };
    const preview = (/** @type {Event} */ event) => {
      const found = at(event);
      if (found !== undefined) state.preview({ ...this.kept(), ...change(found) });
    };
    pieces.addEventListener("pointerover", (event) => event.pointerType === "mouse" && preview(event));
    pieces.addEventListener("focusin", (event) => /** @type {Element} */ (event.target).matches(":focus-visible") && preview(event));
    pieces.addEventListener("pointerleave", () => state.preview({}));
    pieces.addEventListener("focusout", () => state.preview({}));
    pieces.addEventListener("click", (event) => {
      const found = at(event);
      if (found !== undefined) state.keep({ ...this.kept(), ...change(found) });
    });
  }

  /** What is selected, with the open parts closed, so that a link has all of it. @private @returns {Selection} */
  kept() {
    const { state } = this.context;
    if (!this.reading) return {};
    const { kind, layer, head, row } = this.reading.look(state.kept);
    return { kind, layer, head, piece: row };
  }

  /** @param {Reading} reading */
  read(reading) {
    this.reading = reading;
    this.who.pieces.dataset.kind = "";
  }

  /** @param {Selection} selection */
  selected(selection) {
    const { reading } = this;
    if (!reading) return;
    const look = reading.look(selection);
    if (this.who.pieces.dataset.kind !== look.kind) {
      this.who.pieces.dataset.kind = look.kind;
      this.who.pieces.replaceChildren(...reading.rows(look.kind).map(pieceButton));
      this.whom.pieces.replaceChildren(...reading.columns(look.kind).map(pieceButton));
    }
    this.pick(look);
    const weights = reading.row(look);
    press(this.who.pieces, look.row);
    press(this.whom.pieces, look.column);
    [...this.whom.pieces.children].forEach((button, at) => {
      const isSeen = look.kind !== "decoder" || at <= look.row;
      /** @type {HTMLElement} */ (button).style.setProperty("--weight", `${SHADE * Math.sqrt(weights[at])}%`);
      button.classList.toggle("unseen", !isSeen);
    });
    this.told.textContent = inWords(reading, look, this.context);
  }

  /** @private @param {Look} look */
  pick(look) {
    const { state, texts } = this.context;
    const { num_layers, num_heads } = this.context.data.config;
    const key = `${look.kind}.${look.layer}.${look.head}`;
    if (this.pickers.dataset.shown === key || this.pickers.contains(document.activeElement)) {
      for (const name of ["kind", "layer", "head"]) {
        const picker = /** @type {HTMLSelectElement | null} */ (this.pickers.querySelector(`#pick-${name}`));
        if (picker) picker.value = String(look[/** @type {"kind"} */ (name)]);
      }
      return;
    }
    this.pickers.dataset.shown = key;
    const kinds = KINDS.map((kind) => ({ value: kind, label: texts[`${kind}Kind`] }));
    const upTo = (/** @type {number} */ count) => Array.from({ length: count }, (_, at) => ({ value: at, label: String(at + 1) }));
    this.pickers.replaceChildren(
      picker("kind", texts.attention, kinds, look.kind, (kind) => state.keep({ kind: /** @type {any} */ (kind), layer: look.layer, head: look.head, piece: undefined, seen: undefined })),
      picker("layer", texts.layer, upTo(num_layers), look.layer, (layer) => state.keep({ ...this.kept(), layer: Number(layer) })),
      picker("head", texts.head, upTo(num_heads), look.head, (head) => state.keep({ ...this.kept(), head: Number(head) })),
    );
  }
}

/**
 * Say in words who looks at whom.
 * @param {Reading} reading
 * @param {Look} look
 * @param {Context} context
 */
export function inWords(reading, look, { texts }) {
  const weights = reading.row(look);
  const columns = reading.columns(look.kind);
  const best = weights.indexOf(Math.max(...weights));
  const values = {
    who: reading.rows(look.kind)[look.row],
    next: reading.wantedLabels[look.row] ?? "",
    whom: columns[best],
    weight: number(weights[best]),
    seen: columns[look.column],
    much: number(weights[look.column]),
  };
  const most = fill(look.kind === "cross" ? texts.looksWriting : texts.looks, values);
  return look.column === best ? most : `${most} ${fill(texts.looksToo, values)}`;
}

/** @param {string} label @param {string} name */
function toolbar(label, name) {
  const pieces = element("div", { class: `pieces ${name}`, role: "toolbar", "aria-labelledby": `label-${name}`, dir: "auto" });
  rove(pieces, "button");
  const top = element("div", { class: "pieces-row" }, element("span", { class: "label", id: `label-${name}` }, label), pieces);
  return { pieces, top };
}

/** @param {string} label @param {number} at */
export function pieceButton(label, at) {
  return element("button", { type: "button", class: "piece", "data-at": at, tabindex: at ? -1 : 0, "aria-pressed": "false" }, label);
}

/** @param {HTMLElement} pieces @param {number} at */
export function press(pieces, at) {
  for (const button of pieces.children)
    button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.at === String(at)));
}

/**
 * @param {string} name
 * @param {string} label
 * @param {{ value: string | number, label: string }[]} options
 * @param {string | number} value
 * @param {(value: string) => void} change
 */
function picker(name, label, options, value, change) {
  const select = element("select", { id: `pick-${name}`, change: () => change(select.value) });
  select.append(...options.map((it) => element("option", { value: it.value }, it.label)));
  select.value = String(value);
  return element("label", {}, label, " ", select);
}
