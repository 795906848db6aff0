// All forms of a lemma, as tables that are filled as answers arrive; each form is shaded by its confidence.

import * as api from "./api.js";
import { forgetView, linkTo, remember } from "./address.js";
import {
  askRules,
  cell,
  confidenceOf,
  confidenceText,
  formText,
  hideRules,
  refresh,
  rulesShown,
  statusOf,
} from "./answers.js";
import { correctionOf, onCorrection } from "./corrections.js";
import { byId, button, directionOf, hideMessage, hintScroll, icon, make, showMessage, toast, word } from "./dom.js";
import { copy, csv, download, tsv } from "./files.js";
import { nameOf, onModel, partName, state, titleOf } from "./state.js";

const AT_ONCE = 40;
const nextRequest = api.latest();
const lemmaField = byId("paradigm-lemma");
const part = byId("paradigm-part");
const message = byId("paradigm-message");
const title = byId("paradigm-title");
const place = byId("paradigm-tables");
const tools = byId("paradigm-tools");
let shown = null;
let modelName = null;

onModel(({ name, paradigms }) => {
  nextRequest();
  const before = name === modelName ? { lemma: lemmaField.value, part: part.value } : null;
  modelName = name;
  part.replaceChildren(
    ...paradigms.map(({ part_of_speech }) =>
      make("option", { value: part_of_speech, selected: part_of_speech === before?.part }, partName(part_of_speech)),
    ),
  );
  byId("paradigm-part-field").hidden = paradigms.length < 2;
  lemmaField.value = before?.lemma ?? "";
  forgetView("paradigm");
  clear();
});

const chosen = () => state.model.paradigms.find(({ part_of_speech }) => part_of_speech === part.value);

function clear() {
  shown = null;
  title.replaceChildren();
  place.replaceChildren();
  tools.hidden = true;
  hideMessage(message);
}

export function showAll(lemma, partOfSpeech = null) {
  lemmaField.value = lemma;
  if (state.model.paradigms.some(({ part_of_speech }) => part_of_speech === partOfSpeech)) part.value = partOfSpeech;
  ask();
}

/** Shows an example of the model where nothing was asked yet. */
export function invite() {
  if (shown) return;
  if (lemmaField.value.trim()) return ask();
  const known = state.model.paradigms.find(({ example }) => example !== null);
  if (known) return showAll(known.example, known.part_of_speech);
  return place.replaceChildren(
    make(
      "p",
      { class: "empty invitation" },
      "Type a word, and the model makes all its forms. It keeps no attested forms that could serve as an example.",
    ),
  );
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
  const paradigm = chosen();
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
  remember("paradigm", { lemma, part: state.model.paradigms.length > 1 ? part.value : "" });
  shown = { lemma, part: part.value, answers: new Map(), bundles: [], example: lemma === paradigm.example };
  const cells = draw(paradigm, lemma);
  shown.bundles = [...cells.keys()];
  place.setAttribute("aria-busy", "true");
  try {
    for (let from = 0; from < shown.bundles.length; from += AT_ONCE) {
      const bundles = shown.bundles.slice(from, from + AT_ONCE);
      const answered = await api.paradigm({ model: state.model.name, lemma, bundles }, signal);
      // By their order: where a label is spelled as a bundle, the answer names the features of the label.
      for (const [number, features] of bundles.entries()) {
        const { answer } = answered.cells[number];
        shown.answers.set(features, answer);
        cells.get(features).replaceChildren(cell(lemma, features, answer));
      }
    }
    if (rulesShown()) await compare(signal);
    drawTools();
    update();
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
    if (features === null) return make("td", { class: "none", "aria-label": "no such form" }, "–");
    const made = make("td", {}, make("span", { class: "pending", "aria-label": "loading" }));
    cells.set(features, made);
    return made;
  };
  const tables = paradigm.tables.map(({ title: features, columns, rows }) => {
    const head = columns.some((column) => column);
    const caption = features ? titleOf(features) : paradigm.tables.length > 1 ? "Other forms" : "";
    return hintScroll(
      make(
        "div",
        { class: `scroll paradigm-table${columns.length > 2 ? " wide" : ""}` },
        make(
          "table",
          { class: "forms" },
          caption ? make("caption", { title: features }, caption) : null,
          head
            ? make(
                "thead",
                {},
                make(
                  "tr",
                  {},
                  make("td", {}),
                  columns.map((own) => make("th", { scope: "col", title: own }, own ? titleOf(own) : "–")),
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
                make("th", { scope: "row", title: row.title }, row.title ? titleOf(row.title) : "–"),
                row.cells.map(empty),
              ),
            ),
          ),
        ),
      ),
    );
  });
  title.replaceChildren(
    make("h2", { dir: directionOf(lemma) === "rtl" ? "auto" : null }, word(lemma)),
    make("p", { class: "hint", id: "paradigm-summary", role: "status" }, "Making the forms …"),
  );
  place.replaceChildren(make("div", { class: "tables" }, tables));
  return cells;
}

