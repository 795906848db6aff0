"""What UniMorph and treebanks have, in the files of `wide.tar.xz`.

`LANGUAGE.tsv` is UniMorph with the shared tasks made of it. The treebanks of `LANGUAGE.use.tsv` are free: their forms
may be shipped. Those of `LANGUAGE.count.tsv` only tell which words matter. Nothing is learnt from `LANGUAGE.text.tsv`,
by which the pocket languages are measured.
"""

from collections.abc import Iterator
from pathlib import Path

from models.sources import Row

SHARED_TASK = "2017"
"""Whose bundles are ours, in its files of training and dev items."""

CC_BY, CC_BY_SA_3, CC_BY_SA = "CC BY 4.0", "CC BY-SA 3.0", "CC BY-SA 4.0"
CORPORA = (
    "Armenian-ArmTDP Catalan-AnCora Croatian-SET Czech-CAC Danish-DDT Dutch-Alpino English-EWT Faroese-OFT Finnish-FTB "
    "Finnish-TDT French-GSD German-GSD Irish-IDT Italian-PUD Kurmanji-MG Latvian-LVTB Lithuanian-HSE North_Sami-Giella "
    "Norwegian-Bokmaal Norwegian-Nynorsk Persian-Seraji Portuguese-Bosque Romanian-RRT Russian-GSD Slovak-SNK "
    "Slovenian-SSJ Spanish-AnCora Spanish-GSD Swedish-Talbanken Arabic-PUD Czech-PUD English-PUD Finnish-PUD "
    "Russian-PUD Swedish-PUD Turkish-PUD"
).split()
"""The treebanks of `use`, as Universal Dependencies names them."""
NAMES = {
    "serbo-croatian": "Croatian",
    "slovene": "Slovenian",
    "northern-sami": "North_Sami",
    "norwegian-bokmal": "Norwegian-Bokmaal",
    "norwegian-nynorsk": "Norwegian-Nynorsk",
}
LICENCES = {"Catalan-AnCora": CC_BY, "Spanish-AnCora": CC_BY, "Finnish-FTB": CC_BY, "Irish-IDT": CC_BY_SA_3}
"""Of present releases; PUD has CC BY-SA 3.0, and the others CC BY-SA 4.0."""


def credit(source: str, language: str) -> list[tuple[str, str]]:
    """Whom to credit for the forms of a source that is no dictionary, and under which licence they are."""
    if source != "use":
        since = "the shared task of 2017" if source == "conll2017" else "the shared tasks of 2016 to 2023"
        return [(f"Wiktionary, by way of UniMorph and {since}", CC_BY_SA_3)]
    name = NAMES.get(language, language.capitalize())
    return [
        (f"Universal Dependencies, {corpus}", LICENCES.get(corpus, CC_BY_SA_3 if corpus.endswith("PUD") else CC_BY_SA))
        for corpus in CORPORA
        if corpus.startswith(name)
    ]


def _lines(path: Path) -> Iterator[list[str]]:
    if path.exists():
        yield from (line.split("\t") for line in path.read_text(encoding="utf-8").split("\n") if line)


def unimorph(wide: Path, language: str, *, shared_task: bool) -> list[Row]:
    """The cells of the shared task of 2017, or all others."""
    return [
        Row(lemma, form, bundle)
        for lemma, form, bundle, sources in _lines(wide / f"{language}.tsv")
        if (SHARED_TASK in sources.split(",")) == shared_task
    ]


def treebanks(wide: Path, language: str, kind: str) -> list[Row]:
    """Words of running text, with how often they occur; `kind` is `use`, `count` or `text`."""
    return [
        Row(lemma, form, bundle, int(count))
        for lemma, form, bundle, count in _lines(wide / f"{language}.{kind}.tsv")
        if any(character.isalpha() for character in form)
    ]


def languages(wide: Path) -> list[str]:
    """All that the folder has."""
    return sorted(path.stem for path in wide.glob("*.tsv") if path.stem.count(".") == 0)
