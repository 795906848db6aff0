// A form and how sure the models are of it, on its own or as a cell; and the window that opens on a cell.

import * as api from "./api.js";
import { byId, button, make, percent, say, word } from "./dom.js";
import { correct, correctionOf, forget } from "./corrections.js";
import { nameOf, named, state } from "./state.js";

/** How sure, from 0 to 1: the fitted confidence, or else the share of votes. */
export const sureness = (answer) => answer.confidence ?? (answer.voters ? answer.votes / answer.voters : 0);

export function howSure(answer) {
  const votes = `${answer.votes} of ${answer.voters} ${answer.voters === 1 ? "model" : "models"}`;
  return answer.confidence === null ? votes : `${percent(answer.confidence)} sure, ${votes}`;
}

export const meter = (share, label) =>
  make("span", { class: "meter", role: "img", "aria-label": label, css: { "--share": String(share) } });

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
        meter(sureness(answer), howSure(answer)),
        make("span", { class: "number", title: howSure(answer) }, percent(sureness(answer))),
      ),
    ),
  );

/** A form in a table: shaded, and a button that opens the window. */
export function cell(lemma, features, answer) {
  const right = correctionOf(lemma, features);
  const share = sureness(answer);
  return make(
    "button",
    {
      type: "button",
      class: right === undefined ? "cell" : "cell corrected",
      css: { "--share": share.toFixed(3) },
      dataset: { lemma, features },
      "aria-label": [answer.form, nameOf(features), right ? `corrected to ${right}` : howSure(answer)].join(", "),
      onclick: () => open(lemma, features, answer),
    },
    right === undefined ? word(answer.form) : [make("s", {}, word(answer.form)), word(right)],
    make("span", { class: "number", "aria-hidden": "true" }, right === undefined ? percent(share) : "corrected"),
  );
}

/** Redraws all cells of a lemma and its features, after a correction. */
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

/** The form to put right; `done` is called when there is nothing more to say. */
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
        if (!right) return say(message, "problem", "The right form is empty; type it.");
        if (right === predicted)
          return say(message, "problem", "This is what the model says already; change it, or close this.");
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
/** What to do when the steps of a form are asked for. */
export const onSteps = (listener) => {
  showSteps = listener;
};

const nextRequest = api.latest();

export async function open(lemma, features, answer) {
  const dialog = byId("cell");
  const others = make("div", { class: "others" }, make("p", { class: "hint" }, "looking for other forms …"));
  dialog.replaceChildren(
    make(
      "header",
      {},
      make("h2", { id: "cell-title" }, word(lemma), " ", named(features)),
      button("Close", () => dialog.close(), { class: "quiet close" }),
    ),
    make("p", { class: "form" }, word(answer.form)),
    make("p", { class: "sure" }, meter(sureness(answer), howSure(answer)), make("span", {}, howSure(answer))),
    others,
    correctionForm(lemma, features, answer.form, () => dialog.close()),
    make(
      "div",
      { class: "tools" },
      button("Show how it is made", () => {
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
      rest.length ? alternatives(rest) : make("p", { class: "hint" }, "No other form comes to the models’ mind."),
    );
  } catch (error) {
    const said = api.complaint(error);
    if (said) others.replaceChildren(make("p", { class: "hint" }, said));
  }
}
