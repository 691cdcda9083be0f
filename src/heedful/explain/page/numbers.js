/** Numbers as people read them, in the language of the page. */

/** @type {Map<string, Intl.NumberFormat>} */
const formats = new Map();

/** @param {number} digits @param {Intl.NumberFormatOptions} [options] */
function format(digits, options = {}) {
  const { lang } = document.documentElement;
  const key = `${lang} ${digits} ${options.style}`;
  let made = formats.get(key);
  if (!made) {
    made = new Intl.NumberFormat(lang, { minimumFractionDigits: digits, maximumFractionDigits: digits, ...options });
    formats.set(key, made);
  }
  return made;
}

/**
 * With a sign that one sees, and so many digits after the point.
 * @param {number} value
 * @param {number} [digits]
 */
export function number(value, digits = 2) {
  if (value === -Infinity) return "−∞";
  const rounded = format(digits).format(value);
  return (Number(value.toFixed(digits)) === 0 ? rounded.replace("-", "") : rounded).replace("-", "−");
}

/** @param {number} value */
export function whole(value) {
  return format(0).format(value);
}

/** @param {number} share */
export function percent(share) {
  if (share > 0 && share < 0.01) return `< ${format(0, { style: "percent" }).format(0.01)}`;
  return format(0, { style: "percent" }).format(share);
}
