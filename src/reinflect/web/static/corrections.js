// Corrections of forms: stored in this browser, and exported as training data.

import { byId, button, make, toast, word } from "./dom.js";
import { copy, download, tsv } from "./files.js";
import { named, onModel, state } from "./state.js";

const KEY = "reinflect.corrections";
const listeners = [];
let kept = read();

function read() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found)
      ? found.filter((one) => ["model", "lemma", "features", "form"].every((key) => typeof one?.[key] === "string"))
      : [];
  } catch {
    return []; // storage is turned off, or has other content
  }
}

function changed() {
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    toast("This browser cannot store corrections: download them before you close the page.");
  }
  for (const listener of listeners) listener();
  draw();
}

export const onCorrection = (listener) => listeners.push(listener);

const own = () => kept.filter((one) => one.model === state.model?.name);
const same = (one, lemma, features) =>
  one.model === state.model.name && one.lemma === lemma && one.features === features;

export const correctionOf = (lemma, features) => kept.find((one) => same(one, lemma, features))?.form;

export function correct(lemma, features, predicted, form) {
  kept = [
    ...kept.filter((one) => !same(one, lemma, features)),
    { model: state.model.name, lemma, features, predicted, form },
  ];
  changed();
}

export function forget(lemma, features) {
  kept = kept.filter((one) => !same(one, lemma, features));
  changed();
}

/** The format of `reinflect train --add`: lemma, form, features. */
export const asTrainingData = (corrections) =>
  tsv(corrections.map(({ lemma, form, features }) => [lemma, form, features]));

function draw() {
  const corrections = own();
  const count = byId("corrections-count");
  count.textContent = String(corrections.length);
  count.hidden = corrections.length === 0;
  const name = `${state.model?.name ?? "model"}-corrections.tsv`;
  byId("corrections-tools").replaceChildren(
    ...(corrections.length
      ? [
          button("Download as TSV", () => download(name, asTrainingData(own()), "text/tab-separated-values"), {
            id: "corrections-download",
            class: "main",
          }),
          button("Copy", () => copy(asTrainingData(own())), { id: "corrections-copy" }),
          button("Remove all", () => {
            if (
              confirm(
                `Remove ${corrections.length === 1 ? "this correction" : `these ${corrections.length} corrections`}?`,
              )
            ) {
              kept = kept.filter((one) => !corrections.includes(one));
              changed();
            }
          }),
        ]
      : []),
  );
  byId("corrections-list").replaceChildren(
    ...(corrections.length
      ? [
          table(corrections),
          make(
            "p",
            { class: "hint" },
            "To train with them: ",
            make("code", {}, `reinflect train --train FORMS --add ${name} --out MODEL`),
          ),
        ]
      : [
          make(
            "p",
            { class: "empty" },
            "No corrections for this model yet. To add one, click a form in a table, or “Wrong?” below a form.",
          ),
        ]),
  );
}

const table = (corrections) =>
  make(
    "table",
    { class: "list" },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        ["lemma", "features", "prediction", "right form", ""].map((title) => make("th", { scope: "col" }, title)),
      ),
    ),
    make(
      "tbody",
      {},
      corrections.map(({ lemma, features, predicted, form }) =>
        make(
          "tr",
          {},
          make("td", {}, word(lemma)),
          make("td", { class: "features" }, named(features)),
          make("td", {}, make("s", {}, word(predicted ?? ""))),
          make("td", {}, word(form)),
          make(
            "td",
            {},
            button("Remove", () => forget(lemma, features), {
              "aria-label": `Remove the correction of ${lemma}, ${features}`,
            }),
          ),
        ),
      ),
    ),
  );

onModel(draw);
