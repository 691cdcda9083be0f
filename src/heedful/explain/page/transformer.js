/** The Transformer (section 3): encoder and decoder stacks under one shared embedding.
 *
 * It reads beside src/heedful/model, with the same names. Nothing is padded: the rows of a batch
 * are hypotheses of one sentence, as many positions each, so their positions lie in one matrix.
 */

import { added, blend, matrix, normalised, product, score, softmax } from "./matrix.js";

/** @typedef {import("./matrix.js").Matrix} Matrix */

/**
 * Sizes of the Transformer, as in model/config.py.
 * @typedef {object} ModelConfig
 * @property {number} vocab_size
 * @property {number} num_layers N (section 3.1)
 * @property {number} d_model
 * @property {number} d_ff
 * @property {number} num_heads h (section 3.2.2)
 * @property {number} d_k
 * @property {number} d_v
 * @property {"post" | "pre"} normalisation
 * @property {"interleaved" | "halves" | "learned"} positions
 * @property {number} max_length rows of the table of learned positions
 */

/**
 * What is changed in a forward pass, to see what it is good for. All of it may be left out.
 * @typedef {object} WhatIf
 * @property {string[]} [silenced] heads that add nothing, as "encoder.0.2": kind, layer and head;
 *   kinds are "encoder", "decoder" (self-attention) and "cross"
 * @property {boolean} [withoutPositions] no position is added to the embeddings
 * @property {boolean} [withoutMask] target positions see those after them
 * @property {boolean} [withoutScale] scores are not divided by √d_k
 */

/**
 * Told of every matrix on the way of one row, by name: "encoder.embedding", "encoder.positions",
 * "encoder.embedded", then for each layer "encoder.0.", "decoder.0." or, for attention over the
 * source, "cross.0." with "query", "key", "value", "scores", "weights", "gathered", "change",
 * "sum" and "output"; for feed-forward "encoder.0.ffn." or "decoder.0.ffn." with "hidden" (after
 * ReLU), "change", "sum" and "output"; pre-norm has "ready", what the sub-layer reads, as well;
 * then "encoder.output" and "decoder.output".
 *
 * Of all heads: "query", "key", "value" and "gathered" have a row for each position, heads side by
 * side; "scores" and "weights" have a row for each head and position that looks, heads one after
 * another, and a column for each position looked at. Scores are as they go into the softmax:
 * divided by √d_k, and -Infinity where nothing may be seen.
 * @callback Keep
 * @param {string} name
 * @param {Matrix} value
 * @returns {void}
 */

/** @typedef {{ key: Matrix, value: Matrix }} KeyValue what positions offer to those that look */

/**
 * A source that was read, and rows of half-written translations.
 * @typedef {object} DecoderState
 * @property {KeyValue[]} source by layer
 * @property {KeyValue[][]} past by row, then by layer
 * @property {number} length target positions decoded so far
 */

/** Attention in h subspaces at once (section 3.2.2, figure 2 right). */
class MultiHeadAttention {
  /**
   * @param {Transformer} model
   * @param {string} kind
   * @param {number} layer
   */
  constructor(model, kind, layer) {
    const path = `${kind === "encoder" ? "encoder" : "decoder"}.${layer}.`;
    const module = path + (kind === "cross" ? "source_attention" : "self_attention");
    this.name = `${kind}.${layer}`;
    this.config = model.config;
    this.query = model.linear(`${module}.query`); // W^Q, all heads
    this.key = model.linear(`${module}.key`); // W^K
    this.value = model.linear(`${module}.value`); // W^V
    this.output = model.linear(`${module}.output`); // W^O
    this.around = new Residual(model, path, module.slice(path.length), this.name);
  }

  /** @param {Matrix} x @returns {KeyValue} */
  offer(x) {
    return { key: this.key(x), value: this.value(x) };
  }

