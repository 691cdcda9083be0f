/** Beam search: every candidate of every step, and what became of it. */

import { bestFirst, lengthPenalty, scoreOf } from "../search.js";
import { element, scrolling, shape } from "../elements.js";
import { number } from "../numbers.js";
import { fill } from "../texts.js";
import { slider } from "./strip.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../reading.js").Reading} Reading */
/** @typedef {import("../search.js").Hypothesis} Hypothesis */
/** @typedef {import("../search.js").Node} Node */
/** @typedef {import("../state.js").Selection} Selection */
/** @typedef {import("../worker.js").Found} Found */

const [WIDTH, HEIGHT] = [108, 44]; // of a candidate's place, in pixels
const WIDEST = 8;
const MARKS = { kept: "", finished: "⚑", cut: "✂", outranked: "", "ended too low": "" };

/** Steps by ranks. */
export class BeamPanel {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    /** @type {Reading | undefined} */
    this.reading = undefined;
    /** @type {Found | undefined} */
    this.found = undefined;
    /** @type {Hypothesis | undefined} */
    this.greedy = undefined;
    /** @type {Map<number, Node>} */
    this.nodes = new Map();
    this.asking = new AbortController();
    const { texts, data } = context;
    this.beamSize = Math.min(data.search.beamSize, WIDEST);
    this.alpha = data.search.alpha;
    this.size = slider("beam-size", texts.beamSize, { min: 1, max: WIDEST, value: this.beamSize }, (size) => {
      this.beamSize = size;
      this.size.shown.value = String(size);
      this.search();
    });
    this.penalty = slider("alpha", "α", { max: 2, step: 0.1, value: this.alpha }, (alpha) => {
      this.alpha = alpha;
      this.rank();
    });
    this.size.shown.value = String(this.beamSize);
    this.penalty.shown.value = number(this.alpha, 1);
    this.tree = element("div", { class: "tree" });
    this.told = element("p", { class: "told", role: "status" });
    this.table = element("table", { class: "numbers" });
    this.greedyTold = element("p", {});
    this.top = element("section", { class: "beam-panel" },
      element("p", { class: "lead" }, texts.beamLead),
      element("div", { class: "sliders" }, this.size.top, this.penalty.top),
      element("p", { class: "quiet legend-line" },
        element("span", { class: "key kept" }), texts.fate_kept, " ", element("span", { class: "key finished" }), texts.fate_finished, " ",
        element("span", { class: "key outranked" }), texts.fate_outranked),
      element("div", { class: "tree-scroll", tabindex: 0, role: "group", "aria-label": texts.treeLabel }, this.tree),
      this.told,
      element("h3", {}, texts.endedTitle), element("p", { class: "lead" }, texts.endedLead),
      scrolling(texts.endedTitle, this.table), this.greedyTold,
    ); // prettier-ignore
    this.tree.addEventListener("pointerover", (event) => event.pointerType === "mouse" && this.point(event.target));
    this.tree.addEventListener("focusin", ({ target }) => this.point(target));
    this.tree.addEventListener("pointerleave", () => context.state.preview({}));
    this.tree.addEventListener("click", ({ target }) => {
      const node = this.nodeOf(target);
      if (node) context.state.keep({ hypothesis: node.id });
    });
    this.tree.addEventListener("keydown", (event) => this.move(event));
  }

  /** @param {Reading} reading */
  read(reading) {
    this.reading = reading;
    this.search();
  }

  /** @private */
  async search() {
    const { reading } = this;
    if (!reading) return;
    this.asking.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    const { engine, texts } = this.context;
    const { source } = reading.sentence;
    this.told.textContent = texts.searching;
    try {
      const wish = { beamSize: this.beamSize, alpha: this.alpha };
      this.found = await engine.ask("search", { source, wish }, { signal });
      const greedy = await engine.ask("search", { source, wish: { ...wish, beamSize: 1 } }, { signal });
      [this.greedy] = greedy.hypotheses;
      this.draw();
    } catch (error) {
      if (!signal.aborted) this.told.textContent = String(error);
    }
  }

  /** @private */
  draw() {
    const { steps } = /** @type {Found} */ (this.found);
    const { tokenizer } = this.context;
    this.nodes.clear();
    const most = Math.max(...steps.map(({ candidates }) => candidates.length));
    const [width, height] = [WIDTH * steps.length, HEIGHT * most];
    const lines = shape("svg", { "aria-hidden": "true", width, height });
    this.tree.style.width = `${width}px`;
    this.tree.style.height = `${height}px`;
    /** @type {Element[]} */
    const parts = [lines];
    for (const { candidates } of steps)
      for (const node of candidates) {
        this.nodes.set(node.id, node);
        if (node.parent?.length) lines.append(edge(node, node.parent));
        const button = element("button", {
          type: "button", class: `node ${node.fate.replaceAll(" ", "-")}`, tabindex: node.id === 1 ? 0 : -1, "data-node": node.id,
          "aria-label": this.said(node),
        }, element("b", { dir: "auto" }, tokenizer.show([node.piece])[0]), element("small", {}, `${MARKS[node.fate]} ${number(node.total)}`)); // prettier-ignore
        button.style.left = `${WIDTH * (node.length - 1)}px`;
        button.style.top = `${HEIGHT * node.rank}px`;
        parts.push(button);
      }
    this.tree.replaceChildren(...parts);
    this.rank();
    this.selected(this.context.state.shown);
  }

  /** What the score says depends on α, and so does the order of those that ended. @private */
  rank() {
    const { texts, tokenizer } = this.context;
    this.penalty.shown.value = number(this.alpha, 1);
    if (!this.found) return;
    const { steps } = this.found;
    const ended = bestFirst(steps[steps.length - 1].found, { beamSize: this.beamSize, alpha: this.alpha });
    const row = (/** @type {Hypothesis} */ it, /** @type {number} */ at) => {
      const length = it.pieces.length + Number(it.isFinished);
      return element("tr", {},
        element("th", { scope: "row" }, String(at + 1)), element("td", { class: "text", dir: "auto" }, tokenizer.decode(it.pieces)),
        element("td", {}, number(it.logProbability)), element("td", {}, String(length)),
        element("td", {}, number(lengthPenalty(length, this.alpha))), element("td", {}, number(scoreOf(it, this.alpha), 3))); // prettier-ignore
    };
    this.table.replaceChildren(
      element("caption", {}, fill(texts.endedCaption, { count: ended.length })),
      element("thead", {}, element("tr", {}, ...[texts.rank, texts.translation, "log p", "n", texts.penalty, texts.score].map((it) => element("th", { scope: "col" }, it)))),
      element("tbody", {}, ...ended.map(row)),
    ); // prettier-ignore
    const [first] = ended;
    const { greedy } = this;
    if (!first || !greedy) return;
    const isSame = greedy.pieces.join() === first.pieces.join();
    this.greedyTold.textContent = fill(isSame ? texts.greedySame : texts.greedyLoses, {
      text: tokenizer.decode(greedy.pieces), total: number(greedy.logProbability), best: number(first.logProbability),
      step: 1 + greedy.pieces.findIndex((piece, at) => piece !== first.pieces[at]),
    }); // prettier-ignore
  }

  /** @param {Selection} selection */
  selected({ hypothesis }) {
    const node = this.nodes.get(hypothesis ?? -1) ?? this.nodes.get(this.found?.hypotheses[0]?.node.id ?? -1);
    if (!node) return;
    const path = new Set();
    for (let at = /** @type {Node | null} */ (node); at; at = at.parent) path.add(at.id);
    for (const part of this.tree.querySelectorAll("[data-node]"))
      part.classList.toggle("on-path", path.has(Number(/** @type {HTMLElement} */ (part).dataset.node)));
    this.told.textContent = this.said(node);
  }

  /** Say of a candidate what it would be, and what became of it. @private @param {Node} node */
  said(node) {
    const { texts, tokenizer } = this.context;
    const pieces = [];
    for (let at = /** @type {Node | null} */ (node); at?.parent; at = at.parent) pieces.unshift(at.piece);
    const values = {
      step: node.length, rank: node.rank + 1, text: tokenizer.decode(pieces), piece: tokenizer.show([node.piece])[0],
      own: number(node.logProbability), total: number(node.total), score: number(node.total / lengthPenalty(node.length, this.alpha), 3), beam: this.beamSize,
    }; // prettier-ignore
    return `${fill(texts.nodeIs, values)} ${fill(texts[`became_${node.fate === "ended too low" ? "low" : node.fate}`], values)}`;
  }

  /** @private @param {EventTarget | null} target */
  nodeOf(target) {
    const button = target instanceof Element && target.closest("button");
    return button ? this.nodes.get(Number(button.dataset.node)) : undefined;
  }

  /** @private @param {EventTarget | null} target */
  point(target) {
    const node = this.nodeOf(target);
    if (node) this.context.state.preview({ hypothesis: node.id });
  }

  /** Arrows go along the tree: up and down the ranks, back to the parent, on to the likeliest child; F to what ended. @private @param {KeyboardEvent} event */
  move(event) {
    const node = this.nodeOf(event.target);
    if (!node) return;
    const all = [...this.nodes.values()];
    const inStep = all.filter(({ length }) => length === node.length);
    const ended = all.filter(({ fate }) => fate === "finished" || fate === "cut");
    /** @type {Record<string, Node | null | undefined>} */
    const places = {
      ArrowUp: inStep[node.rank - 1], ArrowDown: inStep[node.rank + 1], ArrowLeft: node.parent,
      ArrowRight: all.find(({ parent }) => parent?.id === node.id),
      f: ended.find(({ id }) => id > node.id) ?? ended[0],
    }; // prettier-ignore
    const next = places[event.key];
    const button = next && this.tree.querySelector(`button[data-node="${next.id}"]`);
    if (!(button instanceof HTMLElement)) return;
    event.preventDefault();
    for (const each of this.tree.querySelectorAll("button")) each.tabIndex = each === button ? 0 : -1;
    button.focus();
  }
}

/** @param {Node} node @param {Node} parent */
function edge(node, parent) {
  const [x1, x2] = [WIDTH * (parent.length - 1) + WIDTH - 20, WIDTH * (node.length - 1)];
  const [y1, y2] = [parent, node].map(({ rank }) => HEIGHT * rank + HEIGHT / 2 - 3);
  const d = `M${x1} ${y1} C${x1 + 14} ${y1}, ${x2 - 14} ${y2}, ${x2} ${y2}`;
  return shape("path", { d, class: `edge ${node.fate.replaceAll(" ", "-")}`, "data-node": node.id });
}
