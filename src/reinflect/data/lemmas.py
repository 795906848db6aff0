"""Lists of lemmas, with the forms that are known already."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from reinflect.data.corrections import Question, question
from reinflect.data.features import Bundle
from reinflect.data.items import COLUMNS_AUTO, Columns, Item, parse_items, read_items
from reinflect.data.sheet_files import Note, kind_of_sheet
from reinflect.errors import InputError
from reinflect.files import lines_of, read_text


@dataclass(frozen=True)
class Lexicon:
    """Lemmas, and items of some of them; items with a form are known."""

    lemmas: tuple[str, ...]
    items: tuple[Item, ...] = ()

    def knowing(self, items: list[Item]) -> "Lexicon":
        """These lemmas with more items; items of other lemmas are ignored."""
        own = set(self.lemmas)
        return Lexicon(self.lemmas, (*self.items, *(item for item in items if item.lemma in own)))

    @cached_property
    def known(self) -> frozenset[Question]:
        """The cells whose forms are known."""
        return frozenset(question(item) for item in self.items if not item.covered)

    def may_have(self, lemma: str, bundle: Bundle) -> bool:
        """Whether a lemma may have such a form: a lemma whose items are verbs has no cases."""
        own, part = self._parts.get(lemma), part_of(bundle)
        return not own or not part or part in own

    @cached_property
    def _parts(self) -> dict[str, set[str]]:
        parts: dict[str, set[str]] = {}
        for item in self.items:
            if part := part_of(item.features):
                parts.setdefault(item.lemma, set()).add(part)
        return parts


def part_of(bundle: Bundle) -> str:
    """`V` of `V.PTCP` as well; empty if the features name no part of speech."""
    part = bundle.part_of_speech.partition(".")[0]
    return "" if part.startswith("(") else part


def read_lemmas(path: Path | str, columns: Columns = COLUMNS_AUTO, *, note: Note = lambda _: None) -> Lexicon:
    """A file with one lemma per line, a sheet with a lemma column, or any file of items, with or without forms."""
    items: list[Item] = []
    lemmas: list[str] | None = None
    if kind_of_sheet(path):
        from reinflect.data.sheets import read_lemma_column

        lemmas = read_lemma_column(path, columns)
        if lemmas is None:
            items = read_items(path, columns, forms="optional", note=note)
    elif "\t" in (text := read_text(path)):
        items = parse_items(text, path, columns, forms="optional", note=note)
    else:
        lemmas = [line for _, line in lines_of(text, path)]
    found = tuple(dict.fromkeys(lemmas if lemmas is not None else (item.lemma for item in items)))
    if not found:
        raise InputError("found no lemmas", "write one on each line", path=path)
    return Lexicon(found, tuple(items))
