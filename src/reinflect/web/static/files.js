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

/** Pasted lines as `{ line, lemma, features }`; `features` is null for a lemma alone. */
export function parsePasted(text) {
  const rows = [];
  const problems = [];
  for (const [number, ended] of text
    .replace(/^\ufeff/, "")
    .split("\n")
    .entries()) {
    const line = ended.replace(/\r$/, "");
    if (!line.trim()) continue;
    const fields = line.split("\t").map((field) => field.trim());
    const lemma = fields[0];
    const features = fields.length === 2 ? fields[1] : (fields[2] ?? "");
    if (fields.length > 3)
      problems.push(`line ${number + 1} has ${fields.length} columns; give at most three (lemma, form, features)`);
    else if (!lemma) problems.push(`line ${number + 1} has no lemma`);
    else rows.push({ line: number + 1, lemma, features: features || null });
  }
  return { rows, problems };
}
