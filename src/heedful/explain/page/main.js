/** The page: what is on it, and who knows of whom. The worker starts here too. */

import { element } from "./elements.js";
import { Engine } from "./engine.js";
import { TranslatePanel } from "./panels/translate.js";
import { State } from "./state.js";
import { english, fill } from "./texts.js";
import { Tokenizer } from "./tokenizer.js";
import { readBase64 } from "./weights.js";
import { serve } from "./worker.js";

/** @typedef {import("./state.js").Selection} Selection */
/** @typedef {import("./translator.js").PageData} PageData */
/** @typedef {import("./translator.js").Translation} Translation */

/**
 * What panels work with.
 * @typedef {object} Context
 * @property {PageData} data
 * @property {import("./texts.js").Texts} texts
 * @property {Engine} engine asks the worker
 * @property {Tokenizer} tokenizer
 * @property {State} state the one selection
 * @property {(translation: Translation) => void} translated to be told what is looked at from now on
 */

/**
 * A panel that looks inside. It is made when it is first opened.
 * @typedef {object} Panel
 * @property {HTMLElement} top what is put on the page
 * @property {(translation: Translation) => void} translated is told of every new translation
 * @property {(selection: Selection) => void} selected is told whenever the selection changes
 */

/**
 * A panel as the page knows it before it is made.
 * @typedef {object} PanelKind
 * @property {string} id as it stands in the address
 * @property {keyof import("./texts.js").Texts} title
 * @property {(context: Context) => Panel} make
 */

/** @type {PanelKind[]} in the order in which they stand under "Look inside" */
const PANELS = [];

/** The panels that look inside: a tab for each, of which the selection names the open one. */
class Inside {
  /** @param {Context} context @param {PanelKind[]} kinds */
  constructor(context, kinds) {
    this.context = context;
    this.kinds = kinds;
    /** @type {Map<string, Panel>} */
    this.made = new Map();
    /** @type {Translation | undefined} */
    this.translation = undefined;
    this.tabs = element("nav", { "aria-labelledby": "inside" });
    this.place = element("div", {});
    const title = element("h2", { id: "inside" }, context.texts.inside);
    this.top = element("section", { class: "inside", hidden: !kinds.length }, title, this.tabs, this.place);
    context.state.listen((selection) => this.selected(selection));
    this.selected(context.state.shown);
  }

  /** @param {Translation} translation */
  translated(translation) {
    this.translation = translation;
    for (const panel of this.made.values()) panel.translated(translation);
  }

  /** @param {Selection} selection */
  selected(selection) {
    const { context, kinds, tabs, place } = this;
    const open = kinds.find(({ id }) => id === selection.panel);
    const tab = (/** @type {PanelKind} */ { id, title }) => {
      const click = () => context.state.keep({ panel: id });
      const pressed = String(id === open?.id);
      return element("button", { type: "button", "aria-pressed": pressed, click }, context.texts[title]);
    };
    if (tabs.dataset.open !== String(open?.id)) {
      tabs.dataset.open = String(open?.id);
      tabs.replaceChildren(...kinds.map(tab));
      const panel = open && this.panel(open);
      place.replaceChildren(...(panel ? [panel.top] : []));
    }
    if (open) this.panel(open).selected(selection);
  }

  /** @private @param {PanelKind} kind */
  panel(kind) {
    let panel = this.made.get(kind.id);
    if (!panel) {
      panel = kind.make(this.context);
      this.made.set(kind.id, panel);
      if (this.translation) panel.translated(this.translation);
    }
    return panel;
  }
}

/** Build the page, then open the model. */
async function open() {
  const data = /** @type {PageData} */ (JSON.parse(textOf("data")));
  const texts = english;
  document.title = data.name ? `${data.name} · ${texts.title}` : texts.title;
  const loading = element("p", { class: "status", role: "status" }, texts.loading);
  const main = element("main", {}, loading);
  document.body.append(header(data, texts), main, footer(data, texts));
  try {
    const engine = await Engine.open(data, readBase64(textOf("weights")));
    loading.remove();
    start(main, data, texts, engine);
  } catch (error) {
    loading.replaceWith(element("p", { role: "alert" }, fill(texts.failed, { reason: String(error) })));
  }
}

/**
 * @param {HTMLElement} main
 * @param {PageData} data
 * @param {import("./texts.js").Texts} texts
 * @param {Engine} engine
 */
function start(main, data, texts, engine) {
  const state = new State(location);
  const tokenizer = new Tokenizer(data.vocabulary);
  /** @type {Context} */
  const context = { data, texts, engine, tokenizer, state, translated: (it) => inside.translated(it) };
  const inside = new Inside(context, PANELS);
  const translate = new TranslatePanel(context);
  main.append(translate.top, inside.top);
  window.addEventListener("hashchange", () => state.follow());
  document.addEventListener("keydown", ({ key }) => key === "Escape" && state.release());
  translate.begin();
}

/** @param {PageData} data @param {import("./texts.js").Texts} texts */
function header(data, texts) {
  return element("header", {},
    element("h1", {}, data.name || texts.title),
    element("button", { type: "button", class: "theme", "aria-label": texts.theme, title: texts.theme, click: switchTheme }, "◐"),
  ); // prettier-ignore
}

/** @param {PageData} data @param {import("./texts.js").Texts} texts */
function footer({ name, facts, version }, texts) {
  const numbers = new Intl.NumberFormat(document.documentElement.lang);
  const told = fill(texts.facts, {
    name: name || texts.title,
    parameters: numbers.format(facts.parameters),
    pairs: numbers.format(facts.pairs),
    score: facts.score && `, ${facts.score}`,
  });
  return element("footer", {}, element("p", {}, element("strong", {}, texts.promise)),
    element("p", {}, `${told} ${fill(texts.made, { version })}`)); // prettier-ignore
}

/** From what the system wants to the other, and back. */
function switchTheme() {
  const { style } = document.documentElement;
  const isDark = style.colorScheme
    ? style.colorScheme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  style.colorScheme = isDark ? "light" : "dark";
}

/** @param {string} id */
function textOf(id) {
  return document.getElementById(id)?.textContent ?? "";
}

if (typeof document === "undefined") serve(/** @type {any} */ (self));
else open();
