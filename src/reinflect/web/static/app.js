// The whole page: models, tabs, and links between them.

import * as api from "./api.js";
import "./corrections.js";
import { byId, button, hideMessage, make, showMessage, toast } from "./dom.js";
import { showAll } from "./paradigm.js";
import { choose, nameOf, onModel, state } from "./state.js";
import "./table.js";
import { onParadigm } from "./word.js";

const TABS = ["word", "paradigm", "table", "corrections"];
const DATALIST = 400;
const LAST_MODEL = "reinflect.model";

function showTab() {
  const wanted = location.hash.slice(1);
  const shown = TABS.includes(wanted) ? wanted : TABS[0];
  for (const name of TABS) {
    byId(name).hidden = name !== shown;
    byId(`tab-${name}`).setAttribute("aria-selected", String(name === shown));
    byId(`tab-${name}`).tabIndex = name === shown ? 0 : -1;
  }
}

for (const [place, name] of TABS.entries()) {
  const tab = byId(`tab-${name}`);
  tab.addEventListener("click", () => {
    location.hash = name;
  });
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = TABS[(place + step + TABS.length) % TABS.length];
    location.hash = next;
    byId(`tab-${next}`).focus();
  });
}
addEventListener("hashchange", showTab);

onParadigm((lemma) => {
  location.hash = "paradigm";
  showAll(lemma);
});

onModel((model) => {
  byId("known-bundles").replaceChildren(
    ...model.bundles.slice(0, DATALIST).map(({ features }) => make("option", { value: nameOf(features) })),
  );
});

byId("about-button").addEventListener("click", () => {
  const dialog = byId("about");
  dialog.replaceChildren(
    make(
      "header",
      {},
      make("h2", { id: "about-title" }, state.model.name),
      button("Close", () => dialog.close(), { class: "quiet close" }),
    ),
    make("pre", { tabindex: "0" }, state.model.about),
  );
  dialog.showModal();
});

for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}

/** Uses the storage of the browser; null where it is turned off. */
const stored = (act) => {
  try {
    return act();
  } catch {
    return null;
  }
};

async function chosen(name) {
  const message = byId("page-message");
  try {
    await choose(name);
    showMessage(message, "");
    stored(() => localStorage.setItem(LAST_MODEL, name));
    await checkFile();
  } catch (error) {
    showMessage(message, "problem", api.errorMessage(error));
  }
}

/** Says so when the file of the chosen model is no longer the one that the server has loaded. */
async function checkFile() {
  const place = byId("file-message");
  const { models } = await api.models();
  if (!models.find(({ name }) => name === state.model?.name)?.changed) return hideMessage(place);
  return showMessage(
    place,
    "note",
    "The file of this model has changed since it was loaded. Answers are of the model as it was loaded. ",
    button("Load the new file", loadAgain, { id: "load-again" }),
  );
}

async function loadAgain() {
  try {
    await api.reload({ model: state.model.name });
    toast("The new file is loaded.");
  } catch (error) {
    return showMessage(byId("page-message"), "problem", api.errorMessage(error));
  }
  return chosen(state.model.name);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && state.model) checkFile().catch(api.errorMessage);
});

async function start() {
  showTab();
  const select = byId("model");
  try {
    const { models, limits } = await api.models();
    for (const field of [byId("lemma"), byId("paradigm-lemma")]) field.maxLength = limits.lemma_characters;
    select.append(...models.map(({ name }) => make("option", { value: name }, name)));
    const last = stored(() => localStorage.getItem(LAST_MODEL));
    if (models.some(({ name }) => name === last)) select.value = last;
    select.addEventListener("change", () => chosen(select.value));
    await chosen(select.value);
    byId("lemma").focus();
  } catch (error) {
    showMessage(byId("page-message"), "problem", api.errorMessage(error));
  }
}

start();
