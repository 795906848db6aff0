"""Comparisons of settings: what is compared with what, on real models, and by made-up figures."""

import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.ensembles.vote import Voter, vote
from reinflect.errors import InputError, ReinflectError
from reinflect.execution.corpora import Corpus
from reinflect.execution.execute import Watcher
from reinflect.execution.run import Standing
from reinflect.execution.state import State
from reinflect.experiments.ablation import MODELS_A_PACK, Ablation, Factor, Scored, _packs, ablate, factors, rows
from reinflect.settings import Settings, alike
from reinflect.training.lesson import Model, Pack, Split
from reinflect.training.loop import train
from tests.training.tiny import SMALL, language, lesson

BOTH = {"hacm": SMALL, "haem": msgspec.structs.replace(SMALL, dropout=0.3)}


def corpus(name: str) -> Corpus:
    items = language(name)
    return Corpus(name, "low", Split(tuple(items[4:]), tuple(items[:4]), (items[0],)))


def test_one_setting_is_changed_at_a_time() -> None:
    found = factors(["dropout=0,0.3", "haem.batch=2,4,8"], BOTH)
    assert [(factor.system, factor.key, factor.base) for factor in found] == [
        ("hacm", "dropout", "dropout=0"),
        ("haem", "dropout", "dropout=0.3"),
        ("haem", "batch", "batch=2"),
    ]
    assert found[0].variants == {"dropout=0": SMALL, "dropout=0.3": msgspec.structs.replace(SMALL, dropout=0.3)}
    assert [own.batch for own in found[2].variants.values()] == [2, 4, 8]
    assert {own.dropout for own in found[2].variants.values()} == {0.3}


def test_without_the_presets_value_the_first_is_the_base() -> None:
    (factor,) = factors(["hacm.step=0.5,0.1"], BOTH)
    assert factor.base == "step=0.5"
    assert SMALL not in factor.variants.values()


def test_values_that_are_lists_are_written_with_plus() -> None:
    (factor,) = factors(["haem.dropout_on=encoder,encoder+state"], BOTH)
    assert [own.dropout_on for own in factor.variants.values()] == [("encoder",), ("encoder", "state")]


