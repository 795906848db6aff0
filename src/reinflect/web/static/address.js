// Links: the part of the address after # names a view and what it shows, as in #word?lemma=sagen&features=V;PST.

import { state } from "./state.js";

const queries = new Map();

/** The view that the address names, which is the paradigm at first, and its query. */
export function here() {
  const [view, query] = location.hash.slice(1).split(/\?(.*)/s);
  return { view: view || "paradigm", query: new URLSearchParams(query) };
}

const hashOf = (view, query) => {
  const text = String(query ?? "").replaceAll("%3B", ";");
  return text ? `#${view}?${text}` : `#${view}`;
};

/** Values of a view as a query, with the model where there are several; empty values are left out. */
const queryOf = (values) => {
  const given = { ...values, model: state.models > 1 ? state.model.name : "" };
  return new URLSearchParams(Object.entries(given).filter(([, value]) => value));
};

/** Keeps what a view shows, so that the address is a link to it. */
export function remember(view, values) {
  queries.set(view, queryOf(values));
  if (here().view === view) history.replaceState(null, "", hashOf(view, queries.get(view)));
}

export const forgetView = (view) => queries.delete(view);
export const isShown = (view, query) => String(queries.get(view) ?? "") === String(query);

/** Goes to a view, with what it showed last. */
export const goTo = (view) => {
  location.hash = hashOf(view, queries.get(view));
};

/** A whole link to what a view shows. */
export const linkTo = (view, values) => new URL(hashOf(view, queryOf(values)), location.href).href;
