// All forms of a lemma, as tables that are filled as answers arrive; each form is shaded by its confidence.

import * as api from "./api.js";
import { cell, confidenceOf, confidenceText, refresh } from "./answers.js";
import { correctionOf, onCorrection } from "./corrections.js";
import { byId, button, directionOf, hideMessage, make, showMessage, toast, word } from "./dom.js";
import { copy, csv, download, tsv } from "./files.js";
import { nameOf, onModel, state } from "./state.js";

const AT_ONCE = 40;
const nextRequest = api.latest();
const lemmaField = byId("paradigm-lemma");
const part = byId("paradigm-part");
const message = byId("paradigm-message");
const place = byId("paradigm-tables");
const tools = byId("paradigm-tools");
let shown = null;

onModel(({ paradigms }) => {
  nextRequest();
  part.replaceChildren(
    ...paradigms.map(({ part_of_speech }) => make("option", { value: part_of_speech }, part_of_speech)),
  );
  byId("paradigm-part-field").hidden = paradigms.length < 2;
  clear();
});

function clear() {
  shown = null;
  place.replaceChildren();
  tools.hidden = true;
  hideMessage(message);
}

export function showAll(lemma) {
  lemmaField.value = lemma;
  ask();
}

async function ask() {
  const signal = nextRequest();
  const lemma = lemmaField.value.trim();
  clear();
  lemmaField.setAttribute("aria-invalid", String(!lemma));
  if (!lemma) {
    showMessage(message, "problem", "There is no lemma. Type a word to inflect.");
    return lemmaField.focus();
  }
  const paradigm = state.model.paradigms.find(({ part_of_speech }) => part_of_speech === part.value);
  if (!paradigm)
    return showMessage(
      message,
      "problem",
      "This model is from an older version and has no list of its feature combinations. Train it again.",
    );
  if (paradigm.left_out)
    showMessage(
      message,
      "note",
      `Only the commonest feature combinations are shown; ${paradigm.left_out} others can be typed under One word.`,
    );
  shown = { lemma, answers: new Map(), bundles: [] };
  const cells = draw(paradigm, lemma);
  shown.bundles = [...cells.keys()];
  place.setAttribute("aria-busy", "true");
  try {
    for (let from = 0; from < shown.bundles.length; from += AT_ONCE) {
      const bundles = shown.bundles.slice(from, from + AT_ONCE);
      const found = await api.paradigm({ model: state.model.name, lemma, bundles }, signal);
      for (const { features, answer } of found.cells) {
        shown.answers.set(features, answer);
        cells.get(features).replaceChildren(cell(lemma, features, answer));
      }
    }
    drawTools();
  } catch (error) {
    const problem = api.errorMessage(error);
    if (!problem) return undefined;
    showMessage(message, "problem", problem);
  }
  place.removeAttribute("aria-busy");
  return undefined;
}

/** Draws empty tables; returns the table cells by bundle. */
function draw(paradigm, lemma) {
  const cells = new Map();
  const empty = (features) => {
    if (features === null) return make("td", { class: "none", "aria-label": "no such form" }, "—");
    const made = make("td", {}, make("span", { class: "pending", "aria-label": "loading" }));
    cells.set(features, made);
    return made;
  };
  const tables = paradigm.tables.map(({ title, columns, rows }) => {
    const head = columns.some((column) => column);
    return make(
      "div",
      { class: "scroll paradigm-table" },
      make(
        "table",
        { class: "forms" },
        make("caption", {}, title || (paradigm.tables.length > 1 ? "other forms" : "")),
        head
          ? make(
              "thead",
              {},
              make(
                "tr",
                {},
                make("td", {}),
                columns.map((column) => make("th", { scope: "col" }, column || "—")),
              ),
            )
          : null,
        make(
          "tbody",
          {},
          rows.map((row) =>
            make(
              "tr",
              {},
              make("th", { scope: "row" }, head ? row.title || "—" : nameOf(row.title)),
              row.cells.map(empty),
            ),
          ),
        ),
      ),
    );
  });
  place.replaceChildren(
    make("h2", { dir: directionOf(lemma) === "rtl" ? "auto" : null }, word(lemma)),
    make("div", { class: "tables" }, tables),
  );
  return cells;
}

function drawTools() {
  const name = `${shown.lemma}-paradigm`;
  tools.replaceChildren(
    legend(),
    button("Copy as table", () => copy(tsv(rows())), { id: "paradigm-copy" }),
    button("Download CSV", () => download(`${name}.csv`, csv(rows()), "text/csv")),
    button("Go to the lowest confidence", leastConfident, { title: "The form to check or elicit next" }),
  );
  tools.hidden = false;
}

const rows = () => [
  ["lemma", "form", "features", "confidence"],
  ...shown.bundles.map((features) => {
    const answer = shown.answers.get(features);
    return [
      shown.lemma,
      correctionOf(shown.lemma, features) ?? answer.form,
      features,
      answer.confidence?.toFixed(3) ?? "",
    ];
  }),
];

/** Focuses the uncorrected form with the lowest confidence. */
function leastConfident() {
  const open = shown.bundles.filter((features) => correctionOf(shown.lemma, features) === undefined);
  if (!open.length) return toast("All forms are corrected.");
  const confidence = (features) => confidenceOf(shown.answers.get(features));
  const [least] = open.toSorted((one, other) => confidence(one) - confidence(other));
  const found = [...place.querySelectorAll("button.cell")].find((made) => made.dataset.features === least);
  found.scrollIntoView({ block: "center" });
  found.focus();
  return toast(`${nameOf(least)}: ${confidenceText(shown.answers.get(least))}`);
}

export const legend = () =>
  make("span", { class: "legend" }, "low", make("span", { class: "scale", "aria-hidden": "true" }), "high confidence");

onCorrection(() => shown && refresh(place, (_lemma, features) => shown.answers.get(features)));

byId("paradigm-form").addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
part.addEventListener("change", () => lemmaField.value.trim() && ask());
