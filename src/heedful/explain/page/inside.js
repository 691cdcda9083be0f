/** "Look inside": a tab for each panel, of which the selection names the open one. */

import { element } from "./elements.js";
import { Lesson } from "./lesson.js";
import { Bar } from "./panels/bar.js";
import { Reading } from "./reading.js";

/** @typedef {import("./main.js").Context} Context */
/** @typedef {import("./state.js").Selection} Selection */
/** @typedef {import("./translator.js").Translation} Translation */

/**
 * A panel that looks inside. It is made when it is first opened, and told only while it is open.
 * @typedef {object} Panel
 * @property {HTMLElement} top what is put on the page
 * @property {(reading: Reading) => void} read is told which sentence is looked at
 * @property {(selection: Selection) => void} selected is told whenever the selection changes
 */

/**
 * A panel as the page knows it before it is made.
 * @typedef {object} PanelKind
 * @property {string} id as it stands in the address
 * @property {keyof import("./texts.js").Texts} title
 * @property {boolean} hasBar whether who looks at whom is chosen above it
 * @property {(context: Context) => Panel} make
 */

/** Opens and closes the panels, and reads for them the sentence that is selected. */
export class Inside {
  /** @param {Context} context @param {PanelKind[]} kinds */
  constructor(context, kinds) {
    this.context = context;
    this.kinds = kinds;
    /** @type {Map<string, Panel>} */
    this.made = new Map();
    /** @type {Map<Panel | Bar | Lesson, Reading>} what each was told last */
    this.told = new Map();
    /** @type {Translation | undefined} */
    this.translation = undefined;
    /** @type {Reading | undefined} */
    this.reading = undefined;
    /** @type {import("./translator.js").Sentence | undefined} */
    this.asked = undefined;
    this.asking = new AbortController();
    const { texts, state } = context;
    this.opener = element("button", {
      type: "button", class: "opener", "aria-controls": "inside",
      click: () => state.keep({ panel: state.kept.panel ? undefined : kinds[0].id }),
    }, texts.inside); // prettier-ignore
    this.tabs = element("nav", { class: "tabs", "aria-label": texts.inside });
    this.sentences = element("div", { class: "sentences", hidden: true });
    this.lesson = new Lesson(context);
    this.bar = new Bar(context);
    this.status = element("p", { class: "waiting", role: "status" });
    this.place = element("div", { class: "panel" });
    this.inner = element("div", { id: "inside", hidden: true },
      this.lesson.card, this.tabs, this.sentences, this.bar.top, this.status, this.place); // prettier-ignore
    this.top = element("section", { class: "inside", "aria-label": texts.inside },
      element("div", { class: "openers" }, this.opener, this.lesson.opener), this.inner); // prettier-ignore
    state.listen((selection) => this.selected(selection));
    this.selected(state.shown);
  }

  /** @param {Translation} translation */
  translated(translation) {
    this.translation = translation;
    this.showSentences();
    this.selected(this.context.state.shown);
  }

  /** @param {Selection} selection */
  selected(selection) {
    const open = this.kinds.find(({ id }) => id === selection.panel);
    this.inner.hidden = !open;
    this.opener.setAttribute("aria-expanded", String(Boolean(open)));
    this.lesson.opener.hidden = !open || selection.card !== undefined;
    if (!open) return;
    this.show(open);
    this.read(selection);
    const { reading } = this;
    if (!reading) return;
    for (const part of [this.lesson, ...(open.hasBar ? [this.bar] : []), this.panel(open)]) {
      if (this.told.get(part) !== reading) {
        this.told.set(part, reading);
        part.read(reading);
      }
      part.selected(selection);
    }
  }

  /** Put the open panel on the page. @private @param {PanelKind} open */
  show(open) {
    if (this.tabs.dataset.open === open.id) return;
    this.tabs.dataset.open = open.id;
    this.tabs.replaceChildren(...this.kinds.map(({ id, title }) =>
      element("button", {
        type: "button", "aria-current": id === open.id && "page",
        click: () => this.context.state.keep({ panel: id }),
      }, this.context.texts[title]))); // prettier-ignore
    this.bar.top.hidden = !open.hasBar;
    this.place.replaceChildren(this.panel(open).top);
    if (this.tabs.contains(document.activeElement)) this.current()?.focus();
  }

  /** @private @returns {HTMLElement | null} */
  current() {
    return this.tabs.querySelector("[aria-current]");
  }

  /** Have the selected sentence read, unless it is. @private @param {Selection} selection */
  async read(selection) {
    const { texts } = this.context;
    const sentences = this.translation?.sentences ?? [];
    const sentence = sentences[Math.min(selection.sentence ?? 0, sentences.length - 1)];
    if (sentence === this.asked && (sentence || this.status.textContent)) return;
    this.asked = sentence;
    this.asking.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    this.status.textContent = sentence ? texts.reading : texts.nothingToRead;
    this.place.hidden = !sentence;
    if (!sentence) return void (this.reading = undefined);
    try {
      this.reading = await Reading.of(this.context, sentence, signal);
      this.status.textContent = "";
      this.selected(this.context.state.shown);
    } catch (error) {
      if (!signal.aborted) this.status.textContent = String(error);
    }
  }

  /** Offer the sentences of a text of several. @private */
  showSentences() {
    const { texts, state } = this.context;
    const sentences = this.translation?.sentences ?? [];
    this.sentences.hidden = sentences.length < 2;
    const chooser = element("select", { id: "sentence", change: () => state.keep({ sentence: Number(chooser.value), piece: undefined, seen: undefined, step: undefined, hypothesis: undefined }) });
    chooser.append(...sentences.map(({ read }, number) => element("option", { value: number }, read.slice(0, 80))));
    chooser.value = String(Math.min(state.kept.sentence ?? 0, sentences.length - 1));
    this.sentences.replaceChildren(element("label", { for: "sentence" }, texts.sentence, " ", chooser));
  }

  /** @private @param {PanelKind} kind */
  panel(kind) {
    let panel = this.made.get(kind.id);
    if (!panel) this.made.set(kind.id, (panel = kind.make(this.context)));
    return panel;
  }
}
