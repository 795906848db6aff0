"""From items to an inflector."""

import json
import signal
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from safetensors import safe_open

import reinflect
from reinflect.cli.training import Training
from reinflect.data.features import Bundle
from reinflect.data.items import Item, write_items
from reinflect.decode.forms import Predictions
from reinflect.ensemble.member import TrainedModel
from reinflect.ensemble.vote import vote
from reinflect.errors import InputError, OutputError, ReinflectError
from reinflect.inflector.assemble import assemble
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.train import Outcome, Plan, parts_of, train_inflector
from reinflect.learn.augmentation.made_up import MadeUp
from reinflect.learn.fleet import Fleet
from reinflect.learn.lesson import Lesson, plain_lessons
from reinflect.run.failures import PackError
from reinflect.run.folder import CHECKPOINT, WorkFolder
from reinflect.run.packs import Pack, PackResult
from reinflect.run.resources import Resources, Watcher
from reinflect.run.train_pack import Standing, run_pack
from reinflect.score import evaluate
from reinflect.settings import Settings, changed
from reinflect.systems.symbols import Inventory, load_preset
from tests.learn.tiny import SMALL, language, small

SETTINGS: dict[str, Settings] = {
    "hacm": small("hacm", score_every=3),
    "haem": small("haem", epochs=10, score_every=5),
}
ITEMS = language("german")
TRAIN, DEV = ITEMS[4:], ITEMS[:4]


def accuracies(outcome: Outcome) -> list[float]:
    return [member.dev_accuracy for member in outcome.inflector.members]


def trained(dev: Sequence[Item] | None = DEV, seeds: int = 2, out: Path | None = None, **options: object) -> Outcome:
    return trained_on(TRAIN if dev else ITEMS, dev, seeds=seeds, out=out, **options)


OF_PLANS = {field.name for field in fields(Plan)}
OF_RESOURCES = {field.name for field in fields(Resources)}


def trained_on(items: Sequence[Item], dev: Sequence[Item] | None, **options: Any) -> Outcome:
    """Options of plans, of resources and of `train_inflector`, together."""
    plan = {"settings": SETTINGS} | {name: own for name, own in options.items() if name in OF_PLANS}
    shared = {name: own for name, own in options.items() if name in OF_RESOURCES}
    rest = {name: own for name, own in options.items() if name not in OF_PLANS | OF_RESOURCES}
    return train_inflector(items, dev, Plan(**plan), Resources(**shared), **rest)


