/** A vector as a strip of colours, of which each number can be pointed at. */

import { paintNumbers } from "../drawing.js";
import { element } from "../elements.js";
import { number } from "../numbers.js";

/** Orange below 0, blue above; one dimension is marked, and its number stands beside the name. */
export class Strip {
  /**
   * @param {string} name
   * @param {(dimension: number) => void} [point] is told which number the pointer is on
   */
  constructor(name, point) {
    this.canvas = element("canvas", { class: "map", "aria-hidden": "true" });
    this.mark = element("div", { class: "strip-mark" });
    this.part = element("div", { class: "strip-part", hidden: true });
    this.value = element("span", { class: "strip-value" });
    this.top = element("div", { class: "strip" },
      element("span", { class: "strip-name" }, name), this.value,
      element("div", { class: "strip-canvas" }, this.canvas, this.part, this.mark)); // prettier-ignore
    /** @private @type {Float32Array} */
    this.data = new Float32Array(0);
    const at = (/** @type {MouseEvent} */ { offsetX }) => {
      const dimension = Math.floor((offsetX / this.canvas.clientWidth) * this.data.length);
      point?.(Math.max(0, Math.min(this.data.length - 1, dimension)));
    };
    this.canvas.addEventListener("pointermove", at);
    this.canvas.addEventListener("click", at);
  }

  /**
   * @param {Float32Array} data
   * @param {number} most the number that has the fullest colour
   * @param {number} dimension that is marked; none if it is beyond the end
   */
  show(data, most, dimension) {
    this.data = data;
    paintNumbers(this.canvas, { data, from: 0, rows: 1, width: data.length }, most);
    this.mark.hidden = !(dimension < data.length);
    this.mark.style.left = `${(100 * (dimension + 0.5)) / data.length}%`;
    this.value.textContent = dimension < data.length ? number(data[dimension], 3) : "";
  }

  /** Outline a part of it. @param {number} start @param {number} end */
  outline(start, end) {
    this.part.hidden = false;
    this.part.style.left = `${(100 * start) / this.data.length}%`;
    this.part.style.width = `${(100 * (end - start)) / this.data.length}%`;
  }
}

/**
 * A slider that the keyboard reaches too.
 * @param {string} id
 * @param {string} label
 * @param {{ min?: number, max: number, step?: number, value?: number }} range
 * @param {(value: number) => void} change
 */
export function slider(id, label, { min = 0, max, step = 1, value = min }, change) {
  const input = element("input", { type: "range", id, min, max, step, value, input: () => change(Number(input.value)) });
  const shown = element("output", { for: id });
  const top = element("label", { class: "slider", for: id }, label, " ", input, " ", shown);
  return { top, input, shown };
}
