"""Comparisons of settings: what is compared with what, on real models, and by made-up figures."""

import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decode.forms import Predictions
from reinflect.ensemble.member import TrainedModel
from reinflect.ensemble.strategies import Voter, vote
from reinflect.errors import InputError, ReinflectError
from reinflect.learn.lesson import Lesson, ModelSpec, Preparation
from reinflect.learn.loop import train
from reinflect.paper.ablation import Ablation, Factor, Scored, ablate, factors, rows
from reinflect.run.folder import WorkFolder
from reinflect.run.packing import MODELS_A_PACK, pack_specs
from reinflect.run.packs import ENDING
from reinflect.run.resources import Resources, Watcher
from reinflect.run.train_pack import Standing
from reinflect.settings import Settings, alike
from reinflect.systems.haem import HaemSettings
from reinflect.systems.symbols import Inventory
from tests.learn.tiny import language, lesson, small

BOTH = {"hacm": small("hacm"), "haem": small("haem", dropout=0.3)}


def corpus(name: str) -> Lesson:
    items = language(name)
    return Lesson(tuple(items[4:]), tuple(items[:4]), (items[0],), name, "low")


def ablated(
    corpora: Sequence[Lesson],
    compared: Sequence[Factor],
    folder: WorkFolder | Path,
    watcher: Watcher | None = None,
    *,
    seeds: int,
    alignments: Sequence[str] = ("naive", "smart"),
    workers: int = 1,
    cache: Path | None = None,
) -> Ablation:
    """In a folder that the caller holds, or in one of its own."""
    preparation = Preparation.of({}, alignments)
    resources = Resources(workers=workers, watcher=watcher or Watcher(), alignment_cache=cache)
    if isinstance(folder, WorkFolder):
        return ablate(corpora, compared, preparation, folder, resources, seeds=seeds)
    folder.mkdir(exist_ok=True)
    own = WorkFolder.beside(folder / "found.json")
    with own.held():
        return ablate(corpora, compared, preparation, own, resources, seeds=seeds)


def test_one_setting_is_changed_at_a_time() -> None:
    found = factors(["dropout=0,0.3", "haem.batch=2,4,8"], BOTH)
    assert [(factor.system, factor.key, factor.base) for factor in found] == [
        ("hacm", "dropout", "dropout=0"),
        ("haem", "dropout", "dropout=0.3"),
        ("haem", "batch", "batch=2"),
    ]
    assert found[0].variants == {"dropout=0": small("hacm"), "dropout=0.3": small("hacm", dropout=0.3)}
    assert [own.batch for own in found[2].variants.values()] == [2, 4, 8]
    assert {own.dropout for own in found[2].variants.values()} == {0.3}


def test_without_the_presets_value_the_first_is_the_base() -> None:
    (factor,) = factors(["hacm.step=0.5,0.1"], BOTH)
    assert factor.base == "step=0.5"
    assert BOTH["hacm"] not in factor.variants.values()


def test_values_that_are_lists_are_written_with_plus() -> None:
    (factor,) = factors(["haem.dropout_on=encoder,encoder+state"], BOTH)
    assert [getattr(own, "dropout_on", None) for own in factor.variants.values()] == [
        ("encoder",),
        ("encoder", "state"),
    ]


@pytest.mark.parametrize(
    ("varied", "said"),
    [
        (["dropout"], "key=a,b,c"),
        (["=1,2"], "key=a,b,c"),
        ([], "name a setting and its values"),
        (["dropout=0.3"], "fewer than two values"),
        (["haem.dropout=0.3,0.30"], "fewer than two values"),
        (["dropout="], "fewer than two values"),
        (["soft.dropout=0.3,0.5"], "only hacm and haem would be trained"),
        (["dropuot=0.3,0.5"], "--vary: found the unknown setting 'dropuot'; did you mean dropout"),
        (["dropout=0.3,1.5"], "--vary: found dropout = '1.5', which does not fit"),
        (["cell=lstm,gru"], "the values are lstm, coupled"),
        (["dropout=0.3,0.4", "haem.dropout=0.1,0.2"], "'dropout' twice"),
    ],
)
def test_what_cannot_be_compared(varied: list[str], said: str) -> None:
    with pytest.raises(InputError) as caught:
        factors(varied, BOTH)
    assert said in str(caught.value)
    assert "--set" not in str(caught.value)