@pytest.mark.parametrize(
    ("varied", "said"),
    [
        (["dropout"], "key=a,b,c"),
        (["=1,2"], "key=a,b,c"),
        ([], "say what to compare"),
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
def small() -> tuple[Ablation, list[Factor], Names]:
    """Two languages, variants that are alike and one that is not."""
    compared = factors(["haem.feature_scale=2,40", "haem.batch=2,3"], SHORT)
    watcher = Names()
    found = ablate([corpus("german"), corpus("turkish")], compared, seeds=2, watcher=watcher)
    return found, compared, watcher


def test_every_model_is_the_one_that_training_it_alone_gives(small: tuple[Ablation, list[Factor], Names]) -> None:
    found, *_ = small
    assert len(found.models) == 2 * 2 * 2 * 3, "languages, alignments, seeds, variants; the base is trained once"
    one = next(m for m in found.models if (m.language, m.alignment, m.seed) == ("turkish", "naive", 2))
    (alone,), _ = train(Pack("p", "haem", (Model(lesson("turkish"), 2, one.settings),)).tasks())
    assert one.accuracy == pytest.approx(alone.dev_accuracy, abs=0.01)
    assert one.best_epoch == alone.best_epoch


def test_what_is_alike_trains_together(small: tuple[Ablation, list[Factor], Names]) -> None:
    found, _, watcher = small
    packs: dict[str, set[Settings]] = {}
    for one in found.models:
        packs.setdefault(one.pack, set()).add(one.settings)
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


def test_the_rows_are_of_these_models(small: tuple[Ablation, list[Factor], Names]) -> None:
    found, compared, _ = small
    assert [row.variant for row in found.rows] == ["feature_scale=2", "feature_scale=40", "batch=2", "batch=3"]
    row = found.rows[1]
    own = [one for one in found.models if one.settings == compared[0].variants[row.variant]]
    assert row.single == pytest.approx(sum(one.accuracy for one in own) / len(own), abs=0.01)
    assert row.votes.keys() == {"naive", "smart"}
    naive = []
    for name in ("german", "turkish"):
        voters = [one.voter for one in own if (one.language, one.alignment) == (name, "naive") and one.voter]
        voters.sort(key=lambda voter: (-voter.dev_accuracy, voter.seed))
        dev = corpus(name).split.dev
        cells = [(item.lemma, item.features.spelling) for item in dev]
        right = [
            vote([voter.said[cell][0] for voter in voters]) == item.form for cell, item in zip(cells, dev, strict=True)
        ]
        naive.append(100 * sum(right) / len(right))
    assert row.votes["naive"] == pytest.approx(sum(naive) / 2, abs=0.01)
    assert row.best_vote >= max(row.votes.values())
    assert row.against_base
    assert row.against_base.pairs == 8
    assert row.seconds == pytest.approx(sum(found.seconds[name] for name in {one.pack for one in own}), abs=0.1)


def test_several_processes_find_the_same(small: tuple[Ablation, list[Factor], Names], tmp_path: Path) -> None:
    found, compared, _ = small
    again = ablate(
        [corpus("german"), corpus("turkish")], compared, seeds=2, workers=2, alignment_cache=tmp_path / "cache"
    )
    plain = [[msgspec.structs.asdict(one.settings), one.accuracy, one.best_epoch] for one in found.models]
    assert [[msgspec.structs.asdict(one.settings), one.accuracy, one.best_epoch] for one in again.models] == plain
    assert [row.votes for row in again.rows] == [row.votes for row in found.rows]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_packs_have_every_model_once_and_only_like_ones_together(device: str) -> None:
    """What is made for a GPU can be made without one."""
    variants = [msgspec.structs.replace(SMALL, dropout=rate, batch=batch) for rate in (0.1, 0.2) for batch in (2, 3)]
    lessons = [lesson("german"), lesson("greek", "smart")]
    made = _packs("haem", lessons, variants, 7, device)
    assert len({pack.name for pack in made}) == len(made)
    found = [model for pack in made for model in pack.models]
    assert len(found) == len(set(found)) == 2 * 4 * 7
    assert {model.settings for model in found} == set(variants)
    assert all(len({alike(model.settings) for model in pack.models}) == 1 for pack in made)
    if device == "cpu":
        assert max(len(pack.models) for pack in made) <= MODELS_A_PACK
        assert all(len({model.lesson for model in pack.models}) == 1 for pack in made)
    else:
        assert len(made) < 2 * 2 * 2, "nothing of several lessons is together"


def test_too_few_pairs_are_said_before_anything_is_trained() -> None:
    compared = factors(["haem.step=1,0.5"], SHORT)
    with pytest.raises(InputError, match=r"for 5 pairs of models.*more --seeds or --languages"):
        ablate([corpus("german")], compared, alignments=["naive"], seeds=5, watcher=Fails())


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


def test_after_ctrl_c_those_languages_are_compared_that_are_done() -> None:
    compared = factors(["haem.step=1,0.5"], SHORT)
    found = ablate([corpus("german"), corpus("turkish")], compared, seeds=3, watcher=Interrupts("turkish"))
    assert found.interrupted
    assert found.languages == ["german"]
    assert {one.language for one in found.models} == {"german"}
    assert all(row.against_base is None or row.against_base.pairs == 6 for row in found.rows)


def plain(found: Ablation) -> list[tuple[object, ...]]:
    """All but what takes time, or is a matter of which pack was which."""
    return [(one.language, one.alignment, one.seed, one.settings, one.accuracy, one.best_epoch) for one in found.models]


def test_after_ctrl_c_it_goes_on_where_it_was(tmp_path: Path) -> None:
    compared = factors(["haem.step=1,0.5"], SHORT)
    both, state = [corpus("german"), corpus("turkish")], State(tmp_path / "found.json")
    whole = ablate(both, compared, seeds=3)
    with state.held():
        assert ablate(both, compared, seeds=3, watcher=Interrupts("turkish"), state=state).interrupted
    left = sorted(path.suffix for path in state.folder.iterdir())
    assert left.count(".result") == 2, left
    watcher = Heard()
    with state.held():
        again = ablate(both, compared, seeds=3, watcher=watcher, state=state)
    assert plain(again) == plain(whole)
    assert [replace(row, seconds=0) for row in again.rows] == [replace(row, seconds=0) for row in whole.rows]
    assert all(seconds > 0 for seconds in again.seconds.values())
    assert not again.interrupted
    assert "2 of 4 packs of models are trained" in watcher.notes[0]
    assert {name for name in watcher.trained if name.startswith("german")} == set(), "they were trained before"
    assert {name.split("-")[0] for name in watcher.trained} == {"turkish"}
    other = factors(["haem.step=1,0.7"], SHORT)
    with state.held():
        assert plain(ablate(both, other, seeds=3, state=state)) == plain(ablate(both, other, seeds=3)), "of other work"
    state.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 100_000, b'{"fingerprint": "x", "results": 1}'])
