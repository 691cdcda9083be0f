/** Making parts of the page. Text goes in as text, never as HTML. */

/**
 * Make an element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number | boolean | ((event: any) => void) | undefined>} [attributes]
 *   by name; a function listens to the event that it is named after; what is false or undefined is
 *   left out
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false && value !== undefined)
      made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/**
 * Make a part of a drawing (SVG).
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function shape(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/**
 * A place that scrolls by itself, by keys too.
 * @param {string} label
 * @param {Node} child
 */
export function scrolling(label, child) {
  return element("div", { class: "table-scroll", tabindex: 0, role: "group", "aria-label": label }, child);
}

/**
 * Let the arrow keys go through children, of which one is a stop for Tab (roving tabindex).
 * @param {HTMLElement} container
 * @param {string} selector of the children
 */
export function rove(container, selector) {
  const all = () => /** @type {HTMLElement[]} */ ([...container.querySelectorAll(selector)]);
  container.addEventListener("focusin", ({ target }) => {
    for (const child of all()) child.tabIndex = child === target ? 0 : -1;
  });
  container.addEventListener("keydown", (event) => {
    const children = all();
    const at = children.indexOf(/** @type {HTMLElement} */ (event.target));
    const isReversed = getComputedStyle(container).direction === "rtl";
    /** @type {Record<string, number>} */
    const places = {
      ArrowRight: at + (isReversed ? -1 : 1),
      ArrowLeft: at + (isReversed ? 1 : -1),
      Home: 0,
      End: children.length - 1,
    };
    const next = at < 0 ? undefined : children[places[event.key]];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
}
