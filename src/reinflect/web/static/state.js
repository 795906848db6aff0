// What all parts of the page share: the model that is chosen, and what it knows.

import * as api from "./api.js";
import { make } from "./dom.js";

const listeners = [];
export const state = { model: null, bundles: new Map(), cells: new Map(), atoms: new Set() };

/** Calls back whenever another model was chosen. */
export const onModel = (listener) => listeners.push(listener);

export async function choose(name) {
  const model = await api.model(name);
  state.model = model;
  state.bundles = new Map(model.bundles.map((bundle) => [bundle.features, bundle]));
  state.cells = new Map(
    model.bundles.toReversed().map((bundle) => [cellOf(atomsOf(bundle.features)), bundle.features]),
  );
  state.atoms = new Set(model.dimensions.flatMap((dimension) => dimension.atoms.map(({ atom }) => atom)));
  state.characters = new Set(model.characters);
  for (const listener of listeners) listener(model);
}

/** A bundle's atoms, without the blanks around them. */
export const atomsOf = (features) =>
  features
    .split(";")
    .map((atom) => atom.replace(/^ +| +$/g, ""))
    .filter((atom) => atom);

/** The same for bundles that differ in the order of their atoms only. */
export const cellOf = (atoms) => atoms.toSorted().join(";");

/** What a bundle is called: the user's own label, where there is one. */
export const nameOf = (features) => state.bundles.get(features)?.label ?? features;

/** The same as an element; long ones break between features. */
export const named = (features) =>
  make(
    "span",
    { class: "features" },
    nameOf(features)
      .split(/(?<=;)/)
      .flatMap((piece, place) => (place ? [make("wbr"), piece] : [piece])),
  );

/** The features that a label stands for, or what was given. */
export function featuresOf(text) {
  const given = text.trim();
  for (const bundle of state.bundles.values()) if (bundle.label === given) return bundle.features;
  return given;
}
