/** Text in, translation out, in the worker: sentences, ids, search, words.
 *
 * Simpler than src/heedful/translation: tags, addresses and numbers are left to the model, text in
 * capitals is read as it is, and a search that goes round in circles is not tried again.
 */

import { cutText } from "./sentences.js";
import { best, bestFirst, lengthLimit, scoreOf, searchSteps } from "./search.js";
import { BOS, EOS } from "./specials.js";
import { logSoftmax, matrix } from "./matrix.js";
import { Tokenizer } from "./tokenizer.js";
import { Transformer } from "./transformer.js";
import { betweenWords, placeOfLargest, wordsOf } from "./words.js";

/** @typedef {import("./matrix.js").Matrix} Matrix */
/** @typedef {import("./search.js").Hypothesis} Hypothesis */
/** @typedef {import("./search.js").SearchConfig} SearchConfig */
/** @typedef {import("./search.js").SearchStep} SearchStep */
/** @typedef {import("./transformer.js").DecoderState} DecoderState */
/** @typedef {import("./transformer.js").WhatIf} WhatIf */
/** @typedef {import("./words.js").Word} Word */

/**
 * What the page knows of its model. Python writes it (explain/page.py).
 * @typedef {object} PageData
 * @property {string} name of the model
 * @property {string} version of heedful
 * @property {string} text to begin with, or ""
 * @property {Record<string, import("./texts.js").Texts>} texts of the page in other languages
 * @property {import("./transformer.js").ModelConfig} config
 * @property {import("./tokenizer.js").Vocabulary} vocabulary
 * @property {import("./weights.js").Place[]} places of the weights
 * @property {SearchConfig} search how to translate unless told otherwise
 * @property {{ layer: number, head: number | null, shift: number }} alignment
 * @property {{ from: string, to: string }} languages codes, or "" if they are not known
 * @property {{ code: string, ids: number[] }[]} targets languages it can be told to translate to,
 *   each with the ids that go before the source; none if there is no choice
 * @property {string} target which of these to begin with, or ""
 * @property {{ parameters: number, trained: string, pairs: number, score: string }} facts
 * @property {import("./served.js").Served} [served] of a page that a server gives
 */

/**
 * How to translate. What is left out is as the model wants it.
 * @typedef {object} Wish
 * @property {number} [beamSize]
 * @property {number} [alpha]
 * @property {string} [target] code of a language among `PageData.targets`
 */

/**
 * A word of a translation.
 * @typedef {Word & { confidence: number, source: number }} TargetWord
 *   `confidence` is its probability given the words before it; `source` the number of the source
 *   word that it looked at most
 */

/**
 * A sentence and its translation. Places of words count from the start of each.
 * @typedef {object} Sentence
 * @property {number} start where the source sentence starts in the text
 * @property {number} end
 * @property {string} text the translation
 * @property {number} score log-probability over the length penalty
 * @property {number[]} source ids, tags in front, without EOS
 * @property {number[]} target ids, without BOS and EOS
 * @property {string} read the source as the model read it, in which its words have their places
 * @property {Word[]} sourceWords
 * @property {TargetWord[]} words
 */

/**
 * What became of a text.
 * @typedef {object} Translation
 * @property {string} source
 * @property {string} text
 * @property {Sentence[]} sentences
 * @property {boolean} isWhole whether all sentences are there
 */

/** @typedef {{ word: string, probability: number, sentence: Sentence }} Alternative */

/** Waits for whatever has to be heard meanwhile, and throws if nobody wants the answer any more.
 * @typedef {() => Promise<void>} Pause
 */

/** A vocabulary and a network, ready to translate. */
export class Translator {
  /** @param {PageData} data @param {Map<string, Matrix>} weights */
  constructor(data, weights) {
    this.data = data;
    this.tokenizer = new Tokenizer(data.vocabulary);
    this.model = new Transformer(data.config, weights);
  }