  /**
   * Let each position of `x` gather from the positions of its row: position i of `new` from the
   * first `seen + i`, if the future is hidden.
   * @param {Matrix} x
   * @param {KeyValue[]} rows what each row of the batch looks at
   * @param {boolean} hidesFuture
   * @param {WhatIf} whatIf
   * @param {Keep} [keep]
   */
  gather(x, rows, hidesFuture, whatIf, keep) {
    const { num_heads, d_k, d_v } = this.config;
    const query = this.query(x);
    const gathered = matrix(x.rows, num_heads * d_v);
    const count = x.rows / rows.length;
    rows.forEach(({ key, value }, row) => {
      const scores = matrix(num_heads * count, key.rows);
      const weights = matrix(num_heads * count, key.rows);
      for (let head = 0; head < num_heads; head++) {
        const scale = whatIf.withoutScale ? 1 : 1 / Math.sqrt(d_k);
        for (let i = 0; i < count; i++) {
          const visible = hidesFuture ? key.rows - count + i + 1 : key.rows;
          const at = (head * count + i) * key.rows;
          const from = ((row * count + i) * num_heads + head) * d_k;
          score(query.data, from, key, head * d_k, d_k, scale, visible, scores.data, at);
          softmax(scores.data, weights.data, at, key.rows);
          if (whatIf.silenced?.includes(`${this.name}.${head}`)) continue;
          const to = ((row * count + i) * num_heads + head) * d_v;
          blend(weights.data, at, value, head * d_v, d_v, visible, gathered.data, to);
        }
      }
      keepAll(keep, this.name, { query, key, value, scores, weights, gathered });
    });
    return this.output(gathered);
  }
}

/** Equation 2, FFN(x) = max(0, xW₁ + b₁)W₂ + b₂, the same at every position (section 3.3). */
class FeedForward {
  /** @param {Transformer} model @param {string} path */
  constructor(model, path) {
    this.name = `${path}ffn`;
    this.inner = model.linear(`${path}feed_forward.0`);
    this.outer = model.linear(`${path}feed_forward.2`);
    this.around = new Residual(model, path, "feed_forward", this.name);
  }

  /** @param {Matrix} x @param {Keep} [keep] */
  apply(x, keep) {
    const hidden = this.inner(x);
    for (let i = 0; i < hidden.data.length; i++) if (hidden.data[i] < 0) hidden.data[i] = 0;
    keepAll(keep, this.name, { hidden });
    return this.outer(hidden);
  }
}

/** LayerNorm(x + Sublayer(x)) around every sub-layer (section 3.1); x + Sublayer(LayerNorm(x)) with
 * normalisation "pre". */
class Residual {
  /** @param {Transformer} model @param {string} path @param {string} module @param {string} name */
  constructor(model, path, module, name) {
    this.isPre = model.config.normalisation === "pre";
    this.norm = model.layerNorm(`${path}around_${module}.norm`);
    this.name = name;
  }

  /** @param {Matrix} x @param {Keep} [keep] */
  before(x, keep) {
    if (!this.isPre) return x;
    const ready = this.norm(x);
    keepAll(keep, this.name, { ready });
    return ready;
  }

  /** @param {Matrix} x @param {Matrix} change @param {Keep} [keep] */
  after(x, change, keep) {
    const sum = added(x, change);
    const output = this.isPre ? sum : this.norm(sum);
    keepAll(keep, this.name, { change, sum, output });
    return output;
  }
}

/** Self-attention, then feed-forward (figure 1, left). */
class EncoderLayer {
  /** @param {Transformer} model @param {number} layer */
  constructor(model, layer) {
    this.attention = new MultiHeadAttention(model, "encoder", layer);
    this.feedForward = new FeedForward(model, `encoder.${layer}.`);
  }

  /** @param {Matrix} x @param {WhatIf} whatIf @param {Keep} [keep] */
  apply(x, whatIf, keep) {
    const { attention, feedForward } = this;
    const ready = attention.around.before(x, keep);
    const change = attention.gather(ready, [attention.offer(ready)], false, whatIf, keep);
    x = attention.around.after(x, change, keep);
    const processed = feedForward.apply(feedForward.around.before(x, keep), keep);
    return feedForward.around.after(x, processed, keep);
  }
}

/** Masked self-attention, attention over the source, feed-forward (figure 1, right). */
class DecoderLayer {
  /** @param {Transformer} model @param {number} layer */
  constructor(model, layer) {
    this.attention = new MultiHeadAttention(model, "decoder", layer);
    this.sourceAttention = new MultiHeadAttention(model, "cross", layer);
    this.feedForward = new FeedForward(model, `decoder.${layer}.`);
  }

