"""Every lemma and form of all 52 languages comes back after alignment, oracle and executor."""

from pathlib import Path

import pytest

from reinflect.align import ALIGNERS
from reinflect.align.pairs import Aligner
from reinflect.data.catalog import find
from reinflect.data.items import read_items
from reinflect.systems.oracle import edits, write_step
from tests.systems.any_alignment import sides
from tests.systems.executors import execute_hacm, execute_haem

FILES = [file.name for file in find("conll2017").files if "-train-" in file.name]
LANGUAGES = [name.removesuffix("-train-medium") for name in FILES if name.endswith("-train-medium")]


def check(path: Path, aligner: Aligner) -> None:
    pairs = [(item.lemma, item.form) for item in read_items(path)]
    for (lemma, form), alignment in zip(pairs, aligner.align(pairs), strict=True):
        assert sides(alignment) == (lemma, form)
        steps, edited = write_step(alignment), edits(alignment)
        assert execute_hacm(steps, lemma) == form
        assert execute_haem(edited, lemma) == form
        assert len(steps) == len(lemma) + len(form) + 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_medium(conll2017: Path, language: str) -> None:
    for aligner in (ALIGNERS["naive"](), ALIGNERS["smart"](sweeps=2)):
        check(conll2017 / f"{language}-train-medium", aligner)


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_every_training_file_with_default_sweeps(conll2017: Path, name: str) -> None:
    for aligner in (ALIGNERS["naive"](), ALIGNERS["smart"]()):
        check(conll2017 / name, aligner)
