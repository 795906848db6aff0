"""Notes that several commands have for the user."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from reinflect.data.features import Bundle
from reinflect.errors import quoted
from reinflect.text import nearest

if TYPE_CHECKING:
    from reinflect.data.labels import Labels
    from reinflect.inflector.inflector import Inflector

MOST_NOTES = 5
MOST_NAMES = 10


def unknown_notes(inflector: "Inflector", bundles: Iterable[Bundle], labels: "Labels") -> list[str]:
    """One for each feature that no member knows, with the nearest that they do; of more than a few, how many.

    `labels` are those in use: what is not known may be one of them, misspelled.
    """
    known = frozenset(inflector.atoms)
    unknown = list(dict.fromkeys(atom for bundle in bundles for atom in bundle.atoms if atom not in known))
    names = [*known, *(label for label, _ in labels.pairs)]
    otherwise = f"it knows {', '.join(sorted(known)[:MOST_NAMES])}{', …' if len(known) > MOST_NAMES else ''}"
    notes = [
        f"note: the model has never seen the feature {quoted(atom)}; {nearest(atom, names, otherwise)}"
        for atom in unknown[:MOST_NOTES]
    ]
    if more := len(unknown[MOST_NOTES:]):
        notes.append(f"note: nor {more} other{'s'[: more > 1]}")
    return notes
