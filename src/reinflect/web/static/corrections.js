// Forms that the user confirmed or corrected: stored in this browser, and exported as training data.

import { byId, button, hintScroll, icon, make, toast, word } from "./dom.js";
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

/** Keeps the right form of a cell: the prediction itself if the user confirms it. */
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
          button(
            [icon("download"), "Download as TSV"],
            () => download(name, asTrainingData(own()), "text/tab-separated-values"),
            { id: "corrections-download", class: "main" },
          ),
          button([icon("copy"), "Copy"], () => copy(asTrainingData(own())), { id: "corrections-copy" }),
          button("Remove all", () => {
            if (
              confirm(
                `Remove ${corrections.length === 1 ? "this form" : `these ${corrections.length} forms`}?`,
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
            "Nothing is confirmed or corrected yet. Click a form in a paradigm to confirm it or to take another.",
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
        ["lemma", "features", "prediction", "right form", "remove"].map((title) => make("th", { scope: "col" }, title)),
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
          make("td", {}, form === predicted ? word(form) : make("s", {}, word(predicted ?? ""))),
          make("td", {}, form === predicted ? [icon("check"), " confirmed"] : [icon("pencil"), " ", word(form)]),
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

hintScroll(byId("corrections-list"));
onModel(draw);
