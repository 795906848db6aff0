// One word: a lemma, its features, the form with its confidence, and other forms.

import * as api from "./api.js";
import { alternatives, confidenceLine, onSteps, open } from "./answers.js";
import { correctionOf, onCorrection } from "./corrections.js";
import { byId, button, fill, hideMessage, make, showMessage, visible, word } from "./dom.js";
import { Picker } from "./picker.js";
import { atomsOf, bundleKey, named, onModel, state } from "./state.js";
import { TracePlayer } from "./trace.js";

const PAUSE = 350;
const nextRequest = api.latest();
const lemmaField = byId("lemma");
const message = byId("word-message");
const result = byId("word-result");
const player = new TracePlayer(byId("trace"));
let shown = null;
let timer;

const picker = new Picker(byId("picker"), byId("features"), () => lemmaField.value.trim() && ask());

/** The lemma without blanks around it: phone keyboards add a blank after a word. */
export const lemma = () => lemmaField.value.trim();

export function setLemma(text) {
  lemmaField.value = text;
}

let showParadigm = () => {};
export const onParadigm = (listener) => {
  showParadigm = listener;
};

async function ask() {
  clearTimeout(timer);
  const asked = { model: state.model.name, lemma: lemma(), features: picker.features, n: 6 };
  const signal = nextRequest();
  if (!asked.lemma) return refuse("There is no lemma. Type a word to inflect.", lemmaField);
  if (!atomsOf(asked.features).length)
    return refuse("There are no features. Pick some below, or type them.", picker.field);
  mark(null);
  result.classList.add("waiting");
  try {
    const { answers, unknown } = await api.nbest(asked, signal);
    showMessage(message, "note", ...notes(asked, unknown));
    show({ ...asked, answers });
  } catch (error) {
    const problem = api.errorMessage(error);
    if (problem) refuse(problem, error.field === "features" ? picker.field : lemmaField);
  } finally {
    if (!signal.aborted) result.classList.remove("waiting");
  }
}

function refuse(text, field) {
  clear();
  showMessage(message, "problem", text);
  mark(field);
  field.focus();
}

/** Marks the field that a message is about. */
function mark(wrong) {
  for (const field of [lemmaField, picker.field]) field.setAttribute("aria-invalid", String(field === wrong));
}

function clear() {
  shown = null;
  result.replaceChildren();
  player.close();
}

/** Warnings about the request: unknown features, bundles and characters. */
function notes(asked, unknown) {
  const found = unknown.map(({ feature, nearest }) =>
    make(
      "p",
      {},
      "The model has never seen the feature ",
      make("strong", {}, feature),
      " and ignores it.",
      nearest.length ? " Did you mean " : "",
      nearest.map((known) => button(known, () => replace(feature, known), { class: "chip" })),
      nearest.length ? "?" : "",
    ),
  );
  if (!unknown.length && state.bundles.size && !state.spellings.has(bundleKey(atomsOf(asked.features)))) {
    found.push(
      make(
        "p",
        {},
        "The model has not seen these features together; it combines what it knows about each of them.",
      ),
    );
  }
  const strange = [...new Set(asked.lemma)].filter((letter) => !state.characters.has(letter));
  if (strange.length) {
    found.push(
      make(
        "p",
        {},
        "Characters the model has never seen, which it copies: ",
        word(strange.map(visible).join(" ")),
      ),
    );
  }
  return found;
}

function replace(feature, known) {
  picker.pick(
    atomsOf(picker.features)
      .map((atom) => (atom === feature ? known : atom))
      .join(";"),
  );
}

function show(found) {
  shown = found;
  const [best, ...rest] = found.answers;
  const right = correctionOf(found.lemma, found.features);
  fill(
    result,
    make("p", { class: "asked" }, word(found.lemma), " ", named(found.features)),
    make(
      "p",
      { class: "form", id: "form" },
      right === undefined ? word(best.form) : [make("s", {}, word(best.form)), " ", word(right)],
    ),
    confidenceLine(best),
    rest.length ? make("h3", {}, "Other forms") : null,
    rest.length ? alternatives(rest) : null,
    make(
      "div",
      { class: "tools" },
      button("Show the steps", () => showSteps(found.lemma, found.features), { id: "show-trace" }),
      button("All forms", () => showParadigm(found.lemma), { id: "show-paradigm" }),
      button("Wrong?", () => open(found.lemma, found.features, best), { id: "mark-wrong" }),
    ),
  );
  if (player.isOpen && !player.isOf(found.lemma, found.features)) player.close();
}

async function showSteps(lemmaText, features) {
  await player.open(lemmaText, features);
}

onSteps((lemmaText, features) => {
  location.hash = "word";
  setLemma(lemmaText);
  picker.features = features;
  ask().then(() => showSteps(lemmaText, features));
});

onCorrection(() => shown && show(shown));
onModel(() => {
  clear();
  hideMessage(message);
  mark(null);
  if (lemma() && picker.features) ask();
});

byId("word-form").addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});

// The form follows the typing, once there are a lemma and features.
for (const field of [lemmaField, picker.field]) {
  field.addEventListener("input", () => {
    clearTimeout(timer);
    if (lemma() && atomsOf(picker.features).length) timer = setTimeout(ask, PAUSE);
  });
}
