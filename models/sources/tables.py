"""The table of a language: all that its sources know of each cell, in the bundles of its paradigms."""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from models.sources import (
    Row,
    Source,
    albanian_uniparser,
    english_lists,
    german_nouns,
    german_verbs_adjectives,
    icelandic_bin,
    italian_morphit,
    polish_sgjp,
    russian_opencorpora,
    spanish_verbs,
    verb_tables,
)
from models.sources.bundles import Atoms, Meaning, Paradigms, atoms
from models.sources.wide import treebanks, unimorph

FOLDER = Path(__file__).parent
Rows = Callable[..., Iterator[Row]]
DICTIONARIES: dict[str, tuple[Source, Rows]] = {
    **{
        f"pattern-{language}": (source, partial(verb_tables.rows, language=language))
        for language, source in verb_tables.SOURCES.items()
    },
    "german-nouns": (german_nouns.SOURCE, german_nouns.rows),
    "german-pos-dict": (german_verbs_adjectives.SOURCE, german_verbs_adjectives.rows),
    "english-lists": (english_lists.SOURCE, english_lists.rows),
    "morph-it": (italian_morphit.SOURCE, italian_morphit.rows),
    "conjugate-esp": (spanish_verbs.SOURCE, spanish_verbs.rows),
    "bin": (icelandic_bin.SOURCE, icelandic_bin.rows),
    "opencorpora": (russian_opencorpora.SOURCE, russian_opencorpora.rows),
    "uniparser": (albanian_uniparser.SOURCE, albanian_uniparser.rows),
    "sgjp": (polish_sgjp.SOURCE, polish_sgjp.rows),
}
FREE = "use"
"""The treebanks whose forms may be shipped."""


@dataclass
class Evidence:
    """What speaks for a form."""

    sources: set[str] = field(default_factory=set)
    uses: int = 0


class Cell(NamedTuple):
    """A cell that may be shipped: its forms, the usual one first."""

    lemma: str
    bundle: str
    forms: list[str]
    sources: set[str]
    uses: int


class Report(NamedTuple):
    """What a source brings: of its rows those with a bundle of ours, and those of cells that other sources have too."""

    source: str
    rows: int
    mapped: int
    both: int
    agree: int
    """Of both, those with a form that the others have."""


@dataclass
class Table:
    """Forms by lemma and bundle."""

    paradigms: Paradigms
    cells: dict[str, dict[str, dict[str, Evidence]]] = field(default_factory=dict)
    uses: Counter[str] = field(default_factory=Counter)
    """How often running text has a lemma, in any form."""
    meanings: dict[Atoms, Meaning] = field(default_factory=dict)

    def add(self, name: str, rows: Sequence[Row]) -> Report:
        """Add the rows of a source."""
        forms = {lemma: {bundle: set(known) for bundle, known in cells.items()} for lemma, cells in self.cells.items()}
        meanings = self.paradigms.meanings(rows, forms)
        self.meanings |= meanings
        mapped = agree = both = 0
        for row in rows:
            if (meaning := meanings.get(atoms(row.bundle))) is None:
                continue
            bundle = meaning.bundle
            mapped += 1
            known = forms.get(row.lemma, {}).get(bundle)
            both += known is not None
            agree += known is not None and row.form in known
            evidence = self.cells.setdefault(row.lemma, {}).setdefault(bundle, {}).setdefault(row.form, Evidence())
            evidence.sources.add(name)
            evidence.uses += row.uses
            self.uses[row.lemma] += row.uses
        return Report(name, len(rows), mapped, both, agree)

    def shipped(self) -> Iterator[Cell]:
        """The cells that may be shipped, lemmas that are used most first; forms of a cell by what speaks for them."""
        for lemma in sorted(self.cells, key=lambda lemma: (-self.uses[lemma], lemma)):
            for bundle, forms in self.cells[lemma].items():
                usual = max(evidence.uses for evidence in forms.values())
                free = [
                    form
                    for form, evidence in forms.items()
                    if evidence.sources - {"count"} and not doubtful(evidence, usual)
                ]
                ranked = sorted(free, key=lambda form: (-forms[form].uses, -len(forms[form].sources - {FREE, "count"})))
                if ranked:
                    sources = set().union(*(forms[form].sources for form in ranked))
                    yield Cell(lemma, bundle, ranked, sources, sum(forms[form].uses for form in ranked))


def doubtful(evidence: Evidence, usual: int) -> bool:
    """Whether only one source has a form, which running text never has where it has another one often."""
    return evidence.uses == 0 and usual >= 5 and len(evidence.sources) == 1


def paradigms_of(language: str, rows: Sequence[Row]) -> Paradigms:
    """The bundles of the shared task, each in its commonest spelling, and those that `paradigms.toml` adds."""
    spelled = Counter(row.bundle for row in rows)
    by_atoms: dict[Atoms, str] = {}
    for bundle, _ in spelled.most_common():
        by_atoms.setdefault(atoms(bundle), bundle)
    with (FOLDER / "paradigms.toml").open("rb") as file:
        further = tomllib.load(file).get(language, {})
    bundles = [*by_atoms.values(), *further.get("bundles", [])]
    if further.get("adjectives_like_nouns"):
        alike = (f"ADJ{bundle[1:]}" for bundle in bundles if bundle.startswith("N;") and "PSS" not in bundle)
        bundles += [bundle for bundle in alike if atoms(bundle) not in by_atoms]
    return Paradigms(bundles)


def build(language: str, wide: Path, cache: Path) -> tuple[Table, list[Report]]:
    """The table of a language, from all its sources."""
    ours = unimorph(wide, language, shared_task=True)
    table = Table(paradigms_of(language, ours))
    sources = {"conll2017": ours, "unimorph": unimorph(wide, language, shared_task=False)}
    for name, (source, rows) in DICTIONARIES.items():
        if source.language == language:
            packages = [package.unpacked(cache) for package in source.packages]
            if name == "sgjp":
                lemmas = cache / "polish-lemmas.txt"
                counted = treebanks(wide, language, "count")
                words = {row.lemma for several in (*sources.values(), counted) for row in several}
                lemmas.write_text("\n".join(sorted(words)), encoding="utf-8")
                packages.append(lemmas)
            sources[name] = list(rows(*packages))
    sources |= {kind: treebanks(wide, language, kind) for kind in (FREE, "count")}
    return table, [table.add(name, several) for name, several in sources.items()]
