/** All that the page says, in one object. Another language is another object with these names. */

export const english = {
  title: "Translator",
  promise: "Everything happens on this page. Nothing you type leaves it.",
  source: "Text",
  translation: "Translation",
  placeholder: "Type or paste text, or drop a .txt or .srt file",
  target: "Translate to",
  copy: "Copy",
  copied: "Copied",
  clear: "Clear",
  openFile: "Open a file",
  cancel: "Cancel",
  download: "Download {name}",
  fileRead: "{name}: {percent} % translated",
  notText: "{name} is not text in UTF-8. Save it as UTF-8 and open it again.",
  loading: "Unpacking the model …",
  translating: "Translating …",
  failed: "This page could not start: {reason}. Try a newer browser.",
  words: "Words of the translation",
  wordsHelp: "Point at a word to see where it comes from. Click it for other words.",
  wordFrom: "“{word}”: {percent} sure, from “{source}”",
  others: "Instead of “{word}”",
  noOthers: "No other word fits.",
  searching: "Looking …",
  legend: "How sure:",
  unsure: "less than 50 %",
  doubtful: "less than 20 %",
  history: "Earlier",
  clearHistory: "Clear all",
  theme: "Light or dark",
  inside: "Look inside",
  facts: "{name}: {parameters} parameters, trained on {pairs} pairs of sentences{score}.",
  made: "Made with heedful {version}.",
};

/** @typedef {typeof english} Texts */

/**
 * Put values in place of their names in braces.
 * @param {string} text
 * @param {Record<string, string | number>} values
 */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}