class Names(Watcher):
    def __init__(self) -> None:
        self.names: list[str] = []
        self.finished: set[str] = set()

    def begin(self, names: object, workers: int) -> None:
        del workers
        self.names = list(names)  # type: ignore[call-overload]

    def standing(self, now: Standing) -> None:
        if not now.running:
            self.finished.add(now.pack)


SHORT = {system: msgspec.structs.replace(own, epochs=2) for system, own in BOTH.items()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ablation, list[Factor], Names]:
    """Two languages, variants that are alike and one that is not."""
    compared = factors(["haem.feature_scale=2,40", "haem.batch=2,3"], SHORT)
    watcher = Names()
    both, folder = [corpus("german"), corpus("turkish")], tmp_path_factory.mktemp("made")
    return ablated(both, compared, folder, watcher, seeds=2), compared, watcher


def test_every_model_is_the_one_that_training_it_alone_gives(made: tuple[Ablation, list[Factor], Names]) -> None:
    found, *_ = made
    assert len(found.models) == 2 * 2 * 2 * 3, "languages, alignments, seeds, variants; the base is trained once"
    one = next(m for m in found.models if m.place == ("turkish", "naive", 2))
    (alone,), _ = train([ModelSpec(lesson("turkish"), "haem", one.model.settings, 2)])
    assert one.accuracy == pytest.approx(alone.dev_accuracy, abs=0.01)
    assert one.model.best_epoch == alone.best_epoch


def test_what_is_alike_trains_together(made: tuple[Ablation, list[Factor], Names]) -> None:
    found, _, watcher = made
    packs: dict[str, set[Settings]] = {}
    for one in found.models:
        packs.setdefault(one.pack, set()).add(one.model.settings)
    assert set(packs) == set(watcher.names) == watcher.finished == set(found.seconds)
    assert len(packs) == 2 * 2 * 2
    assert all(len({alike(own) for own in settings}) == 1 for settings in packs.values())
    shared = {(row.key, row.variant): row.shared for row in found.rows}
    assert shared == {
        ("feature_scale", "feature_scale=2"): True,
        ("feature_scale", "feature_scale=40"): True,
        ("batch", "batch=2"): True,
        ("batch", "batch=3"): False,
    }


def test_the_rows_are_of_these_models(made: tuple[Ablation, list[Factor], Names]) -> None:
    found, compared, _ = made
    assert [row.variant for row in found.rows] == ["feature_scale=2", "feature_scale=40", "batch=2", "batch=3"]
    row = found.rows[1]
    own = [one for one in found.models if one.model.settings == compared[0].variants[row.variant]]
    assert row.single == pytest.approx(sum(one.accuracy for one in own) / len(own), abs=0.01)
    assert row.votes.keys() == {"naive", "smart"}
    naive = []
    for name in ("german", "turkish"):
        voters = [one.voter for one in own if one.place[:2] == (name, "naive") and one.voter]
        voters.sort(key=lambda voter: (-voter.dev_accuracy, voter.seed))
        dev = corpus(name).dev
        cells = [(item.lemma, item.features.spelling) for item in dev]
        right = [
            vote([voter.predictions[cell][0] for voter in voters]) == item.form
            for cell, item in zip(cells, dev, strict=True)
        ]
        naive.append(100 * sum(right) / len(right))
    assert row.votes["naive"] == pytest.approx(sum(naive) / 2, abs=0.01)
    assert row.best_vote >= max(row.votes.values())
    assert row.against_base
    assert row.against_base.pairs == 8
    assert row.seconds == pytest.approx(sum(found.seconds[name] for name in {one.pack for one in own}), abs=0.1)


