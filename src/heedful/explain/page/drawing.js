/** Painting matrices: a pixel for each number, which the style makes as large as it likes. */

import { scale } from "./theme.js";

/** Rows of numbers in an array that may hold more than these.
 * @typedef {{ data: ArrayLike<number>, from: number, rows: number, width: number }} Part
 */

/**
 * Paint weights, from 0 to 1: the darker the more, by the root, so that 0.04 is seen too.
 * @param {HTMLCanvasElement} canvas
 * @param {Part} part
 */
export function paintWeights(canvas, part) {
  paint(canvas, part, scale("--map-none", "--map-all"), (weight) => 255 * Math.sqrt(weight));
}

/**
 * Paint numbers of any sign: orange below 0, blue above; `most` is the fullest of both.
 * @param {HTMLCanvasElement} canvas
 * @param {Part} part
 * @param {number} [most] the largest number, if it is left out
 */
export function paintNumbers(canvas, part, most = largest(part)) {
  const colours = scale("--below", "--map-none", "--above");
  paint(canvas, part, colours, (value) => 127.5 + 127.5 * root(value / (most || 1)));
}

/** @param {Part} part */
export function largest({ data, from, rows, width }) {
  let most = 0;
  for (let i = from; i < from + rows * width; i++)
    if (Number.isFinite(data[i])) most = Math.max(most, Math.abs(data[i]));
  return most;
}

/** @param {number} value */
function root(value) {
  return Math.sign(value) * Math.sqrt(Math.min(Math.abs(value), 1));
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Part} part
 * @param {Uint8ClampedArray} colours
 * @param {(value: number) => number} place of a value among the colours
 */
function paint(canvas, { data, from, rows, width }, colours, place) {
  if (canvas.width !== width || canvas.height !== rows) [canvas.width, canvas.height] = [width, rows];
  const context = canvas.getContext("2d");
  if (!context || !rows || !width) return;
  const image = context.createImageData(width, rows);
  for (let i = 0; i < rows * width; i++) {
    const at = 3 * Math.max(0, Math.min(255, Math.round(place(data[from + i]))));
    image.data[4 * i] = colours[at];
    image.data[4 * i + 1] = colours[at + 1];
    image.data[4 * i + 2] = colours[at + 2];
    image.data[4 * i + 3] = Number.isNaN(data[from + i]) ? 0 : 255;
  }
  context.putImageData(image, 0, 0);
}
