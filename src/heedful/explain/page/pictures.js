/** Figures to take along: where a head looks, as SVG and as PNG. */

import { element } from "./elements.js";

/**
 * @typedef {object} MapFigure
 * @property {string} title
 * @property {string[]} rows who looks
 * @property {string[]} columns at whom
 * @property {(row: number, column: number) => number} weight
 */

const [CELL, LETTER, GAP] = [18, 7.3, 6];
const FONT = "12px DejaVu Sans, sans-serif";

/** On paper, and so always on white. @param {number} weight */
function shade(weight) {
  const part = Math.sqrt(Math.min(Math.max(weight, 0), 1));
  return `rgb(${[0, 72, 141].map((dark) => Math.round(255 - (255 - dark) * part)).join(",")})`;
}

/** @param {MapFigure} figure */
function layout({ title, rows, columns }) {
  const longest = (/** @type {string[]} */ labels) => LETTER * Math.max(0, ...labels.map((it) => it.length));
  const left = 2 * GAP + longest(rows);
  const top = 26 + GAP + longest(columns);
  const width = Math.ceil(Math.max(left + CELL * columns.length + GAP, LETTER * title.length + 2 * GAP));
  return { left, top, width, height: Math.ceil(top + CELL * rows.length + GAP) };
}

/** @param {MapFigure} figure @returns {string} */
export function asSvg(figure) {
  const { left, top, width, height } = layout(figure);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="DejaVu Sans, sans-serif" font-size="12">`,
    `<title>${escaped(figure.title)}</title><rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="${GAP}" y="16">${escaped(figure.title)}</text>`,
  ];
  figure.columns.forEach((label, column) => {
    const x = left + CELL * (column + 0.5) + 4;
    parts.push(`<text transform="translate(${x} ${top - GAP}) rotate(-90)">${escaped(label)}</text>`);
  });
  figure.rows.forEach((label, row) => {
    const y = top + CELL * row;
    parts.push(`<text x="${left - GAP}" y="${y + CELL / 2 + 4}" text-anchor="end">${escaped(label)}</text>`);
    figure.columns.forEach((_, column) => {
      const weight = figure.weight(row, column);
      parts.push(`<rect x="${left + CELL * column}" y="${y}" width="${CELL - 1}" height="${CELL - 1}" fill="${shade(weight)}"/>`);
    });
  });
  return [...parts, "</svg>"].join("\n");
}

/** @param {MapFigure} figure @returns {Promise<Blob | null>} */
export function asPng(figure) {
  const { left, top, width, height } = layout(figure);
  const canvas = element("canvas", { width: 2 * width, height: 2 * height });
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.scale(2, 2);
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, width, height);
  pen.font = FONT;
  const write = (/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y) => {
    pen.fillStyle = "#000";
    pen.fillText(text, x, y);
  };
  write(figure.title, GAP, 16);
  figure.columns.forEach((label, column) => {
    pen.save();
    pen.translate(left + CELL * (column + 0.5) + 4, top - GAP);
    pen.rotate(-Math.PI / 2);
    write(label, 0, 0);
    pen.restore();
  });
  figure.rows.forEach((label, row) => {
    const y = top + CELL * row;
    write(label, left - GAP - pen.measureText(label).width, y + CELL / 2 + 4);
    figure.columns.forEach((_, column) => {
      pen.fillStyle = shade(figure.weight(row, column));
      pen.fillRect(left + CELL * column, y, CELL - 1, CELL - 1);
    });
  });
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** @param {string} text */
function escaped(text) {
  const safe = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
  return safe.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
}

/**
 * Hand a file to whoever reads the page.
 * @param {string} name
 * @param {Blob | null} content
 */
export function download(name, content) {
  if (!content) return;
  const address = URL.createObjectURL(content);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
