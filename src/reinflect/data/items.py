"""Items and their files: tab-separated text, or a spreadsheet if the file's name ends like one.

Fields are kept code point for code point: only tabs and line ends separate them. Blanks, quotation marks and unusual
line separators (U+2028, form feed) are letters.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar
from unicodedata import normalize

from reinflect.data.features import NO_LABELS, PARTS_OF_SPEECH, SEPARATOR, Bundle, Labels
from reinflect.data.form_cells import AUTO, USUAL_RULES, FormRules
from reinflect.data.sheet_file import Note, listed
from reinflect.errors import InputError, OutputError, counted, quoted, source_name
from reinflect.files import BYTE_ORDER_MARK, kind_of_sheet, lines_of, read_text, write_text

Key = TypeVar("Key")
Thing = TypeVar("Thing")
Column = Literal["lemma", "form", "features"]
Forms = Literal["required", "optional", "ignored"]
"""Whether items without a form are left out or refused, or are covered ones; `ignored`: all are covered."""

Normalisation = Literal["none", "nfc", "nfd"]
"""How lemmas and forms are encoded: as they are, or in one of Unicode's normal forms."""

NAMES: Mapping[Column, Sequence[str]] = {
    "lemma": "lemma|lemmas|lexeme|headword|citation form|dictionary form|base form|grundform|nennform|lemme|lema".split(
        "|"
    ),
    "form": "form|forms|inflected form|word form|wordform|surface form|wortform|forme|forma".split("|"),
    "features": "features feature feats tags tag msd bundle cell label merkmale traits rasgos".split(),
}
"""The names that a column may have, in lower case."""


@dataclass(frozen=True, slots=True)
class Item:
    """A lemma, features and their form. A covered item has no form: it is to be inflected."""

    lemma: str
    features: Bundle
    form: str = ""
    line: int = 0

    @property
    def covered(self) -> bool:
        return not self.form


def as_items(source: Any) -> Sequence[Item]:
    """Items from a file, a sequence of items, a list of dicts, or a pandas frame with lemma, features and form."""
    if isinstance(source, (Path, str)):
        return read_items(source)
    if not hasattr(source, "to_dict") and all(isinstance(item, Item) for item in source):
        return list(source)
    rows = records_of(source, ("lemma", "features", "form"))
    return [Item(row["lemma"], Bundle(row["features"]), row["form"]) for row in rows]


def records_of(rows: Any, needed: Sequence[str]) -> list[Mapping[str, str]]:
    """The rows of a list of dicts or of a pandas frame; each must have text under the needed names."""
    records = rows.to_dict("records") if hasattr(rows, "to_dict") else list(rows)
    for number, row in enumerate(records, start=1):
        if not isinstance(row, Mapping):
            raise InputError(f"found {type(row).__name__} in row {number}", f"give dicts with {', '.join(needed)}")
        for name in needed:
            if not isinstance(row.get(name), str) or not row[name]:
                raise InputError(f"found no {name} in row {number}", f"give every row {', '.join(needed)} as text")
    return records


def fields_of(item: Item, labels: Labels = NO_LABELS) -> dict[Column, str]:
    spelling = item.features.spelling
    return {"lemma": item.lemma, "form": item.form, "features": labels.to_label(spelling) if labels else spelling}


@dataclass(frozen=True, slots=True)
class Columns:
    """The order of a file's columns, or the names of a spreadsheet's, and how their fields are read."""

    order: tuple[Column, ...]
    headers: tuple[tuple[Column, str], ...] = ()
    """The names that the user gives to a spreadsheet's columns."""
    labels: Labels = NO_LABELS
    rules: FormRules = USUAL_RULES
    auto: bool = False
    """Whether the order of each file is detected; `order` is for files that are written."""
    normalisation: Normalisation = "none"
    further: bool = False
    """Whether `headers` may be those of another file, such as the main one beside a file of corrections."""

    @classmethod
    def parse(cls, text: str) -> "Columns":
        """`lemma,form,features`; for a spreadsheet `lemma=Wort,form=Form,features=Tags`, or only the lemma's name."""
        if text == AUTO:
            return COLUMNS_AUTO
        if "=" in text:
            headers = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
            if len(headers) == text.count(",") + 1 and headers.keys() in ({"lemma"}, {"lemma", "features"}, {*NAMES}):
                return cls(COLUMNS_2017.order, tuple((name, headers[name]) for name in NAMES if name in headers))
            remedy = "give the names of the columns in the first row of the spreadsheet, such as "
            remedy += "lemma=Verb,form=Wordform,features=Tags, or lemma=Verb if all other columns hold forms"
        else:
            names = text.split(",")
            if sorted(names) == sorted(NAMES):
                return cls(tuple(sorted(NAMES, key=names.index)))
            remedy = "name each of lemma, form and features once, joined by commas, such as "
            remedy += f"lemma,form,features or lemma,features,form; or {AUTO}"
        raise InputError(f"found the columns {quoted(text)}", remedy)

    def covered(self) -> tuple[Column, ...]:
        """The columns of a line without a form."""
        return tuple(column for column in self.order if column != "form")

    def __str__(self) -> str:
        named = ",".join(f"{column}={name}" for column, name in self.headers)
        return AUTO if self.auto else named or ",".join(self.order)


