// Tables as text, to and from spreadsheets.

import { toast } from "./dom.js";

/** Tab-separated: tabs and line ends within a field become blanks; nothing is quoted. */
export const tsv = (rows) =>
  rows.map((row) => `${row.map((field) => String(field).replace(/[\t\r\n]/g, " ")).join("\t")}\n`).join("");

const quoted = (field) => (/[",\r\n]/.test(field) ? `"${String(field).replaceAll('"', '""')}"` : String(field));

/** Comma-separated, quoted where needed; spreadsheets recognise UTF-8 by the byte order mark. */
export const csv = (rows) => `\ufeff${rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("")}`;

export function download(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without https or permission, only a selection can be copied.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) return toast("This browser does not allow copying. Download the table instead.");
  }
  return toast("Copied.");
}

const LEMMAS = ["lemma", "word", "infinitive", "citation form", "headword"];
const LONG = ["form", "features", "confidence"];
const MISSING = ["", "-", "–", "—", "?", "n/a"];

/**
 * Pasted lines as `{ line, lemma, features, form }`; `features` is null for a lemma alone.
 *
 * A first line with the names of features makes it a sheet with a row for each lemma: then `columns` are its headings
 * with their features (null for other columns), and rows have `fields` and the `given` forms by features.
 */
export function parsePasted(text, knownFeatures) {
  const lines = text
    .replace(/^\ufeff/, "")
    .split("\n")
    .map((line, place) => ({ line: place + 1, fields: line.split("\t").map((field) => field.trim()) }))
    .filter(({ fields }) => fields.some((field) => field));
  const names = (lines[0]?.fields ?? []).map((field) => field.toLowerCase());
  const at = Math.max(0, names.findIndex((name) => LEMMAS.includes(name)));
  const titled = LEMMAS.includes(names[at]);
  const columns = (lines[0]?.fields ?? []).map((heading, place) => ({
    heading,
    features: place === at ? null : knownFeatures(heading),
    isLemma: place === at,
  }));
  for (const [place, { features }] of columns.entries()) // the second of two equal columns is kept as it is
    if (columns.slice(0, place).some((other) => other.features === features)) columns[place].features = null;
  const known = columns.filter(({ features }) => features !== null).length;
  if (known > 1 || (known && titled)) return wideSheet(lines.slice(1), columns, at);
  const long = titled && names.every((name, place) => place === at || LONG.includes(name));
  return longList(long ? lines.slice(1) : lines, long ? names : null, at);
}

function wideSheet(lines, columns, at) {
  const problems = [];
  const rows = [];
  for (const { line, fields } of lines) {
    if (!fields[at]) problems.push(`line ${line} has no lemma`);
    const given = new Map();
    for (const [place, { features }] of columns.entries())
      if (features !== null && !MISSING.includes(fields[place] ?? "")) given.set(features, fields[place]);
    rows.push({ line, lemma: fields[at], fields, given });
  }
  return { rows, problems, columns };
}

function longList(lines, names, at) {
  const rows = [];
  const problems = [];
  for (const { line, fields } of lines) {
    const lemma = fields[at];
    const place = names ? names.indexOf("features") : fields.length === 2 ? 1 : 2;
    if (!names && fields.length > 3)
      problems.push(
        `line ${line} has ${fields.length} columns; give at most three (lemma, form, features), or a first line with ` +
          "the features of each column",
      );
    else if (!lemma) problems.push(`line ${line} has no lemma`);
    else rows.push({ line, lemma, features: fields[place] || null });
  }
  return { rows, problems, columns: null };
}
