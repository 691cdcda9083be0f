/** The page: what is on it, and who knows of whom. The worker starts here too. */

import { element } from "./elements.js";
import { Engine } from "./engine.js";
import { Inside } from "./inside.js";
import { BeamPanel } from "./panels/beam.js";
import { HandPanel } from "./panels/hand.js";
import { HeadPanel } from "./panels/head.js";
import { HeadsPanel } from "./panels/heads.js";
import { LearningPanel } from "./panels/learning.js";
import { PiecesPanel } from "./panels/pieces.js";
import { StepsPanel } from "./panels/steps.js";
import { TranslatePanel } from "./panels/translate.js";
import { WhatIfPanel } from "./panels/whatif.js";
import { ServedEngine } from "./served.js";
import { State } from "./state.js";
import { chosenTexts, fill, LANGUAGES, speak } from "./texts.js";
import { followTheme, switchTheme } from "./theme.js";
import { Tokenizer } from "./tokenizer.js";
import { readBase64 } from "./weights.js";
import { serve } from "./worker.js";

/** @typedef {import("./inside.js").PanelKind} PanelKind */
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

/** @type {PanelKind[]} in the order in which they stand under "Look inside" */
const PANELS = [
  { id: "pieces", title: "piecesTab", hasBar: false, make: (context) => new PiecesPanel(context) },
  { id: "heads", title: "headsTab", hasBar: true, make: (context) => new HeadsPanel(context) },
  { id: "head", title: "headTab", hasBar: true, make: (context) => new HeadPanel(context) },
  { id: "hand", title: "handTab", hasBar: true, make: (context) => new HandPanel(context) },
  { id: "steps", title: "stepsTab", hasBar: false, make: (context) => new StepsPanel(context) },
  { id: "beam", title: "beamTab", hasBar: false, make: (context) => new BeamPanel(context) },
  { id: "learning", title: "learningTab", hasBar: false, make: (context) => new LearningPanel(context) },
  { id: "what-if", title: "whatIfTab", hasBar: false, make: (context) => new WhatIfPanel(context) },
];

/** Build the page, then open the model. */
async function open() {
  const data = /** @type {PageData} */ (JSON.parse(textOf("data")));
  const { code, texts } = chosenTexts(data, location.hash);
  document.documentElement.lang = code;
  document.title = data.name ? `${data.name} · ${texts.title}` : texts.title;
  const loading = element("p", { class: "status", role: "status" }, texts.loading);
  const main = element("main", {}, loading);
  document.body.append(header(data, texts), main, footer(data, texts));
  try {
    const engine = data.served
      ? new ServedEngine(data, data.served)
      : await Engine.open(data, readBase64(textOf("weights")));
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
  main.append(...served(context), translate.top, inside.top);
  window.addEventListener("hashchange", () => state.follow());
  document.addEventListener("keydown", ({ key }) => key === "Escape" && state.release());
  followTheme();
  translate.begin();
}

/** @param {PageData} data @param {import("./texts.js").Texts} texts */
function header(data, texts) {
  return element("header", {},
    element("h1", {}, data.name || texts.title),
    languages(data, texts),
    element("button", { type: "button", class: "theme", "aria-label": texts.theme, title: texts.theme, click: switchTheme }, "◐"),
  ); // prettier-ignore
}

/** The languages that the page itself speaks. @param {PageData} data @param {import("./texts.js").Texts} texts */
function languages(data, texts) {
  const chooser = element("select", { "aria-label": texts.language, change: () => speak(chooser.value, textOfSource()) });
  const codes = LANGUAGES.filter(({ code }) => code === "en" || code in data.texts);
  chooser.append(...codes.map(({ code, name }) => element("option", { value: code, lang: code }, name)));
  chooser.value = document.documentElement.lang;
  return chooser;
}

/** What is typed so far, to be kept when the page is built anew. */
function textOfSource() {
  const source = document.getElementById("source");
  return source instanceof HTMLTextAreaElement ? source.value : "";
}

/**
 * What a page that a server gives has besides: its other models, and a place for a key.
 * @param {Context} context
 */
function served({ data, texts, engine }) {
  if (!(engine instanceof ServedEngine)) return [];
  const { models, needsKey } = engine.served;
  const links = models.map(({ name, directions }) =>
    element("a", {
      href: `/models/${encodeURIComponent(name)}`, class: "button",
      "aria-current": name === data.name ? "page" : undefined,
    }, name, element("span", { class: "quiet" }, directions.slice(0, 4).map(({ from, to }) => ` ${from}–${to}`).join(",")))); // prettier-ignore
  const keep = (/** @type {Event} */ { target }) => {
    engine.key = /** @type {HTMLInputElement} */ (target).value;
  };
  const key = element("label", {}, texts.key, " ", element("input", { type: "password", autocomplete: "off", input: keep }));
  const docs = element("a", { href: "/docs", class: "button" }, texts.forPrograms);
  return [element("nav", { class: "tools", "aria-label": texts.models }, ...links, docs, ...(needsKey ? [key] : []))];
}

/** @param {PageData} data @param {import("./texts.js").Texts} texts */
function footer({ name, facts, version, served }, texts) {
  const numbers = new Intl.NumberFormat(document.documentElement.lang);
  const told = fill(texts.facts, {
    name: name || texts.title,
    parameters: numbers.format(facts.parameters),
    pairs: numbers.format(facts.pairs),
    score: facts.score && `, ${facts.score}`,
  });
  return element("footer", {}, element("p", {}, element("strong", {}, served ? texts.servedPromise : texts.promise)),
    element("p", {}, `${told} ${fill(texts.made, { version })}`)); // prettier-ignore
}

/** @param {string} id */
function textOf(id) {
  return document.getElementById(id)?.textContent ?? "";
}

if (typeof document === "undefined") serve(/** @type {any} */ (self));
else open();
