"""The table of a language: all that its sources know of each cell, in the bundles of its paradigms."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from models.sources.atoms import Atoms, atoms, part_of_speech
from models.sources.bundles import Paradigms, read_meanings
from models.sources.recipes import Recipe, recipe_of
from models.sources.wide import treebanks, unimorph

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
FREE, COUNTED = "use", "count"
"""The treebanks whose forms may be shipped, and those whose words are only counted."""
TREEBANKS = (FREE, COUNTED, "text")
HEADINGS = frozenset("singular plural Singular Plural indefinite definite present past nominative".split())
"""Headings of Wiktionary's tables, which UniMorph has as forms."""


@dataclass
class Evidence:
    """What speaks for a form."""

    sources: set[str] = field(default_factory=set)
    uses: int = 0
    spelled: Counter[str] = field(default_factory=Counter)
    """How often sources that may be shipped spell it so, with or without marks."""


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
    """Forms by lemma and bundle, all without the marks that ordinary text lacks."""

    paradigms: Paradigms
    cells: dict[str, dict[str, dict[str, Evidence]]] = field(default_factory=dict)
    uses: Counter[str] = field(default_factory=Counter)
    """How often running text has a lemma, in any form."""
    lemmas: dict[str, Counter[str]] = field(default_factory=dict)
    """How sources spell a lemma, with or without marks."""

    def cleaned(self, name: str, row: Row) -> Row:
        """A row of a source without what is no part of a word."""
        recipe, treebank = self.paradigms.recipe, name in TREEBANKS
        if row.form in HEADINGS and row.form[:3].lower() != row.lemma[:3].lower():
            return row._replace(form="")
        if not treebank and not recipe.forms:
            return row
        return recipe.cleaned(row, part_of_speech(atoms(row.bundle)), treebank=treebank)

    def plain(self, row: Row) -> Row:
        """A row without marks."""
        recipe = self.paradigms.recipe
        if not recipe.marks and not recipe.separable:
            return row
        return row._replace(lemma=recipe.plain(row.lemma), form=recipe.key(row.form))

    def bundle(self, name: str, row: Row) -> str | None:
        """The bundle that the features of a row mean."""
        return self.paradigms.meaning(self.paradigms.said(row, exact=name not in TREEBANKS))

    def add(self, name: str, rows: Iterable[Row], *, learn: bool = False) -> Report:
        """Add the rows of a source, and learn what its bundles mean where the committed mapping is to be written."""
        exact = name not in TREEBANKS
        cleaned = [(row, clean) for row in rows if (clean := self.cleaned(name, row)).form]
        read = [(self.paradigms.said(row, exact=exact), clean, self.plain(clean)) for row, clean in cleaned]
        forms = {lemma: {bundle: set(known) for bundle, known in cells.items()} for lemma, cells in self.cells.items()}
        if learn:
            self.paradigms.compare([(said, plain) for said, _, plain in read], forms)
        mapped = agree = both = 0
        for said, clean, plain in read:
            if (bundle := self.paradigms.meaning(said)) is None:
                continue
            mapped += 1
            known = forms.get(plain.lemma, {}).get(bundle)
            both += known is not None
            agree += known is not None and plain.form in known
            self._add(name, clean, plain, bundle)
            recipe = self.paradigms.recipe
            for other in recipe.with_same_form(recipe.replaced(atoms(bundle)), plain):
                self._add(name, clean, plain, self.paradigms.by_atoms[other])
                self.uses[plain.lemma] -= plain.uses
        return Report(name, len(read), mapped, both, agree)

    def _add(self, name: str, clean: Row, plain: Row, bundle: str) -> None:
        evidence = self.cells.setdefault(plain.lemma, {}).setdefault(bundle, {}).setdefault(plain.form, Evidence())
        evidence.sources.add(name)
        evidence.uses += plain.uses
        self.uses[plain.lemma] += plain.uses
        if name != COUNTED:
            evidence.spelled[self.paradigms.recipe.written(clean.form)] += 1
            self.lemmas.setdefault(plain.lemma, Counter())[self.paradigms.recipe.written(clean.lemma)] += 1

    def _rank(self, lemma: str) -> tuple[int, int, int, str]:
        cells = self.cells[lemma].values()
        sources = set().union(*(evidence.sources for forms in cells for evidence in forms.values()))
        return -self.uses[lemma], -len(sources), len(lemma), lemma

    def rare(self) -> Iterator[Row]:
        """Words of lemmas that running text has once, and no dictionary: those like it are guessed."""
        for lemma, cells in self.cells.items():
            if self.uses[lemma] == 1:
                for bundle, forms in cells.items():
                    for form, evidence in forms.items():
                        if evidence.uses and evidence.sources <= {FREE, COUNTED}:
                            yield Row(lemma, form, bundle, evidence.uses)

    def shipped(self) -> Iterator[Cell]:
        """The cells that may be shipped; forms of a cell by what speaks for them.

        Lemmas that are used most come first, then those that most sources have, then short ones.
        """
        for lemma in sorted(self.cells, key=self._rank):
            for bundle, forms in sorted(self.cells[lemma].items()):
                usual = max(evidence.uses for evidence in forms.values())
                free = [
                    form
                    for form, evidence in forms.items()
                    if evidence.sources - {COUNTED} and not doubtful(evidence, usual)
                ]
                ranked = sorted(free, key=lambda form: _order(forms[form]))
                if ranked:
                    sources = set().union(*(forms[form].sources for form in ranked)) - {COUNTED}
                    written = [marked(form, forms[form].spelled) for form in ranked]
                    uses = sum(forms[form].uses for form in ranked)
                    yield Cell(marked(lemma, self.lemmas[lemma]), bundle, written, sources, uses)


