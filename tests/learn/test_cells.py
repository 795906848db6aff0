"""Cells that the items of a lesson leave open."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from reinflect.data.corrections import question
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.learn.cells import cells_of
from reinflect.learn.lesson import Lesson
from reinflect.paper.corpora import read_corpora


def item(lemma: str, features: str, form: str = "x") -> Item:
    return Item(lemma, Bundle(features), form)


TRAIN = [
    item("gehen", "V;PST"),
    item("sagen", "V;PRS;SG"),
    item("laufen", "V;PRS;PL"),
    item("Haus", "N;PL"),
    item("Tag", "GEN;N"),
    item("laufen", "N;PL"),
]
VERBS, NOUNS = {"V;PST", "V;PRS;SG", "V;PRS;PL"}, {"N;PL", "GEN;N"}


def cells(train: list[Item], others: list[Item], most: int = 1000) -> list[tuple[str, str]]:
    found = cells_of(train, others, most)
    assert all(own.covered and not own.line for own in found)
    return [(own.lemma, own.features.spelling) for own in found]


def test_lemmas_have_the_bundles_of_their_parts_of_speech() -> None:
    found = cells(TRAIN, [])
    expected = {(lemma, bundle) for lemma in ("gehen", "sagen", "laufen") for bundle in VERBS}
    expected |= {(lemma, bundle) for lemma in ("Haus", "Tag", "laufen") for bundle in NOUNS}
    assert set(found) == expected - {(own.lemma, own.features.spelling) for own in TRAIN}
    assert len(found) == len(set(found)) == 15 - 6


def test_no_cell_of_another_file_is_among_them_in_whatever_order_its_features_are() -> None:
    dev, covered = item("gehen", "SG;V;PRS"), Item("Haus", Bundle("N;GEN"))
    left = set(cells(TRAIN, [])) - set(cells(TRAIN, [dev, covered]))
    assert left == {("gehen", "V;PRS;SG"), ("Haus", "GEN;N")}


def test_dev_and_covered_lemmas_and_bundles_add_no_cells() -> None:
    assert cells(TRAIN, [item("neu", "V;PST"), item("Haus", "N;DAT")]) == cells(TRAIN, [])


def test_a_bundle_in_two_orders_is_one_bundle() -> None:
    assert cells([item("hus", "N;DEF;SG"), item("bil", "N;SG;DEF"), item("dag", "N;PL")], []) == [
        ("dag", "N;DEF;SG"),
        ("bil", "N;PL"),
        ("hus", "N;PL"),
    ]


def test_a_sample_is_the_same_every_time_and_no_larger_than_asked_for() -> None:
    large = [item(f"a{number}", f"V;{number % 7}") for number in range(60)]
    everything = cells(large, [])
    assert len(everything) == 60 * 7 - 60
    some = cells(large, [], 100)
    assert some == cells(list(large), [], 100) == sorted(some, key=lambda cell: (cell[1], cell[0]))
    assert len(some) == 100
    assert set(some) < set(everything)
    assert set(cells(large, [], 50)) < set(some), "a smaller sample is the beginning of a larger one"
    assert len(Counter(bundle for _, bundle in some)) == 7
    assert cells(large, [], len(everything)) == everything
    assert cells(large, [], 0) == cells([], []) == []


def test_a_lesson_samples_the_cells_of_none_of_its_items_and_only_then_has_another_digest() -> None:
    dev, asked = item("gehen", "V;PRS;SG"), Item("Tag", Bundle("N;PL"))
    lesson = Lesson(tuple(TRAIN), (dev,), (asked,))
    assert lesson.further_cells == ()
    several = [replace(lesson, cells=most) for most in (0, 5, 100)]
    assert [len(own.further_cells) for own in several] == [0, 5, 7]
    assert lesson.digest == several[0].digest
    assert len({own.digest for own in several}) == 3


@pytest.mark.parametrize("language", ["german", "norwegian-bokmal"])
def test_cells_of_real_files(conll2017: Path, language: str) -> None:
    [corpus], _ = read_corpora(conll2017, [language], ["medium"])
    found = replace(corpus, cells=2000).further_cells
    assert len(found) == len(set(map(question, found))) == 2000
    assert not set(map(question, found)) & {question(own) for own in (*corpus.train, *corpus.dev, *corpus.asked)}
    bundles = {own.features.cell for own in corpus.train}
    parts = {(own.lemma, own.features.part_of_speech) for own in corpus.train}
    assert all(own.features.cell in bundles and (own.lemma, own.features.part_of_speech) in parts for own in found)
