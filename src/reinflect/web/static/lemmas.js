// What the model's dictionary offers: its lemmas while one is typed, and forms with its marks.

import * as api from "./api.js";
import { byId, make } from "./dom.js";
import { onModel, state } from "./state.js";

const list = byId("known-lemmas");
const nextRequest = api.latest();

async function offer(event) {
  const beginning = event.target.value.trim();
  const signal = nextRequest();
  if (!beginning || !state.model?.dictionary) return;
  try {
    const { lemmas } = await api.lemmas({ model: state.model.name, beginning }, signal);
    list.replaceChildren(...lemmas.map((lemma) => make("option", { value: lemma })));
  } catch (error) {
    api.errorMessage(error); // without a list, lemmas can still be typed
  }
}

for (const id of ["lemma", "paradigm-lemma"]) byId(id).addEventListener("input", offer);
onModel(({ dictionary }) => {
  list.replaceChildren();
  byId("marks-field").hidden = !dictionary?.marks;
});

byId("marks").addEventListener("change", (event) => {
  api.settings.marks = event.target.checked;
  for (const id of ["lemma", "paradigm-lemma"])
    if (byId(id).value.trim()) byId(id).form.requestSubmit();
});
