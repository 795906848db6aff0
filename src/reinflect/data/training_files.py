"""The files of a training: items, corrections of them, and dev items."""

from collections.abc import Sequence
from typing import NamedTuple

from reinflect.data.corrections import corrected, question, read_further
from reinflect.data.items import Columns, Item, check_lengths, read_items, swapped_columns_note, variants_note
from reinflect.data.sheet_file import Note
from reinflect.data.words import two_ways
from reinflect.errors import quoted, source_name

MOST_NAMED = 5
"""Unknown features that a note names."""


class TrainingFiles(NamedTuple):
    versions: list[list[Item]]
    """The training items as they are in their file, and after each file of corrections."""
    dev: list[Item] | None

    @property
    def items(self) -> list[Item]:
        return self.versions[-1]


def read_training_files(
    train: str, additions: Sequence[str], dev: str | None, columns: Columns, note: Note
) -> TrainingFiles:
    """Read and check them; `note` receives what is doubtful."""
    items = read_items(train, columns, note=note)
    bundles = {item.features.spelling for item in items}
    dev_items = read_further(dev, columns, bundles, note=note) if dev else None
    files, versions = [(train, items)], [items]
    for path in additions:
        further = read_further(path, columns, bundles, forms="optional", note=note)
        corrections = corrected(items, further, path)
        note(corrections.note(path))
        then = "they are learnt as new ones" + (
            "" if columns.labels else "; if they are labels of yours, give --labels"
        )
        _note_unknown(items, [item for item in further if not item.covered], path, then, note)
        items = [*corrections.items]
        files.append((path, further))
        versions.append(items)
    files += [(dev, dev_items)] if dev and dev_items else []
    for path, rows in files:
        check_lengths(rows, path, "models take", "shorten it or take it out")
    doubts = [swapped_columns_note(items, train, columns), variants_note(items, train)]
    doubts += [variants_note(dev_items, dev, "the last counts")] if dev and dev_items else []
    for doubt in filter(None, doubts):
        note(doubt)
    if dev and dev_items:
        _note_unknown(items, dev_items, dev, "models cannot learn them", note)
        if {question(item) for item in dev_items} <= {question(item) for item in items}:
            note(
                f"note: {source_name(dev)}: all its items are among the training items, so the accuracies below and "
                "the confidences of the model say nothing about other words; leave --dev out, or give it other items"
            )
    if letters := two_ways(files):
        note(letters.note)
    return TrainingFiles(versions, dev_items)


def _note_unknown(items: Sequence[Item], others: Sequence[Item], path: str, then: str, note: Note) -> None:
    atoms = {atom for item in items for atom in item.features.atoms}
    unknown = dict.fromkeys(atom for item in others for atom in item.features.atoms if atom not in atoms)
    if unknown:
        names = ", ".join(map(quoted, list(unknown)[:MOST_NAMED])) + (", …" if len(unknown) > MOST_NAMED else "")
        note(f"note: {source_name(path)}: features that no training item has: {names}; {then}")
