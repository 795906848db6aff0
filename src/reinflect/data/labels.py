"""A user's own names for features: `1sg present` instead of `V;IND;PRS;1;SG`.

A labels file has a label and its features on each line, with a tab between, or is a TOML file of `label = "features"`.
A label for a single feature (`pl` for `PL`) also counts as a part of others (`N;pl`).
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from reinflect.data.features import SEPARATOR, Bundle
from reinflect.data.lines import lines_of
from reinflect.errors import InputError, quoted
from reinflect.files import read_text

Key = TypeVar("Key", bound=Hashable)
Line = tuple[int | None, str, str]
"""Its number, a label, and features."""


@dataclass(frozen=True)
class Labels:
    """Labels and the features each stands for; where two stand for the same, the first is the one that is shown."""

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, path: Path | str) -> "Labels":
        text = read_text(path)
        lines = _toml_lines(text, path) if str(path).lower().endswith(".toml") else _tsv_lines(text, path)
        known: dict[str, str] = {}
        for line, label, features in lines:
            if not label or not Bundle(features).atoms:
                raise InputError(
                    f"found no {'features' if label else 'label'} in this line",
                    "write a label, a tab, and its features",
                    path=path,
                    line=line,
                )
            if label != label.strip():
                raise InputError(
                    f"found the label {quoted(label)}, with a blank before or after it",
                    "take the blank out",
                    path=path,
                    line=line,
                )
            if known.setdefault(label, features) != features:
                raise InputError(
                    f"found the label {quoted(label)} for {quoted(features)}, and before for {quoted(known[label])}",
                    "give each label one meaning",
                    path=path,
                    line=line,
                )
        if not known:
            raise InputError("found no labels", "give at least one line: a label, a tab, its features", path=path)
        labels = cls(tuple(known.items()))
        labels._check(path)
        return labels

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def to_features(self, text: str) -> str:
        """The features that a label, or a bundle with labels in it, stands for; anything else is as it was."""
        if text in self._features:
            return self._features[text]
        parts = text.split(SEPARATOR)
        return SEPARATOR.join(self._atoms.get(part.strip(" "), part) for part in parts)

    def to_label(self, features: str) -> str:
        """The label of a bundle, in whatever order its features are; without one, labels of single features."""
        if features in self._labels:
            return self._labels[features]
        bundle = Bundle(features)
        if bundle.cell in self._by_cell:
            return self._by_cell[bundle.cell]
        if not self._of_atoms.keys() & set(bundle.atoms):
            return features
        return SEPARATOR.join(self._of_atoms.get(atom, atom) for atom in bundle.atoms)

    def knows(self, text: str) -> bool:
        """Whether a text is a label as a whole."""
        return text in self._features

    def names(self, features: str) -> bool:
        """Whether a bundle as a whole has a label."""
        return Bundle(features).cell in self._by_cell

    @cached_property
    def _features(self) -> dict[str, str]:
        return dict(self.pairs)

    @cached_property
    def _labels(self) -> dict[str, str]:
        return _first((features, label) for label, features in self.pairs)

    @cached_property
    def _by_cell(self) -> dict[tuple[str, ...], str]:
        return _first((Bundle(features).cell, label) for label, features in self.pairs)

    @cached_property
    def _atoms(self) -> dict[str, str]:
        """Labels of single features, which may be parts of bundles."""
        return {label: atoms[0] for label, features in self.pairs if len(atoms := Bundle(features).atoms) == 1}

    @cached_property
    def _of_atoms(self) -> dict[str, str]:
        return _first((atom, label) for label, atom in self._atoms.items() if SEPARATOR not in label)

    def _check(self, path: Path | str) -> None:
        """Refuse labels that could be read in two ways."""
        bundles = {features: Bundle(features) for features in self._labels}
        having: dict[str, dict[tuple[str, ...], str]] = {}
        for features, bundle in bundles.items():
            for atom in bundle.atoms:
                having.setdefault(atom, {}).setdefault(bundle.cell, features)
        for label, features in self.pairs:
            taken = {bundles[label].cell: label} if label in bundles else {}
            taken |= having.get(label, {}) if label in self._atoms else {}
            for cell, other in taken.items():
                if cell != bundles[features].cell:
                    raise InputError(
                        f"found the label {quoted(label)}, which is a feature in {quoted(other)} as well",
                        "choose another label",
                        path=path,
                    )


NO_LABELS = Labels()


def _first(pairs: Iterable[tuple[Key, str]]) -> dict[Key, str]:
    found: dict[Key, str] = {}
    for key, label in pairs:
        found.setdefault(key, label)
    return found


def _tsv_lines(text: str, path: Path | str) -> list[Line]:
    lines: list[Line] = []
    for number, line in lines_of(text, path):
        fields = line.split("\t")
        if len(fields) != 2:
            raise InputError(
                f"found {len(fields)} column{'s'[: len(fields) != 1]} in {quoted(line)}",
                "write a label, a tab, and its features",
                path=path,
                line=number,
            )
        lines.append((number, fields[0], fields[1]))
    return lines


def _toml_lines(text: str, path: Path | str) -> list[Line]:
    import tomllib

    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # the latter of brackets within brackets within brackets
        raise InputError(f"this is not TOML ({error})", "write lines such as 'past' = 'V;PST'", path=path) from None
    for label, features in table.items():
        if not isinstance(features, str):
            raise InputError(
                f"found {quoted(label)} with something else than text",
                "write lines such as 'past' = 'V;PST'",
                path=path,
            )
    return [(None, label, features) for label, features in table.items()]