  /**
   * Refine the new target positions; return them, and all that is now past, by row.
   * @param {Matrix} x
   * @param {KeyValue} source
   * @param {KeyValue[]} past
   * @param {WhatIf} whatIf
   * @param {Keep} [keep]
   */
  apply(x, source, past, whatIf, keep) {
    const { attention, sourceAttention, feedForward } = this;
    const ready = attention.around.before(x, keep);
    const seen = appended(past, attention.offer(ready));
    let change = attention.gather(ready, seen, !whatIf.withoutMask, whatIf, keep);
    x = attention.around.after(x, change, keep);
    const asking = sourceAttention.around.before(x, keep);
    change = sourceAttention.gather(asking, [source], false, whatIf, keep);
    x = sourceAttention.around.after(x, change, keep);
    change = feedForward.apply(feedForward.around.before(x, keep), keep);
    return { x: feedForward.around.after(x, change, keep), past: seen };
  }
}

/** Source ids and target ids in, a score for every next piece out (figure 1). */
export class Transformer {
  /** @param {ModelConfig} config @param {Map<string, Matrix>} weights */
  constructor(config, weights) {
    this.config = config;
    this.weights = weights;
    this.embedding = this.weight("embedding.weight");
    const layers = Array.from({ length: config.num_layers }, (_, layer) => layer);
    this.encoder = layers.map((layer) => new EncoderLayer(this, layer));
    this.decoder = layers.map((layer) => new DecoderLayer(this, layer));
    const isPre = config.normalisation === "pre"; // then nothing has normalised the top of a stack
    this.encoderNorm = isPre ? this.layerNorm("encoder_norm") : same;
    this.decoderNorm = isPre ? this.layerNorm("decoder_norm") : same;
  }

  /**
   * How long a text can be read or written: as long as there are positions.
   * @returns {number}
   */
  get mostPieces() {
    return this.config.positions === "learned" ? this.config.max_length : Infinity;
  }

  /**
   * Read the source once; the state, of one row, can then be decoded any number of times.
   * @param {readonly number[]} source ids, EOS at the end
   * @param {WhatIf} [whatIf]
   * @param {Keep} [keep]
   * @returns {DecoderState}
   */
  encode(source, whatIf = {}, keep = undefined) {
    let x = this.embed([source], 0, whatIf, keep, "encoder");
    for (const layer of this.encoder) x = layer.apply(x, whatIf, keep);
    x = this.encoderNorm(x);
    keep?.("encoder.output", x);
    const offers = this.decoder.map((layer) => layer.sourceAttention.offer(x));
    const nothing = offers.map(({ key, value }) => ({
      key: matrix(0, key.width),
      value: matrix(0, value.width),
    }));
    return { source: offers, past: [nothing], length: 0 };
  }

  /**
   * Write after the state: a whole target (teacher forcing), or one position in search.
   * @param {readonly (readonly number[])[]} rows ids of each row of the state, as many in each
   * @param {DecoderState} state
   * @param {WhatIf} [whatIf]
   * @param {Keep} [keep]
   * @returns {{ x: Matrix, state: DecoderState }} x has the positions of one row after another
   */
  decode(rows, state, whatIf = {}, keep = undefined) {
    let x = this.embed(rows, state.length, whatIf, keep, "decoder");
    /** @type {KeyValue[][]} */
    const past = rows.map(() => []);
    this.decoder.forEach((layer, i) => {
      const layerPast = state.past.map((row) => row[i]);
      const done = layer.apply(x, state.source[i], layerPast, whatIf, keep);
      x = done.x;
      done.past.forEach((seen, row) => past[row].push(seen));
    });
    x = this.decoderNorm(x);
    keep?.("decoder.output", x);
    return { x, state: { source: state.source, past, length: state.length + rows[0].length } };
  }

  /**
   * Score every piece by the matrix that also embeds it (section 3.4).
   * @param {Matrix} x
   */
  logits(x) {
    return product(x, this.embedding);
  }

