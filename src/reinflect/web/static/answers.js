// A form with its confidence, alone or as a button in a table; and the dialog that the button opens.

import * as api from "./api.js";
import { byId, button, make, percent, showMessage, word } from "./dom.js";
import { correct, correctionOf, forget } from "./corrections.js";
import { nameOf, named, state } from "./state.js";

/** Confidence from 0 to 1; the share of votes if the model has no confidence. */
export const confidenceOf = (answer) => answer.confidence ?? (answer.voters ? answer.votes / answer.voters : 0);

export function confidenceText(answer) {
  const votes = `${answer.votes} of ${answer.voters} ${answer.voters === 1 ? "model" : "models"}`;
  return answer.confidence === null ? votes : `${percent(answer.confidence)} confidence, ${votes}`;
}

export const meter = (share, label) =>
  make("span", { class: "meter", role: "img", "aria-label": label, css: { "--share": String(share) } });

/** The confidence of the main form. */
export function confidenceLine(answer) {
  const text = confidenceText(answer);
  return make("p", { class: "sure" }, meter(confidenceOf(answer), text), make("span", {}, text));
}

/** Other forms, best first. */
export const alternatives = (answers) =>
  make(
    "ol",
    { class: "alternatives" },
    answers.map((answer) =>
      make(
        "li",
        {},
        word(answer.form),
        meter(confidenceOf(answer), confidenceText(answer)),
        make("span", { class: "number", title: confidenceText(answer) }, percent(confidenceOf(answer))),
      ),
    ),
  );

/** A form in a table: a shaded button that opens the dialog. */
export function cell(lemma, features, answer) {
  const right = correctionOf(lemma, features);
  const share = confidenceOf(answer);
  return make(
    "button",
    {
      type: "button",
      class: right === undefined ? "cell" : "cell corrected",
      css: { "--share": share.toFixed(3) },
      dataset: { lemma, features },
      "aria-label": `${answer.form}, ${nameOf(features)}, ${right ? `corrected to ${right}` : confidenceText(answer)}`,
      onclick: () => open(lemma, features, answer),
    },
    right === undefined ? word(answer.form) : [make("s", {}, word(answer.form)), word(right)],
    make("span", { class: "number", "aria-hidden": "true" }, right === undefined ? percent(share) : "corrected"),
  );
}

/** Redraws the forms whose corrections have changed. */
export function refresh(place, answerOf) {
  for (const old of place.querySelectorAll("button.cell")) {
    const { lemma, features } = old.dataset;
    const answer = answerOf(lemma, features);
    if (answer && old.classList.contains("corrected") !== (correctionOf(lemma, features) !== undefined)) {
      old.replaceWith(cell(lemma, features, answer));
    } else if (answer && old.classList.contains("corrected")) {
      old.querySelector("bdi:last-of-type").textContent = correctionOf(lemma, features);
    }
  }
}

/** The fields to correct a form; `done` is called when it is corrected, or the correction is removed. */
export function correctionForm(lemma, features, predicted, done) {
  const field = make("input", {
    id: "right-form",
    dir: "auto",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
  });
  field.value = correctionOf(lemma, features) ?? predicted;
  const message = make("div", { class: "message", role: "alert", hidden: true });
  const form = make(
    "form",
    {
      class: "correct",
      novalidate: true,
      onsubmit: (event) => {
        event.preventDefault();
        const right = field.value.trim();
        if (!right) return showMessage(message, "problem", "The right form is empty. Type it.");
        if (right === predicted)
          return showMessage(message, "problem", "This is the prediction. Change it, or close the window.");
        correct(lemma, features, predicted, right);
        return done();
      },
    },
    make("label", { for: "right-form" }, "Wrong? Type the right form"),
    make("div", { class: "row" }, field, make("button", { type: "submit", class: "main" }, "Save")),
    message,
    correctionOf(lemma, features) === undefined
      ? null
      : button("Remove the correction", () => {
          forget(lemma, features);
          done();
        }),
  );
  return form;
}

let showSteps = () => {};
/** Sets the function that shows the steps of a form. */
export const onSteps = (listener) => {
  showSteps = listener;
};

const nextRequest = api.latest();

export async function open(lemma, features, answer) {
  const dialog = byId("cell");
  const others = make("div", { class: "others" }, make("p", { class: "hint" }, "Looking for other forms …"));
  dialog.replaceChildren(
    make(
      "header",
      {},
      make("h2", { id: "cell-title" }, word(lemma), " ", named(features)),
      button("Close", () => dialog.close(), { class: "quiet close" }),
    ),
    make("p", { class: "form" }, word(answer.form)),
    confidenceLine(answer),
    others,
    correctionForm(lemma, features, answer.form, () => dialog.close()),
    make(
      "div",
      { class: "tools" },
      button("Show the steps", () => {
        dialog.close();
        showSteps(lemma, features);
      }),
    ),
  );
  if (!dialog.open) dialog.showModal();
  try {
    const { answers } = await api.nbest({ model: state.model.name, lemma, features, n: 5 }, nextRequest());
    const rest = answers.filter((other) => other.form !== answer.form);
    others.replaceChildren(
      rest.length ? alternatives(rest) : make("p", { class: "hint" }, "The models found no other form."),
    );
  } catch (error) {
    const problem = api.errorMessage(error);
    if (problem) others.replaceChildren(make("p", { class: "hint" }, problem));
  }
}
