"""Made-up items: random stems between real affixes."""

from dataclasses import replace

import pytest

from reinflect.align.pairs import Alignment
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.learn.augment import MadeUp, stretches
from reinflect.learn.fleet import runs_of
from reinflect.systems.kind import UNALIGNED
from tests.learn.tiny import lesson, spec_for
from tests.systems.any_alignment import sides

GELOBT: Alignment = (("", "g"), ("", "e"), ("l", "l"), ("o", "o"), ("b", "b"), ("e", "t"), ("n", ""))


def test_a_stem_is_what_the_alignment_copies() -> None:
    item = Item("loben", Bundle("V;PTCP"), "gelobt")
    assert list(stretches(item, GELOBT, 3)) == [(0, 2, 3)]
    assert list(stretches(item, GELOBT, 4)) == []
    assert list(stretches(item, None, 3)) == [(0, 2, 3)]
    assert list(stretches(Item("ab", Bundle("N"), "ba"), None, 2)) == []


@pytest.mark.parametrize("alignment", ["smart", "none"])
def test_made_up_items_keep_affixes_features_and_alphabet(alignment: str) -> None:
    own = lesson("german", alignment) if alignment != "none" else replace(lesson("german"), alignment=UNALIGNED)
    if alignment == "none":
        own = replace(own, alignments=((),) * len(own.train))
    made, number = MadeUp(times=3, repeats=2, epochs=4)(own, 1), 3 * len(own.train)
    (phase,) = made.phases
    assert (made.train, made.dev, made.inventory, phase.epochs) == (own.train, own.dev, own.inventory, 4)
    assert len(phase.items) == len(phase.alignments) == number + 2 * len(own.train)
    real = {(item.lemma, item.features.spelling) for item in own.train}
    new = phase.items[:number]
    assert len({(item.lemma, item.features.spelling) for item in new} - real) == number
    assert phase.items[number:] == own.train * 2
    endings = {"V;PST": "te", "V;PTCP;PST": "t"}
    for item, pairs in zip(new, phase.alignments, strict=False):
        assert item.form.endswith(endings.get(item.features.spelling, item.lemma))
        assert ("ge" in item.form[:2]) == ("PTCP" in item.features.spelling)
        assert set(item.lemma + item.form) <= set(own.inventory.characters)
        if alignment != "none":
            assert sides(pairs) == (item.lemma, item.form)
    other = MadeUp(times=3, repeats=2, epochs=4)
    assert other(own, 1).phases == made.phases
    assert other(own, 2).phases != made.phases


def test_data_without_stems_stays_as_it_is() -> None:
    own = lesson("german")
    assert MadeUp(shortest=40)(own, 1) is own
    assert MadeUp(times=0)(own, 1) is own


def test_a_model_learns_from_made_up_items_first() -> None:
    made = MadeUp(times=1, repeats=1, epochs=2)(lesson("german"), 1)
    (run,) = runs_of([spec_for(made)])
    assert [len(examples) for examples, _ in run.stages] == [2 * len(made.train), len(made.train)]
    assert [settings.epochs for _, settings in run.stages] == [2, 3]
