// One word: a lemma, its features, the form with its confidence, and other forms.

import * as api from "./api.js";
import { forgetView, goTo, remember } from "./address.js";
import {
  alternatives,
  compare,
  confidenceLine,
  confirmButton,
  formText,
  linkButton,
  onSteps,
  open,
  quickKeys,
} from "./answers.js";
import { correctionOf, onCorrection } from "./corrections.js";
import { byId, button, fill, hideMessage, icon, make, showMessage, visible, word } from "./dom.js";
import { Picker } from "./picker.js";
import { asCode, atomsOf, bundleKey, nameOf, named, onModel, state } from "./state.js";
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

/** Shows the form of a lemma with features. */
export function showWord(text, features) {
  lemmaField.value = text;
  picker.features = features;
  return text && features ? ask() : undefined;
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
    const { answers, unknown, unseen } = await api.nbest(asked, signal);
    showMessage(message, "note", ...notes(asked, unknown, unseen?.[0]?.nearest ?? []));
    show({ ...asked, answers });
    remember("word", { lemma: asked.lemma, features: asked.features });
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
function notes(asked, unknown, combinations) {
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
        combinations.length ? " The nearest it has seen: " : "",
        combinations.map((known) => button(nameOf(known), () => picker.pick(known), { class: "chip", title: known })),
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
  const { lemma: asked, features, answers } = found;
  const [best, ...rest] = answers;
  const right = correctionOf(asked, features);
  const ruled = make("p", { class: "hint", role: "status" });
  fill(
    result,
    make("p", { class: "asked" }, word(asked), " ", named(features), " ", asCode(features)),
    make(
      "p",
      { class: "form", id: "form" },
      right === undefined || right === best.form
        ? word(formText(best))
        : [make("s", {}, word(best.form)), " ", word(right)],
    ),
    confidenceLine(asked, features, best),
    make(
      "div",
      { class: "tools" },
      confirmButton(asked, features, best),
      button([icon("pencil"), "Wrong?"], () => open(asked, features, best), { id: "mark-wrong" }),
      button([icon("steps"), "Show the steps"], () => player.open(asked, features), { id: "show-trace" }),
      button([icon("table"), "All forms"], () => showParadigm(asked, features), { id: "show-paradigm" }),
      state.model.attested
        ? button([icon("rules"), "Compare with rules"], () => compare(asked, features, best, ruled))
        : null,
      linkButton(asked, features),
    ),
    ruled,
    rest.length
      ? make("h3", {}, best.attested ? "What the model would say" : "Other forms: click the right one")
      : null,
    rest.length ? alternatives(asked, features, best.form, rest) : null,
  );
  if (player.isOpen && !player.isOf(asked, features)) player.close();
}

onSteps((lemmaText, features) => {
  goTo("word");
  showWord(lemmaText, features).then(() => player.open(lemmaText, features));
});

quickKeys(result);
onCorrection(() => shown && show(shown));
onModel(() => {
  clear();
  forgetView("word");
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
