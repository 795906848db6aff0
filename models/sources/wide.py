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