def test_several_processes_find_the_same(made: tuple[Ablation, list[Factor], Names], tmp_path: Path) -> None:
    found, compared, _ = made
    both = [corpus("german"), corpus("turkish")]
    again = ablated(both, compared, tmp_path, seeds=2, workers=2, cache=tmp_path / "cache")
    assert plain(again) == plain(found)
    assert [row.votes for row in again.rows] == [row.votes for row in found.rows]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_packs_have_every_model_once_and_only_like_ones_together(device: str) -> None:
    """What is made for a GPU can be made without one."""
    variants = [small("haem", dropout=rate, batch=batch) for rate in (0.1, 0.2) for batch in (2, 3)]
    lessons = [replace(lesson("german"), language="german"), replace(lesson("greek", "smart"), language="greek")]
    specs = [ModelSpec(own, "haem", one, seed) for own in lessons for one in variants for seed in range(1, 8)]
    made = pack_specs(specs, device)
    assert len({pack.name for pack in made}) == len(made)
    found = [spec for pack in made for spec in pack.specs]
    assert len(found) == len(set(found)) == 2 * 4 * 7
    assert {spec.settings for spec in found} == set(variants)
    assert all(len({alike(spec.settings) for spec in pack.specs}) == 1 for pack in made)
    if device == "cpu":
        assert max(len(pack.specs) for pack in made) <= MODELS_A_PACK
        assert all(len({spec.lesson for spec in pack.specs}) == 1 for pack in made)
    else:
        assert len(made) < 2 * 2 * 2, "nothing of several lessons is together"


def test_too_few_pairs_are_said_before_anything_is_trained(tmp_path: Path) -> None:
    compared = factors(["haem.step=1,0.5"], SHORT)
    with pytest.raises(InputError, match=r"for 5 pairs of models.*more --seeds or --languages"):
        ablated([corpus("german")], compared, tmp_path, Fails(), alignments=["naive"], seeds=5)


class Fails(Watcher):
    def begin(self, names: object, workers: int) -> None:
        pytest.fail(f"trained {names} in {workers}")


class Interrupts(Watcher):
    """Presses Ctrl-C as soon as a pack of a language is under way."""

    def __init__(self, name: str) -> None:
        self.name = name

    def standing(self, now: Standing) -> None:
        if now.pack.startswith(self.name) and now.running:
            signal.raise_signal(signal.SIGINT)


