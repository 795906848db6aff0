from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.layouts import BYS, MOST, By, part_of, parts_in, split_items


@pytest.mark.parametrize(
    ("names", "language", "parts"),
    [
        ("a-b-train-low a-b-train-high a-b-dev a-b-covered-test", "a-b", "low high dev covered"),
        (
            "x--y/x-train-high x--y/y-train-low x--y/y-dev x--y/y-test x--y/y-test-covered",
            "x--y",
            "low dev gold covered",
        ),
        ("deu.trn deu.dev deu.tst", "deu", "train dev test"),
        ("deu.train deu.dev deu.test", "deu", "train dev test"),
        ("deu_small.train deu_large.train deu.dev deu.test deu.gold", "deu", "small large dev test gold"),
        ("h_u.trn h_u.dev h_u.covered.dev h_u.covered.tst", "h_u", "train dev covered-dev covered"),
    ],
)
def test_files_of_every_year_have_their_parts(tmp_path: Path, names: str, language: str, parts: str) -> None:
    for name in [*names.split(), "README.md", "deu", "scripts/deu.dev"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = parts_in(tmp_path)
    assert list(found) == [language]
    assert found[language].keys() == set(parts.split())
    assert part_of("README.md") == ("README.md", "")


items = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["N;SG", "N;PL", "V"])), max_size=60).map(
    lambda cells: [Item(f"l{lemma}", Bundle(features), "f", line) for line, (lemma, features) in enumerate(cells)]
)


@given(items, st.sampled_from(BYS), st.integers(0, 5))
def test_a_split_divides_the_items_and_shares_nothing(given_items: list[Item], by: By, seed: int) -> None:
    made = split_items(given_items, by, seed)
    assert sorted((item for own in made.values() for item in own), key=lambda item: item.line) == given_items
    assert made == split_items(given_items, by, seed)
    keys = [{item.lemma if by == "lemma" else (item.lemma, item.features) for item in own} for own in made.values()]
    assert sum(map(len, keys)) == len(set().union(*keys))


def test_a_large_file_gives_the_sizes_of_2023() -> None:
    many = [Item(f"l{n // 7}", Bundle(f"N;{n % 7}"), "f", n) for n in range(20_000)]
    for by in BYS:
        assert {part: len(own) for part, own in split_items(many, by).items()} == MOST
