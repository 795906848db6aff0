"""Corrections of training items, such as users make where a model was wrong, and new items."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reinflect.data.features import Bundle
from reinflect.data.items import COLUMNS_2017, COLUMNS_2023, Columns, Forms, Item, grouped, parse_items, read_items
from reinflect.data.sheet_file import Note, kind_of_sheet
from reinflect.errors import InputError, quoted, source_name
from reinflect.files import lines_of, read_text
from reinflect.text import counted

Question = tuple[str, tuple[str, ...]]
"""A cell: a lemma and its features in any order."""


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


def question(item: Item) -> Question:
    return item.lemma, item.features.cell


def corrected(items: Sequence[Item], corrections: Sequence[Item], path: Path | str) -> Corrected:
    """Each correction replaces all items of its cell, in their order of features, or is added if there are none.

    Corrections without a form are ignored; two that contradict each other are refused.
    """
    right: dict[Question, list[Item]] = {}
    for cell, (first, *others) in grouped((item for item in corrections if not item.covered), question).items():
        right[cell] = [first]
        for item in others:
            if item.form in (before.form for before in right[cell]):
                continue
            if not first.line or first.line != item.line:  # several forms in one field of a sheet are on one line
                where = f"{quoted(item.lemma)} {quoted(item.features.spelling)}"
                problem = f"found {quoted(item.form)} for {where}, but {quoted(first.form)} before (line {first.line})"
                remedy = "correct an item once only; two forms that are both right belong in the training file"
                raise InputError(problem, remedy, path=path, line=item.line or None)
            right[cell].append(item)
    result: list[Item] = []
    done, replaced = set[Question](), set[Question]()
    for item in items:
        cell = question(item)
        forms = [correction.form for correction in right.get(cell, [item])]
        if cell not in done:
            result += [replace(item, form=form) for form in forms]
        if cell in right:
            done.add(cell)
        if item.form not in forms:
            replaced.add(cell)
    added = [new for cell, new in right.items() if cell not in done]
    result += [item for new in added for item in new]
    covered = sum(item.covered for item in corrections)
    return Corrected(tuple(result), len(replaced), len(added), len(done) - len(replaced), covered)
