"""Lists of lemmas, with the forms that are known already."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from reinflect.data.corrections import Question, question
from reinflect.data.features import Bundle
from reinflect.data.items import COLUMNS_AUTO, Columns, Item, grouped, parse_items, read_items
from reinflect.data.sheet_file import Note, kind_of_sheet
from reinflect.errors import InputError
from reinflect.files import lines_of, read_text


@dataclass(frozen=True)
class Lexicon:
    """Lemmas, and items of some of them; those with a form are known."""

    lemmas: tuple[str, ...]
    items: tuple[Item, ...] = ()

    def knowing(self, items: list[Item]) -> "Lexicon":
        """With more items of these lemmas; others are ignored."""
        lemmas = set(self.lemmas)
        return Lexicon(self.lemmas, (*self.items, *(item for item in items if item.lemma in lemmas)))

    @cached_property
    def known(self) -> frozenset[Question]:
        """The cells whose forms are known."""
        return frozenset(question(item) for item in self.items if not item.covered)

    def may_have(self, lemma: str, bundle: Bundle) -> bool:
        """Whether a lemma may have such a form: a lemma whose items are verbs has no cases."""
        classes = self._word_classes.get(lemma)
        return not classes or bundle.word_class in ("", *classes)

    @cached_property
    def _word_classes(self) -> dict[str, set[str]]:
        items = grouped(self.items, lambda item: item.lemma)
        return {lemma: {item.features.word_class for item in group} - {""} for lemma, group in items.items()}


def read_lemmas(path: Path | str, columns: Columns = COLUMNS_AUTO, *, note: Note = lambda _: None) -> Lexicon:
    """A file with a lemma on each line, a sheet with a lemma column, or any file of items, with or without forms."""
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
    unique = tuple(dict.fromkeys(lemmas if lemmas is not None else (item.lemma for item in items)))
    if not unique:
        raise InputError("found no lemmas", "write one on each line", path=path)
    return Lexicon(unique, tuple(items))