def test_every_system_alignment_and_seed_votes(tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    outcome = trained(out=tmp_path / "model")
    assert torch.get_num_threads() == threads
    names = {f"{system}-{method}-{seed}" for system in SETTINGS for method in ("naive", "smart") for seed in (1, 2)}
    assert {member.name for member in outcome.inflector.members} == names
    assert (outcome.training.held_out, outcome.training.interrupted, outcome.restarted, outcome.failed) == (
        False,
        False,
        (),
        (),
    )
    assert outcome.training.scored == len(DEV)
    back = Inflector.load(tmp_path / "model")
    forms = back.member_forms(DEV)
    for own, accuracy in zip(forms, accuracies(outcome), strict=True):
        answers = [Item(item.lemma, item.features, form) for item, form in zip(DEV, own, strict=True)]
        assert evaluate(DEV, answers).accuracy == accuracy
    voted = [Item(item.lemma, item.features, form) for item, form in zip(DEV, back.inflect_many(DEV), strict=True)]
    assert evaluate(DEV, voted).accuracy == outcome.training.accuracy
    assert max(accuracies(outcome)) > 0
    assert accuracies(outcome) == sorted(accuracies(outcome), reverse=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "model.log.jsonl"]
    lines = [json.loads(line) for line in (tmp_path / "model.log.jsonl").read_text().splitlines()]
    assert {(line["model"], line["epoch"]) for line in lines} == {
        (name, epoch) for name in names for epoch in range(1, SETTINGS[name[:4]].epochs + 1)
    }


def test_the_model_does_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    one = trained(seeds=4, out=tmp_path / "one", alignments=["naive"])
    two = trained(seeds=4, out=tmp_path / "two", alignments=["naive"], workers=2)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one.log.jsonl").read_bytes() == (tmp_path / "two.log.jsonl").read_bytes()
    assert accuracies(one) == accuracies(two)


@pytest.mark.parametrize("seeds", [2, 6])
def test_without_dev_the_score_is_of_items_that_were_held_out(seeds: int) -> None:
    outcome = trained(None, seeds, systems=["haem"], strategy="vote")
    splits = plain_lessons(ITEMS, None, seeds)
    assert outcome.training.held_out
    assert outcome.training.scored == len({item for split in splits for item in split.dev})
    assert outcome.training.scored == len(ITEMS) if seeds >= 5 else outcome.training.scored < len(ITEMS)
    asked: dict[Item, list[str]] = {}
    for member, accuracy in zip(outcome.inflector.members, accuracies(outcome), strict=True):
        own = splits[member.seed - 1].dev
        (forms,) = Inflector((member,), outcome.inflector.known_runs).member_forms(own)
        right = [form == item.form for item, form in zip(own, forms, strict=True)]
        assert accuracy == pytest.approx(100 * sum(right) / len(right), abs=0.01)
        for item, form in zip(own, forms, strict=True):
            asked.setdefault(item, []).append(form)
    right = [vote(forms) == item.form for item, forms in asked.items()]
    assert outcome.training.accuracy == pytest.approx(100 * sum(right) / len(right), abs=0.01)


def test_the_strategy_decides_who_votes_and_what_is_scored(tmp_path: Path) -> None:
    outcome = trained(strategy="ensemble-3", out=tmp_path / "model")
    best = outcome.inflector.members[:3]
    assert outcome.inflector.voters == best
    back = Inflector.load(tmp_path / "model")
    forms = back.inflect_many(DEV)
    assert forms == [vote(said) for said in zip(*back.member_forms(DEV)[:3], strict=True)]
    answers = [Item(item.lemma, item.features, form) for item, form in zip(DEV, forms, strict=True)]
    assert evaluate(DEV, answers).accuracy == outcome.training.accuracy
    assert set(back.choices) == {*(f"run{number}" for number in range(1, 8)), "vote", "max", "average", "ensemble-3"}
    with pytest.raises(InputError, match="only models of hacm vote"):
        trained(strategy="run1", systems=["haem"])
    with pytest.raises(InputError, match="there is no strategy 'run8'"):
        trained(strategy="run8")


def test_members_are_scored_filtered_and_the_best_decides_a_tie() -> None:
    bundle = Bundle("V")
    dev = (Item("ab", bundle, "abb"), Item("cd", bundle, "cde"), Item("ef", bundle, "ef"))

    def model(seed: int, *forms: str | None, usable: bool = True) -> TrainedModel:
        said = Predictions(list(forms), [0.0] * len(forms))
        return TrainedModel("haem", "naive", seed, SMALL, Inventory((), ()), 0.0, usable=usable, dev=said)

    models = [
        model(1, "x", None, "y"),
        model(2, "abb", "cde", "e" + "f" * 9),  # a run that no training word has: the lemma is meant
        model(3, usable=False),
    ]
    inflector = assemble(models, dev, dev, strategy="run7", source="data")
    assert [member.name for member in inflector.members] == ["haem-naive-2", "haem-naive-1"]
    assert [member.dev_accuracy for member in inflector.members] == [100.0, 0.0]
    assert inflector.training is not None
    assert (inflector.training.accuracy, inflector.training.scored) == (100.0, 3)


def test_models_that_diverged_are_named_by_the_seeds_they_were_to_have(monkeypatch: pytest.MonkeyPatch) -> None:
    def finite(fleet: Fleet) -> list[bool]:
        return [run.spec.seed != 3 and (run.spec.seed != 2 or run.restarts > 0) for run in fleet.columns]

    monkeypatch.setattr(Fleet, "finite", finite)
    outcome = trained(seeds=3, systems=["haem"], alignments=["naive"])
    assert (outcome.failed, outcome.restarted) == (("haem-naive-3",), ("haem-naive-2", "haem-naive-3"))
    assert {(one.name, one.restarts) for one in outcome.inflector.members} == {("haem-naive-1", 0), ("haem-naive-2", 1)}


@pytest.mark.parametrize("dev", [ITEMS, None])
def test_what_is_known_at_the_end_goes_with_the_inflector(dev: Sequence[Item] | None, tmp_path: Path) -> None:
    outcome = trained_on(ITEMS, dev, seeds=5, systems=["haem"], alignments=["naive"], out=tmp_path / "model")
    inflector, training = outcome.inflector, outcome.inflector.training
    assert training is not None
    assert (training.items, training.dev_items, training.source) == (len(ITEMS), len(dev or ()), "training data")
    assert (training.accuracy, training.scored, training.held_out) == (
        outcome.training.accuracy,
        outcome.training.scored,
        dev is None,
    )
    assert training.bundles == Counter(item.features.spelling for item in ITEMS)
    assert set(inflector.confidences) == set(inflector.choices)
    assert inflector.confidences[inflector.strategy].items == outcome.training.scored == len(ITEMS)
    answers = inflector.answers(ITEMS)
    if dev:
        sure = sum(answer.confidence or 0 for answer in answers) / len(answers)
        assert sure == pytest.approx(outcome.training.accuracy / 100, abs=0.1)
    back = Inflector.load(tmp_path / "model")
    assert (back.training, back.confidences) == (training, inflector.confidences)


def test_half_precision_if_asked_for(tmp_path: Path) -> None:
    for name, half in (("whole", False), ("half", True)):
        trained(seeds=1, systems=["haem"], alignments=["naive"], out=tmp_path / name, half=half)
    with safe_open(tmp_path / "half", framework="pt") as file:
        assert {file.get_tensor(name).dtype for name in file.keys()} == {torch.float16}  # noqa: SIM118
    whole, half_as_good = (Inflector.load(tmp_path / name) for name in ("whole", "half"))
    assert [member.name for member in whole.members] == [member.name for member in half_as_good.members]


class Listener(Watcher):
    """Hears notes and names."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.names: list[list[str]] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def begin(self, names: Sequence[str], workers: int) -> None:
        assert workers
        self.names.append(list(names))


class Killer(Listener):
    """Kills all processes when one of them says how far it is, so many times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left, self.victim = times, ""

    def standing(self, now: Standing) -> None:
        if self.left and now.running:
            self.left -= 1
            self.victim = now.pack
            for child in active_children():
                child.kill()


def train_and_kill(out: Path, times: int, epochs: int) -> tuple[Killer, Outcome]:
    longer = {"haem": msgspec.structs.replace(SMALL, epochs=epochs, patience=2 * epochs)}
    killer = Killer(times)
    outcome = trained_on(
        TRAIN,
        DEV,
        settings=longer,
        systems=["haem"],
        alignments=["naive"],
        seeds=4,
        out=out,
        workers=2,
        watcher=killer,
        checkpoint_seconds=0.0,
    )
    return killer, outcome


def test_when_processes_are_killed_again_and_again_all_work_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "model"
    with pytest.raises(ReinflectError, match=r"the process that trained haem-naive-.* ended unexpectedly") as caught:
        train_and_kill(out, times=100, epochs=2000)
    assert f"kept in {out}.state" in str(caught.value)
    assert not out.exists()
    assert list(WorkFolder.beside(out).state.glob(f"*{CHECKPOINT}"))


def test_a_process_that_is_killed_once_is_made_up_for(tmp_path: Path) -> None:
    killer, outcome = train_and_kill(tmp_path / "killed", times=1, epochs=12)
    assert any(killer.victim in text for text in outcome.retried)
    assert sorted(killer.notes) == sorted(f"note: {text}" for text in outcome.retried)
    train_and_kill(tmp_path / "left alone", times=0, epochs=12)
    for end in ("", ".log.jsonl"):
        assert (tmp_path / f"killed{end}").read_bytes() == (tmp_path / f"left alone{end}").read_bytes()
    assert len(list(tmp_path.iterdir())) == 4


def test_on_a_gpu_that_is_too_small_everything_is_trained_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    broken = {"haem-1ba"}

    def run(pack: Pack, report: Any, stop: Any, *, device: str, **options: Any) -> PackResult:
        """As on a GPU with room for three models."""
        tried.append(f"{pack.name} {device}")
        if device == "cuda" and len(pack.specs) > 3:
            raise PackError("memory", "CUDA out of memory")
        if pack.name in broken:
            raise KeyError("as if it were killed")
        return run_pack(pack, report, stop, device="cpu", **options)

    monkeypatch.setattr("reinflect.run.engines.run_pack", run)
    listener, out = Listener(), tmp_path / "model"
    with pytest.raises(KeyError):
        trained(seeds=5, out=out, device="cuda", systems=["haem"], watcher=listener)
    assert tried == ["haem-1 cuda", "haem-1a cuda", "haem-1aa cuda", "haem-1ab cuda", "haem-1b cuda", "haem-1ba cuda"]
    assert listener.names[-1] == ["haem-1aa", "haem-1ab", "haem-1ba", "haem-1bb"]
    tried.clear()
    broken.clear()
    outcome = trained(seeds=5, out=out, device="cuda", systems=["haem"], watcher=listener)
    assert tried == ["haem-1ba cuda", "haem-1bb cuda"], "the others are finished"
    assert "(2 of 4 packs of models are trained, 0 begun)" in listener.notes[-1]
    assert not outcome.retried, "nothing went wrong this time"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "model.log.jsonl"]
    names = {f"haem-{method}-{seed}" for method in ("naive", "smart") for seed in range(1, 6)}
    assert {member.name for member in outcome.inflector.members} == names
    lines = [json.loads(line) for line in (tmp_path / "model.log.jsonl").read_text().splitlines()]
    assert len(lines) == len(names) * SETTINGS["haem"].epochs
    expected = {member.name: member.parameters for member in trained(seeds=5, systems=["haem"]).inflector.members}
    for member in outcome.inflector.members:
        for name, array in member.parameters.items():
            assert np.allclose(array, expected[member.name][name], atol=1e-4)


