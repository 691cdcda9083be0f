/** Weights as the page carries them, and as the model computes with them. */

import { matrix } from "./matrix.js";

/** @typedef {import("./matrix.js").Matrix} Matrix */

/**
 * Where a tensor lies: first a scale for each of `rows`, in float32; then `width` whole numbers for
 * each, of so many `bits`, one after another. `start` is in bytes.
 * @typedef {{ name: string, rows: number, width: number, bits: number, start: number }} Place
 */

/**
 * Decode all tensors to float32.
 * @param {Place[]} places
 * @param {ArrayBuffer} bytes little-endian, as Python writes them
 * @returns {Map<string, Matrix>}
 */
export function readWeights(places, bytes) {
  return new Map(places.map((place) => [place.name, readTensor(place, bytes)]));
}

/**
 * @param {Place} place
 * @param {ArrayBuffer} bytes
 */
function readTensor({ rows, width, bits, start }, bytes) {
  const tensor = matrix(rows, width);
  const scales = new Float32Array(bytes, start, rows);
  const packed = new Uint8Array(bytes, start + 4 * rows);
  const [half, mask] = [2 ** (bits - 1), 2 ** bits - 1];
  let [at, read, waiting] = [0, 0, 0]; // the last bits of `read` wait to be a number
  for (let row = 0; row < rows; row++)
    for (let i = row * width; i < (row + 1) * width; i++) {
      for (; waiting < bits; waiting += 8) read = ((read << 8) | packed[at++]) & 0xffffff;
      waiting -= bits;
      tensor.data[i] = (((read >> waiting) & mask) - half) * scales[row];
    }
  return tensor;
}

/**
 * Decode base64, fast where the browser can.
 * @param {string} text
 * @returns {ArrayBuffer}
 */
export function readBase64(text) {
  if ("fromBase64" in Uint8Array)
    // @ts-ignore newer than the compiler's list of what browsers can
    return Uint8Array.fromBase64(text).buffer;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;
}