  /**
   * Translate a text of any length, sentence by sentence.
   * @param {string} text
   * @param {Wish} wish
   * @param {Pause} pause
   * @param {(soFar: Translation) => void} tell
   * @returns {Promise<Translation>}
   */
  async translate(text, wish, pause, tell) {
    const ranges = cutText(text, this.longest(text));
    /** @type {Sentence[]} */
    const sentences = [];
    for (const { start, end } of ranges) {
      if (sentences.length) tell(assembled(text, sentences, false));
      const source = this.sourceIds(text.slice(start, end), wish.target);
      const [found] = await this.find(source, wish, pause);
      sentences.push({ ...this.sentence(source, found, wish), start, end });
    }
    return assembled(text, sentences, true);
  }

  /**
   * Bytes that a sentence may have, as a piece has at least one; a space, EOS and a tag come
   * besides, and letters may have up to three times as many when they are composed.
   * @private
   * @param {string} text
   */
  longest(text) {
    const most = this.model.mostPieces - 2 - Math.min(this.data.targets.length, 1);
    const [before, after] = [text, text.normalize("NFC")].map((it) => new Blob([it]).size);
    return Math.max(Math.floor(after > before ? most / 3 : most), 1);
  }

  /**
   * Find other words for one of a sentence, likeliest first, and go on from each.
   * @param {Sentence} sentence
   * @param {number} word
   * @param {number} count
   * @param {Wish} wish
   * @param {Pause} pause
   * @returns {Promise<Alternative[]>}
   */
  async alternatives(sentence, word, count, wish, pause) {
    const { source, target } = sentence;
    let start = sentence.words[word].pieces[0];
    while (start > 0 && !this.tokenizer.beginsWord(target[start])) start--;
    const before = target.slice(0, start);
    const { scores } = this.score(source, before);
    const likely = scores.data.subarray((scores.rows - 1) * scores.width);
    const pieces = best(likely, 3 * count).filter((id) => this.data.vocabulary.kinds[id] !== "c");
    /** @type {Map<string, Alternative>} */
    const found = new Map();
    for (const piece of pieces) {
      if (found.size === count) break;
      const [hypothesis] = await this.find(source, { ...wish, beamSize: 1 }, pause, [...before, piece]);
      const other = { ...sentence, ...this.sentence(source, hypothesis, wish) };
      const written = other.words.find(({ pieces: own }) => own.some((at) => at >= start));
      if (!written || other.text === sentence.text || found.has(other.text)) continue;
      found.set(other.text, { word: written.text, probability: Math.exp(likely[piece]), sentence: other });
    }
    return [...found.values()];
  }

  /**
   * Ids of a source, tags in front, without EOS.
   * @param {string} text
   * @param {string} [target]
   */
  sourceIds(text, target) {
    const tags = this.data.targets.find(({ code }) => code === target)?.ids ?? [];
    return [...tags, ...this.tokenizer.encode(text)];
  }

  /**
   * Search for the best hypotheses, the best first.
   * @param {number[]} source
   * @param {Wish} wish
   * @param {Pause} pause
   * @param {number[]} [prefix]
   */
  async find(source, wish, pause, prefix = []) {
    const steps = await this.steps(source, wish, pause, prefix);
    return bestFirst(steps[steps.length - 1].found, this.searchConfig(wish));
  }

  /**
   * Search, and return what each step did.
   * @param {number[]} source
   * @param {Wish} wish
   * @param {Pause} pause
   * @param {number[]} [prefix]
   * @param {WhatIf} [whatIf]
   * @returns {Promise<SearchStep[]>}
   */
  async steps(source, wish, pause, prefix = [], whatIf = {}) {
    const limit = Math.min(lengthLimit(source.length, prefix.length), this.model.mostPieces);
    const start = { state: this.model.encode([...source, EOS], whatIf), select };
    const step = this.stepFunction(whatIf);
    /** @type {SearchStep[]} */
    const done = [];
    for (const each of searchSteps(step, start, limit, this.searchConfig(wish), prefix)) {
      done.push(each);
      await pause();
    }
    return done;
  }

