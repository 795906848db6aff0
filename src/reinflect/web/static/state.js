// The state that all parts of the page share: the chosen model and its inventory.

import * as api from "./api.js";
import { make } from "./dom.js";

const listeners = [];
export const state = { model: null, bundles: new Map(), spellings: new Map(), characters: new Set() };

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

/** The user's label of a bundle, or the bundle itself. */
export const nameOf = (features) => state.bundles.get(features)?.label ?? features;

/** The name of a bundle as an element; long names break between features. */
export const named = (features) =>
  make(
    "span",
    { class: "features" },
    nameOf(features)
      .split(/(?<=;)/)
      .flatMap((piece, place) => (place ? [make("wbr"), piece] : [piece])),
  );

/** The features of a label; other text is returned as it is. */
export function featuresOf(text) {
  const given = text.trim();
  for (const bundle of state.bundles.values()) if (bundle.label === given) return bundle.features;
  return given;
}
