"""Files of finished packs: whole or passed over, and never taken for other work."""

import lzma
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from reinflect.data.items import Item
from reinflect.decode.forms import Predictions
from reinflect.ensemble.member import TrainedModel
from reinflect.learn.lesson import ModelSpec, Phase, Preparation
from reinflect.run.engines import engine
from reinflect.run.packing import needs, pack_specs, weight, with_work
from reinflect.run.packs import ENDING, Pack, PackResult, by_key, matched, read_result, read_results, write_result
from reinflect.run.resources import Resources
from reinflect.systems.symbols import Inventory
from tests.learn.tiny import lesson, small
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
    preparation = Preparation.of({}, ["naive"])
    planned = preparation.planned(own, "naive")
    prepared = preparation.prepared(planned)
    assert prepared.alignments
    assert prepared.digest == planned.digest != own.digest
    assert replace(prepared, phases=(Phase(own.train, prepared.alignments, 1),)).digest == planned.digest


def test_something_behind_a_pack_is_damage(tmp_path: Path) -> None:
    path = written(tmp_path, pack(result(corpus())))
    assert read_result(path)
    path.write_bytes(path.read_bytes() + b"more")
    assert read_result(path) is None


def by_name(packs: Sequence[Pack]) -> list[Pack]:
    return sorted(packs, key=lambda pack: pack.name)


def ready(*languages: str) -> list[ModelSpec]:
    """Two models of each of three kinds, with their lessons aligned."""
    lessons = {
        (name, alignment): replace(lesson(name, alignment), language=name, setting="low")
        for name in languages
        for alignment in ("naive", "smart")
    }
    return [
        ModelSpec(lessons[name, alignment], system, small(system, epochs=6), seed)
        for name in languages
        for system, alignment in (("hacm", "naive"), ("haem", "naive"), ("haem", "smart"))
        for seed in (1, 2)
    ]


def test_what_is_in_a_pack_does_not_depend_on_what_is_done() -> None:
    wanted = ready("german", "turkish")
    for device in ("cpu", "cuda"):
        packs = by_name(pack_specs(wanted, device))
        assert sum(len(pack.specs) for pack in packs) == len(wanted) == 12
        assert len({pack.name for pack in packs}) == len(packs)
        left = with_work(wanted, {wanted[0].digest}, device)
        assert len(left) == 12, "the group of the first has others"
        again = by_name(pack_specs(left, device))
        assert [(pack.name, pack.specs) for pack in again] == [(pack.name, pack.specs) for pack in packs]
        group = {spec.digest for spec in wanted if spec.system == "hacm"}
        others = by_name(pack_specs(with_work(wanted, group, device), device))
        assert [(pack.name, pack.specs) for pack in others] == [
            (pack.name, pack.specs) for pack in packs if pack.system != "hacm"
        ]
    assert [pack.name for pack in pack_specs(wanted)][:2] == ["german-low-hacm-naive", "german-low-haem-naive"]


def test_the_longest_packs_come_first_on_a_gpu() -> None:
    """Many updates of few models take longer than few updates of more models, though they are of fewer items."""
    wanted = ready("german")
    few = [one for one in wanted if one.system == "haem"][:1]
    many = [one for one in wanted if one.kind == "hacm-naive"]
    short = [replace(one, settings=small("hacm", epochs=2)) for one in many]
    long = [replace(one, settings=small("haem", epochs=2 * len(many) - 1)) for one in few]
    first, second = pack_specs([*short, *long], "cuda")
    assert (first.system, second.system) == ("haem", "hacm")
    assert weight(first, "cpu") < weight(second, "cpu")
    assert weight(first, "cuda") > weight(second, "cuda")


def test_a_pack_takes_no_more_of_a_gpu_than_it_may() -> None:
    wanted = ready("german", "turkish")
    whole = pack_specs(wanted, "cuda")
    most = max(needs(pack.specs).bytes for pack in whole)
    assert [pack.name for pack in pack_specs(wanted, "cuda", most)] == [pack.name for pack in whole]
    smaller = pack_specs(wanted, "cuda", most // 2)
    assert len(smaller) > len(whole)
    assert all(needs(pack.specs).bytes <= most // 2 for pack in smaller if len(pack.specs) > 1)


def test_a_pack_takes_a_part_of_a_gpu_however_many_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reinflect.run.engines.memory_of_the_gpu", lambda: 100)

    def budget(resources: Resources) -> int | None:
        with engine(resources) as own:
            return own.budget

    cuda = [Resources("cuda", trainers=trainers) for trainers in (1, 2, 4)]
    assert [budget(own) for own in cuda] == [33, 33, 33]
    assert [budget(replace(own, pack_memory=70)) for own in cuda] == [70, 70, 70]
    assert budget(Resources("cpu", trainers=2)) is None
