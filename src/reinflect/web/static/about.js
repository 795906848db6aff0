// The panel about the model: what it is, what it learnt from, how often it is right, and its members.

import { meter } from "./answers.js";
import { byId, button, icon, make, visible, word } from "./dom.js";
import { copy } from "./files.js";
import { state } from "./state.js";

const count = (number) => number.toLocaleString("en");
const many = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;
const fact = (name, value, note) =>
  make("div", {}, make("dt", {}, name), make("dd", {}, value), note ? make("dd", { class: "hint" }, note) : null);
const section = (title, ...parts) => make("section", {}, make("h3", {}, title), ...parts);
const paragraph = (...parts) => make("p", {}, ...parts);

function facts({ training, members }) {
  const { attested, bundles, dictionary, voters } = state.model;
  return make(
    "dl",
    { class: "facts" },
    training
      ? [
          fact(
            "expected accuracy",
            `${training.accuracy.toFixed(1)} %`,
            `on ${count(training.scored)} ${training.dev_items ? "dev items" : "held-out forms"}`,
          ),
          fact("training forms", count(training.items), `of ${many(training.lemmas, "lemma")}`),
        ]
      : null,
    fact("feature combinations", count(bundles.length)),
    fact("models", count(members.length), `${voters} of them vote`),
    dictionary ? fact("dictionary", many(dictionary.lemmas, "lemma"), many(dictionary.cells, "cell")) : null,
    attested ? fact("attested forms", count(attested), "kept with the model") : null,
  );
}

function data({ training }) {
  if (!training) return paragraph("There is no record of its training.");
  return make(
    "div",
    {},
    paragraph("Learnt from ", make("strong", {}, word(training.source)), "."),
    paragraph(
      training.dev_items
        ? `The best version of each model was picked by ${many(training.dev_items, "dev item")}.`
        : "There was no dev file: each seed held out a fifth of the forms to pick the best version by.",
    ),
    training.interrupted
      ? paragraph("The training was interrupted; these are the best models until then.")
      : null,
  );
}

const accuracy = ({ training, confidence_items }) =>
  make(
    "div",
    {},
    training
      ? paragraph(
          `Expect about ${Math.round(training.accuracy)} % of the forms to be right to the character, for words like ` +
            "those of its training data.",
        )
      : null,
    paragraph(
      confidence_items
        ? `The confidences were fitted on ${many(confidence_items, "form")}; other words may be harder.`
        : "It cannot say how likely a form is right: there were too few forms to fit confidences on.",
    ),
  );

const members = (listed) =>
  make(
    "ol",
    { class: "members" },
    listed.map(({ name, dev_accuracy, votes }) =>
      make(
        "li",
        {},
        make("span", { class: votes ? "" : "hint" }, name, votes ? "" : " (does not vote)"),
        meter(dev_accuracy / 100, `accuracy ${dev_accuracy.toFixed(1)} %`),
        make("span", { class: "number" }, `${dev_accuracy.toFixed(1)} %`),
      ),
    ),
  );

function made({ training, parameters }) {
  const by = training ? `Made on ${training.date} by reinflect ${training.versions.reinflect ?? ""}. ` : "";
  return paragraph(`${by}${count(parameters)} numbers. Strategy of the vote: ${state.model.strategy}.`);
}

export function showAbout() {
  const dialog = byId("about");
  const { name, about, card, characters } = state.model;
  dialog.replaceChildren(
    make(
      "header",
      {},
      make("h2", { id: "about-title" }, name),
      button([icon("close"), "Close"], () => dialog.close(), { class: "quiet close" }),
    ),
    make("p", { class: "lead" }, "It inflects words: a lemma and features in, a form out."),
    facts(card),
    make(
      "div",
      { class: "about" },
      section("Data", data(card)),
      section("How far to trust it", accuracy(card)),
      section("Models, with their accuracy on dev or held-out items", members(card.members)),
      section(
        `It knows ${many(characters.length, "character")}`,
        make("p", { class: "characters", tabindex: "0" }, characters.map(visible).join(" ")),
        make("p", { class: "hint" }, "Others are copied. Features it has never seen are ignored, and named."),
      ),
      section("Version", made(card)),
    ),
    make("div", { class: "tools" }, button([icon("copy"), "Copy as text"], () => copy(about))),
  );
  dialog.showModal();
}
