/** Light or dark, and the colours of it as numbers, for what is painted. */

/** @typedef {[number, number, number]} Colour red, green and blue, from 0 to 255 */

/** @type {Set<() => void>} */
const listeners = new Set();

/**
 * Be told when the theme changes; call what is returned to be told no more.
 * @param {() => void} listener
 */
export function onTheme(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** From what the system wants to the other, and back. */
export function switchTheme() {
  const { style } = document.documentElement;
  const isDark = style.colorScheme
    ? style.colorScheme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  style.colorScheme = isDark ? "light" : "dark";
  changed();
}

/** Paint anew when the system goes from day to night. */
export function followTheme() {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

function changed() {
  scales.clear();
  for (const listener of listeners) listener();
}

/**
 * A colour of the style by its name, such as "--paper", as it is in this theme.
 * @param {string} name
 * @returns {Colour}
 */
export function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const [red, green, blue] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? []).map(Number);
  probe.remove();
  return [red, green, blue];
}

/** @type {Map<string, Uint8ClampedArray>} */
const scales = new Map();

/**
 * 256 colours from one to another, by way of a third if there is one in the middle.
 * @param {...string} names
 */
export function scale(...names) {
  const key = names.join();
  let made = scales.get(key);
  if (!made) {
    const stops = names.map(colour);
    made = new Uint8ClampedArray(3 * 256);
    for (let i = 0; i < 256; i++) {
      const place = (i / 255) * (stops.length - 1);
      const first = Math.min(Math.floor(place), stops.length - 2);
      for (let c = 0; c < 3; c++)
        made[3 * i + c] = stops[first][c] + (place - first) * (stops[first + 1][c] - stops[first][c]);
    }
    scales.set(key, made);
  }
  return made;
}
