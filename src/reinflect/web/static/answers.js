// A form with its confidence, alone or as a button in a table; and the dialog that the button opens.

import * as api from "./api.js";
import { linkTo } from "./address.js";
import { byId, button, fill, icon, make, percent, showMessage, toast, word } from "./dom.js";
import { correct, correctionOf, forget } from "./corrections.js";
import { copy } from "./files.js";
import { asCode, nameOf, onModel, state } from "./state.js";

/** Confidence from 0 to 1; the share of votes if the model has no confidence. */
export const confidenceOf = (answer) => answer.confidence ?? (answer.voters ? answer.votes / answer.voters : 0);

export function confidenceText(answer) {
  if (answer.attested) return `attested: ${state.model.dictionary ? "in the dictionary" : "a person gave this form"}`;
  const votes = `${answer.votes} of ${answer.voters} ${answer.voters === 1 ? "model" : "models"}`;
  return answer.confidence === null ? votes : `${percent(answer.confidence)} confidence, ${votes}`;
}

export const meter = (share, label) =>
  make("span", { class: "meter", role: "img", "aria-label": label, css: { "--share": String(share) } });

/** A form, with further attested ones. */
export const formText = (answer) => [answer.form, ...(answer.variants ?? [])].join(" / ");

/** `confirmed`, `corrected`, `attested`, or empty for a prediction that no person has checked. */
export function statusOf(lemma, features, answer) {
  const right = correctionOf(lemma, features);
  if (right === undefined) return answer.attested ? "attested" : "";
  return right === answer.form ? "confirmed" : "corrected";
}

const MARKS = { confirmed: "check", corrected: "pencil", attested: "attested" };
export const mark = (status) => make("span", { class: `mark ${status}` }, icon(MARKS[status]), status);

/** The confidence or the status of the main form. */
export function confidenceLine(lemma, features, answer) {
  const status = statusOf(lemma, features, answer);
  const text = confidenceText(answer);
  return make(
    "p",
    { class: "sure" },
    status ? mark(status) : null,
    answer.attested ? null : [meter(confidenceOf(answer), text), make("span", {}, text)],
  );
}

/** Keeps a form as the right one. */
function take(lemma, features, predicted, form) {
  correct(lemma, features, predicted, form);
  toast(`Saved under Corrections: ${form}`);
}

/** Confirms a form, or takes the confirmation back; an attested form needs none. */
function confirmForm(lemma, features, answer) {
  if (answer.attested || !answer.form) return toast(answer.form ? "This form is attested." : "There is no form.");
  if (statusOf(lemma, features, answer) === "confirmed") return forget(lemma, features);
  return take(lemma, features, answer.form, answer.form);
}

export const confirmButton = (lemma, features, answer, done = () => {}) => {
  if (answer.attested || !answer.form) return null;
  const pressed = statusOf(lemma, features, answer) === "confirmed";
  return button(
    [icon("check"), pressed ? "Confirmed" : "Right", make("kbd", { "aria-hidden": "true" }, "c")],
    () => {
      confirmForm(lemma, features, answer);
      done();
    },
    {
      class: "main confirm",
      "aria-pressed": String(pressed),
      "aria-keyshortcuts": "c",
      title: pressed ? "Take the confirmation back" : "Confirm this form as right",
    },
  );
};

/** Other forms, best first; a click takes one as the right form. */
export const alternatives = (lemma, features, predicted, answers, done = () => {}) =>
  make(
    "ol",
    { class: "alternatives" },
    answers.filter(({ form }) => form).map((answer, place) =>
      make(
        "li",
        {},
        button(
          [
            make("kbd", { "aria-hidden": "true" }, String(place + 1)),
            word(answer.form),
            answer.attested ? mark("attested") : meter(confidenceOf(answer), confidenceText(answer)),
            make(
              "span",
              { class: "number", title: confidenceText(answer) },
              answer.attested ? "" : percent(confidenceOf(answer)),
            ),
            correctionOf(lemma, features) === answer.form ? icon("check") : null,
          ].filter((part) => part),
          () => {
            take(lemma, features, predicted, answer.form);
            done();
          },
          {
            class: "other",
            dataset: { key: String(place + 1) },
            "aria-keyshortcuts": String(place + 1),
            title: "Take this form as the right one",
          },
        ),
      ),
    ),
  );

/** Keys that work in `place` unless the user types: c confirms, a digit takes another form. */
export function quickKeys(place) {
  place.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input, select, textarea")) return;
    const wanted = event.key === "c" ? ".confirm" : /^[1-9]$/.test(event.key) ? `[data-key="${event.key}"]` : null;
    const found = wanted && place.querySelector(wanted);
    if (!found) return;
    event.preventDefault();
    found.click();
  });
}

// What the rule baseline says, by lemma and features, as far as it was asked; `on` shows it in all tables.
const rules = { forms: new Map(), on: false };
const ruleKey = (lemma, features) => `${lemma}\t${features}`;
onModel(() => Object.assign(rules, { forms: new Map(), on: false }));

export const rulesShown = () => rules.on;
export const hideRules = () => {
  rules.on = false;
};

/** Asks the rule baseline for forms of a lemma, and shows them. */
export async function askRules(lemma, bundles, signal) {
  const { cells, items } = await api.rules({ model: state.model.name, lemma, bundles }, signal);
  for (const [number, features] of bundles.entries()) rules.forms.set(ruleKey(lemma, features), cells[number].form);
  rules.on = true;
  return items;
}