LONGEST = 1000
"""Characters in a lemma or form; the work of aligning the two grows with the product of their lengths."""
DECIDING = 1000
"""Lines at the beginning of a file from which the order of its columns is detected."""
COLUMNS_2017 = Columns(("lemma", "form", "features"))
COLUMNS_2023 = Columns(("lemma", "features", "form"))
COLUMNS_AUTO = Columns(COLUMNS_2017.order, auto=True)


def read_items(
    path: Path | str, columns: Columns = COLUMNS_AUTO, *, forms: Forms = "required", note: Note = lambda _: None
) -> list[Item]:
    """All items of a file (`-`: standard input). Empty lines, which UniMorph puts between lemmas, are ignored."""
    if kind_of_sheet(path):
        from reinflect.data.sheets import parse_sheet  # which imports this module

        items = parse_sheet(path, columns, forms=forms, record=lambda finding: note(finding.note))
    else:
        items = parse_items(read_text(path), path, columns, forms=forms, note=note)
    if odd := next((item for item in items if item.features.malformed), None):
        where, spelling = f"{source_name(path)}, line {odd.line}", quoted(odd.features.spelling)
        note(f"note: {where}: brackets in {spelling} are not layers as in NOM(1,SG); they are kept as letters")
    return items


def parse_items(
    text: str,
    path: Path | str,
    columns: Columns = COLUMNS_AUTO,
    *,
    forms: Forms = "required",
    note: Note = lambda _: None,
) -> list[Item]:
    if columns.headers:
        remedy = "give the order of its columns, such as --columns lemma,features,form"
        raise InputError(f"found names of columns ({columns}) for a file without a header row", remedy, path=path)
    if columns.auto:
        columns = replace(columns, order=order_in(text, path, columns.labels), auto=False)
        if columns.order != COLUMNS_2017.order:
            note(f"note: {source_name(path)}: its columns are read as {', '.join(columns.order)}")
    items: list[Item] = []
    blanks: list[str] = []
    bundle = cache(lambda text: Bundle(columns.labels.to_features(text)))  # thousands of items share a few hundred
    for number, line in lines_of(text, path):
        error = partial(InputError, path=path, line=number)
        fields = line.split("\t")
        plain = set(map(plain_name, fields)) if not items and len(fields) == len(NAMES) else set()
        if plain and all(plain.intersection(names) for names in NAMES.values()):  # which would be learnt as a word
            remedy = "remove this line, or save the file as .csv: only spreadsheets have headings"
            raise error(f"found the headings {listed(fields)}", remedy)
        if "\r" in line:
            raise error("found a carriage return inside a line", "save the file with one kind of line end (LF or CRLF)")
        order = columns.covered() if forms != "required" and len(fields) == 2 else columns.order
        if len(fields) != len(order):
            remedy = f"write {len(order)} columns ({', '.join(order)}) with one tab between each"
            raise error(f"found {counted(len(fields), 'column')} in {quoted(line)}", remedy)
        named = dict(zip(order, fields, strict=True))
        lemma, form = named["lemma"], named.get("form", "")
        if not lemma:
            raise error("found an empty lemma", "give every line a lemma")
        if not form and forms == "required":
            remedy = f"give every line a form (columns are read as {columns}; --columns changes that)"
            raise error(f"found no form for {quoted(lemma)}", remedy)
        items.append(Item(lemma, bundle(named["features"]), form, number))
        edged = [name for name, field in named.items() if field != field.strip()]
        blanks += [f"{source_name(path)}, line {number}, {name}: {quoted(named[name])}" for name in edged]
    if not items:
        raise InputError("found no items", f"give at least one line of {columns} with tabs between", path=path)
    if blanks:
        note(blanks_note(blanks))
    return normalised(items, columns.normalisation, path, note)


