"""Files of finished packs: whole or passed over, and never taken for other work."""

import lzma
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from reinflect.align.naive import Naive
from reinflect.data.items import Item
from reinflect.decode.forms import Predictions
from reinflect.ensemble.member import TrainedModel
from reinflect.learn.lesson import Phase
from reinflect.run.packs import ENDING, Pack, PackResult, by_key, matched, read_result, read_results, write_result
from reinflect.systems.kind import Kind
from reinflect.systems.symbols import Inventory
from tests.paper.made_up import BUNDLE, SETTINGS, corpus, pack, result, spec


def written(folder: Path, result: PackResult) -> Path:
    path = folder / f"{result.stem}{ENDING}"
    write_result(path, result)
    return path


def bare(model: TrainedModel) -> TrainedModel:
    """What is in a file of a model: all but what its spec says, and its parameters."""
    return replace(model, inventory=Inventory((), ()), parameters={})


def test_a_pack_is_read_as_it_was_written(tmp_path: Path) -> None:
    own = corpus()
    made = pack(
        result(own, seed=1, dev=["ä\u0301", None, "", "\t漢 '\""], scores=[-0.25] * 4, test=[None] * 4),
        result(own, seed=2, usable=False),
    )
    path = written(tmp_path, made)
    found = read_result(path)
    assert found == replace(made, models=[bare(model) for model in made.models])
    assert found.stem == made.stem == Pack(made.pack, tuple(spec(own, seed=seed) for seed in (1, 2))).stem
    assert matched([spec(own, seed=2)], by_key([found])) == {made.models[1].key: made.models[1]}
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("damage", ["cut", "changed", "other", "empty", "newer", "lengths"])
def test_what_is_not_whole_is_passed_over_and_named(tmp_path: Path, damage: str) -> None:
    good = written(tmp_path, pack(result(corpus()), name="good"))
    bad = tmp_path / f"bad{ENDING}"
    raw = good.read_bytes()
    middle = len(raw) // 2
    flipped = raw[:middle] + bytes([raw[middle] ^ 1]) + raw[middle + 1 :]
    if damage == "newer":
        bad.write_bytes(lzma.compress(msgspec.json.encode(msgspec.json.decode(lzma.decompress(raw)) | {"format": 99})))
    elif damage == "lengths":
        written(tmp_path, pack(result(corpus(), scores=[0.0]), name="bad")).rename(bad)
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
        replace(own, train=(*own.train, Item("d", BUNDLE, "dx"))),
        replace(own, dev=own.dev[:2]),
        replace(own, asked=()),
        replace(own, train=(*own.train, own.dev[0]), dev=own.dev[1:]),
        replace(own, fold=0),
    ]
    keys = [spec(one, "haem-naive").digest for one in (own, *others)]
    keys += [
        spec(own, "hacm-naive").digest,
        spec(own, "haem-smart").digest,
        spec(own, "haem-naive", 2).digest,
        spec(own, "haem-naive", settings=msgspec.structs.replace(SETTINGS["haem"], batch=7)).digest,
        replace(spec(own, "haem-naive"), start=result(own, "haem-naive")).digest,
    ]
    assert len(set(keys)) == len(keys)
    assert spec(corpus(), "haem-naive").digest == keys[0]


def test_what_training_gave_is_kept_under_the_seed_that_was_asked_for(tmp_path: Path) -> None:
    own = corpus("scottish-gaelic", "medium", items=1, asked=1)
    trained = replace(
        result(own, "haem-naive", 2),
        restarts=1,
        dev_accuracy=33.3,
        dev=Predictions(["a"], [-0.123456]),
        asked=Predictions([None], [-9.0]),
    )
    made = read_result(written(tmp_path, replace(pack(trained, name="p"), seconds=1.23456)))
    assert made is not None
    (model,) = made.models
    assert (model.language, model.setting, model.seed, model.restarts) == ("scottish-gaelic", "medium", 2, 1)
    assert model.key == spec(own, "haem-naive", 2).digest
    assert (model.dev.forms, model.dev.log_probabilities, model.asked.forms) == (["a"], [-0.1235], [None])
    assert made.seconds == 1.235


def test_a_model_that_two_packs_have_counts_once() -> None:
    one, two = (result(corpus(), right=right) for right in (1, 2))
    assert by_key([pack(one, name="a"), pack(two, name="b")]) == {one.key: one}


def test_a_lesson_keeps_its_digest_when_it_is_prepared() -> None:
    own = corpus("scottish-gaelic")
    planned = own.for_kind(Kind("haem", "naive"), {"naive": Naive()}, 1)
    prepared = planned.prepared()
    assert prepared.alignments
    assert prepared.digest == planned.digest != own.digest
    assert replace(prepared, phases=(Phase(own.train, prepared.alignments, 1),)).digest == planned.digest


def test_something_behind_a_pack_is_damage(tmp_path: Path) -> None:
    path = written(tmp_path, pack(result(corpus())))
    assert read_result(path)
    path.write_bytes(path.read_bytes() + b"more")
    assert read_result(path) is None