def test_a_system_that_diverges_altogether_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    finite = Fleet.finite
    monkeypatch.setattr(
        Fleet, "finite", lambda self: [False] * len(self.running) if self.system.name == "hacm" else finite(self)
    )
    outcome = trained(alignments=["naive"])
    assert [name.startswith("hacm-naive-") for name in outcome.failed] == [True, True]
    assert {member.name for member in outcome.inflector.members} == {"haem-naive-1", "haem-naive-2"}
    assert not outcome.training.interrupted


def test_checkpoints_that_cannot_be_read_are_said_and_removed(tmp_path: Path) -> None:
    out = tmp_path / "model"
    state = WorkFolder.beside(out).state
    state.mkdir()
    for name in ("haem-naive-1-2", "haem-naive-9"):
        (state / f"{name}{CHECKPOINT}").write_bytes(b"of another time")
    listener = Listener()
    trained(out=out, systems=["haem"], alignments=["naive"], watcher=listener)
    assert [note.partition(" (")[0] for note in listener.notes] == [
        f"note: ignored {state / name}{CHECKPOINT}" for name in ("haem-naive-1-2", "haem-naive-9")
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "model.log.jsonl"]
    trained(out=tmp_path / "fresh", systems=["haem"], alignments=["naive"])
    assert (tmp_path / "fresh").read_bytes() == out.read_bytes()


