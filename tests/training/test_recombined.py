"""Recombined items: lemmas with the endings that others have in other cells."""

import pytest

from reinflect.alignment.naive import Naive
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.training.augmentation.recombined import Recombined
from reinflect.training.lesson import Lesson, Preparation

WORDS = ("machen machst V;2 · lachen lacht V;3 · sagen sagt V;3 · Lachen Lachens N;GEN · gehen ging V;PST").split(" · ")
ITEMS = tuple(Item(lemma, Bundle(features), form) for lemma, form, features in (word.split() for word in WORDS))


def recombined(alignment: str = "none", **settings: int) -> Lesson:
    preparation = Preparation.of({"recombined": Recombined(**settings)}, ["naive"], ["recombined"])
    return preparation.prepared(preparation.planned(Lesson(ITEMS, ()), alignment, 1), seed=1)


def new_ones(lesson: Lesson) -> set[tuple[str, str, str]]:
    return {(item.lemma, item.form, item.features.spelling) for phase in lesson.phases for item in phase.items} - {
        (item.lemma, item.form, item.features.spelling) for item in ITEMS
    }


def test_lemmas_that_end_alike_have_each_other_s_endings() -> None:
    # What changes is -en, so three characters must be alike: sagen and gehen end in -gen and -hen.
    assert new_ones(recombined(alike=1)) == {
        ("machen", "macht", "V;3"),
        ("lachen", "lachst", "V;2"),
        ("gehen", "gehst", "V;2"),
        ("gehen", "geht", "V;3"),
    }
    assert new_ones(recombined(alike=5)) == {("machen", "macht", "V;3"), ("lachen", "lachst", "V;2")}
    assert new_ones(recombined(alike=6)) == set()
    assert recombined(alike=6).phases == ()


@pytest.mark.parametrize("number", [1, 3])
def test_a_sample_of_them_and_each_real_item_some_times(number: int) -> None:
    [phase] = recombined(number=number, repeats=2, alike=1, epochs=7).phases
    assert len(new_ones(recombined(number=number, alike=1))) == number
    assert len(phase.items) == number + 2 * len(ITEMS)
    assert phase.epochs == 7


def test_alignments_spell_their_items() -> None:
    [phase] = recombined("naive", alike=1).phases
    for item, alignment in zip(phase.items, phase.alignments, strict=True):
        assert ("".join(x for x, _ in alignment), "".join(y for _, y in alignment)) == (item.lemma, item.form)
    aligner = Naive()
    [own] = [own for item, own in zip(phase.items, phase.alignments, strict=True) if item.form == "geht"]
    assert [own] == list(aligner.align([("gehen", "geht")]))