function drawTools() {
  const name = `${shown.lemma}-paradigm`;
  const values = { lemma: shown.lemma, part: state.model.paradigms.length > 1 ? shown.part : "" };
  tools.replaceChildren(
    button([icon("least"), "Least sure form"], leastConfident, {
      id: "least-sure",
      title: "Go to the form to check or elicit next",
    }),
    ...(state.model.attested
      ? [
          button([icon("rules"), "Compare with rules"], toggleRules, {
            id: "paradigm-rules",
            "aria-pressed": String(rulesShown()),
            title: "Show what simple rules, learnt from the attested forms, would say",
          }),
        ]
      : []),
    button([icon("link"), "Copy link"], () => copy(linkTo("paradigm", values)), { id: "paradigm-link" }),
    button([icon("copy"), "Copy as table"], () => copy(tsv(rows())), { id: "paradigm-copy" }),
    button([icon("download"), "Download CSV"], () => download(`${name}.csv`, csv(rows()), "text/csv")),
    legend({ least: true }),
  );
  tools.hidden = false;
}

const rows = () => [
  ["lemma", "form", "features", "confidence"],
  ...shown.bundles.map((features) => {
    const answer = shown.answers.get(features);
    return [
      shown.lemma,
      correctionOf(shown.lemma, features) ?? formText(answer),
      features,
      answer.attested ? "attested" : (answer.confidence?.toFixed(3) ?? ""),
    ];
  }),
];

async function toggleRules() {
  const wanted = !rulesShown();
  try {
    if (wanted) await compare(nextRequest());
    else hideRules();
  } catch (error) {
    const problem = api.errorMessage(error);
    return problem ? showMessage(message, "problem", problem) : undefined;
  }
  byId("paradigm-rules").setAttribute("aria-pressed", String(wanted));
  return update();
}

const compare = (signal) => askRules(shown.lemma, shown.bundles, signal);

/** The unchecked prediction with the lowest confidence. */
function leastSure() {
  const open = shown.bundles.filter((features) => !statusOf(shown.lemma, features, shown.answers.get(features)));
  const confidence = (features) => confidenceOf(shown.answers.get(features));
  return open.toSorted((one, other) => confidence(one) - confidence(other))[0];
}

const buttonOf = (features) =>
  [...place.querySelectorAll("button.cell")].find((made) => made.dataset.features === features);

function leastConfident() {
  const least = leastSure();
  if (!least) return toast("All forms are checked.");
  const found = buttonOf(least);
  found.scrollIntoView({ block: "center" });
  found.focus();
  return toast(`${nameOf(least)}: ${confidenceText(shown.answers.get(least))}`);
}

/** Redraws what depends on corrections and rules. */
function update() {
  if (!shown) return;
  refresh(place);
  if (shown.answers.size < shown.bundles.length) return;
  const least = buttonOf(leastSure());
  if (least) {
    least.classList.add("least");
    least.querySelector(".number").prepend(icon("least"), " ");
    least.setAttribute("aria-label", `${least.getAttribute("aria-label")}, the least sure form`);
  }
  const count = (wanted) =>
    shown.bundles.filter((features) => statusOf(shown.lemma, features, shown.answers.get(features)) === wanted).length;
  const counts = ["attested", "confirmed", "corrected"].map((status) => [count(status), status]);
  const forms = shown.bundles.length === 1 ? "1 form" : `${shown.bundles.length} forms`;
  byId("paradigm-summary").replaceChildren(
    [
      `${shown.example ? "An example of this model, with " : ""}${forms}`,
      ...counts.filter(([number]) => number).map(([number, status]) => `${number} ${status}`),
    ].join(", "),
    ". Click a form to confirm or correct it, or to see how it is made.",
  );
}

/** What the colours and marks of a table mean. */
export const legend = ({ attested = state.model.attested || state.model.dictionary, least = false } = {}) =>
  make(
    "span",
    { class: "legend" },
    make("span", {}, make("span", { class: "scale", "aria-hidden": "true" }), "low to high confidence"),
    least ? make("span", {}, icon("least"), " least sure") : null,
    attested ? make("span", {}, icon("attested"), " attested") : null,
    make("span", {}, icon("check"), " confirmed"),
  );

/** Arrow keys move between the forms of all tables. */
place.addEventListener("keydown", (event) => {
  const cells = [...place.querySelectorAll("button.cell")];
  const at = cells.indexOf(event.target);
  if (at < 0 || !event.key.startsWith("Arrow") || event.altKey || event.ctrlKey || event.metaKey) return;
  const row = event.target.closest("tr");
  const column = event.target.closest("td").cellIndex;
  const other = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
  const beside = { ArrowRight: cells[at + 1], ArrowLeft: cells[at - 1] }[event.key];
  const next = beside ?? other?.cells[column]?.querySelector("button.cell");
  event.preventDefault();
  next?.focus();
});

onCorrection(update);

byId("paradigm-form").addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
part.addEventListener("change", () => {
  const before = state.model.paradigms.find(({ part_of_speech }) => part_of_speech === shown?.part);
  const wasExample = before && lemmaField.value.trim() === before.example;
  if (wasExample && chosen()?.example) lemmaField.value = chosen().example;
  if (lemmaField.value.trim()) ask();
});
