"""Corrections of training items, such as a user makes where a model was wrong, and new items."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reinflect.data.items import Item
from reinflect.errors import InputError, quoted, source_name

Question = tuple[str, tuple[str, ...]]
"""A lemma and its features, in whatever order."""


@dataclass(frozen=True)
class Corrected:
    """Items with corrections made, and how many of them did what."""

    items: tuple[Item, ...]
    replaced: int
    added: int
    same: int
    covered: int
    """Corrections without a form, such as suggestions that were not filled in."""

    def note(self, path: Path | str) -> str:
        """One sentence for the user."""
        if not self.replaced and not self.added and not self.same:
            return f"note: {source_name(path)} has no forms yet; nothing added"
        parts = [f"{self.replaced} item{'s'[: self.replaced != 1]} corrected", f"{self.added} added"]
        if self.same:
            parts.append(f"{self.same} {'was' if self.same == 1 else 'were'} so before")
        if self.covered:
            parts.append(f"{self.covered} without a form passed over")
        return f"note: {source_name(path)}: {', '.join(parts)}"


def question(item: Item) -> Question:
    return item.lemma, item.features.cell


def corrected(items: Sequence[Item], corrections: Sequence[Item], path: Path | str) -> Corrected:
    """A correction takes the place of all items with its lemma and features; one that corrects nothing is added.

    Those without a form are passed over, and may be all of them. Where the order of the features differs, the item's is
    kept. Two corrections that contradict each other are refused.
    """
    given = [item for item in corrections if not item.covered]
    right: dict[Question, Item] = {}
    for item in given:
        before = right.setdefault(question(item), item)
        if before.form != item.form:
            raise InputError(
                f"found {quoted(item.form)} for {quoted(item.lemma)} {quoted(item.features.spelling)}, but "
                f"{quoted(before.form)} before (line {before.line})",
                "correct an item once only; two forms that are both right belong in the training file",
                path=path,
                line=item.line or None,
            )
    made: list[Item] = []
    done: set[Question] = set()
    replaced: set[Question] = set()
    for item in items:
        asked = question(item)
        if asked not in right:
            made.append(item)
            continue
        if asked not in done:
            made.append(Item(item.lemma, item.features, right[asked].form, item.line))
        if item.form != right[asked].form:
            replaced.add(asked)
        done.add(asked)
    new = [item for asked, item in right.items() if asked not in done]
    return Corrected(
        items=(*made, *new),
        replaced=len(replaced),
        added=len(new),
        same=len(done - replaced),
        covered=len(corrections) - len(given),
    )
