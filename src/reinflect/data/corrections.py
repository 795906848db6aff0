"""The files of a training: items, corrections of them such as users make where a model was wrong, and dev items."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from unicodedata import combining, is_normalized, normalize

from reinflect.data.features import SEPARATOR, Bundle
from reinflect.data.items import (
    COLUMNS_2017,
    COLUMNS_2023,
    Columns,
    Forms,
    Item,
    check_lengths,
    grouped,
    parse_items,
    place_of,
    read_items,
)
from reinflect.data.sheet_file import Finding, Note, listed
from reinflect.errors import InputError, counted, printable, quoted, source_name
from reinflect.files import kind_of_sheet, lines_of, read_text

Question = tuple[str, tuple[str, ...]]
"""A cell: a lemma and its features in any order."""
Files = Sequence[tuple[Path | str, Sequence[Item]]]


def question(item: Item) -> Question:
    return item.lemma, item.features.cell


class TrainingFiles(NamedTuple):
    items: list[Item]
    """To learn from, after all corrections."""
    versions: list[list[Item]]
    """The training items as they are in their file, and after each file of corrections."""
    dev: list[Item] | None


def read_training_files(
    train: str, additions: Sequence[str], dev: str | None, columns: Columns, note: Note
) -> TrainingFiles:
    """Read and check them; `note` receives what is doubtful."""
    items = read_items(train, columns, note=note)
    bundles = {item.features.spelling for item in items}
    dev_items = read_further(dev, columns, bundles, note=note) if dev else []
    files, versions = [(train, items)], [items]
    for path in additions:
        further = read_further(path, columns, bundles, forms="optional", note=note)
        corrections = corrected(versions[-1], further, path)
        note(corrections.note(path))
        then = "they are learnt as new ones"
        then += "" if columns.labels else "; if they are labels of yours, give --labels"
        _note_unknown(versions[-1], [item for item in further if not item.covered], path, then, note)
        files.append((path, further))
        versions.append([*corrections.items])
    files += [(dev, dev_items)] if dev else []
    for path, rows in files:
        check_lengths(rows, path, "models take", "shorten it or take it out")
    items = versions[-1]
    doubts = [swapped_columns_note(items, train, columns), variants_note(items, train)]
    doubts += [variants_note(dev_items, dev, "the last counts")] if dev else []
    for doubt in filter(None, doubts):
        note(doubt)
    if dev:
        _note_unknown(items, dev_items, dev, "models cannot learn them", note)
        if {*map(question, dev_items)} <= {*map(question, items)}:
            note(
                f"note: {source_name(dev)}: all its items are among the training items, so the accuracies below and "
                "the confidences of the model say nothing about other words; leave --dev out, or give it other items"
            )
    if letters := two_ways(files):
        note(letters.note)
    return TrainingFiles(items, versions, dev_items if dev else None)


def _note_unknown(items: Sequence[Item], others: Sequence[Item], path: str, then: str, note: Note) -> None:
    atoms = {atom for item in items for atom in item.features.atoms}
    unknown = dict.fromkeys(atom for item in others for atom in item.features.atoms if atom not in atoms)
    if unknown:
        names = listed([*unknown], most=5)
        note(f"note: {source_name(path)}: features that no training item has: {names}; {then}")


def read_further(
    path: Path | str, columns: Columns, main: Iterable[str], *, forms: Forms = "required", note: Note = lambda _: None
) -> list[Item]:
    """Items of a file beside a `main` one, of which it has the columns and bundles: corrections, dev items and such.

    A sheet has its own headings. A tab-separated file has the order of the main file or of one of the shared tasks
    (reinflect writes that of 2017), whichever finds most known bundles.
    """
    columns = replace(columns, further=True)
    if kind_of_sheet(path):
        return read_items(path, columns, forms=forms, note=note)
    text, cells = read_text(path), {Bundle(spelling).cell for spelling in main}

    def hits(order: Sequence[str]) -> int:
        lines = [line.split("\t") for _, line in lines_of(text, path)]
        spellings = Counter(fields[order.index("features")] for fields in lines if len(fields) == len(order))
        return sum(spellings[name] for name in spellings if Bundle(columns.labels.to_features(name)).cell in cells)

    order = max((columns.order, COLUMNS_2017.order, COLUMNS_2023.order), key=hits)
    if order != columns.order or columns.headers:
        note(f"note: {source_name(path)}: its columns are read as {', '.join(order)}")
    columns = replace(columns, order=order, headers=(), auto=columns.auto and not hits(order))
    return parse_items(text, path, columns, forms=forms, note=note)


@dataclass(frozen=True)
class Corrected:
    """Items after corrections, and the number of corrections with each effect."""

    items: tuple[Item, ...]
    replaced: int
    added: int
    same: int
    covered: int
    """Corrections without a form, such as suggestions that were not filled in."""

    def note(self, path: Path | str) -> str:
        if not self.replaced and not self.added and not self.same:
            return f"note: {source_name(path)} has no forms yet; nothing added"
        parts = [f"{counted(self.replaced, 'item')} corrected", f"{self.added} added"]
        parts += [f"{self.same} already correct"] if self.same else []
        parts += [f"{self.covered} ignored (no form)"] if self.covered else []
        return f"note: {source_name(path)}: {', '.join(parts)}"


def corrected(items: Sequence[Item], corrections: Sequence[Item], path: Path | str) -> Corrected:
    """Each correction replaces all items of its cell, in their order of features, or is added if there are none.

    Corrections without a form are ignored; two that contradict each other are refused.
    """
    right: dict[Question, dict[str, Item]] = {}
    for item in (item for item in corrections if not item.covered):
        forms = right.setdefault(question(item), {})
        first = next(iter(forms.values()), item)
        # Several forms in one field of a sheet are on one line.
        if item.form not in forms and first is not item and not (first.line and first.line == item.line):
            where = f"{quoted(item.lemma)} {quoted(item.features.spelling)}"
            problem = f"found {quoted(item.form)} for {where}, but {quoted(first.form)} before (line {first.line})"
            remedy = "correct an item once only; two forms that are both right belong in the training file"
            raise InputError(problem, remedy, path=path, line=item.line or None)
        forms.setdefault(item.form, item)
    result: list[Item] = []
    done, replaced = set[Question](), set[Question]()
    for item in items:
        cell = question(item)
        correct = [*right.get(cell, [item.form])]
        result += [replace(item, form=form) for form in correct] if cell not in done else []
        if cell in right:
            done.add(cell)
        if item.form not in correct:
            replaced.add(cell)
    added = [forms for cell, forms in right.items() if cell not in done]
    result += [item for forms in added for item in forms.values()]
    covered = sum(item.covered for item in corrections)
    return Corrected(tuple(result), len(replaced), len(added), len(done) - len(replaced), covered)


def variants_note(items: Sequence[Item], path: Path | str, then: str = "all are kept") -> str | None:
    """A note that cells of a file have several forms, which is legal; `then` says what becomes of them."""
    cells = grouped(items, lambda item: (item.lemma, item.features.spelling))
    forms = ((cell, list(dict.fromkeys(item.form for item in group))) for cell, group in cells.items())
    several = [(cell, variants) for cell, variants in forms if len(variants) > 1]
    if not several:
        return None
    (lemma, features), variants = several[0]
    many = "1 cell has" if len(several) == 1 else f"{len(several)} cells have"
    such = printable(f"{lemma} {features}: {', '.join(variants[:4])}") + (", …" if len(variants) > 4 else "")
    return f"note: {source_name(path)}: {many} more than one form (such as {such}); {then}"


def swapped_columns_note(items: Sequence[Item], path: Path | str, columns: Columns) -> str | None:
    """A note that most forms have semicolons: a file in another year's column order has as many columns."""
    in_forms = sum(SEPARATOR in item.form for item in items)
    in_features = sum(SEPARATOR in item.features.spelling for item in items)
    if in_forms <= len(items) / 2 or in_features > len(items) / 2:
        return None
    swap = {"form": "features", "features": "form"}
    meant = ",".join(swap.get(column, column) for column in columns.order)
    return f"note: {source_name(path)}: the forms look like features; did you mean --columns {meant}?"


