"""Items and their tab-separated files; those of spreadsheets come through here as well, by the ending of their name.

Fields are kept code point for code point: only line ends and tabs have a meaning here. Blanks at the end of a
lemma, quotation marks and unusual line separators (U+2028, form feed) are letters like any other.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from reinflect.data.features import Bundle
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.data.lines import lines_of
from reinflect.data.tables import kind_of_sheet, listed
from reinflect.errors import InputError, OutputError, printable, quoted, source_name
from reinflect.files import BYTE_ORDER_MARK, read_text, write_text

Column = Literal["lemma", "form", "features"]

NAMES: Mapping[Column, tuple[str, ...]] = {
    "lemma": (
        *("lemma", "lemmas", "lexeme", "headword", "citation form", "dictionary form", "base form"),
        *("grundform", "nennform", "lemme", "lema"),
    ),
    "form": (
        *("form", "forms", "inflected form", "word form", "wordform", "surface form"),
        *("wortform", "forme", "forma"),
    ),
    "features": (
        *("features", "feature", "feats", "tags", "tag", "msd", "bundle", "cell", "label"),
        *("merkmale", "traits", "rasgos"),
    ),
}
"""How the columns may be called, whatever their capitals."""


@dataclass(frozen=True, slots=True)
class Item:
    """One line of data. An empty form is a covered one: it is asked for, not given."""

    lemma: str
    features: Bundle
    form: str = ""
    line: int = 0

    @property
    def covered(self) -> bool:
        return not self.form


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column of a file is which: by their order, or in a spreadsheet by the names in its first row."""

    order: tuple[Column, ...]
    headers: tuple[tuple[Column, str], ...] = ()
    """What the columns of a spreadsheet are called, where the user says so."""
    labels: Labels = NO_LABELS
    """The user's own names for features."""

    @classmethod
    def parse(cls, text: str) -> "Columns":
        if "=" in text:
            return cls(COLUMNS_2017.order, _parse_headers(text))
        names = tuple(text.split(","))
        if sorted(names) != sorted(get_args(Column)):
            raise InputError(
                f"found the columns {quoted(text)}",
                "name each of lemma, form and features once, joined by commas, "
                "such as lemma,form,features or lemma,features,form",
            )
        return cls(tuple(column for name in names for column in get_args(Column) if column == name))

    def covered(self) -> tuple[Column, ...]:
        """The columns of a line that leaves the form out altogether."""
        return tuple(column for column in self.order if column != "form")

    def __str__(self) -> str:
        return ",".join(f"{column}={name}" for column, name in self.headers) or ",".join(self.order)


def _parse_headers(text: str) -> tuple[tuple[Column, str], ...]:
    """`lemma=Wort,form=Form,features=Merkmale`; the lemma alone for a wide sheet."""
    given = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    headers = tuple((column, given[column]) for column in get_args(Column) if column in given)
    names = {column for column, _ in headers}
    if len(headers) != text.count(",") + 1 or "lemma" not in names or names == {"lemma", "form"}:
        raise InputError(
            f"found the columns {quoted(text)}",
            "say what the columns are called in the first row of the spreadsheet, such as "
            "lemma=Verb,form=Wordform,features=Tags, or lemma=Verb where all other columns are cells",
        )
    return headers


LONGEST = 1000
"""Characters in a lemma or form; the work of aligning the two grows with the product of their lengths."""

COLUMNS_2017 = Columns(("lemma", "form", "features"))
COLUMNS_2023 = Columns(("lemma", "features", "form"))


def _unheard(_note: str) -> None:
    pass


def read_items(
    path: Path | str,
    columns: Columns = COLUMNS_2017,
    *,
    forms: Literal["required", "optional"] = "required",
    note: Callable[[str], None] = _unheard,
) -> list[Item]:
    """All items of a file (`-`: standard input). With `forms="optional"`, covered lines are welcome too.

    Empty lines, which UniMorph puts between lemmas, are passed over. A file that ends in .csv or .xlsx is a
    spreadsheet; `note` hears what a user should know of the file.
    """
    if kind_of_sheet(path):
        from reinflect.data.sheets import read_sheet  # which knows items

        return read_sheet(path, columns, forms=forms, note=note)
    return parse_items(read_text(path), path, columns, forms=forms, note=note)


def parse_items(
    text: str,
    path: Path | str,
    columns: Columns = COLUMNS_2017,
    *,
    forms: Literal["required", "optional"] = "required",
    note: Callable[[str], None] = _unheard,
) -> list[Item]:
    if columns.headers:
        raise InputError(
            f"found names of columns ({columns}) for a file that has none",
            "say the order of its columns, such as --columns lemma,features,form",
            path=path,
        )
    items: list[Item] = []
    bundle = cache(lambda text: Bundle(columns.labels.to_features(text)))  # thousands of items share a few hundred
    for number, line in lines_of(text, path):
        if not items:
            _check_no_headings(line, number, path)
        items.append(_parse_line(line, number, path, columns, bundle, forms == "optional"))
    if not items:
        raise InputError("found no items", f"give at least one line of {columns} with tabs between", path=path)
    if blanks := list(_blanks(items, path)):
        note(blanks_note(blanks))
    return items


def plain_name(name: str) -> str:
    """A heading as NAMES has it."""
    return " ".join(name.replace("_", " ").replace("-", " ").casefold().split())


def _check_no_headings(line: str, number: int, path: Path | str) -> None:
    """Refuse a first line that names its columns, all three of them: it would be learnt as a word."""
    fields = line.split("\t")
    if len(fields) != len(NAMES):
        return
    plain = set(map(plain_name, fields))
    if all(plain.intersection(names) for names in NAMES.values()):
        raise InputError(
            f"found the headings {listed(fields)}",
            "remove this line, or save the file as .csv: only spreadsheets have headings",
            path=path,
            line=number,
        )


