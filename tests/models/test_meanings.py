"""The committed mapping of sources' bundles: each goes to one bundle of the language's paradigms."""

import tomllib
from pathlib import Path

import pytest
from models.sources import Row
from models.sources.atoms import atoms
from models.sources.bundles import FOLDER, Paradigms, read_meanings, write_meanings
from models.sources.recipes import FILE, recipe_of
from models.sources.tables import paradigms_of

LANGUAGES = sorted(path.stem for path in FOLDER.glob("*.tsv"))
TASK = Path(__file__).parents[2] / ".." / "shared" / "data" / "conll2017"
"""The files of the shared task, which are not part of the project."""


def paradigms(language: str) -> Paradigms:
    """Those of the shared task's files, with those that are added."""
    lines = [
        line.split("\t")
        for part in ("train-high", "train-medium", "train-low", "dev")
        if (path := TASK / f"{language}-{part}").exists()
        for line in path.read_text(encoding="utf-8").splitlines()
        if line
    ]
    if not lines:
        pytest.skip("the shared task's files are not here")
    rows = [Row(lemma, form, bundle) for lemma, form, bundle in lines]
    return paradigms_of(rows, recipe_of(language), read_meanings(language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_spellings_mean_one_bundle_that_exists(language: str) -> None:
    """No two bundles are spellings of one cell, and each bundle means itself."""
    ours = paradigms(language)
    spelled = {ours.recipe.replaced(atoms(bundle)) for bundle in ours.bundles}
    assert len(spelled) == len(ours.bundles)
    meanings = read_meanings(language)
    assert set(meanings.values()) - {""} <= set(ours.bundles)
    assert not spelled & set(meanings)
    assert list(meanings) == sorted(meanings)


def test_every_recipe_can_be_read() -> None:
    with FILE.open("rb") as file:
        languages = tomllib.load(file)
    assert set(languages) <= set(LANGUAGES)
    for language in languages:
        recipe = recipe_of(language)
        assert len({atoms(bundle) for bundle in recipe.bundles}) == len(recipe.bundles), language


def test_a_mapping_is_read_as_it_was_written(tmp_path: Path) -> None:
    meanings = {("FIN", "PST", "V"): "V;PST", ("N", "PL"): ""}
    write_meanings("english", meanings, tmp_path)
    assert read_meanings("english", tmp_path) == meanings
    assert (tmp_path / "english.tsv").read_text() == "FIN PST V\tV;PST\nN PL\t-\n"
    assert read_meanings("welsh", tmp_path) == {}
