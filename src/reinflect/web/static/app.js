// The whole page: models, tabs, and links between them.

import * as api from "./api.js";
import { showAbout } from "./about.js";
import { goTo, here, isShown } from "./address.js";
import "./corrections.js";
import { byId, button, hideMessage, make, showMessage, toast } from "./dom.js";
import "./lemmas.js";
import { invite, showAll } from "./paradigm.js";
import { choose, nameOf, onModel, spellingOf, state } from "./state.js";
import "./table.js";
import { onParadigm, showWord } from "./word.js";

const TABS = ["paradigm", "word", "table", "corrections"];
const LINKS = {
  word: (query) => showWord(query.get("lemma") ?? "", query.get("features") ?? ""),
  paradigm: (query) => showAll(query.get("lemma") ?? "", query.get("part")),
};
const DATALIST = 400;
const LAST_MODEL = "reinflect.model";

let lastTab = TABS[0];
/** The tab that the address names; other addresses, such as that of the content, leave it as it is. */
function shownTab() {
  if (TABS.includes(here().view)) lastTab = here().view;
  return lastTab;
}

function showTab() {
  const shown = shownTab();
  for (const name of TABS) {
    byId(name).hidden = name !== shown;
    byId(`tab-${name}`).setAttribute("aria-selected", String(name === shown));
    byId(`tab-${name}`).tabIndex = name === shown ? 0 : -1;
  }
}

/** Shows what the address names; a link may name another model. */
async function follow() {
  showTab();
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  const tab = shownTab();
  const { query } = here();
  const [select, name] = [byId("model"), query.get("model")];
  const known = [...select.options].some(({ value }) => value === name);
  if (known && name !== state.model?.name) {
    select.value = name;
    await chosen(name);
  }
  if (!state.model) return;
  if (name && !known) showMessage(byId("page-message"), "problem", `There is no model ${name} here.`);
  else if (query.get("lemma") && LINKS[tab] && !isShown(tab, query)) LINKS[tab](query);
  else if (tab === "paradigm") invite();
}

for (const [place, name] of TABS.entries()) {
  const tab = byId(`tab-${name}`);
  tab.addEventListener("click", () => goTo(name));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = TABS[(place + step + TABS.length) % TABS.length];
    goTo(next);
    byId(`tab-${next}`).focus();
  });
}
addEventListener("hashchange", follow);

onParadigm((lemma, features) => {
  goTo("paradigm");
  showAll(lemma, state.bundles.get(features)?.part_of_speech);
});

onModel((model) => {
  byId("about-button").disabled = false;
  for (const name of TABS) byId(name).inert = false;
  byId("known-bundles").replaceChildren(
    ...model.bundles
      .slice(0, DATALIST)
      .map(({ features }) => make("option", { value: spellingOf(features), label: nameOf(features) })),
  );
});

byId("about-button").addEventListener("click", showAbout);

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
  await chosen(state.model.name);
  return follow();
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
    state.models = models.length;
    select.append(...models.map(({ name }) => make("option", { value: name }, name)));
    const last = stored(() => localStorage.getItem(LAST_MODEL));
    if (models.some(({ name }) => name === last)) select.value = last;
    select.addEventListener("change", async () => {
      history.replaceState(null, "", `#${shownTab()}`);
      await chosen(select.value);
      if (shownTab() === "paradigm") invite();
    });
    const linked = here().query.get("model");
    if (models.some(({ name }) => name === linked)) select.value = linked;
    await chosen(select.value);
    await follow();
    // Not on a touch screen, where the keyboard would hide the example, and not where someone has begun to type.
    if (!matchMedia("(pointer: fine)").matches || document.activeElement !== document.body) return;
    if (shownTab() === "paradigm") byId("paradigm-lemma").select();
    if (shownTab() === "word") byId("lemma").focus();
  } catch (error) {
    showMessage(byId("page-message"), "problem", api.errorMessage(error));
  }
}

start();
