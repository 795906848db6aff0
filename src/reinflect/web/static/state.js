// The state that all parts of the page share: the chosen model and its inventory.

import * as api from "./api.js";
import { make } from "./dom.js";

const listeners = [];
export const state = {
  model: null,
  models: 0,
  atoms: new Map(),
  bundles: new Map(),
  spellings: new Map(),
  names: new Map(),
  characters: new Set(),
};

/** Registers a function that is called when a model has been chosen. */
export const onModel = (listener) => listeners.push(listener);

export async function choose(name) {
  const model = await api.model(name);
  state.model = model;
  state.bundles = new Map(model.bundles.map((bundle) => [bundle.features, bundle]));
  state.spellings = new Map(
    model.bundles.toReversed().map((bundle) => [bundleKey(atomsOf(bundle.features)), bundle.features]),
  );
  state.characters = new Set(model.characters);
  state.atoms = new Map(
    model.dimensions.flatMap(({ name: dimension, atoms }) => atoms.map((own) => [own.atom, { ...own, dimension }])),
  );
  state.names = new Map();
  for (const { features } of model.bundles.toReversed())
    for (const name of [nameOf(features), spellingOf(features), features])
      state.names.set(name.toLowerCase(), features);
  for (const listener of listeners) listener(model);
}

/** The atoms of a bundle, without blanks around them; the server knows those of bundles with layers. */
export const atomsOf = (features) =>
  state.bundles.get(features)?.atoms ??
  features
    .split(";")
    .map((atom) => atom.replace(/^ +| +$/g, ""))
    .filter((atom) => atom);

/** A key that is equal for bundles that differ only in the order of their atoms. */
export const bundleKey = (atoms) => atoms.toSorted().join(";");

/** The user's label of a bundle, or the bundle itself: what the field for features has. */
export const spellingOf = (features) => state.bundles.get(features)?.label ?? features;

function inWords(atom) {
  const { label, meaning, dimension } = state.atoms.get(atom) ?? {};
  return label ?? (meaning && dimension === "tense" ? `${meaning} tense` : meaning) ?? "";
}

/** Features in words: `past tense, third person, singular`. The part of speech is left out if it is all the same. */
export function headingOf(features) {
  const known = state.bundles.get(features)?.label;
  const atoms = atomsOf(features);
  if (known && known !== atoms.map((atom) => state.atoms.get(atom)?.label ?? atom).join(";")) return known;
  const rest = atoms.filter((atom) => atom.includes(".") || state.atoms.get(atom)?.dimension !== "part of speech");
  const shown = rest.length ? rest : atoms;
  return shown.some(inWords) ? shown.map((atom) => inWords(atom) || atom).join(", ") : features;
}

/** A heading in words begins with a capital; a label stays as the user spells it. */
export function titleOf(features) {
  const heading = headingOf(features);
  return heading === spellingOf(features) ? heading : heading[0].toUpperCase() + heading.slice(1);
}

/** The same, with the part of speech where the model has several. */
export function nameOf(features) {
  const heading = headingOf(features);
  const part = atomsOf(features).find((atom) => state.atoms.get(atom)?.dimension === "part of speech");
  const several = state.model.paradigms.length > 1 && part && !part.includes(".") && inWords(part);
  return several && heading !== inWords(part) && heading !== features && heading !== spellingOf(features)
    ? `${inWords(part)}, ${heading}`
    : heading;
}

/** The name of a bundle as an element, with its features as they are spelled. */
export const named = (features) =>
  make("span", { class: "features", title: features }, nameOf(features));

/** Features as they are spelled; long ones break between features. */
export const asCode = (features) =>
  make(
    "code",
    { class: "spelled" },
    features.split(/(?<=;)/).flatMap((piece, place) => (place ? [make("wbr"), piece] : [piece])),
  );

/** The features that a text names by a label, in words or in another order; else null. */
export const knownFeatures = (text) =>
  state.names.get(text.trim().toLowerCase()) ?? state.spellings.get(bundleKey(atomsOf(text))) ?? null;

/** The features of a label or of a name in words; other text is returned as it is. */
export const featuresOf = (text) => state.names.get(text.trim().toLowerCase()) ?? text.trim();

/** All bundles of a part of speech, in the order of its tables. */
export const bundlesOf = ({ tables }) =>
  tables.flatMap(({ rows }) => rows.flatMap(({ cells }) => cells)).filter((features) => features);

/** The name of a part of speech: `verb` for V. */
export const partName = (part) => inWords(part) || part;
