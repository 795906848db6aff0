// Buttons for the features of the model, by dimension. They always agree with the text field above them.

import { make } from "./dom.js";
import { atomsOf, bundleKey, featuresOf, nameOf, onModel, partName, spellingOf, state } from "./state.js";

export class Picker {
  /** `changed` is called when the user has picked features. */
  constructor(place, field, changed) {
    Object.assign(this, { place, field, changed });
    onModel(() => this.draw());
    field.addEventListener("input", () => this.show());
  }

  /** The features in the field; a label is replaced by its features. */
  get features() {
    return featuresOf(this.field.value);
  }

  set features(text) {
    this.field.value = spellingOf(text);
    this.show();
  }

  draw() {
    const { dimensions, bundles } = state.model;
    this.buttons = new Map();
    const groups = dimensions.map(({ name, several, atoms }) =>
      make(
        "fieldset",
        { class: "dimension" },
        make("legend", {}, name),
        make(
          "div",
          { class: "chips" },
          atoms.map(({ atom, meaning, label }) => this.button(name, several, atom, label ?? meaning)),
        ),
      ),
    );
    this.place.replaceChildren(...(bundles.length ? [this.wholeBundles()] : []), ...groups);
    this.show();
  }

  button(dimension, several, atom, meaning) {
    const made = make(
      "button",
      { type: "button", class: "chip", "aria-pressed": "false", title: meaning, onclick: () => this.toggle(atom) },
      make("span", { class: "atom" }, atom),
      meaning ? [" ", make("span", { class: "meaning" }, meaning)] : null,
    );
    this.buttons.set(atom, { made, dimension, several });
    return made;
  }

  wholeBundles() {
    const parts = [...new Set(state.model.bundles.map((bundle) => bundle.part_of_speech))];
    const optionsOf = (part) =>
      state.model.bundles
        .filter((bundle) => bundle.part_of_speech === part)
        .map(({ features }) => make("option", { value: features }, nameOf(features)));
    const select = make(
      "select",
      { id: "whole-bundle", onchange: () => select.value && this.pick(select.value) },
      make("option", { value: "" }, "pick one …"),
      parts.map((part) => make("optgroup", { label: partName(part) }, optionsOf(part))),
    );
    this.select = select;
    return make(
      "div",
      { class: "field" },
      make("label", { for: "whole-bundle" }, "Combinations seen in training"),
      select,
    );
  }

  pick(features) {
    this.features = features;
    this.changed();
  }

  /** Press or release an atom; in most dimensions it replaces the other atom. */
  toggle(atom) {
    const { dimension, several } = this.buttons.get(atom);
    let atoms = atomsOf(this.features);
    if (atoms.includes(atom)) atoms = atoms.filter((other) => other !== atom);
    else atoms = [...atoms.filter((other) => several || this.buttons.get(other)?.dimension !== dimension), atom];
    this.pick(spelled(atoms, [...this.buttons.keys()]));
  }

  show() {
    const atoms = atomsOf(this.features);
    const seen = [...state.bundles.keys()].map((features) => new Set(atomsOf(features)));
    for (const [atom, { made, dimension, several }] of this.buttons) {
      const others = atoms.filter(
        (other) => this.buttons.has(other) && (several || this.buttons.get(other).dimension !== dimension),
      );
      const fits =
        seen.length === 0 || seen.some((bundle) => bundle.has(atom) && others.every((other) => bundle.has(other)));
      made.setAttribute("aria-pressed", String(atoms.includes(atom)));
      made.classList.toggle("unfit", !fits && !atoms.includes(atom));
    }
    if (this.select) this.select.value = state.spellings.get(bundleKey(atoms)) ?? "";
  }
}

/** Atoms as the training data spells their bundle, or else in the order of the dimensions. */
export const spelled = (atoms, order) =>
  state.spellings.get(bundleKey(atoms)) ??
  atoms.toSorted((one, other) => order.indexOf(one) - order.indexOf(other)).join(";");