def two_ways(files: Files) -> Finding | None:
    """The letters that some files together encode in two ways, each with its first places.

    Unicode calls ä and an a with a combining mark canonically equivalent; to a model, which reads code points, they are
    different letters.
    """
    if all(is_normalized("NFC", word) for _, items in files for item in items for word in (item.lemma, item.form)):
        return None
    words = (
        (word, path, item, column)
        for path, items in files
        for item in items
        for word, column in ((item.lemma, "lemma"), (item.form, "form"))
    )
    ways: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for word, path, item, column in words:
        for letter in letters(word):
            encodings = ways[normalize("NFC", letter)]
            if letter not in encodings:
                points = " ".join(f"U+{ord(character):04X}" for character in letter)
                cell = f" ({printable(item.features.spelling)})" if column == "form" else ""
                encodings[letter] = f"{points} in {source_name(path)}, {place_of(item, path)}, {column}{cell}"
    several = {letter: list(encodings.values()) for letter, encodings in ways.items() if len(encodings) > 1}
    if not several:
        return None
    letter, places = next(iter(several.items()))
    more = f" and {counted(len(several) - 1, 'other letter')} are" if len(several) > 1 else " is"
    return Finding(
        f"note: {quoted(letter)}{more} encoded in two ways, which look the same but are learnt as different letters "
        f"({'; '.join(places[:2])}); --normalise nfc uses one encoding throughout",
        [f"{quoted(letter)}: {'; '.join(places)}" for letter, places in several.items()],
    )


def letters(word: str) -> list[str]:
    """A word cut where its normal form can be cut: characters that may compose stay together."""
    pieces: list[str] = []
    for character in word:
        if pieces and _joins(pieces[-1], character):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


@lru_cache(10_000)  # pairs of a letter and the character after it: more than any language has
def _joins(before: str, character: str) -> bool:
    apart = normalize("NFC", before) + normalize("NFC", character)
    return combining(character) != 0 or normalize("NFC", before + character) != apart