function ruleLine(lemma, features, answer) {
  const form = rules.forms.get(ruleKey(lemma, features));
  if (!rules.on || form === undefined) return null;
  if (form === null) return make("span", { class: "rule" }, "rules: none");
  return form === answer.form
    ? make("span", { class: "rule" }, "rules: same")
    : make("span", { class: "rule differs" }, "rules: ", word(form));
}

/** A form in a table: a shaded button that opens the dialog. */
export function cell(lemma, features, answer) {
  const made = make("button", {
    type: "button",
    dataset: { lemma, features },
    "aria-keyshortcuts": "c",
    onclick: () => open(lemma, features, answer),
    onkeydown: (event) => {
      if (event.key !== "c" || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      confirmForm(lemma, features, answer);
    },
  });
  return paint(made, answer);
}

const painted = new WeakMap();
function paint(made, answer) {
  painted.set(made, answer);
  const { lemma, features } = made.dataset;
  const status = statusOf(lemma, features, answer);
  const right = correctionOf(lemma, features);
  const share = confidenceOf(answer);
  const said = status ? (status === "corrected" ? `corrected to ${right}` : status) : confidenceText(answer);
  made.className = status ? `cell ${status}` : "cell";
  made.style.setProperty("--share", share.toFixed(3));
  const rule = ruleLine(lemma, features, answer);
  const name = [formText(answer), nameOf(features), said, rule?.textContent].filter((part) => part).join(", ");
  made.setAttribute("aria-label", name);
  made.title = `${nameOf(features)}: ${said}`;
  return fill(
    made,
    make(
      "span",
      {},
      status === "corrected"
        ? [make("s", {}, word(answer.form)), " ", word(right)]
        : word(formText(answer) || "∅"),
    ),
    make("span", { class: "number", "aria-hidden": "true" }, status ? icon(MARKS[status]) : percent(share)),
    rule,
  );
}

/** Redraws the forms of a table after a correction, or after the rules were asked. */
export function refresh(place) {
  for (const made of place.querySelectorAll("button.cell")) paint(made, painted.get(made));
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
        take(lemma, features, predicted, right);
        return done();
      },
    },
    make("label", { for: "right-form" }, "Wrong? Type the right form"),
    make("div", { class: "row" }, field, make("button", { type: "submit", class: "quiet" }, "Save")),
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

/** A button that copies a link to a lemma with features. */
export const linkButton = (lemma, features) =>
  button([icon("link"), "Copy link"], () => copy(linkTo("word", { lemma, features })), {
    title: "A link that opens this page with this word",
  });

const nextRequest = api.latest();
quickKeys(byId("cell"));

export async function open(lemma, features, answer) {
  const dialog = byId("cell");
  const close = () => dialog.close();
  const others = make("div", { class: "others" }, make("p", { class: "hint" }, "Looking for other forms …"));
  const ruled = make("p", { class: "hint", role: "status" });
  dialog.replaceChildren(
    make(
      "header",
      {},
      make("h2", { id: "cell-title" }, word(lemma), make("span", { class: "features" }, nameOf(features))),
      button([icon("close"), "Close"], close, { class: "quiet close" }),
    ),
    asCode(features),
    make("p", { class: "form" }, word(formText(answer))),
    confidenceLine(lemma, features, answer),
    make(
      "div",
      { class: "tools" },
      confirmButton(lemma, features, answer, close),
      button([icon("steps"), "Show the steps"], () => {
        close();
        showSteps(lemma, features);
      }),
      state.model.attested
        ? button([icon("rules"), "Compare with rules"], () => compare(lemma, features, answer, ruled))
        : null,
      linkButton(lemma, features),
    ),
    ruled,
    others,
    correctionForm(lemma, features, answer.form, close),
  );
  if (!dialog.open) dialog.showModal();
  (dialog.querySelector(".confirm") ?? dialog.querySelector(".close")).focus();
  try {
    const { answers } = await api.nbest({ model: state.model.name, lemma, features, n: 6 }, nextRequest());
    const rest = answers.filter((other) => ![answer.form, ...(answer.variants ?? [])].includes(other.form));
    others.replaceChildren(
      ...(rest.length
        ? [
            make("h3", {}, answer.attested ? "What the model would say" : "Other forms: click the right one"),
            alternatives(lemma, features, answer.form, rest, close),
          ]
        : [make("p", { class: "hint" }, "The models found no other form.")]),
    );
  } catch (error) {
    const problem = api.errorMessage(error);
    if (problem) others.replaceChildren(make("p", { class: "hint" }, problem));
  }
}

/** Says what the rule baseline makes of a lemma. */
export async function compare(lemma, features, answer, place) {
  try {
    const { cells, items } = await api.rules({ model: state.model.name, lemma, bundles: [features] });
    const [{ form }] = cells;
    const learnt = ` (learnt from ${items.toLocaleString("en")} attested forms)`;
    place.replaceChildren(
      ...(form === null
        ? [`The rules${learnt} have no form with these features to go by.`]
        : form === answer.form
          ? [`The rules${learnt} give the same form.`]
          : [`The rules${learnt} give `, word(form), "."]),
    );
  } catch (error) {
    place.textContent = api.errorMessage(error) ?? "";
  }
}