  /**
   * @private
   * @param {readonly (readonly number[])[]} rows
   * @param {number} start
   * @param {WhatIf} whatIf
   * @param {Keep | undefined} keep
   * @param {string} stack
   */
  embed(rows, start, whatIf, keep, stack) {
    const { d_model } = this.config;
    const ids = rows.flat();
    const embedding = matrix(ids.length, d_model);
    const scale = Math.sqrt(d_model);
    ids.forEach((id, at) => {
      const from = id * d_model;
      for (let i = 0; i < d_model; i++)
        embedding.data[at * d_model + i] = this.embedding.data[from + i] * scale;
    });
    const each = rows[0].length;
    const positions = matrix(ids.length, d_model);
    if (!whatIf.withoutPositions)
      ids.forEach((_, at) =>
        positions.data.set(this.position(start + (at % each)), at * d_model),
      );
    const embedded = added(embedding, positions);
    keepAll(keep, stack, { embedding, positions, embedded });
    return embedded;
  }

  /**
   * The vector of a position, by formula or learned (section 3.5 and table 3, row E).
   * @param {number} position
   */
  position(position) {
    const { d_model, max_length, positions } = this.config;
    if (positions !== "learned") return sinusoid(position, d_model, positions);
    if (position >= max_length) throw new RangeError(`there are ${max_length} positions`);
    const table = this.weight("positions.learned");
    return table.data.subarray(position * d_model, (position + 1) * d_model);
  }

  /** @param {string} name @returns {Matrix} */
  weight(name) {
    const found = this.weights.get(name);
    if (!found) throw new Error(`the page has no weights called ${name}`);
    return found;
  }

  /** @param {string} name @returns {(x: Matrix) => Matrix} xWᵀ + b */
  linear(name) {
    const [weight, bias] = [this.weight(`${name}.weight`), this.weight(`${name}.bias`)];
    return (x) => product(x, weight, bias);
  }

  /** @param {string} name @returns {(x: Matrix) => Matrix} */
  layerNorm(name) {
    const [gain, bias] = [this.weight(`${name}.weight`), this.weight(`${name}.bias`)];
    return (x) => normalised(x, gain.data, bias.data);
  }
}

/**
 * PE(pos, 2i) = sin(pos / 10000^(2i/d_model)) and PE(pos, 2i+1) its cosine (section 3.5); or, in
 * "halves", all sines, then all cosines, with exponent i / (d_model/2 - 1): the first public code.
 * @param {number} position
 * @param {number} d_model
 * @param {"interleaved" | "halves"} layout
 */
export function sinusoid(position, d_model, layout) {
  const half = d_model / 2;
  const isHalves = layout === "halves";
  const encoded = new Float32Array(d_model);
  for (let i = 0; i < half; i++) {
    const exponent = isHalves ? i / Math.max(half - 1, 1) : (2 * i) / d_model;
    const angle = position / 10_000 ** exponent;
    encoded[isHalves ? i : 2 * i] = Math.sin(angle);
    encoded[isHalves ? half + i : 2 * i + 1] = Math.cos(angle);
  }
  return encoded;
}

/** @param {Matrix} x */
function same(x) {
  return x;
}

/**
 * Join new positions after the past of each row.
 * @param {KeyValue[]} past
 * @param {KeyValue} newer of all rows, one after another
 */
function appended(past, newer) {
  const each = newer.key.rows / past.length;
  /** @param {Matrix} before @param {Matrix} after @param {number} row @returns {Matrix} */
  const join = (before, after, row) => {
    const joined = matrix(before.rows + each, before.width);
    joined.data.set(before.data);
    const from = row * each * after.width;
    joined.data.set(after.data.subarray(from, from + each * after.width), before.data.length);
    return joined;
  };
  return past.map(({ key, value }, row) => ({
    key: join(key, newer.key, row),
    value: join(value, newer.value, row),
  }));
}

/**
 * @param {Keep | undefined} keep
 * @param {string} path
 * @param {Record<string, Matrix>} values
 */
function keepAll(keep, path, values) {
  if (keep) for (const [name, value] of Object.entries(values)) keep(`${path}.${name}`, value);
}
