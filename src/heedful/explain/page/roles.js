/** What a head measurably does in one sentence, in a word: as in explain/roles.py. */

/** @typedef {import("./state.js").Kind} Kind */
/** @typedef {"previous" | "same" | "next" | "end" | "start" | "aligner" | "broad" | "mixed"} Role */

const ENOUGH = 0.4; // of the weights, for a head to be named after them
const BROAD = 0.75; // of the entropy of looking everywhere alike

/**
 * Weights of one head: who looks by at whom.
 * @typedef {{ data: ArrayLike<number>, from: number, rows: number, width: number }} Weights
 */

/**
 * @typedef {object} Measures
 * @property {Role} role
 * @property {number} share of the weights that is spent so; for "broad" and "mixed", of the
 *   entropy of looking everywhere alike
 * @property {number} entropy in bits, the mean over those who look
 * @property {number} distance between who looks and at whom, the mean over the weights
 */

/**
 * Name a head. `aligned` has for a row of attention over the source the place it belongs to.
 * @param {Kind} kind
 * @param {Weights} weights
 * @param {Map<number, number>} aligned
 * @returns {Measures}
 */
export function measure(kind, weights, aligned) {
  const first = kind === "decoder" ? 1 : 0; // BOS sees nothing but itself
  const { evenness, entropy, distance } = spread(kind, weights, first);
  if (weights.rows === first) return { role: "mixed", share: 0, entropy, distance };
  const shares = /** @type {[Role, number][]} */ (Object.entries(sharesOf(kind, weights, first, aligned)));
  const [role, share] = shares.reduce((best, one) => (one[1] > best[1] ? one : best));
  if (share >= ENOUGH) return { role, share, entropy, distance };
  return { role: evenness >= BROAD ? "broad" : "mixed", share: evenness, entropy, distance };
}

/**
 * How much of the weights goes where.
 * @param {Kind} kind
 * @param {Weights} weights
 * @param {number} first
 * @param {Map<number, number>} aligned
 * @returns {Record<string, number>}
 */
function sharesOf(kind, { data, from, rows, width }, first, aligned) {
  const at = (/** @type {number} */ row, /** @type {number} */ column) => data[from + row * width + column];
  const all = Array.from({ length: rows }, (_, row) => row);
  const last = mean(all.map((row) => at(row, width - 1)));
  const start = mean(all.slice(first).map((row) => at(row, 0)));
  if (kind === "cross")
    return { aligner: mean([...aligned].map(([row, place]) => at(row, place))), start, end: last };
  const shares = {
    start,
    previous: mean(all.slice(1).map((row) => at(row, row - 1))),
    same: mean(all.slice(first).map((row) => at(row, row))),
  };
  if (kind === "decoder") return shares;
  return { ...shares, next: mean(all.slice(0, -1).map((row) => at(row, row + 1))), end: last };
}

/**
 * @param {Kind} kind
 * @param {Weights} weights
 * @param {number} first
 */
function spread(kind, { data, from, rows, width }, first) {
  let [evenness, entropy, distance] = [0, 0, 0];
  for (let row = first; row < rows; row++) {
    let bits = 0;
    for (let column = 0; column < width; column++) {
      const weight = data[from + row * width + column];
      if (weight > 0) bits -= weight * Math.log2(weight);
      distance += weight * Math.abs(row - column);
    }
    const visible = kind === "decoder" ? row + 1 : width;
    entropy += bits;
    if (visible > 1) evenness += bits / Math.log2(visible);
  }
  const count = Math.max(rows - first, 1);
  return { evenness: evenness / count, entropy: entropy / count, distance: distance / count };
}

/** @param {number[]} values */
function mean(values) {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : 0;
}
