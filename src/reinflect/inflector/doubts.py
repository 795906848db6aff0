"""What a model has not seen in training: features, and combinations of features that it knows."""

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from heapq import nsmallest

from reinflect.data.features import Bundle
from reinflect.data.labels import Labels
from reinflect.errors import quoted
from reinflect.text import nearest

DOUBTS, NAMES = 5, 10
"""The most unknown features, or combinations, that are named one by one; and features that a sentence lists."""


class Seen:
    """The features that a model knows, sorted, and the bundles of its training items."""

    def __init__(self, atoms: Collection[str], bundles: Iterable[str]) -> None:
        self.atoms, self.known, self._bundles = atoms, frozenset(atoms), tuple(bundles)

    @cached_property
    def bundles(self) -> Mapping[tuple[str, ...], str]:
        """The first spelling of each combination of features."""
        spellings: dict[tuple[str, ...], str] = {}
        for spelling in self._bundles:
            spellings.setdefault(Bundle(spelling).cell, spelling)
        return spellings

    def unknown(self, bundles: Iterable[Bundle]) -> list[str]:
        """The features that the model does not know, each once."""
        atoms = dict.fromkeys(atom for bundle in bundles for atom in bundle.among(self.known))
        return [atom for atom in atoms if atom not in self.known]

    def nearest(self, bundle: Bundle, n: int = 2) -> list[str]:
        """The bundles of training items most like a combination of known features that no item has; else none."""
        if not bundle.atoms or bundle.cell in self.bundles or not self.known.issuperset(bundle.atoms):
            return []
        near = nsmallest(n, self.bundles, key=lambda cell: len(set(bundle.cell).symmetric_difference(cell)))
        return [self.bundles[cell] for cell in near]

    def doubts(self, bundles: Iterable[Bundle], labels: Labels) -> list[str]:
        """Sentences about what the model has not seen."""
        distinct = {bundle.cell: bundle for bundle in bundles}.values()
        names = [*self.known, *(label for label, _ in labels.pairs)]
        otherwise = f"it knows {', '.join(list(self.atoms)[:NAMES])}{', …' if len(self.atoms) > NAMES else ''}"
        unknown = self.unknown(distinct)
        sentences = [
            f"the model has never seen the feature {quoted(atom)}; {nearest(atom, names, otherwise)}"
            for atom in unknown[:DOUBTS]
        ]
        if more := len(unknown[DOUBTS:]):
            sentences.append(f"the model has never seen {more} more feature{'s'[: more > 1]}")
        new = [(bundle, near) for bundle in distinct if (near := self.nearest(bundle))]
        for bundle, near in new[:DOUBTS]:
            combination, like = quoted(labels.to_label(bundle.spelling)), ", ".join(map(labels.to_label, near))
            sentences.append(f"no training form has the combination {combination}; nearest: {like}")
        if more := len(new[DOUBTS:]):
            sentences.append(f"{more} more combinations are in no training form")
        return sentences