  /**
   * Read a source and a given target at once (teacher forcing).
   * @param {readonly number[]} source ids without EOS
   * @param {readonly number[]} target ids without BOS and EOS
   * @param {WhatIf} [whatIf]
   * @param {import("./transformer.js").Keep} [keep]
   * @returns {{ scores: Matrix }} log-probabilities of all next pieces after BOS and each piece
   */
  score(source, target, whatIf = {}, keep = undefined) {
    const state = this.model.encode([...source, EOS], whatIf, keep);
    const { x } = this.model.decode([[BOS, ...target]], state, whatIf, keep);
    const scores = this.model.logits(x);
    const normaliser = matrix(scores.rows, 1); // the logarithm of the sum of all e^logit
    for (let row = 0; row < scores.rows; row++) normaliser.data[row] = scores.data[row * scores.width];
    logSoftmax(scores);
    for (let row = 0; row < scores.rows; row++) normaliser.data[row] -= scores.data[row * scores.width];
    keep?.("normaliser", normaliser);
    return { scores };
  }

  /**
   * Tell how much of a target's log-probability goes when a head is silenced, head by head.
   * @param {number[]} source
   * @param {number[]} target
   * @param {string[]} heads as in `WhatIf`
   * @param {Pause} pause
   * @param {(soFar: number[]) => void} tell
   */
  async losses(source, target, heads, pause, tell) {
    const usual = this.logProbability(source, target);
    const losses = [];
    for (const head of heads) {
      losses.push(usual - this.logProbability(source, target, { silenced: [head] }));
      tell([...losses]);
      await pause();
    }
    return losses;
  }

  /**
   * The log-probability of a whole target, its end included.
   * @param {readonly number[]} source
   * @param {readonly number[]} target
   * @param {WhatIf} [whatIf]
   */
  logProbability(source, target, whatIf = {}) {
    const { scores } = this.score(source, target, whatIf);
    return sum([...target, EOS].slice(0, scores.rows).map((id, row) => scores.data[row * scores.width + id]));
  }

  /**
   * The log-probability of each piece of a target and of its end, one piece at a time.
   * @param {readonly number[]} source
   * @param {readonly number[]} target
   */
  stepwise(source, target) {
    const step = this.stepFunction({});
    let state = this.model.encode([...source, EOS]);
    return [...target, EOS].map((id, at) => {
      const done = step([at ? target[at - 1] : BOS], state);
      state = done.state;
      return done.logProbabilities[0][id];
    });
  }

  /**
   * Draw each piece by chance (sampling), until EOS.
   * @param {readonly number[]} source
   * @param {number} temperature below 1, likely pieces become likelier yet
   * @param {WhatIf} whatIf
   * @param {Pause} pause
   */
  async draw(source, temperature, whatIf, pause) {
    const step = this.stepFunction(whatIf);
    const limit = Math.min(lengthLimit(source.length), this.model.mostPieces);
    let state = this.model.encode([...source, EOS], whatIf);
    /** @type {number[]} */
    const pieces = [];
    while (pieces.length < limit) {
      const done = step([pieces.at(-1) ?? BOS], state);
      state = done.state;
      const piece = drawn(done.logProbabilities[0], temperature);
      if (piece === EOS) break;
      pieces.push(piece);
      await pause();
    }
    return pieces;
  }

  /**
   * Find the pieces whose embeddings point where that of one does, the nearest first.
   * @param {number} id
   * @param {number} count
   */
  nearest(id, count) {
    const { rows, width, data } = this.model.embedding;
    const cosines = new Float32Array(rows);
    for (let row = 0; row < rows; row++) {
      let [dot, length, own] = [0, 0, 0];
      for (let i = 0; i < width; i++) {
        const [a, b] = [data[row * width + i], data[id * width + i]];
        dot += a * b;
        length += a * a;
        own += b * b;
      }
      cosines[row] = row === id ? -1 : dot / Math.sqrt(length * own || 1);
    }
    return best(cosines, count).map((row) => ({ id: row, cosine: cosines[row] }));
  }

  /** @private @param {Wish} wish @returns {SearchConfig} */
  searchConfig(wish) {
    const { beamSize, alpha } = this.data.search;
    return { beamSize: wish.beamSize ?? beamSize, alpha: wish.alpha ?? alpha };
  }

