// Many words: makes a table of forms from a pasted column, to copy or download.

import * as api from "./api.js";
import { cell, formText, refresh } from "./answers.js";
import { correctionOf, onCorrection } from "./corrections.js";
import { byId, button, hintScroll, icon, make, showMessage, word } from "./dom.js";
import { copy, csv, download, parsePasted, tsv } from "./files.js";
import { legend } from "./paradigm.js";
import { atomsOf, bundlesOf, featuresOf, knownFeatures, nameOf, named, onModel, partName, state } from "./state.js";

const AT_ONCE = 60;
const SHOWN = 500;
const nextRequest = api.latest();
const wordsField = byId("table-words");
const bundleField = byId("table-bundle");
const formsChoice = byId("table-forms");
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
  formsChoice.replaceChildren(
    ...paradigms.map((own) =>
      make(
        "option",
        { value: own.part_of_speech },
        `all ${bundlesOf(own).length} ${partName(own.part_of_speech)} forms`,
      ),
    ),
    make("option", { value: "" }, "only these forms"),
  );
  choose();
});

/** Shows the field for single forms where it is needed. */
function choose() {
  byId("table-these").hidden = formsChoice.value !== "";
}

function want(bundles) {
  wanted = [...new Set(bundles)];
  byId("table-bundles").replaceChildren(
    ...wanted.map((features) =>
      make(
        "li",
        {},
        make("span", {}, nameOf(features)),
        button([icon("close")], () => want(wanted.filter((other) => other !== features)), {
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

/** The forms to make of lemmas without features. */
function chosenBundles() {
  const paradigm = state.model.paradigms.find(({ part_of_speech }) => part_of_speech === formsChoice.value);
  return paradigm ? bundlesOf(paradigm) : wanted;
}

/** A form of the pasted sheet: a person gave it, so it is no prediction. */
const given = (form) => ({ form, confidence: null, votes: 0, voters: 0, log_probability: null, attested: true });

async function ask() {
  const signal = nextRequest();
  add();
  const { rows, problems, columns } = parsePasted(wordsField.value, knownFeatures);
  if (problems.length)
    return refuse(`${problems.slice(0, 3).join("; ")}${problems.length > 3 ? "; …" : ""}.`, wordsField);
  if (!rows.length)
    return refuse("There are no words. Paste a column of lemmas, or type them, one per line.", wordsField);
  const bundles = chosenBundles();
  const bare = rows.filter(({ features }) => features === null);
  if (bare.length && !bundles.length) {
    const which = bare.length === rows.length ? "The words have" : `Line ${bare[0].line} has`;
    return refuse(`${which} no features. Add the forms to make.`, bundleField);
  }
  const filled = columns?.flatMap(({ features }) => features ?? []);
  const cells = rows.flatMap((row) =>
    (filled ?? (row.features === null ? bundles : [featuresOf(row.features)])).map((features) => ({
      lemma: row.lemma,
      features,
      form: row.given?.get(features),
    })),
  );
  const asked = cells.filter(({ form }) => form === undefined).map(({ lemma, features }) => ({ lemma, features }));
  clear();
  const progress = make("progress", { max: String(asked.length), value: "0", "aria-label": "forms made" });
  showMessage(message, "note", `${asked.length} forms `, progress);
  const predictions = [];
  const unknown = new Map();
  try {
    for (let from = 0; from < asked.length; from += AT_ONCE) {
      const found = await api.batch({ model: state.model.name, rows: asked.slice(from, from + AT_ONCE) }, signal);
      predictions.push(...found.rows);
      for (const { feature, nearest } of found.unknown) unknown.set(feature, nearest);
      progress.value = predictions.length;
    }
  } catch (error) {
    const problem = api.errorMessage(error);
    return problem ? refuse(problem, wordsField) : undefined;
  }
  const notes = [columns ? sheetText(columns, cells, asked) : null, unknown.size ? unknownText(unknown) : null];
  showMessage(message, "note", ...notes.filter((note) => note).map((note) => make("p", {}, note)));
  const results = cells.map(({ lemma, features, form }) =>
    form === undefined ? predictions.shift() : { lemma, features, answer: given(form) },
  );
  if (columns) byId("table-form").elements.shape.value = "wide";
  const wide = new FormData(byId("table-form")).get("shape") === "wide";
  shown = { wide, results, columns, rows };
  draw();
  return undefined;
}

/** What was found in a sheet. */
function sheetText(columns, cells, asked) {
  const others = columns.filter(({ features, heading, isLemma }) => features === null && heading && !isLemma);
  const kept = others.length ? ` Kept as they are: ${others.map(({ heading }) => heading).join(", ")}.` : "";
  const counts = `${cells.length - asked.length} given, ${asked.length} predicted`;
  return `A sheet with a row for each lemma. Forms: ${counts}.${kept}`;
}

function unknownText(unknown) {
  const named = [...unknown].map(([feature, nearest]) =>
    nearest.length ? `${feature} (did you mean ${nearest.join(" or ")}?)` : feature,
  );
  return `Features the model has never seen (ignored): ${named.join(", ")}.`;
}

const formOf = ({ lemma, features, answer }) => correctionOf(lemma, features) ?? formText(answer);

/** The table as rows of text, with its header. */
function textRows() {
  if (!shown.wide) {
    const rows = shown.results.map((row) => [
      row.lemma,
      formOf(row),
      row.features,
      row.answer.attested ? "attested" : (row.answer.confidence?.toFixed(3) ?? ""),
    ]);
    return [["lemma", "form", "features", "confidence"], ...rows];
  }
  if (shown.columns)
    return [
      shown.columns.map(({ heading }) => heading),
      ...sheetRows().map(({ fields, cells }) =>
        shown.columns.map(({ features }, place) =>
          features === null ? (fields[place] ?? "") : formOf(cells.get(features)),
        ),
      ),
    ];
  const { columns, lemmas } = wideTable();
  return [
    ["lemma", ...columns],
    ...lemmas.map(([lemma, found]) => [
      lemma,
      ...columns.map((features) => (found.has(features) ? formOf(found.get(features)) : "")),
    ]),
  ];
}

/** The rows of the pasted sheet, each with its own cells: two rows may have the same lemma. */
function sheetRows() {
  const features = shown.columns.flatMap((column) => column.features ?? []);
  return shown.rows.map((row, place) => {
    const own = shown.results.slice(place * features.length, (place + 1) * features.length);
    return { ...row, cells: new Map(own.map((made) => [made.features, made])) };
  });
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
  const headers = shown.wide
    ? (shown.columns?.map(({ heading }) => heading) ?? ["lemma", ...wideTable().columns.map(nameOf)])
    : ["lemma", "features", "form"];
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
  hintScroll(place);
  tools.replaceChildren(
    button([icon("copy"), "Copy"], () => copy(tsv(textRows())), { id: "table-copy", class: "main" }),
    button(
      [icon("download"), "Download TSV"],
      () => download("inflected.tsv", tsv(textRows()), "text/tab-separated-values"),
      { id: "table-tsv" },
    ),
    button([icon("download"), "Download CSV"], () => download("inflected.csv", csv(textRows()), "text/csv"), {
      id: "table-csv",
    }),
    legend({ attested: shown.columns || state.model.attested || state.model.dictionary }),
  );
  tools.hidden = false;
}

function wideRows() {
  if (shown.columns)
    return sheetRows().map(({ lemma, fields, cells }) =>
      shown.columns.map(({ features, isLemma }, column) =>
        features === null
          ? make(isLemma ? "th" : "td", { class: "kept", scope: isLemma ? "row" : null }, word(fields[column] ?? ""))
          : make("td", {}, cell(lemma, features, cells.get(features).answer)),
      ),
    );
  const { columns, lemmas } = wideTable();
  return lemmas.map(([lemma, found]) => [
    make("th", { scope: "row" }, word(lemma)),
    ...columns.map((features) =>
      found.has(features)
        ? make("td", {}, cell(lemma, features, found.get(features).answer))
        : make("td", { class: "none" }, "–"),
    ),
  ]);
}

onCorrection(() => refresh(place));

byId("table-form").addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
byId("table-add").addEventListener("click", add);
formsChoice.addEventListener("change", choose);
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