def test_a_failure_to_write_keeps_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OutputError("model", "the disk is full", "make room")

    out = tmp_path / "model"
    with monkeypatch.context() as patch:
        patch.setattr(Inflector, "save", full)
        with pytest.raises(OutputError):
            trained(out=out, systems=["haem"], alignments=["naive"])
    monkeypatch.setattr(Fleet, "update", lambda *_: pytest.fail("trained again"))
    listener = Listener()
    trained(out=out, systems=["haem"], alignments=["naive"], watcher=listener)
    assert "resuming an earlier training (1 of 1 packs" in listener.notes[0]
    assert out.exists()


def test_when_every_model_diverges_there_is_no_inflector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fleet, "finite", lambda self: [False] * len(self.running))
    with pytest.raises(ReinflectError, match="every model diverged"):
        trained(systems=["haem"], alignments=["naive"])


@pytest.mark.parametrize(
    ("train_items", "dev", "seeds", "said"),
    [
        ([], None, 1, "found no training items"),
        (language("german"), [], 1, "found no dev items"),
        (language("german"), None, 0, "found 0 seeds"),
    ],
)
def test_with_nothing_there_is_nothing_to_train(
    train_items: Sequence[Item], dev: Sequence[Item] | None, seeds: int, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        reinflect.train(train_items, dev, seeds=seeds)


@pytest.mark.parametrize("name", ["h", "foo"])
def test_systems_and_alignments_that_are_none_are_named(name: str) -> None:
    with pytest.raises(InputError, match=f"there is no system '{name}'; systems: hacm, haem, soft"):
        reinflect.train(language("german"), systems=name if name == "h" else [name])
    with pytest.raises(InputError, match=f"there is no aligner '{name}'; aligners: naive, smart"):
        reinflect.train(language("german"), alignments=[name])


class Interrupts(Watcher):
    """Presses Ctrl-C when models have learnt something."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def standing(self, now: Standing) -> None:
        if now.running and now.mean_best >= 0:
            signal.raise_signal(signal.SIGINT)


def test_a_finished_model_is_replaced_by_a_finished_one_only(tmp_path: Path) -> None:
    items, out = language("german"), tmp_path / "model"
    long = {"haem": msgspec.structs.replace(SMALL, epochs=400, patience=400)}
    short = {"haem": msgspec.structs.replace(SMALL, epochs=2)}
    options: dict[str, Any] = {"systems": ["haem"], "alignments": ["naive"], "seeds": 1, "out": out}
    stopped = trained_on(items, items[:5], settings=long, watcher=Interrupts(), **options)
    assert stopped.training.interrupted
    assert stopped.written
    begun = out.read_bytes()
    trained_on(items, items[:5], settings=short, **options)
    finished, log = out.read_bytes(), (tmp_path / "model.log.jsonl").read_bytes()
    assert finished != begun
    watcher = Interrupts()
    stopped = trained_on(items, items[:5], settings=long, watcher=watcher, **options)
    assert stopped.training.interrupted
    assert not stopped.written
    assert "is a finished model; it is replaced when this training is finished" in watcher.notes[0]
    assert (out.read_bytes(), (tmp_path / "model.log.jsonl").read_bytes()) == (finished, log)
    assert WorkFolder.beside(out).state.is_dir()
    outcome = trained_on(items, items[:5], settings=long, **options)
    assert outcome.written
    assert out.read_bytes() != finished
    assert not WorkFolder.beside(out).state.exists()


def test_the_public_names(tmp_path: Path) -> None:
    write_items(tmp_path / "train", TRAIN)
    options = {"systems": ["haem"], "alignments": ["naive"], "seeds": 1}
    small = ["hidden=6", "embedding=5", "history_hidden=4", "epochs=3", "feature_scale=2.0"]
    made = reinflect.train(tmp_path / "train", DEV, changes=small, out=tmp_path / "model", **options)  # type: ignore[arg-type]
    same = reinflect.train(TRAIN, DEV, preset="low", changes=small, **options)  # type: ignore[arg-type]
    assert isinstance(made, reinflect.Inflector)
    form = made.inflect("leben", "V;PST")
    assert reinflect.load(tmp_path / "model").inflect("leben", "V;PST") == form == same.inflect("leben", "V;PST")


def test_the_number_of_items_decides_what_is_trained_unless_the_user_does() -> None:
    quick = ["epochs=1", "hidden=4", "embedding=4", "batch=20", "score_from=1"]
    made = reinflect.train(TRAIN, DEV, changes=quick, seeds=1)
    assert {member.kind for member in made.members} == {"hacm-naive", "hacm-smart", "haem-naive", "haem-smart"}
    made = reinflect.train(TRAIN, DEV, preset="medium", changes=quick, seeds=1)
    assert {member.kind for member in made.members} == {"hacm-smart", "soft", "soft+made-up"}
    soft = [msgspec.to_builtins(own.settings)["encoder_layers"] for own in made.members if own.system == "soft"]
    assert soft == [2, 2]
    made = reinflect.train(TRAIN, DEV, preset="medium", changes=quick, seeds=1, alignments=["naive"])
    assert {member.kind for member in made.members} == {"hacm-naive", "haem-naive"}


def test_kinds_are_named_by_system_alignment_and_augmentation() -> None:
    settings = changed(load_preset("low", ["haem", "soft"]) | {"made-up": MadeUp()}, ["epochs=2", "made-up.times=1"])
    kinds = ["haem-naive", "soft", "soft+made-up", "haem-smart+made-up"]
    plan = Plan(settings=settings, kinds=kinds, seeds=2, **parts_of(kinds))  # type: ignore[arg-type]
    assert (plan.systems, plan.alignments, plan.augmentations) == (["haem", "soft"], ["naive", "smart"], ["made-up"])
    plan.check()
    lessons = [Lesson(tuple(TRAIN), tuple(DEV))] * 2
    specs = plan.specs(lessons, plan.preparation)
    found = {spec.kind: spec.lesson.augmentations for spec in specs}
    assert found == {kind: ("made-up",) if "+" in kind else () for kind in kinds}
    assert plan.models == len(specs) == 8
    made = plan.preparation.prepared(next(spec for spec in specs if spec.variant).lesson, 1)
    assert [phase.epochs for phase in made.phases] == [MadeUp().epochs], "epochs=2 is for systems"
    every = replace(plan, kinds=())
    assert {spec.kind: spec.lesson.augmentations for spec in every.specs(lessons, plan.preparation)} == dict.fromkeys(
        ["haem-naive", "haem-smart", "soft"], ("made-up",)
    )


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("haem", "found the kind 'haem'; with these names there are"),
        ("soft-naive", "found the kind 'soft-naive'; did you mean haem-naive"),
        ("", "there is no system ''"),
        ("heam-naive", "there is no system 'heam'; did you mean haem"),
        ("haem-naiv", "there is no aligner 'naiv'; did you mean naive"),
        ("haem-naive+mad-up", "there is no augmentation 'mad-up'; did you mean made-up"),
    ],
)
def test_a_kind_that_cannot_be_is_named(kind: str, message: str) -> None:
    kinds = ["haem-naive", kind]
    with pytest.raises(InputError) as raised:
        Plan(settings={}, kinds=kinds, **parts_of(kinds)).check()  # type: ignore[arg-type]
    assert message in str(raised.value)


def test_the_number_of_items_chooses_kinds() -> None:
    training = Training(
        systems=["hacm"], alignments=["naive"], augmentations=(), seeds=2, preset="auto", changes=(), device="cpu",
        workers=1,
    )  # fmt: skip
    plan = training.plan("medium", ["epochs=9"])
    assert list(plan.kinds) == ["hacm-smart", "soft", "soft+made-up"]
    assert (plan.settings["made-up"].epochs, plan.settings["soft"].epochs) == (7, 9)  # type: ignore[attr-defined]
    assert plan.models == 6
    assert not training.plan("high", []).augmentations
    assert training.plan("low", []).models == 8
    assert training.plan("paper-low", []).systems == ["hacm"]
    assert replace(training, kinds=[]).plan("low", []).models == 2
