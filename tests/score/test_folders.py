"""Files of two folders are paired, or the error says why not."""

from pathlib import Path

import pytest
from reinflect.score.folders import language_of, pair_folders

from reinflect.errors import InputError


@pytest.mark.parametrize("language", ["german", "norwegian-bokmal", "scottish-gaelic", "lower-sorbian", "haida", "deu"])
@pytest.mark.parametrize(
    "ending",
    "-dev -test -uncovered-test -covered-test -low-out -medium-out -high-out -train-low -train-medium -train-high "
    "-dev.tsv .dev .tst .trn .tsv -test-covered _small.train _large.train .train .test .gold .covered.tst".split(),
)
def test_the_language_is_the_name_without_its_ending(language: str, ending: str) -> None:
    assert language_of(language + ending) == language


def test_a_name_without_an_ending_is_a_language() -> None:
    assert language_of("norwegian-bokmal") == "norwegian-bokmal"


def test_every_name_of_the_shared_task(conll2017: Path) -> None:
    languages = {language_of(file.name) for file in conll2017.iterdir()}
    assert len(languages) == 52
    assert all((conll2017 / f"{language}-dev").exists() for language in languages)


def folder(place: Path, *names: str) -> Path:
    place.mkdir()
    for name in names:
        (place / name).touch()
    return place


def paired(gold: Path, predicted: Path, languages: list[str] | None = None) -> dict[str, tuple[str, str]]:
    pairs, _ = pair_folders(gold, predicted, languages)
    assert all(pair.gold.parent == gold and pair.predicted.parent == predicted for pair in pairs)
    return {pair.language: (pair.gold.name, pair.predicted.name) for pair in pairs}


def test_files_of_the_same_name_are_paired_first(tmp_path: Path) -> None:
    gold = folder(tmp_path / "gold", "german-dev", "german-train-low", "german-covered-test")
    predicted = folder(tmp_path / "predicted", "german-dev", "german-low-out", "german-covered-test")
    assert paired(gold, predicted) == {"german": ("german-dev", "german-dev")}


def test_other_files_are_paired_by_language(tmp_path: Path) -> None:
    gold = folder(
        tmp_path / "gold", "german-uncovered-test", "german-covered-test", "norwegian-bokmal-dev", "haida", "README.md"
    )
    (gold / "haida").rename(gold / "haida-train-low")
    predicted = folder(
        tmp_path / "predicted", "german-low-out", "norwegian-bokmal-low-out", "haida-low-out", "notes", ".DS_Store"
    )
    assert paired(gold, predicted) == {
        "german": ("german-uncovered-test", "german-low-out"),
        "norwegian-bokmal": ("norwegian-bokmal-dev", "norwegian-bokmal-low-out"),
        "haida": ("haida-train-low", "haida-low-out"),
    }


def test_training_files_are_gold_only_by_name(tmp_path: Path) -> None:
    gold = folder(tmp_path / "gold", "german-dev", "german-train-low")
    assert paired(gold, folder(tmp_path / "a", "german-low-out")) == {"german": ("german-dev", "german-low-out")}
    assert paired(gold, folder(tmp_path / "b", "german-train-low")) == {
        "german": ("german-train-low", "german-train-low")
    }


def test_plain_language_names_are_paired(tmp_path: Path) -> None:
    names = ("german.tsv", "norwegian-bokmal.tsv")
    assert paired(folder(tmp_path / "a", *names), folder(tmp_path / "b", *names)) == {
        "german": ("german.tsv", "german.tsv"),
        "norwegian-bokmal": ("norwegian-bokmal.tsv", "norwegian-bokmal.tsv"),
    }


def test_a_language_without_predictions_is_named(tmp_path: Path) -> None:
    gold = folder(tmp_path / "gold", "german-dev", "finnish-dev", "haida-dev")
    predicted = folder(tmp_path / "predicted", "german-dev")
    with pytest.raises(InputError, match=r"2 of 3 languages \(finnish, haida\).*--languages german$"):
        pair_folders(gold, predicted)
    assert set(paired(gold, predicted, ["german"])) == {"german"}


def test_a_requested_language_must_exist(tmp_path: Path) -> None:
    gold, predicted = folder(tmp_path / "gold", "german-dev"), folder(tmp_path / "predicted", "german-dev")
    with pytest.raises(InputError, match=r"'germn'.*has german"):
        pair_folders(gold, predicted, ["germn"])


@pytest.mark.parametrize(
    ("golds", "predictions", "named"),
    [
        (["german-dev", "german-test"], ["german-low-out"], "german-dev, german-test"),
        (["german-dev", "german-covered-test"], ["german-low-out"], "german-covered-test, german-dev"),
        (["german-dev"], ["german-low-out", "german-high-out"], "german-high-out, german-low-out"),
        (["german-dev", "german-test"], ["german-dev", "german-test"], "german-dev, german-test"),
    ],
)
def test_ambiguous_files_are_an_error(tmp_path: Path, golds: list[str], predictions: list[str], named: str) -> None:
    with pytest.raises(InputError, match=f"several files of german .*: {named}; "):
        pair_folders(folder(tmp_path / "gold", *golds), folder(tmp_path / "predicted", *predictions))


@pytest.mark.parametrize(
    ("golds", "predictions", "paired"),
    [
        (["deu.trn", "deu.dev", "deu.covered.dev", "deu.covered.tst"], ["deu-dev", "deu-test"], ("deu.dev", "deu-dev")),
        (["deu.dev", "deu.test", "deu.gold"], ["deu-dev"], ("deu.dev", "deu-dev")),
        (["y-train-low", "y-dev", "y-test", "y-test-covered"], ["y.tst"], ("y-test", "y.tst")),
    ],
)
def test_predictions_are_paired_with_gold_of_the_same_part(
    tmp_path: Path, golds: list[str], predictions: list[str], paired: tuple[str, str]
) -> None:
    ((pair,), _) = pair_folders(folder(tmp_path / "gold", *golds), folder(tmp_path / "predicted", *predictions))
    assert (pair.gold.name, pair.predicted.name) == paired


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no files"):
        pair_folders(folder(tmp_path / "gold"), folder(tmp_path / "predicted", "german-dev"))


def test_languages_without_gold_are_returned(tmp_path: Path) -> None:
    gold, predicted = folder(tmp_path / "g", "german-dev"), folder(tmp_path / "p", "german-dev", "klingon-dev")
    pairs, unknown = pair_folders(gold, predicted)
    assert [pair.language for pair in pairs] == ["german"]
    assert unknown == ["klingon"]