def test_a_result_that_is_damaged_is_none(tmp_path: Path, content: bytes) -> None:
    compared = factors(["haem.step=1,0.5"], SHORT)
    state = State(tmp_path / "found.json")
    with state.held():
        found = ablate([corpus("german")], compared, seeds=3, state=state)
        for path in state.folder.glob("*.result"):
            path.write_bytes(content)
        assert plain(ablate([corpus("german")], compared, seeds=3, state=state)) == plain(found)


DEV = tuple(Item(f"w{number}", Bundle("V"), "x") for number in range(100))


def made_up(settings: Settings, accuracies: Mapping[tuple[str, str, int], float | None]) -> list[Scored]:
    models = []
    for (name, alignment, seed), accuracy in accuracies.items():
        right = round(accuracy or 0)
        voter = Voter.of(f"haem-{alignment}", seed, DEV, ["x"] * right + ["y"] * (100 - right), [0.0] * 100)
        kept = None if accuracy is None else voter
        models.append(Scored(name, "haem", settings, alignment, seed, accuracy or 0.0, 7, kept, "pack"))
    return models


def verdicts(gains: Mapping[str, float], seeds: int = 10) -> dict[str, str]:
    """What is said of variants that are so much better than the base, give or take a bit of luck."""
    variants = {"base": Settings()} | {name: Settings(clip=number + 6) for number, name in enumerate(gains)}
    compared = Factor("haem", "clip", variants, "base")
    places = [(name, alignment, seed) for name in "ab" for alignment in ("naive", "smart") for seed in range(seeds)]
    models = made_up(Settings(), dict.fromkeys(places, 50.0))
    for number, gain in enumerate(gains.values()):
        luck = [2.0, -2.0] * len(places)
        own = {place: 50.0 + gain + luck[k] * bool(gain) for k, place in enumerate(places)}
        models += made_up(Settings(clip=number + 6), own)
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
    compared = Factor("haem", "step", {"step=1": Settings(), "step=90": Settings(step=90)}, "step=1")
    places = [(name, "naive", seed) for name in "ab" for seed in range(3)]
    models = made_up(Settings(), dict.fromkeys(places, 40.0)) + made_up(Settings(step=90), dict.fromkeys(places))
    base, wild = rows([compared], models, {"pack": 3.0})
    assert (base.single, base.best_vote) == (40, 40)
    assert (wild.single, wild.best_vote, wild.votes) == (0, 0, {"naive": 0})
    assert wild.against_base
    assert wild.against_base.difference == -40
    assert wild.verdict == "worse"


def test_stopped_at_once_there_is_nothing() -> None:
    compared = factors(["haem.step=1,0.5"], SHORT)
    with pytest.raises(ReinflectError, match="nothing to compare"):
        ablate([corpus("german"), corpus("turkish")], compared, seeds=3, watcher=Interrupts("german"))
