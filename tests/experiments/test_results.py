"""Files of finished packs: whole or passed over, and never taken for other work."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from reinflect.data.items import Item
from reinflect.execution.corpora import Corpus
from reinflect.execution.results import (
    ENDING,
    by_key,
    file_name,
    model_key,
    pack_result,
    read_result,
    read_results,
    write_result,
)
from reinflect.execution.run import Learnt, Results
from reinflect.training.lesson import Lesson, Model, Pack, Split
from tests.experiments.made_up import BUNDLE, SETTINGS, corpus, pack, result


def test_a_pack_is_read_as_it_was_written(tmp_path: Path) -> None:
    own = corpus()
    made = pack(
        result(own, seed=1, dev=["ä\u0301", None, "", "\t漢 '\""], scores=[-0.25] * 4, test=[None] * 4),
        result(own, seed=2, usable=False),
    )
    path = write_result(tmp_path, made)
    assert path.name == file_name(made)
    assert read_result(path) == made
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("damage", ["cut", "changed", "other", "empty", "newer", "lengths"])
def test_what_is_not_whole_is_passed_over_and_named(tmp_path: Path, damage: str) -> None:
    good = write_result(tmp_path, pack(result(corpus()), name="good"))
    bad = tmp_path / f"bad{ENDING}"
    raw = good.read_bytes()
    middle = len(raw) // 2
    flipped = raw[:middle] + bytes([raw[middle] ^ 1]) + raw[middle + 1 :]
    if damage == "newer":
        write_result(tmp_path, msgspec.structs.replace(pack(result(corpus()), name="bad"), format=99)).rename(bad)
    elif damage == "lengths":
        write_result(tmp_path, pack(result(corpus(), scores=[0.0]), name="bad")).rename(bad)
    else:
        bad.write_bytes({"cut": raw[:-9], "changed": flipped, "other": b"hello", "empty": b""}[damage])
    said: list[str] = []
    assert [one.pack for one in read_results(tmp_path, said.append)] == ["good"]
    assert len(said) == 1
    assert str(bad) in said[0]


def test_a_model_is_known_by_all_that_decides_it() -> None:
    own = corpus()
    others = [
        corpus("dutch"),
        corpus(setting="high"),
        replace(own, split=replace(own.split, train=(*own.split.train, Item("d", BUNDLE, "dx")))),
        replace(own, split=replace(own.split, dev=own.split.dev[:2])),
        replace(own, split=replace(own.split, asked=())),
        replace(own, split=Split((*own.split.train, own.split.dev[0]), own.split.dev[1:], own.split.asked)),
    ]
    keys = [model_key(one, "haem", "naive", 1, SETTINGS) for one in (own, *others)]
    keys += [
        model_key(own, "hacm", "naive", 1, SETTINGS),
        model_key(own, "haem", "smart", 1, SETTINGS),
        model_key(own, "haem", "naive", 2, SETTINGS),
        model_key(own, "haem", "naive", 1, msgspec.structs.replace(SETTINGS, batch=7)),
    ]
    assert len(set(keys)) == len(keys)
    assert model_key(corpus(), "haem", "naive", 1, SETTINGS) == keys[0]


def test_what_training_gave_is_kept_under_the_seed_that_was_asked_for() -> None:
    own = corpus("scottish-gaelic", "medium", items=1, asked=1)
    lesson = Lesson("naive", own.split, ((),), own.label)
    work = Pack("p", "haem", tuple(Model(lesson, seed, SETTINGS) for seed in (1, 2)))
    learnt = Learnt(1, 1002, 33.3, 1, True, {}, ["a"], [-0.123456], [None], [-9.0])
    made = pack_result(work, Results([learnt], ended=True, seconds=1.23456), device="cpu")
    (model,) = made.models
    assert (model.language, model.setting, model.seed, model.restarts) == ("scottish-gaelic", "medium", 2, 1)
    assert model.key == model_key(own, "haem", "naive", 2, SETTINGS)
    assert (model.dev.forms, model.dev.log_probabilities, model.test.forms) == (["a"], [-0.1235], [None])
    assert made.seconds == 1.235


def test_a_model_that_two_packs_have_counts_once() -> None:
    one, two = (result(corpus(), right=right) for right in (1, 2))
    assert by_key([pack(one, name="a"), pack(two, name="b")]) == {one.key: one}


def test_corpora_are_found_again_in_their_lessons() -> None:
    own = corpus("scottish-gaelic")
    assert Corpus.of(Lesson("naive", own.split, ((),), own.label)).digest == own.digest


def test_something_behind_a_pack_is_damage(tmp_path: Path) -> None:
    path = write_result(tmp_path, pack(result(corpus())))
    assert read_result(path)
    path.write_bytes(path.read_bytes() + b"more")
    assert read_result(path) is None
