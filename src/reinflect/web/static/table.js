// Many words: makes a table of forms from a pasted column, to copy or download.

import * as api from "./api.js";
import { cell, refresh } from "./answers.js";
import { correctionOf, onCorrection } from "./corrections.js";
import { byId, button, make, showMessage, word } from "./dom.js";
import { copy, csv, download, parsePasted, tsv } from "./files.js";
import { legend } from "./paradigm.js";
import { atomsOf, featuresOf, nameOf, named, onModel, state } from "./state.js";

const AT_ONCE = 60;
const SHOWN = 500;
const nextRequest = api.latest();
const wordsField = byId("table-words");
const bundleField = byId("table-bundle");
const message = byId("table-message");
const tools = byId("table-tools");
const place = byId("table-result");
let wanted = [];
let shown = null;

onModel(({ paradigms }) => {
  nextRequest();
  want([]);
  clear();
  showMessage(message, "");
  byId("table-parts").replaceChildren(
    ...paradigms.map(({ part_of_speech, tables }) => {
      const bundles = tables.flatMap(({ rows }) => rows.flatMap(({ cells }) => cells)).filter((features) => features);
      return button(`all ${bundles.length} forms of ${part_of_speech}`, () => want([...wanted, ...bundles]));
    }),
  );
});

function want(bundles) {
  wanted = [...new Set(bundles)];
  byId("table-bundles").replaceChildren(
    ...wanted.map((features) =>
      make(
        "li",
        {},
        make("span", {}, nameOf(features)),
        button("×", () => want(wanted.filter((other) => other !== features)), {
          "aria-label": `Remove ${nameOf(features)}`,
        }),
      ),
    ),
    ...(wanted.length > 3
      ? [
          make(
            "li",
            {},
            button("remove all", () => want([])),
          ),
        ]
      : []),
  );
}

function add() {
  const features = featuresOf(bundleField.value);
  if (!atomsOf(features).length) return;
  want([...wanted, features]);
  bundleField.value = "";
}

function clear() {
  shown = null;
  tools.hidden = true;
  place.replaceChildren();
}

function refuse(text, field) {
  clear();
  showMessage(message, "problem", text);
  field.focus();
}

async function ask() {
  const signal = nextRequest();
  add();
  const { rows, problems } = parsePasted(wordsField.value);
  if (problems.length)
    return refuse(`${problems.slice(0, 3).join("; ")}${problems.length > 3 ? "; …" : ""}.`, wordsField);
  if (!rows.length)
    return refuse("There are no words. Paste a column of lemmas, or type them, one per line.", wordsField);
  const bare = rows.filter(({ features }) => features === null);
  if (bare.length && !wanted.length) {
    const which = bare.length === rows.length ? "The words have" : `Line ${bare[0].line} has`;
    return refuse(`${which} no features. Add the forms to make.`, bundleField);
  }
  const asked = rows.flatMap(({ lemma, features }) =>
    features === null
      ? wanted.map((bundle) => ({ lemma, features: bundle }))
      : [{ lemma, features: featuresOf(features) }],
  );
  clear();
  const progress = make("progress", { max: String(asked.length), value: "0", "aria-label": "forms made" });
  showMessage(message, "note", `${asked.length} forms `, progress);
  const results = [];
  const unknown = new Map();
  try {
    for (let from = 0; from < asked.length; from += AT_ONCE) {
      const found = await api.batch({ model: state.model.name, rows: asked.slice(from, from + AT_ONCE) }, signal);
      results.push(...found.rows);
      for (const { feature, nearest } of found.unknown) unknown.set(feature, nearest);
      progress.value = results.length;
    }
  } catch (error) {
    const problem = api.errorMessage(error);
    return problem ? refuse(problem, wordsField) : undefined;
  }
  showMessage(message, "note", ...(unknown.size ? [unknownText(unknown)] : []));
  const wide = new FormData(byId("table-form")).get("shape") === "wide";
  shown = { wide, results, answers: new Map(results.map((row) => [`${row.lemma}\t${row.features}`, row.answer])) };
  draw();
  return undefined;
}

function unknownText(unknown) {
  const named = [...unknown].map(([feature, nearest]) =>
    nearest.length ? `${feature} (did you mean ${nearest.join(" or ")}?)` : feature,
  );
  return `Features the model has never seen (ignored): ${named.join(", ")}.`;
}

const formOf = ({ lemma, features, answer }) => correctionOf(lemma, features) ?? answer.form;

/** The table as rows of text, with its header. */
function textRows() {
  if (!shown.wide) {
    const rows = shown.results.map((row) => [
      row.lemma,
      formOf(row),
      row.features,
      row.answer.confidence?.toFixed(3) ?? "",
    ]);
    return [["lemma", "form", "features", "confidence"], ...rows];
  }
  const { columns, lemmas } = wideTable();
  return [
    ["lemma", ...columns],
    ...lemmas.map(([lemma, found]) => [
      lemma,
      ...columns.map((features) => (found.has(features) ? formOf(found.get(features)) : "")),
    ]),
  ];
}

/** All bundles, and the rows of each lemma by bundle. */
function wideTable() {
  const lemmas = new Map();
  for (const row of shown.results) {
    if (!lemmas.has(row.lemma)) lemmas.set(row.lemma, new Map());
    lemmas.get(row.lemma).set(row.features, row);
  }
  return { columns: [...new Set(shown.results.map(({ features }) => features))], lemmas: [...lemmas] };
}

function draw() {
  const headers = shown.wide ? ["lemma", ...wideTable().columns.map(nameOf)] : ["lemma", "features", "form"];
  const all = shown.wide
    ? wideRows()
    : shown.results.map((row) => [
        make("th", { scope: "row" }, word(row.lemma)),
        make("td", { class: "features" }, named(row.features)),
        make("td", {}, cell(row.lemma, row.features, row.answer)),
      ]);
  place.replaceChildren(
    make(
      "table",
      { class: "forms" },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          headers.map((title) => make("th", { scope: "col" }, title)),
        ),
      ),
      make(
        "tbody",
        {},
        all.slice(0, SHOWN).map((row) => make("tr", {}, row)),
      ),
    ),
    ...(all.length > SHOWN
      ? [make("p", { class: "hint" }, `Shown: ${SHOWN} of ${all.length} rows. Copies and downloads have all rows.`)]
      : []),
  );
  tools.replaceChildren(
    legend(),
    button("Copy", () => copy(tsv(textRows())), { id: "table-copy", class: "main" }),
    button("Download TSV", () => download("inflected.tsv", tsv(textRows()), "text/tab-separated-values"), {
      id: "table-tsv",
    }),
    button("Download CSV", () => download("inflected.csv", csv(textRows()), "text/csv"), { id: "table-csv" }),
  );
  tools.hidden = false;
}

function wideRows() {
  const { columns, lemmas } = wideTable();
  return lemmas.map(([lemma, found]) => [
    make("th", { scope: "row" }, word(lemma)),
    ...columns.map((features) =>
      found.has(features)
        ? make("td", {}, cell(lemma, features, found.get(features).answer))
        : make("td", { class: "none" }, "—"),
    ),
  ]);
}

onCorrection(() => shown && refresh(place, (lemma, features) => shown.answers.get(`${lemma}\t${features}`)));

byId("table-form").addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
byId("table-add").addEventListener("click", add);
bundleField.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && bundleField.value.trim()) {
    event.preventDefault();
    add();
  }
});
for (const choice of document.getElementsByName("shape")) {
  choice.addEventListener("change", () => {
    if (shown) {
      shown.wide = choice.value === "wide";
      draw();
    }
  });
}