def _blanks(items: Iterable[Item], path: Path | str) -> Iterator[str]:
    for item in items:
        fields: dict[Column, str] = {"lemma": item.lemma, "form": item.form, "features": item.features.spelling}
        for name, field in fields.items():
            if field != field.strip():
                yield f"{source_name(path)}, line {item.line}, {name}: {quoted(field)}"


def blanks_note(places: Sequence[str]) -> str:
    """One sentence for the user on cells with blanks at their edges, which nobody sees."""
    many = f"{len(places)} cell{'s begin or end' if len(places) > 1 else ' begins or ends'}"
    return f"note: {many} with a blank, which is kept as a letter ({places[0]})"


def _parse_line(
    line: str, number: int, path: Path | str, columns: Columns, bundle: Callable[[str], Bundle], covered: bool
) -> Item:
    if "\r" in line:
        raise InputError(
            "found a carriage return inside a line",
            "save the file with one kind of line end (LF or CRLF)",
            path=path,
            line=number,
        )
    fields = line.split("\t")
    order = columns.covered() if covered and len(fields) == 2 else columns.order
    if len(fields) != len(order):
        raise InputError(
            f"found {len(fields)} column{'s'[: len(fields) != 1]} in {quoted(line)}",
            f"write {len(order)} columns ({', '.join(order)}) with one tab between each",
            path=path,
            line=number,
        )
    named = dict(zip(order, fields, strict=True))
    if not named["lemma"]:
        raise InputError("found an empty lemma", "give every line a lemma", path=path, line=number)
    form = named.get("form", "")
    if not form and not covered:
        raise InputError(
            f"found no form for {quoted(named['lemma'])}",
            f"give every line a form (columns are read as {columns}; --columns changes that)",
            path=path,
            line=number,
        )
    return Item(named["lemma"], bundle(named["features"]), form, number)


def write_items(
    path: Path | str, items: Iterable[Item], columns: Columns = COLUMNS_2017, *, wide: bool = False
) -> None:
    """Write items to a file (`-`: standard output), all or nothing; a spreadsheet where its name ends so.

    A wide spreadsheet has one lemma a row and one column a bundle.
    """
    if kind_of_sheet(path):
        from reinflect.data.sheets import write_sheet

        write_sheet(path, items, columns, wide=wide)
        return
    if wide:
        raise OutputError(path, "only a spreadsheet can be wide", "give it a name that ends in .csv or .xlsx")
    write_text(path, format_items(items, path, columns))


def format_items(items: Iterable[Item], path: Path | str, columns: Columns = COLUMNS_2017) -> str:
    lines, spelled = [], cache(columns.labels.to_label)
    for item in items:
        fields = {"lemma": item.lemma, "form": item.form, "features": spelled(item.features.spelling)}
        for name, field in fields.items():
            if any(mark in field for mark in "\t\n\r"):
                raise OutputError(
                    path,
                    f"the {name} {quoted(field)} has a tab or line end in it",
                    "a tab-separated file cannot hold it; take it out",
                )
        lines.append("\t".join(fields[column] for column in columns.order) + "\n")
    text = "".join(lines)
    # A first letter that is itself a byte-order mark would be taken for one when read back.
    return BYTE_ORDER_MARK + text if text.startswith(BYTE_ORDER_MARK) else text


def variants(items: Sequence[Item]) -> dict[tuple[str, str], list[str]]:
    """The cells that have several different forms, each with its forms in file order."""
    if len({(item.lemma, item.features.spelling) for item in items}) == len(items):
        return {}
    forms: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for item in items:
        known = forms[item.lemma, item.features.spelling]
        if item.form not in known:
            known.append(item.form)
    return {cell: known for cell, known in forms.items() if len(known) > 1}


def variants_note(items: Sequence[Item], path: Path | str, then: str = "all are kept") -> str | None:
    """One sentence for the user when a file gives several forms for one cell; that is legal, and `then` is done."""
    found = variants(items)
    if not found:
        return None
    (lemma, features), forms = next(iter(found.items()))
    cells = f"{len(found)} cell has" if len(found) == 1 else f"{len(found)} cells have"
    such = printable(f"{lemma} {features}: {', '.join(forms[:4])}") + (", …" if len(forms) > 4 else "")
    return f"note: {source_name(path)}: {cells} more than one form (such as {such}); {then}"


def swapped_columns_note(items: Sequence[Item], path: Path | str, columns: Columns) -> str | None:
    """One sentence for the user when bundles, told by their semicolons, stand where the forms should be.

    The files of one year read in the order of another have the right number of columns: nothing else would tell.
    """
    in_forms = sum(";" in item.form for item in items)
    in_features = sum(";" in item.features.spelling for item in items)
    if in_forms <= len(items) / 2 or in_features > len(items) / 2:
        return None
    swap = {"form": "features", "features": "form"}
    meant = ",".join(swap.get(column, column) for column in columns.order)
    return f"note: {source_name(path)}: the forms look like features; is --columns {meant} meant?"


def check_lengths(items: Iterable[Item], path: Path | str | None, limit_of: str, remedy: str) -> None:
    """Refuse words so long that nothing would come of them; `limit_of` says whose limit that is."""
    for item in items:
        longer = max(len(item.lemma), len(item.form))
        if longer > LONGEST:
            raise InputError(
                f"found a lemma or form of {longer} characters",
                f"{limit_of} up to {LONGEST}; {remedy}",
                path=path,
                line=item.line or None,
            )