def plain_name(name: str) -> str:
    """A heading as it is written in NAMES."""
    return " ".join(name.replace("_", " ").replace("-", " ").casefold().split())


def order_in(text: str, path: Path | str, labels: Labels = NO_LABELS) -> tuple[Column, ...]:
    """Lemma, form, features, unless the second column has the features in most lines."""
    fields = [line.split("\t") for _, line in islice(lines_of(text, path), DECIDING)]
    rows = [row for row in fields if len(row) == len(NAMES)]
    columns = ([labels.to_features(row[at]) for row in rows] for at in (1, 2))
    second, third = (
        sum(SEPARATOR in text or text.split(".")[0].strip(" ") in PARTS_OF_SPEECH for text in column) > len(rows) / 2
        for column in columns
    )
    if second and third:
        remedy = f"give --columns {COLUMNS_2017} or --columns {COLUMNS_2023}"
        raise InputError("cannot tell forms from features: two columns look like features", remedy, path=path)
    return COLUMNS_2023.order if second else COLUMNS_2017.order


def blanks_note(places: Sequence[str]) -> str:
    many = f"{len(places)} field{'s begin or end' if len(places) > 1 else ' begins or ends'}"
    return f"note: {many} with a blank, which is kept as a letter ({places[0]})"


def normalised(
    items: Sequence[Item], form: Normalisation, path: Path | str = "", note: Note = lambda _: None
) -> list[Item]:
    if form == "none":
        return [*items]
    result = [replace(item, lemma=normal(item.lemma, form), form=normal(item.form, form)) for item in items]
    if changed := [item for item, before in zip(result, items, strict=True) if item != before]:
        many, where = counted(len(changed), "item"), place_of(changed[0], path)
        note(f"note: {source_name(path)}: {many} brought into the form {form.upper()} (the first: {where})")
    return result


def normal(text: str, form: Normalisation) -> str:
    return text if form == "none" else normalize("NFC" if form == "nfc" else "NFD", text)


def place_of(item: Item, path: Path | str) -> str:
    return f"{'row' if kind_of_sheet(path) else 'line'} {item.line}"


def write_items(
    path: Path | str, items: Iterable[Item], columns: Columns = COLUMNS_2017, *, wide: bool = False
) -> None:
    """Write a file (`-`: standard output), whole or not at all; a `wide` sheet has a row for each lemma."""
    if kind_of_sheet(path):
        from reinflect.data.sheets import write_sheet

        write_sheet(path, items, columns, wide=wide)
    elif wide:
        raise OutputError(path, "only a spreadsheet can be wide", "give it a name that ends in .csv or .xlsx")
    else:
        write_text(path, format_items(items, path, columns))


def format_items(items: Iterable[Item], path: Path | str, columns: Columns = COLUMNS_2017) -> str:
    lines = []
    for item in items:
        fields = fields_of(item, columns.labels)
        for name, field in fields.items():
            if "\t" in field or "\n" in field or "\r" in field:
                problem = f"the {name} {quoted(field)} has a tab or line end in it"
                raise OutputError(path, problem, "remove it: a tab-separated file cannot hold it")
        lines.append("\t".join(fields[column] for column in columns.order) + "\n")
    text = "".join(lines)
    # A first letter that is itself a byte-order mark would be taken for one when read back.
    return BYTE_ORDER_MARK + text if text.startswith(BYTE_ORDER_MARK) else text


def grouped(things: Iterable[Thing], by: Callable[[Thing], Key]) -> dict[Key, list[Thing]]:
    """Groups in the order of their first members."""
    groups: dict[Key, list[Thing]] = {}
    for thing in things:
        groups.setdefault(by(thing), []).append(thing)
    return groups


def check_lengths(items: Iterable[Item], path: Path | str | None, limit_of: str, remedy: str) -> None:
    """Refuse words that are too long to work with; `limit_of` begins the sentence about the limit."""
    for item in items:
        if (length := max(len(item.lemma), len(item.form))) > LONGEST:
            problem, remedy = f"found a lemma or form of {length} characters", f"{limit_of} up to {LONGEST}; {remedy}"
            raise InputError(problem, remedy, path=path, line=item.line or None)
