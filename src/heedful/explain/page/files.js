/** Files that are dropped: what is translated of them, and how it is written back. */

const TIMING = /^\s*\d+:\d\d:\d\d[,.]\d+\s*-->.*$/;

/**
 * A file on its way.
 * @typedef {object} Task
 * @property {string[]} texts to be translated, one by one
 * @property {(translations: string[]) => string} write puts translations in place of the texts
 */

/**
 * Find what is to be translated in a file: all of a text, or the cues of subtitles.
 * @param {string} name
 * @param {string} content
 * @returns {Task}
 */
export function readFile(name, content) {
  if (/\.(srt|vtt)$/i.test(name)) return readSubtitles(content);
  return { texts: [content], write: ([translated]) => translated };
}

/**
 * Name the translation of a file.
 * @param {string} name
 * @param {string} language its code, or ""
 */
export function translatedName(name, language) {
  const [, stem, ending] = /^(.*?)(\.[^.]*)?$/s.exec(name) ?? ["", name, ""];
  return `${stem}.${language || "translated"}${ending ?? ""}`;
}

/** @param {string} content @returns {Task} */
function readSubtitles(content) {
  const lines = content.split(/\r?\n/);
  const lineEnd = content.includes("\r\n") ? "\r\n" : "\n";
  const cues = findCues(lines);
  return {
    texts: cues.map(({ start, end }) => lines.slice(start, end).join(" ")),
    write: (translations) => {
      const written = [...lines];
      cues.forEach(({ start, end }, at) => {
        written.splice(start, end - start, ...spread(translations[at], end - start));
      });
      return written.join(lineEnd);
    },
  };
}

/**
 * Find the lines of each cue: those between its timing and an empty line.
 * @param {string[]} lines
 */
function findCues(lines) {
  const cues = [];
  for (let at = 0; at < lines.length; at++) {
    if (!TIMING.test(lines[at])) continue;
    const start = at + 1;
    let end = start;
    while (end < lines.length && lines[end].trim()) end++;
    if (end > start) cues.push({ start, end });
  }
  return cues;
}

/**
 * Spread a text over as many lines as the cue had, about as long as each other.
 * @param {string} text
 * @param {number} count
 */
function spread(text, count) {
  const lines = [];
  let rest = text;
  for (let left = count; left > 1; left--) {
    const wanted = rest.length / left;
    const spaces = [...rest.matchAll(/ /g)].map(({ index }) => index);
    const cut = spaces.sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted))[0];
    lines.push(cut === undefined ? rest : rest.slice(0, cut));
    rest = cut === undefined ? "" : rest.slice(cut + 1);
  }
  return [...lines, rest];
}
