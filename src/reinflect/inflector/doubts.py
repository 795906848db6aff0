"""What a model has seen in training, and sentences about what it has not: features, and combinations of features."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from heapq import nsmallest
from itertools import chain

from reinflect.data.features import Bundle
from reinflect.data.items import grouped
from reinflect.data.labels import Labels
from reinflect.ensemble.member import Member
from reinflect.errors import quoted
from reinflect.inflector.card import Training
from reinflect.text import close_names, nearest

DOUBTS, NAMES = 5, 10
"""The most unknown features, or combinations, that are named one by one; and features that a sentence lists."""


class Seen:
    """The part of an inflector that knows what it was trained on."""

    members: tuple[Member, ...]
    training: Training | None
    labels: Labels
    cells: tuple[str, ...]

    @property
    def bundle_counts(self) -> dict[str, int]:
        """The bundles of the training items in their order, as they are spelled there, with the number of items."""
        return dict(self.training.bundles) if self.training else {}

    @property
    def bundles(self) -> tuple[str, ...]:
        return tuple(self.bundle_counts)

    @cached_property
    def atoms(self) -> tuple[str, ...]:
        """All features that its members know."""
        return tuple(sorted({atom for member in self.members for atom in member.inventory.atoms}))

    @property
    def characters(self) -> tuple[str, ...]:
        """All characters that its members know; others are copied."""
        return tuple(sorted({character for member in self.members for character in member.inventory.characters}))

    @cached_property
    def seen_cells(self) -> Mapping[tuple[str, ...], str]:
        """The combinations of features of the training items, each with its first spelling."""
        spellings: dict[tuple[str, ...], str] = {}
        for spelling in self.bundle_counts:
            spellings.setdefault(Bundle(spelling).cell, spelling)
        return spellings

    def usual_bundles(self) -> list[str]:
        """The bundles of the training items, ordered by part of speech, of which the lemma may have any.

        Bundles that differ only in the order of their features count as one, in its commonest spelling. They are in
        the order of `cells`, then in that of the training items.
        """
        counts = self.bundle_counts
        spellings = grouped(counts, lambda spelling: Bundle(spelling).cell)
        order = dict.fromkeys((*(Bundle(spelling).cell for spelling in self.cells), *spellings))
        usual = [max(spellings[cell], key=counts.__getitem__) for cell in order if cell in spellings]
        return [*chain(*grouped(usual, lambda spelling: Bundle(spelling).part_of_speech).values())]

    def features_of(self, text: str) -> str:
        """The features that a text names: a bundle, one of the model's labels in any case, or a bundle with labels."""
        return self.labels.to_features(self.labels.spelled(text, self.atoms))

    def unknown_features(self, features: str) -> list[tuple[str, list[str]]]:
        """The features that no member knows, each once, with the nearest known ones."""
        return [(atom, close_names(atom, self.atoms)) for atom in self._unknown([Bundle(features)])]

    def _unknown(self, bundles: Iterable[Bundle]) -> list[str]:
        atoms = frozenset(self.atoms)
        return [*dict.fromkeys(atom for bundle in bundles for atom in bundle.among(atoms) if atom not in atoms)]

    def nearest_bundles(self, features: str, n: int = 2) -> list[str]:
        """The bundles of training items most like a combination of known features that no item has; else none."""
        bundle = Bundle(features)
        cells = self.seen_cells if self._is_new(bundle) else ()
        near = nsmallest(n, cells, key=lambda cell: len(set(bundle.cell).symmetric_difference(cell)))
        return [self.seen_cells[cell] for cell in near]

    def _is_new(self, bundle: Bundle) -> bool:
        return bool(bundle.atoms) and bundle.cell not in self.seen_cells and set(bundle.atoms) <= set(self.atoms)

    def doubts(self, bundles: Iterable[Bundle], labels: Labels | None = None) -> list[str]:
        """Sentences about what the model has not seen: features, and combinations of features that it knows."""
        labels = self.labels if labels is None else labels
        distinct = {bundle.cell: bundle for bundle in bundles}.values()
        unknown, names = self._unknown(distinct), [*self.atoms, *(label for label, _ in labels.pairs)]
        otherwise = f"it knows {', '.join(self.atoms[:NAMES])}{', …' if len(self.atoms) > NAMES else ''}"
        sentences = [
            f"the model has never seen the feature {quoted(atom)}; {nearest(atom, names, otherwise)}"
            for atom in unknown[:DOUBTS]
        ]
        if more := len(unknown[DOUBTS:]):
            sentences.append(f"the model has never seen {more} more feature{'s'[: more > 1]}")
        new = [bundle.spelling for bundle in distinct if self.seen_cells and self._is_new(bundle)]
        for spelling in new[:DOUBTS]:
            near = ", ".join(map(labels.to_label, self.nearest_bundles(spelling)))
            combination = quoted(labels.to_label(spelling))
            sentences.append(f"no training form has the combination {combination}; nearest: {near}")
        if more := len(new[DOUBTS:]):
            sentences.append(f"{more} more combinations are in no training form")
        return sentences