def _order(evidence: Evidence) -> tuple[int, int, bool]:
    """Used forms first, then those of most origins, then those of dictionaries; all of UniMorph is one origin."""
    origins = {"unimorph" if source == "conll2017" else source for source in evidence.sources - {FREE, COUNTED}}
    return -evidence.uses, -len(origins), not origins - {"unimorph"}


def marked(plain: str, spelled: Counter[str]) -> str:
    """The spelling with marks that most sources have, or without any."""
    return max(spelled, key=lambda word: (word != plain, spelled[word], word))


def doubtful(evidence: Evidence, usual: int) -> bool:
    """Whether only one source has a form, which running text never has where it has another one often.

    A form that only treebanks have is an error of theirs where they have another one twenty times as often.
    """
    if evidence.sources <= {FREE, COUNTED}:
        return evidence.uses * 20 <= usual
    return evidence.uses == 0 and usual >= 5 and len(evidence.sources) == 1


def paradigms_of(rows: Sequence[Row], recipe: Recipe, meanings: dict[Atoms, str] | None = None) -> Paradigms:
    """The bundles of the shared task, each in its commonest spelling, and those that `languages.toml` adds."""
    spelled: dict[Atoms, str] = {}
    for bundle, _ in Counter(row.bundle for row in rows).most_common():
        spelled.setdefault(recipe.replaced(atoms(bundle)), bundle)
    relabelled = [recipe.relabel(row).bundle for row in rows] if recipe.relabelled else list(spelled.values())
    nouns = (f"ADJ{bundle[1:]}" for bundle in spelled.values() if bundle.startswith("N;") and "PSS" not in bundle)
    added = [*recipe.bundles, *(nouns if recipe.adjectives_like_nouns else ())]
    bundles: dict[Atoms, str] = {}
    for bundle in [*added, *sorted(relabelled)]:
        several = recipe.replaced(atoms(bundle))
        bundles.setdefault(several, spelled.get(several, bundle))
    ordered = [bundles[several] for several in spelled if several in bundles]
    paradigms = Paradigms(
        [*ordered, *(bundle for several, bundle in bundles.items() if several not in spelled)], recipe
    )
    paradigms.meanings |= meanings or {}
    return paradigms


def build(language: str, wide: Path, cache: Path, *, learn: bool = False) -> tuple[Table, list[Report]]:
    """The table of a language, from all its sources; with `learn`, without the committed mapping of their bundles."""
    recipe = recipe_of(language)
    ours, others = (unimorph(wide, language, shared_task=is_ours) for is_ours in (True, False))
    table = Table(paradigms_of(ours, recipe, {} if learn else read_meanings(language)))
    sources = {"conll2017": list(map(recipe.relabel, ours)), "unimorph": list(map(recipe.relabel, others))}
    for name, (source, rows) in DICTIONARIES.items():
        if source.language == language:
            packages = [package.unpacked(cache) for package in source.packages]
            if name == "sgjp":
                lemmas = cache / "polish-lemmas.txt"
                counted = treebanks(wide, language, COUNTED)
                words = {row.lemma for several in (*sources.values(), counted) for row in several}
                lemmas.write_text("\n".join(sorted(word for word in words if " " not in word)), encoding="utf-8")
                packages.append(lemmas)
            sources[name] = list(rows(*packages))
    sources |= {kind: treebanks(wide, language, kind) for kind in (FREE, COUNTED)}
    return table, [table.add(name, several, learn=learn) for name, several in sources.items()]


def meanings_of_text(language: str, wide: Path, rows: Iterable[Row]) -> list[Row | None]:
    """Words of running text with our bundles and lemmas, by their features alone; None if these fit no bundle.

    Their forms are what a model is to find, so they do not help to tell bundles apart.
    """
    recipe = recipe_of(language)
    paradigms = paradigms_of(unimorph(wide, language, shared_task=True), recipe, read_meanings(language))
    result: list[Row | None] = []
    for row in rows:
        bundle = paradigms.meaning(recipe.corrected(recipe.replaced(atoms(row.bundle)), row, by_form=False))
        part = part_of_speech(atoms(row.bundle))
        lemma = recipe.cleaned(row, part, treebank=True).lemma
        result.append(row._replace(lemma=lemma, bundle=bundle) if bundle else None)
    return result