class Heard(Watcher):
    """Knows what was said, and which packs were under way."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.trained: set[str] = set()

    def note(self, text: str) -> None:
        self.notes.append(text)

    def standing(self, now: Standing) -> None:
        if now.running:
            self.trained.add(now.pack)


def test_after_ctrl_c_those_languages_are_compared_that_are_done(tmp_path: Path) -> None:
    compared = factors(["haem.step=1,0.5"], SHORT)
    found = ablated([corpus("german"), corpus("turkish")], compared, tmp_path, Interrupts("turkish"), seeds=3)
    assert found.interrupted
    assert found.languages == ["german"]
    assert {one.model.language for one in found.models} == {"german"}
    assert all(row.against_base is None or row.against_base.pairs == 6 for row in found.rows)


def plain(found: Ablation) -> list[tuple[object, ...]]:
    """All but what takes time, or is a matter of which pack was which."""
    return [(*one.place, one.model.settings, one.accuracy, one.model.best_epoch) for one in found.models]


def test_after_ctrl_c_it_goes_on_where_it_was(tmp_path: Path) -> None:
    compared = factors(["haem.step=1,0.5"], SHORT)
    both, folder = [corpus("german"), corpus("turkish")], WorkFolder.beside(tmp_path / "found.json")
    whole = ablated(both, compared, tmp_path / "whole", seeds=3)
    with folder.held():
        assert ablated(both, compared, folder, Interrupts("turkish"), seeds=3).interrupted
    left = sorted(path.name for path in folder.state.iterdir())
    done = [name for name in left if name.endswith(ENDING)]
    watcher = Heard()
    with folder.held():
        again = ablated(both, compared, folder, watcher, seeds=3)
    assert plain(again) == plain(whole)
    assert [replace(row, seconds=0) for row in again.rows] == [replace(row, seconds=0) for row in whole.rows]
    assert again.seconds.keys() == whole.seconds.keys()
    assert not again.interrupted
    assert len(done) == 2, left
    assert f"{len(done)} of 4 packs of models are trained" in watcher.notes[0]
    assert {name for name in watcher.trained if name.startswith("german")} == set(), "they were trained before"
    assert {name.split("-")[0] for name in watcher.trained} == {"turkish"}
    other = factors(["haem.step=1,0.7"], SHORT)
    with folder.held():
        found = plain(ablated(both, other, folder, seeds=3))
    assert found == plain(ablated(both, other, tmp_path / "other", seeds=3)), "of other work"
    folder.remove()
    with folder.held():
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "whole"]


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 100_000, b'{"fingerprint": "x", "results": 1}'])
def test_a_result_that_is_damaged_is_none(tmp_path: Path, content: bytes) -> None:
    compared = factors(["haem.step=1,0.5"], SHORT)
    folder = WorkFolder.beside(tmp_path / "found.json")
    with folder.held():
        found = ablated([corpus("german")], compared, folder, seeds=3)
        damaged = list(folder.packs.glob(f"*{ENDING}"))
        assert damaged
        for path in damaged:
            path.write_bytes(content)
        assert plain(ablated([corpus("german")], compared, folder, seeds=3)) == plain(found)


DEV = tuple(Item(f"w{number}", Bundle("V"), "x") for number in range(100))


def made_up(settings: Settings, accuracies: Mapping[tuple[str, str, int], float | None]) -> list[Scored]:
    models = []
    for (name, alignment, seed), accuracy in accuracies.items():
        right = round(accuracy or 0)
        said = Predictions([*["x"] * right, *["y"] * (100 - right)], [0.0] * 100)
        model = TrainedModel(
            *("haem", alignment, seed, settings, Inventory((), ()), 0.0),
            language=name,
            best_epoch=7,
            usable=accuracy is not None,
            dev=said,
        )
        kept = None if accuracy is None else Voter.of(model, DEV, {})
        models.append(Scored(model, accuracy or 0.0, None, kept, "pack"))
    return models


def verdicts(gains: Mapping[str, float], seeds: int = 10) -> dict[str, str]:
    """What is said of variants that are so much better than the base, give or take a bit of luck."""
    variants = {"base": HaemSettings()} | {name: HaemSettings(clip=number + 6) for number, name in enumerate(gains)}
    compared = Factor("haem", "clip", variants, "base")
    places = [(name, alignment, seed) for name in "ab" for alignment in ("naive", "smart") for seed in range(seeds)]
    models = made_up(HaemSettings(), dict.fromkeys(places, 50.0))
    for number, gain in enumerate(gains.values()):
        luck = [2.0, -2.0] * len(places)
        own = {place: 50.0 + gain + luck[k] * bool(gain) for k, place in enumerate(places)}
        models += made_up(HaemSettings(clip=number + 6), own)
    return {row.variant: row.verdict for row in rows([compared], models, {"pack": 3.0})}


def test_verdicts() -> None:
    found = verdicts({"up": 3.0, "down": -3.0, "none": 0.0, "chance": 0.1})
    assert found == {"base": "base", "up": "better", "down": "worse", "none": "the same", "chance": "may be chance"}
    assert verdicts({"up": 3.0}, seeds=1)["up"] == "too few pairs"


def test_the_more_is_compared_the_more_it_takes() -> None:
    alone = verdicts({"up": 0.7})["up"]
    assert alone == "better"
    assert verdicts({"up": 0.7} | {f"chance{k}": 0.05 + k / 1000 for k in range(30)})["up"] == "perhaps better"


def test_models_that_diverged_count_as_nothing() -> None:
    compared = Factor("haem", "step", {"step=1": HaemSettings(), "step=90": HaemSettings(step=90)}, "step=1")
    places = [(name, "naive", seed) for name in "ab" for seed in range(3)]
    models = made_up(HaemSettings(), dict.fromkeys(places, 40.0)) + made_up(
        HaemSettings(step=90), dict.fromkeys(places)
    )
    base, wild = rows([compared], models, {"pack": 3.0})
    assert (base.single, base.best_vote) == (40, 40)
    assert (wild.single, wild.best_vote, wild.votes) == (0, 0, {"naive": 0})
    assert wild.against_base
    assert wild.against_base.difference == -40
    assert wild.verdict == "worse"


def test_stopped_at_once_there_is_nothing(tmp_path: Path) -> None:
    compared = factors(["haem.step=1,0.5"], SHORT)
    with pytest.raises(ReinflectError, match="nothing to compare"):
        ablated([corpus("german"), corpus("turkish")], compared, tmp_path, Interrupts("german"), seeds=3)
