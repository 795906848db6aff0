// Functions that build elements. Text is always set as text: no word, label or form is ever parsed as HTML.

export const byId = (id) => document.getElementById(id);

/** An element with properties (`class`, `dataset`, `on…`, `aria-…`, or any other attribute) and children. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "css") for (const [key, set] of Object.entries(value)) element.style.setProperty(key, set);
    else element.setAttribute(name, value === true ? "" : value);
  }
  return fill(element, ...children);
}

/** Replaces the children of an element; null, undefined and false are left out. */
export function fill(element, ...children) {
  element.replaceChildren(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Drawings on a square of 24 units, as the path of a line. */
const ICONS = {
  attested: "M6 4h12v16l-6-4-6 4z",
  check: "M5 12.500l4.500 4.500 9.500-10",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  download: "M12 4v11m-5-4.500l5 5 5-5M5 20h14",
  first: "M18 6l-8 6 8 6zM6 6v12",
  last: "M6 6l8 6-8 6zM18 6v12",
  least: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9 10a3 3 0 1 1 4 2q-1 1-1 2m0 3v.1",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  next: "M8 5l9 7-9 7z",
  pause: "M8 5v14M16 5v14",
  pencil: "M5 19l1-4L16 5l3 3L9 18z",
  previous: "M16 5l-9 7 9 7z",
  rules: "M4 7h12l-3-3m3 3l-3 3M20 17H8l3-3m-3 3l3 3",
  steps: "M4 18h4v-4h4v-4h4V6h4",
  table: "M4 5h16v14H4zM4 10h16M10 5v14",
};
const SVG = "http://www.w3.org/2000/svg";

/** A drawing beside words, which screen readers skip. */
export function icon(name) {
  const drawn = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  drawn.setAttribute("viewBox", "0 0 24 24");
  drawn.setAttribute("class", `icon ${name}`);
  drawn.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  drawn.append(path);
  return drawn;
}

/** A word of any script, in its own direction. */
export const word = (text, properties = {}) => make("bdi", { class: "word", dir: "auto", ...properties }, text);

/** A button with text, or with an icon and text in a list. */
export const button = (text, onclick, properties = {}) =>
  make("button", { type: "button", class: "quiet", onclick, ...properties }, text);

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The direction of the first letter. */
export function directionOf(text) {
  for (const letter of text) {
    if (RIGHT_TO_LEFT.test(letter)) return "rtl";
    if (/\p{L}/u.test(letter)) return "ltr";
  }
  return "ltr";
}

/** One character made visible: a combining mark on a circle, a sign for a blank, a code for control characters. */
export function visible(character) {
  if (character === " ") return "␣";
  if (/^\p{M}$/u.test(character)) return `◌${character}`;
  if (/^[\p{C}\p{Z}]$/u.test(character))
    return `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  return character;
}

/** Shows a message below a field; no children hide it. */
export function showMessage(element, kind, ...children) {
  element.className = `message ${kind}`;
  element.replaceChildren(...children);
  element.hidden = children.length === 0;
}

export const hideMessage = (element) => showMessage(element, "");

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const box = target.closest(".scroll"); // none once the table has been replaced
    box?.classList.toggle("more", box.scrollWidth > box.clientWidth + 1);
  }
});

/** Makes a box say that it scrolls sideways, whenever its content is wider than the box. */
export function hintScroll(box) {
  sizes.observe(box);
  for (const child of box.children) sizes.observe(child);
  return box;
}

let toastTimer;
/** A message that disappears by itself. */
export function toast(text) {
  const place = byId("toast");
  place.textContent = text;
  place.classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => place.classList.remove("shown"), 2500);
}

export const percent = (share) => {
  const value = share * 100;
  if (value > 0 && value < 1) return "<1 %";
  if (value < 100 && value > 99) return ">99 %";
  return `${Math.round(value)} %`;
};
