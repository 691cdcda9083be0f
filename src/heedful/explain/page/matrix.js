/** Rows of numbers, and what is computed with them. */

const LAYER_NORM_EPSILON = 1e-6; // not in the paper; that of the first public code

/**
 * Rows of numbers: a matrix, or with one row a vector.
 * @typedef {object} Matrix
 * @property {number} rows
 * @property {number} width
 * @property {Float32Array} data row after row
 */

/**
 * Make a matrix of zeros.
 * @param {number} rows
 * @param {number} width
 * @returns {Matrix}
 */
export function matrix(rows, width) {
  return { rows, width, data: new Float32Array(rows * width) };
}

/**
 * Turn rows of scores into log-probabilities, in place.
 * @param {Matrix} scores
 */
export function logSoftmax({ rows, width, data }) {
  for (let row = 0; row < rows; row++) {
    const part = data.subarray(row * width, (row + 1) * width);
    let most = -Infinity;
    for (let i = 0; i < width; i++) if (part[i] > most) most = part[i];
    let total = 0;
    for (let i = 0; i < width; i++) total += Math.exp(part[i] - most);
    const shift = most + Math.log(total);
    for (let i = 0; i < width; i++) part[i] -= shift;
  }
}

/**
 * xWᵀ + b. Four rows of W at a time, so that what is read of x is used four times.
 * @param {Matrix} x
 * @param {Matrix} weight
 * @param {Matrix} [bias]
 */
export function product(x, weight, bias) {
  const result = matrix(x.rows, weight.rows);
  const [width, count] = [x.width, weight.rows];
  const [given, w, out] = [x.data, weight.data, result.data];
  const b = bias ? bias.data : new Float32Array(count);
  const blocked = count - (count % 4);
  for (let o = 0; o < blocked; o += 4) {
    const [w0, w1, w2, w3] = [o * width, (o + 1) * width, (o + 2) * width, (o + 3) * width];
    for (let row = 0; row < x.rows; row++) {
      const from = row * width;
      let [s0, s1, s2, s3] = [b[o], b[o + 1], b[o + 2], b[o + 3]];
      for (let i = 0; i < width; i++) {
        const value = given[from + i];
        s0 += value * w[w0 + i];
        s1 += value * w[w1 + i];
        s2 += value * w[w2 + i];
        s3 += value * w[w3 + i];
      }
      const to = row * count + o;
      out[to] = s0;
      out[to + 1] = s1;
      out[to + 2] = s2;
      out[to + 3] = s3;
    }
  }
  for (let o = blocked; o < count; o++)
    for (let row = 0; row < x.rows; row++) {
      let sum = b[o];
      for (let i = 0; i < width; i++) sum += given[row * width + i] * w[o * width + i];
      out[row * count + o] = sum;
    }
  return result;
}

/**
 * QKᵀ / √d_k of one query and the keys visible to it (equation 1).
 * @param {Float32Array} query
 * @param {number} from
 * @param {Matrix} key
 * @param {number} column
 * @param {number} width
 * @param {number} scale
 * @param {number} visible
 * @param {Float32Array} scores
 * @param {number} at
 */
export function score(query, from, key, column, width, scale, visible, scores, at) {
  for (let j = 0; j < key.rows; j++) {
    const start = j * key.width + column;
    let sum = 0;
    for (let i = 0; i < width; i++) sum += query[from + i] * key.data[start + i];
    scores[at + j] = j < visible ? sum * scale : -Infinity;
  }
}

/**
 * @param {Float32Array} scores
 * @param {Float32Array} weights
 * @param {number} at
 * @param {number} count
 */
export function softmax(scores, weights, at, count) {
  let most = -Infinity;
  for (let j = at; j < at + count; j++) if (scores[j] > most) most = scores[j];
  let total = 0;
  for (let j = at; j < at + count; j++) total += weights[j] = Math.exp(scores[j] - most);
  for (let j = at; j < at + count; j++) weights[j] /= total;
}

/**
 * Sum the values by their weights (equation 1).
 * @param {Float32Array} weights
 * @param {number} at
 * @param {Matrix} value
 * @param {number} column
 * @param {number} width
 * @param {number} visible
 * @param {Float32Array} gathered
 * @param {number} to
 */
export function blend(weights, at, value, column, width, visible, gathered, to) {
  for (let j = 0; j < visible; j++) {
    const start = j * value.width + column;
    const weight = weights[at + j];
    for (let i = 0; i < width; i++) gathered[to + i] += weight * value.data[start + i];
  }
}

/**
 * @param {Matrix} x
 * @param {Float32Array} gain
 * @param {Float32Array} bias
 */
export function normalised(x, gain, bias) {
  const result = matrix(x.rows, x.width);
  for (let from = 0; from < x.data.length; from += x.width) {
    let [mean, variance] = [0, 0];
    for (let i = 0; i < x.width; i++) mean += x.data[from + i] / x.width;
    for (let i = 0; i < x.width; i++) variance += (x.data[from + i] - mean) ** 2 / x.width;
    const scale = 1 / Math.sqrt(variance + LAYER_NORM_EPSILON);
    for (let i = 0; i < x.width; i++)
      result.data[from + i] = (x.data[from + i] - mean) * scale * gain[i] + bias[i];
  }
  return result;
}

/** @param {Matrix} x @param {Matrix} y @returns {Matrix} */
export function added(x, y) {
  const sum = matrix(x.rows, x.width);
  for (let i = 0; i < sum.data.length; i++) sum.data[i] = x.data[i] + y.data[i];
  return sum;
}
