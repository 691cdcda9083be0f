/** Type, and read as you go. */

import { element, rove } from "../elements.js";
import { readFile, translatedName } from "../files.js";
import { ServedEngine } from "../served.js";
import { fill } from "../texts.js";
import { assembled } from "../translator.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../translator.js").Sentence} Sentence */
/** @typedef {import("../translator.js").TargetWord} TargetWord */
/** @typedef {import("../translator.js").Translation} Translation */

const PATIENCE = 200; // milliseconds without a key after which a text is translated
const MOST_WORDS = 2_000; // that can be pointed at; what comes after them is plain text
const MOST_TYPED = 20_000; // characters with marks behind them, which a browser draws at every key
const [UNSURE, DOUBTFUL] = [0.5, 0.2];
const NUM_OTHERS = 5;
const NUM_REMEMBERED = 20;

/** The panel that is the whole page for those who only want a translation. */
export class TranslatePanel {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    /** @type {Translation | undefined} */
    this.translation = undefined;
    /** @type {Translation[]} */
    this.remembered = [];
    this.asking = new AbortController();
    /** @type {Map<Element, { number: number, word: TargetWord }>} what spans stand for */
    this.shownWords = new Map();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    const { texts, data } = context;
    this.input = element("textarea", {
      id: "source", dir: "auto", rows: 4, spellcheck: "false", placeholder: texts.placeholder,
      lang: data.languages.from || undefined, input: () => this.typed(), scroll: () => this.scrolled(),
    }); // prettier-ignore
    this.marks = element("div", { class: "marks", dir: "auto", "aria-hidden": "true" });
    this.output = element("div", {
      class: "output", dir: "auto", role: "toolbar", "aria-label": texts.words,
      lang: data.languages.to || undefined,
    }); // prettier-ignore
    this.line = element("p", { class: "line", id: "line" }, texts.wordsHelp);
    this.status = element("p", { class: "status", role: "status" });
    this.copyButton = element("button", { type: "button", click: () => this.copy() }, texts.copy);
    this.target = element("select", { id: "target", change: () => this.translate() });
    this.target.append(...data.targets.map(({ code }) => element("option", { value: code }, nameOf(code))));
    this.file = element("input", { type: "file", accept: fileKinds(context), hidden: true, change: () => this.chosen() });
    this.others = element("div", { id: "others", popover: "auto", class: "others" });
    this.history = element("section", { class: "history", hidden: true, "aria-labelledby": "history" });
    this.top = element("section", { class: "translate", "aria-label": texts.title },
      element("div", { class: "sides" }, this.sourceSide(), this.targetSide()),
      this.status, this.history, this.others, this.file,
    ); // prettier-ignore
    this.listen();
  }

  /** @private */
  sourceSide() {
    const { texts, data } = this.context;
    return element("div", { class: "side" },
      element("div", { class: "head" },
        element("label", { for: "source" }, texts.source, language(data.languages.from))),
      element("div", { class: "field" }, this.marks, this.input),
      element("div", { class: "tools" },
        element("button", { type: "button", click: () => this.file.click() }, texts.openFile),
        element("button", { type: "button", click: () => this.put("") }, texts.clear)),
    ); // prettier-ignore
  }

  /** @private */
  targetSide() {
    const { texts, data } = this.context;
    const title = data.targets.length
      ? element("label", { for: "target" }, texts.target, " ", this.target)
      : element("h2", {}, texts.translation, language(data.languages.to));
    const legend = element("p", { class: "legend" }, texts.legend, " ",
      element("span", { class: "unsure" }, texts.unsure), " ",
      element("span", { class: "doubtful" }, texts.doubtful)); // prettier-ignore
    return element("div", { class: "side" },
      element("div", { class: "head" }, title),
      this.output, this.line,
      element("div", { class: "tools" }, this.copyButton, legend),
    ); // prettier-ignore
  }

  /** @private */
  listen() {
    const { output } = this;
    rove(output, ".word");
    const shown = (/** @type {Event} */ { target }) => this.point(/** @type {Element} */ (target));
    output.addEventListener("pointerover", shown);
    output.addEventListener("focusin", shown);
    output.addEventListener("pointerleave", () => this.point(null));
    output.addEventListener("focusout", () => this.point(null));
    output.addEventListener("click", ({ target }) => this.ask(/** @type {Element} */ (target)));
    output.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.ask(/** @type {Element} */ (event.target));
    });
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      const [file] = event.dataTransfer?.files ?? [];
      if (file) this.read(file);
    });
  }

  /** Begin with the text that the page was written with. */
  begin() {
    if (this.context.data.target) this.target.value = this.context.data.target;
    const text = history.state?.text ?? this.context.data.text;
    if (text) this.put(text);
    this.input.focus({ preventScroll: true });
  }

  /** Translate another text. @param {string} text */
  put(text) {
    this.input.value = text;
    this.scrolled();
    this.translate();
  }

  /** @private */
  typed() {
    clearTimeout(this.timer);
    this.point(null);
    this.timer = setTimeout(() => this.translate(), PATIENCE);
  }

  /** @private */
  async translate() {
    this.asking.abort();
    this.asking = new AbortController();
    const text = this.input.value;
    const { signal } = this.asking;
    this.output.setAttribute("aria-busy", "true");
    const slow = setTimeout(() => this.say(this.context.texts.translating), 400);
    try {
      const tell = (/** @type {Translation} */ soFar) => this.show(soFar);
      const asked = { text, wish: this.wish() };
      this.show(await this.context.engine.ask("translate", asked, { signal, tell }));
      this.say(this.detected());
      this.context.translated(/** @type {Translation} */ (this.translation));
      this.remember();
    } catch (error) {
      if (!signal.aborted) this.say(String(error));
    } finally {
      clearTimeout(slow);
      if (!signal.aborted) this.output.removeAttribute("aria-busy");
    }
  }

  /** Tell which language was read, where a server told it and there are several. @private */
  detected() {
    const { engine, texts, data } = this.context;
    if (!(engine instanceof ServedEngine) || !engine.detected || data.languages.from) return "";
    return fill(texts.detected, { language: nameOf(engine.detected) });
  }

  /** @private */
  wish() {
    return { target: this.target.value || undefined };
  }

  /** @private @param {string} text */
  say(text) {
    this.status.replaceChildren(text);
  }

  /** @private @param {Translation} translation */
  show(translation) {
    this.translation = translation;
    this.shownWords.clear();
    /** @type {(Node | string)[]} */
    const parts = [];
    let at = 0;
    translation.sentences.forEach((sentence, number) => {
      parts.push(translation.source.slice(at, sentence.start), ...this.wordsOf(sentence, number));
      at = sentence.end;
    });
    this.output.replaceChildren(...parts);
    const [first] = this.shownWords.keys();
    if (first instanceof HTMLElement) first.tabIndex = 0;
    this.copyButton.disabled = !translation.text;
  }

  /**
   * Write a sentence as words that can be pointed at, and what stands between them.
   * @private
   * @param {Sentence} sentence
   * @param {number} number
   */
  wordsOf(sentence, number) {
    if (this.shownWords.size > MOST_WORDS) return [sentence.text];
    const parts = [];
    let at = 0;
    for (const word of sentence.words) {
      const { confidence } = word;
      const sureness = confidence < DOUBTFUL ? " doubtful" : confidence < UNSURE ? " unsure" : "";
      const span = element("span", {
        class: `word${sureness}`, role: "button", tabindex: -1, "aria-haspopup": "dialog",
        "aria-describedby": "line",
      }, word.text); // prettier-ignore
      this.shownWords.set(span, { number, word });
      parts.push(sentence.text.slice(at, word.start), span);
      at = word.end;
    }
    return [...parts, sentence.text.slice(at)];
  }

  /** Show where a word comes from. @private @param {Element | null} target */
  point(target) {
    const { texts } = this.context;
    const found = target && this.shownWords.get(target);
    for (const word of this.output.querySelectorAll(".pointed")) word.classList.remove("pointed");
    if (!found || !this.translation) {
      this.marks.replaceChildren();
      this.line.textContent = texts.wordsHelp;
      return;
    }
    const sentence = this.translation.sentences[found.number];
    const source = sentence.sourceWords[found.word.source];
    const percent = percentOf(found.word.confidence);
    const values = { word: found.word.text, percent, source: source?.text ?? "" };
    this.line.textContent = fill(texts.wordFrom, values);
    target.classList.add("pointed");
    if (source) this.mark(sentence, source.text, found.word.source);
  }

  /**
   * Mark a word behind the text field: the same word, as many times after its like as in what the
   * model read, which may have other spaces.
   * @private
   * @param {Sentence} sentence
   * @param {string} word
   * @param {number} number
   */
  mark({ start, end, sourceWords }, word, number) {
    const text = this.input.value;
    if (text !== this.translation?.source || text.length > MOST_TYPED) return;
    let from = start;
    const composed = sourceWords.slice(0, number + 1).map((each) => each.text);
    for (const each of composed.slice(0, -1)) {
      const at = text.indexOf(each, from);
      if (at >= 0 && at < end) from = at + each.length;
    }
    const at = text.indexOf(word, from);
    if (at < 0 || at >= end) return;
    const marked = element("mark", {}, text.slice(at, at + word.length));
    this.marks.replaceChildren(text.slice(0, at), marked, text.slice(at + word.length));
    this.scrolled();
  }

  /** @private */
  scrolled() {
    this.marks.scrollTop = this.input.scrollTop;
  }

  /** Show what else could stand in a place. @private @param {Element} target */
  async ask(target) {
    const found = this.shownWords.get(target);
    if (!found || !this.translation) return;
    const { texts, engine } = this.context;
    const { number, word } = found;
    const sentence = this.translation.sentences[number];
    const title = element("p", {}, fill(texts.others, { word: word.text }));
    const wait = element("p", { class: "quiet" }, texts.searching);
    this.others.replaceChildren(title, wait);
    this.others.showPopover();
    this.place(target);
    const asked = { sentence, word: sentence.words.indexOf(word), count: NUM_OTHERS, wish: this.wish() };
    const { signal } = this.asking;
    try {
      const others = await engine.ask("alternatives", asked, { signal });
      wait.replaceWith(...(others.length ? others.map((it) => this.other(it, number)) : [texts.noOthers]));
      this.others.querySelector("button")?.focus();
      this.place(target);
    } catch (error) {
      this.others.hidePopover();
      if (!signal.aborted) this.say(String(error));
    }
  }

  /** @private @param {import("../translator.js").Alternative} alternative @param {number} number */
  other({ word, probability, sentence }, number) {
    return element("button", { type: "button", click: () => this.choose(sentence, number) },
      element("b", {}, word), ` ${percentOf(probability)} `,
      element("span", { class: "quiet" }, sentence.text)); // prettier-ignore
  }

  /** Put the list below a word, within the window. @private @param {Element} target */
  place(target) {
    const word = target.getBoundingClientRect();
    const list = this.others.getBoundingClientRect();
    const left = Math.max(8, Math.min(word.left, innerWidth - list.width - 8));
    const below = word.bottom + 6;
    const top = below + list.height < innerHeight ? below : Math.max(8, word.top - list.height - 6);
    this.others.style.left = `${left}px`;
    this.others.style.top = `${top}px`;
  }

  /** @private @param {Sentence} sentence @param {number} number */
  choose(sentence, number) {
    this.others.hidePopover();
    const { source, sentences, isWhole } = /** @type {Translation} */ (this.translation);
    const chosen = sentences.map((each, at) => (at === number ? sentence : each));
    this.show(assembled(source, chosen, isWhole));
    const [first] = this.shownWords.keys();
    if (first instanceof HTMLElement) first.focus();
    this.context.translated(/** @type {Translation} */ (this.translation));
  }

  /** @private */
  async copy() {
    const { texts } = this.context;
    try {
      await navigator.clipboard.writeText(this.translation?.text ?? "");
      this.copyButton.textContent = texts.copied;
      setTimeout(() => (this.copyButton.textContent = texts.copy), 1500);
    } catch {
      getSelection()?.selectAllChildren(this.output); // so that the user's own key copies it
    }
  }

  /** Remember what was translated, but for what was only a beginning of it. @private */
  remember() {
    const now = this.translation;
    if (!now?.source.trim() || !now.isWhole) return;
    const others = this.remembered.filter(
      ({ source }) => !now.source.startsWith(source) && !source.startsWith(now.source),
    );
    this.remembered = [now, ...others].slice(0, NUM_REMEMBERED);
    this.showHistory();
  }

  /** @private */
  showHistory() {
    const { texts } = this.context;
    const [, ...before] = this.remembered;
    this.history.hidden = !before.length;
    const forget = () => {
      this.remembered = this.remembered.slice(0, 1);
      this.showHistory();
    };
    this.history.replaceChildren(
      element("h2", { id: "history" }, texts.history),
      element("ul", {}, ...before.map((it) =>
        element("li", {}, element("button", { type: "button", click: () => this.put(it.source) },
          element("span", { dir: "auto" }, short(it.source)),
          element("span", { dir: "auto", class: "quiet" }, short(it.text)))))),
      element("button", { type: "button", click: forget }, texts.clearHistory),
    ); // prettier-ignore
  }

  /** @private */
  chosen() {
    const [file] = this.file.files ?? [];
    if (file) this.read(file);
    this.file.value = "";
  }

  /** Translate a file and offer the result. @private @param {File} file */
  async read(file) {
    const { texts, engine, data } = this.context;
    if (engine instanceof ServedEngine) return this.send(file, engine);
    const bytes = await file.arrayBuffer();
    let content;
    try {
      content = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      return this.say(fill(texts.notText, { name: file.name }));
    }
    const task = readFile(file.name, content);
    const control = new AbortController();
    const cancel = element("button", { type: "button", click: () => control.abort() }, texts.cancel);
    const told = element("span", {});
    this.status.replaceChildren(told, " ", cancel);
    const all = task.texts.reduce((sum, { length }) => sum + length, 0);
    let done = 0;
    const progress = (/** @type {number} */ sum) => {
      const percent = Math.floor((100 * sum) / Math.max(all, 1));
      told.textContent = fill(texts.fileRead, { name: file.name, percent });
    };
    const translations = [];
    try {
      for (const text of task.texts) {
        progress(done);
        const tell = (/** @type {Translation} */ { sentences }) =>
          progress(done + (sentences.at(-1)?.end ?? 0));
        const asked = { text, wish: this.wish() };
        const manner = { signal: control.signal, tell };
        translations.push((await engine.ask("translate", asked, manner)).text);
        done += text.length;
      }
    } catch (error) {
      return this.say(control.signal.aborted ? "" : String(error));
    }
    const name = translatedName(file.name, this.target.value || data.languages.to);
    this.offer(name, task.write(translations));
  }

  /** Have a file translated by the server. @private @param {File} file @param {ServedEngine} engine */
  async send(file, engine) {
    const { texts } = this.context;
    const control = new AbortController();
    const cancel = element("button", { type: "button", click: () => control.abort() }, texts.cancel);
    const told = element("span", {}, fill(texts.fileRead, { name: file.name, percent: 0 }));
    this.status.replaceChildren(told, " ", cancel);
    const progress = (/** @type {import("../served.js").Report} */ { texts: all, translated }) => {
      const percent = Math.floor((100 * translated) / Math.max(all, 1));
      told.textContent = fill(texts.fileRead, { name: file.name, percent });
    };
    try {
      const done = await engine.translateFile(file, this.wish(), control.signal, progress);
      const { name, unchanged } = done;
      this.status.replaceChildren(
        element("a", { href: done.url, download: name, class: "button" }, fill(texts.download, { name })),
        " ", fill(texts.fileDone, { texts: done.texts, unchanged }),
      ); // prettier-ignore
    } catch (error) {
      this.say(control.signal.aborted ? "" : String(error));
    }
  }

  /** @private @param {string} name @param {string} content */
  offer(name, content) {
    const { texts } = this.context;
    const address = URL.createObjectURL(new Blob([content], { type: "text/plain;charset=utf-8" }));
    this.status.replaceChildren(
      element("a", { href: address, download: name, class: "button" }, fill(texts.download, { name })),
    );
  }
}

/** What names of files may end in. @param {Context} context */
function fileKinds({ engine }) {
  return engine instanceof ServedEngine ? engine.served.files.join(",") : ".txt,.srt,.vtt,text/plain";
}

/** @param {string} text */
function short(text) {
  return text.length > 200 ? `${text.slice(0, 200)} …` : text;
}

/** @param {number} probability */
function percentOf(probability) {
  return probability < 0.01 ? "< 1 %" : `${Math.round(100 * probability)} %`;
}

/** @param {string} code */
function nameOf(code) {
  try {
    return new Intl.DisplayNames([document.documentElement.lang], { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}

/** @param {string} code */
function language(code) {
  return code ? ` · ${nameOf(code)}` : "";
}