  /**
   * @private
   * @param {WhatIf} whatIf
   * @returns {import("./search.js").Step<DecoderState>}
   */
  stepFunction(whatIf) {
    return (last, state) => {
      const decoded = this.model.decode(last.map((id) => [id]), state, whatIf);
      const scores = this.model.logits(decoded.x);
      logSoftmax(scores);
      const { width, data } = scores;
      const logProbabilities = last.map((_, row) => data.subarray(row * width, (row + 1) * width));
      return { logProbabilities, state: decoded.state };
    };
  }

  /**
   * Read a translation once more, to tell of each word how sure it is and where it is from.
   * @private
   * @param {number[]} source
   * @param {Hypothesis} hypothesis
   * @param {Wish} wish
   */
  sentence(source, hypothesis, wish) {
    const target = hypothesis.pieces;
    /** @type {Record<string, Matrix>} */
    const kept = {};
    const most = this.model.mostPieces - 1;
    const { scores } = this.score(source, target.slice(0, most), {}, (name, value) => (kept[name] = value));
    const attention = this.aligned(kept, source.length, target.length);
    const tags = this.numTags(source);
    const [sourceSpelling, spelling] = [source.slice(tags), target].map((ids) => this.tokenizer.spell(ids));
    const words = wordsOf(spelling);
    const sourceWords = wordsOf(sourceSpelling).map((word) => ({ ...word, pieces: word.pieces.map((at) => at + tags) }));
    const looks = betweenWords(attention, sourceWords, words);
    return {
      text: spelling.join(""),
      score: scoreOf(hypothesis, this.searchConfig(wish).alpha),
      source,
      target,
      read: sourceSpelling.join(""),
      sourceWords,
      words: words.map((word, number) => ({
        ...word,
        confidence: Math.exp(sum(word.pieces.map((at) => scores.data[at * scores.width + target[at]]))),
        source: placeOfLargest(looks[number]),
      })),
    };
  }

  /** How many tags stand before the source. @private @param {readonly number[]} source */
  numTags(source) {
    const first = source.findIndex((id) => this.data.vocabulary.kinds[id] !== "c");
    return first < 0 ? source.length : first;
  }

  /**
   * Give each piece the attention of the step that wrote it, or of the one that read it.
   * @private
   * @param {Record<string, Matrix>} kept
   * @param {number} numSource
   * @param {number} numTarget
   */
  aligned(kept, numSource, numTarget) {
    const { layer, head, shift } = this.data.alignment;
    const { num_heads } = this.data.config;
    const weights = kept[`cross.${layer}.weights`];
    const steps = weights.rows / num_heads;
    const heads = head === null ? Array.from({ length: num_heads }, (_, h) => h) : [head];
    const attention = matrix(numTarget, numSource);
    for (let piece = 0; piece < numTarget; piece++) {
      const step = Math.min(piece + shift, steps - 1);
      for (const h of heads)
        for (let seen = 0; seen < numSource; seen++)
          attention.data[piece * numSource + seen] +=
            weights.data[(h * steps + step) * weights.width + seen] / heads.length;
    }
    return attention;
  }
}

/** @param {DecoderState} state @param {number[]} rows */
function select(state, rows) {
  return { ...state, past: rows.map((row) => state.past[row]) };
}

/** @param {Float32Array} logProbabilities @param {number} temperature */
function drawn(logProbabilities, temperature) {
  const most = logProbabilities.reduce((best, value) => Math.max(best, value), -Infinity);
  const heights = logProbabilities.map((value) => Math.exp((value - most) / temperature));
  let left = Math.random() * heights.reduce((total, height) => total + height, 0);
  return Math.max(heights.findIndex((height) => (left -= height) <= 0), 0);
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/**
 * Write the translations between what stood between the sentences.
 * @param {string} source
 * @param {Sentence[]} sentences
 * @param {boolean} isWhole
 * @returns {Translation}
 */
export function assembled(source, sentences, isWhole) {
  let [text, at] = ["", 0];
  for (const { start, end, text: translated } of sentences) {
    text += source.slice(at, start) + translated;
    at = end;
  }
  return { source, text: isWhole ? text + source.slice(at) : text, sentences, isWhole };
}
