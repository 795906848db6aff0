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

/** A word of any script, in its own direction. */
export const word = (text, properties = {}) => make("bdi", { class: "word", dir: "auto", ...properties }, text);

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
