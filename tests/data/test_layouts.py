"""Names of files: their language and part, and which files of two folders belong together."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.layouts import BYS, MOST, PARTS, By, pair_folders, part_of, parts_in, split_items
from reinflect.errors import InputError

ENDINGS = {ending: part for part, endings in PARTS.items() for ending in endings.split()}
LANGUAGES = ["german", "norwegian-bokmal", "x--y", "h_u", "deu", "a.b"]


def folder(path: Path, *names: str) -> Path:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).touch()
    return path


# The name of a file


@given(
    st.sampled_from(LANGUAGES) | st.text("ab-_. é", min_size=1),
    st.sampled_from(sorted(ENDINGS)),
    st.lists(st.sampled_from("-._"), min_size=3, max_size=3),
    st.sampled_from(["", ".tsv", ".txt"]),
)
def test_a_file_name_is_its_language_and_part(language: str, ending: str, separators: list[str], suffix: str) -> None:
    signs = iter(separators)
    name = language + re.sub("-", lambda _: next(signs), f"-{ending}") + suffix
    assert part_of(name) == (language, ENDINGS[ending])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_without_an_ending_is_a_language(language: str) -> None:
    assert part_of(language) == part_of(f"{language}.tsv") == (language, "")
    assert part_of("README.md") == ("README.md", "")


@pytest.mark.parametrize(
    ("names", "language", "parts"),
    [
        ("a-b-train-low a-b-train-high a-b-dev a-b-covered-test", "a-b", "low high dev covered"),
        ("x--y/x-train-high x--y/y-train-low x--y/y-dev x--y/y-test-covered", "x--y", "low dev covered"),
        ("deu.trn deu.dev deu.tst", "deu", "train dev test"),
        ("deu.train deu.dev deu.test", "deu", "train dev test"),
        ("deu_small.train deu_large.train deu.dev deu.test deu.gold", "deu", "small large dev test gold"),
        ("h_u.trn h_u.dev h_u.covered.dev h_u.covered.tst", "h_u", "train dev covered-dev covered"),
    ],
)
def test_files_of_every_year_have_their_parts(tmp_path: Path, names: str, language: str, parts: str) -> None:
    found = parts_in(folder(tmp_path, *names.split(), "README.md", "deu", "scripts/deu.dev"))
    assert list(found) == [language]
    assert found[language].keys() == set(parts.split())


# Pairs of files


@pytest.mark.parametrize(
    ("gold", "predicted", "pairs"),
    [
        # The same name first
        ("g-dev g-train-low g-covered-test", "g-dev g-low-out g-covered-test", "g-dev:g-dev"),
        ("g-dev g-train-low", "g-train-low", "g-train-low:g-train-low"),
        ("g.tsv n-b.tsv", "g.tsv n-b.tsv", "g.tsv:g.tsv n-b.tsv:n-b.tsv"),
        # Then the same language, if need be by the part
        ("g-uncovered-test g-covered-test README.md", "g-low-out notes .DS_Store", "g-uncovered-test:g-low-out"),
        ("n-b-dev h-train-low", "n-b-low-out h-low-out", "h-train-low:h-low-out n-b-dev:n-b-low-out"),
        ("g-dev g-train-low", "g-low-out", "g-dev:g-low-out"),
        ("deu.trn deu.dev deu.covered.dev deu.covered.tst", "deu-dev deu-test", "deu.dev:deu-dev"),
        ("deu.dev deu.test deu.gold", "deu-dev", "deu.dev:deu-dev"),
        ("y-train-low y-dev y-test y-test-covered", "y.tst", "y-test:y.tst"),
    ],
)
def test_files_are_paired(tmp_path: Path, gold: str, predicted: str, pairs: str) -> None:
    found, unknown = pair_folders(folder(tmp_path / "g", *gold.split()), folder(tmp_path / "p", *predicted.split()))
    assert [f"{pair.gold.name}:{pair.predicted.name}" for pair in found] == pairs.split()
    assert all(pair.gold.parent.name == "g" and pair.predicted.parent.name == "p" for pair in found)
    assert unknown == []


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ("g-dev g-test", "g-low-out", r"several files of g .*: g-dev, g-test; "),
        ("g-dev g-covered-test", "g-low-out", r"several files of g .*: g-covered-test, g-dev; "),
        ("g-dev", "g-low-out g-high-out", r"several files of g .*: g-high-out, g-low-out; "),
        ("g-dev g-test", "g-dev g-test", r"several files of g in both folders: g-dev, g-test; "),
        ("", "g-dev", "found no files in this folder"),
        ("g-dev f-dev h-dev", "g-dev", r"2 of 3 languages \(f, h\).*--languages g$"),
    ],
)
def test_files_that_cannot_be_paired(tmp_path: Path, gold: str, predicted: str, message: str) -> None:
    (tmp_path / "g").mkdir()
    with pytest.raises(InputError, match=message):
        pair_folders(folder(tmp_path / "g", *gold.split()), folder(tmp_path / "p", *predicted.split()))


def test_languages_can_be_chosen_and_those_without_gold_are_returned(tmp_path: Path) -> None:
    gold, predicted = folder(tmp_path / "g", "g-dev", "f-dev"), folder(tmp_path / "p", "g-dev", "klingon-dev")
    (pair,), unknown = pair_folders(gold, predicted, ["g"])
    assert (pair.language, unknown) == ("g", [])
    (gold / "f-dev").unlink()
    assert pair_folders(gold, predicted)[1] == ["klingon"]
    with pytest.raises(InputError, match=r"'germn'.*has g$"):
        pair_folders(gold, predicted, ["germn"])


# Splits

items = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["N;SG", "N;PL", "V"])), max_size=60).map(
    lambda cells: [Item(f"l{lemma}", Bundle(features), "f", line) for line, (lemma, features) in enumerate(cells)]
)


@given(items, st.sampled_from(BYS), st.integers(0, 5))
def test_a_split_divides_the_items_and_shares_nothing(whole: list[Item], by: By, seed: int) -> None:
    parts = split_items(whole, by, seed)
    assert sorted((item for part in parts.values() for item in part), key=lambda item: item.line) == whole
    assert parts == split_items(whole, by, seed)
    keys = [{item.lemma if by == "lemma" else (item.lemma, item.features) for item in part} for part in parts.values()]
    assert sum(map(len, keys)) == len(set().union(*keys))


def test_a_large_file_gives_the_sizes_of_2023() -> None:
    many = [Item(f"l{n // 7}", Bundle(f"N;{n % 7}"), "f", n) for n in range(20_000)]
    for by in BYS:
        assert {part: len(drawn) for part, drawn in split_items(many, by).items()} == MOST
