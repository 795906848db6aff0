"""Feature bundles such as `V;IND;PST;3;SG`, or with layers: `V;NOM(1,SG);ACC(2,PL)`, `N;DAT(PL;PSS(1,SG))`; labels.

Labels are a user's own names for features: `1sg present` for `V;IND;PRS;1;SG`, or `pl` for `PL`, also within a bundle
(`N;pl`). A file of labels has a label, a tab and its features on each line, or is a TOML file of `label = "features"`.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path

from reinflect.errors import InputError, counted, quoted
from reinflect.files import lines_of, read_text

SEPARATOR = ";"
_DEEPEST = 8
"""Brackets within brackets; UniMorph has two."""
_OPEN, _CLOSE = "\0", "\1"
"""In place of brackets that have been read."""
_LAYER = re.compile(rf"(?:^|(?<=[();,{_OPEN}{_CLOSE}]))([^();,{_OPEN}{_CLOSE}]+)\(([^()]*)\)")


@dataclass(frozen=True)
class Bundle:
    """A multiset of atoms. Bundles are equal if their spellings are, as in the shared task's scoring and baseline.

    `cell` is equal for bundles with the same atoms in any order and spacing.
    """

    spelling: str

    @cached_property
    def atoms(self) -> tuple[str, ...]:
        """The atoms without blanks around them; repeated atoms are kept (`PRF;PRF`).

        `NOM(1,SG)` has the atoms NOM(1) and NOM(SG). The case of a noun or adjective is no such layer:
        `DAT(PL;PSS(1,SG))` has the atoms DAT, PL, PSS(1) and PSS(SG). Brackets that do not nest are letters.
        """
        return _atoms(self.spelling) if "(" in self.spelling else _pieces(self.spelling)

    @cached_property
    def cell(self) -> tuple[str, ...]:
        return tuple(sorted(self.atoms))

    @property
    def part_of_speech(self) -> str:
        """`V`, `N`, … at any position: data sets do not always put it first."""
        return next((atom for atom in self.atoms if atom.split(".")[0] in PARTS_OF_SPEECH), "(none)")

    @property
    def word_class(self) -> str:
        """`V`, also of `V.PTCP`; empty if the features name no part of speech."""
        return self.part_of_speech.partition(".")[0].removeprefix("(none)")

    @cached_property
    def malformed(self) -> bool:
        """Whether it has brackets that are not layers, such as `NOM(1` or `(non)NOM`."""
        return any(bracket in self.spelling for bracket in "()") and _features(self.spelling) is None

    def among(self, atoms: Collection[str]) -> tuple[str, ...]:
        """The atoms as a model spells them: the first versions of reinflect took brackets for letters."""
        if "(" not in self.spelling or all(atom in atoms for atom in self.atoms):
            return self.atoms
        pieces = _pieces(self.spelling)
        return pieces if any(piece in atoms for piece in pieces if piece not in self.atoms) else self.atoms

    def __str__(self) -> str:
        return self.spelling


PARTS_OF_SPEECH = frozenset(
    "N PROPN ADJ PRO CLF ART DET V ADV AUX V.PTCP V.MSDR V.CVB ADP COMP CONJ NUM PART INTJ".split()
)
"""The parts of speech of the UniMorph schema."""
_OF_VERBS = {"V", "AUX", "V.CVB"}
"""Parts of speech whose case layers have the features of arguments, such as the subject."""
POSSESSOR = "PSS"


def _pieces(spelling: str) -> tuple[str, ...]:
    return tuple(atom for piece in spelling.split(SEPARATOR) if (atom := piece.strip(" ")))


@lru_cache(10_000)
def _atoms(spelling: str) -> tuple[str, ...]:
    features = _features(spelling)
    if features is None:
        pieces = _pieces(spelling)
        return pieces if len(pieces) == 1 else tuple(atom for piece in pieces for atom in Bundle(piece).atoms)
    if case := _case(spelling, features):
        layer = case + _OPEN
        first = next(at for at, name in enumerate(features) if name.startswith(layer))
        bare = [name[len(layer) : -1] if name.startswith(layer) else name for name in features]
        features = (*bare[:first], case, *bare[first:])
    return tuple(atom.replace(_OPEN, "(").replace(_CLOSE, ")") for atom in features)


def _features(spelling: str) -> tuple[str, ...] | None:
    """The features, each in its layers: NOM<1> and NOM<SG> of NOM(1,SG); None if brackets do not nest."""

    def spread(layer: re.Match[str]) -> str:
        name, features = layer[1].strip(" "), [feature.strip(" ") for feature in re.split("[;,]", layer[2])]
        if not name or not all(features):
            return layer[0]
        return SEPARATOR.join(f"{name}{_OPEN}{feature}{_CLOSE}" for feature in features)

    for _ in range(_DEEPEST):
        spelling, layers = _LAYER.subn(spread, spelling)
        if not layers:
            break
    features = _pieces(spelling)
    broken = any(bracket in spelling for bracket in "()") or any(_CLOSE in name.rstrip(_CLOSE) for name in features)
    return None if broken else features


def _case(spelling: str, features: Iterable[str]) -> str:
    """The case of a noun or adjective: its only layer but those of possessors, without a person.

    A layer with a person is an argument's: `N;PL;PRS;NOM(1,SG)`, I am one of several.
    """
    parts = [feature for feature in features if feature.split(".")[0] in PARTS_OF_SPEECH]
    names = [name.strip(" ") for name in re.findall(r"([^();,]+)\(", spelling)]
    layers = [name for name in names if not name.startswith(POSSESSOR)]
    if len(layers) != 1 or not parts or not _OF_VERBS.isdisjoint(parts):
        return ""
    inside = [feature[len(layers[0]) + 1 : -1] for feature in features if feature.startswith(layers[0] + _OPEN)]
    return layers[0] if inside and not any(feature.isdigit() for feature in inside) else ""


TSV_REMEDY = "write a label, a tab, and its features"
TOML_REMEDY = "write lines such as 'past' = 'V;PST'"


@dataclass(frozen=True)
class Labels:
    """Labels and their features; of two labels for the same features, the first is shown."""

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, path: Path | str) -> "Labels":
        pairs: dict[str, str] = {}
        for number, label, features in _lines_of_labels(path):
            error = partial(InputError, path=path, line=number)
            if not label or not Bundle(features).atoms:
                raise error(f"found no {'features' if label else 'label'} in this line", TSV_REMEDY)
            if label != label.strip():
                raise error(f"found the label {quoted(label)}, with a blank before or after it", "remove the blank")
            if (before := pairs.setdefault(label, features)) != features:
                problem = f"found the label {quoted(label)} for {quoted(features)}, but earlier for {quoted(before)}"
                raise error(problem, "give each label one meaning")
        if not pairs:
            raise InputError("found no labels", "give at least one line: a label, a tab, its features", path=path)
        _check_meanings(pairs, path)
        return cls(tuple(pairs.items()))

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def to_features(self, text: str) -> str:
        """The features of a label, or of a bundle with labels in it."""
        if text in self._features:
            return self._features[text]
        return SEPARATOR.join(self._atoms.get(part.strip(" "), part) for part in text.split(SEPARATOR))

    def spelled(self, text: str, atoms: Container[str] = ()) -> str:
        """Labels, alone or in a bundle, in their own case; features such as `atoms` are left alone."""

        def respelled(part: str) -> str:
            right = part in self._features or part in atoms
            return part if right else self._folded.get(part.strip(" ").casefold(), part)

        whole = respelled(text)
        return whole if whole != text else SEPARATOR.join(map(respelled, text.split(SEPARATOR)))

    def of_heading(self, name: str) -> str:
        """The features of a heading, whose labels may be in any case."""
        atoms = {atom for _, features in self.pairs for atom in Bundle(features).atoms}
        return self.to_features(self.spelled(name, atoms))

    def to_label(self, features: str) -> str:
        """The label of a bundle, its features in any order; or else the labels of its single features."""
        bundle = Bundle(features)
        if label := self._labels.get(features) or self._labels.get(bundle.cell):
            return label
        if "(" in features or not self._of_atoms.keys() & set(bundle.atoms):  # layers would be lost
            return features
        return SEPARATOR.join(self._of_atoms.get(atom, atom) for atom in bundle.atoms)

    def knows(self, text: str) -> bool:
        return text in self._features

    def names(self, features: str) -> bool:
        """Whether a bundle as a whole has a label."""
        return Bundle(features).cell in self._labels

    @cached_property
    def _features(self) -> dict[str, str]:
        return dict(self.pairs)

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {label.casefold(): label for label, _ in reversed(self.pairs)}

    @cached_property
    def _labels(self) -> dict[str | tuple[str, ...], str]:
        """The first label of every bundle, by spelling and by cell."""
        bundles = [(Bundle(features), label) for label, features in reversed(self.pairs)]
        return {key: label for bundle, label in bundles for key in (bundle.spelling, bundle.cell)}

    @cached_property
    def _of_atoms(self) -> dict[str, str]:
        return {atom: label for label, atom in reversed(self._atoms.items()) if SEPARATOR not in label}

    @cached_property
    def _atoms(self) -> dict[str, str]:
        """Labels of single features, which may be parts of bundles."""
        return {label: atoms[0] for label, features in self.pairs if len(atoms := Bundle(features).atoms) == 1}


NO_LABELS = Labels()


def _check_meanings(pairs: Mapping[str, str], path: Path | str) -> None:
    """Refuse labels with two readings: as features of another meaning, or as one feature of another bundle."""
    bundles = {features: Bundle(features).cell for features in pairs.values()}
    having: defaultdict[str, list[str]] = defaultdict(list)
    for features, cell in bundles.items():
        having[features].append(features)
        for atom in cell:
            having[atom].append(features)
    for label, features in pairs.items():
        others = having[label] if len(bundles[features]) == 1 else [label] * (label in bundles)
        if other := next((other for other in others if bundles[other] != bundles[features]), None):
            problem = f"found the label {quoted(label)}, which is also a feature in {quoted(other)}"
            raise InputError(problem, "choose another label", path=path)


def _lines_of_labels(path: Path | str) -> Iterator[tuple[int | None, str, str]]:
    """The number of each line, if lines are numbered, a label and its features."""
    text = read_text(path)
    if not str(path).lower().endswith(".toml"):
        for number, line in lines_of(text, path):
            label, *features = line.split("\t")
            if len(features) != 1:
                problem = f"found {counted(len(features) + 1, 'column')} in {quoted(line)}"
                raise InputError(problem, TSV_REMEDY, path=path, line=number)
            yield number, label, features[0]
        return
    import tomllib

    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # the latter for deeply nested brackets
        raise InputError(f"this is not TOML ({error})", TOML_REMEDY, path=path) from None
    for label, features in table.items():
        if not isinstance(features, str):
            raise InputError(f"found a value for {quoted(label)} that is not text", TOML_REMEDY, path=path)
        yield None, label, features
