"""From items to an inflector."""

import json
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import reinflect
from reinflect.assemble import Keep, assemble
from reinflect.data.features import Bundle
from reinflect.data.items import Item, write_items
from reinflect.decode.search import Predictions
from reinflect.ensemble.strategies import Member, Trained, vote
from reinflect.errors import InputError, OutputError, ReinflectError
from reinflect.inflector.inflector import Inflector
from reinflect.learn.fleet import Fleet
from reinflect.learn.lesson import lessons_of
from reinflect.paper.combine import predicted
from reinflect.run.packs import Pack, PackResult
from reinflect.run.store import CHECKPOINT, Store
from reinflect.run.watch import Progress, Resources, Watcher
from reinflect.run.work import PackError, train_pack
from reinflect.score import evaluate
from reinflect.systems.symbols import Inventory
from reinflect.train import Outcome, train_model
from tests.learn.tiny import SMALL, language, wish

KINDS = ("hacm-naive", "hacm-smart", "haem-naive", "haem-smart")
EPOCHS = 10
ITEMS = language("german")
TRAIN, DEV = ITEMS[4:], ITEMS[:4]
OF_RESOURCES = {field.name for field in fields(Resources)}


def trained(
    *kinds: str, dev: Sequence[Item] | None = DEV, out: Path | None = None, epochs: int = EPOCHS, **options: Any
) -> Outcome:
    """Two seeds of a kind, haem-naive by default, with options of wishes and of resources."""
    resources = Resources(**{name: options.pop(name) for name in OF_RESOURCES.intersection(options)})
    changes = [f"epochs={epochs}", f"patience={2 * epochs}", "score_every=5", *options.pop("changes", ())]
    small = wish(*(kinds or ["haem-naive"]), changes=changes, **{"seeds": 2, **options})
    return train_model(TRAIN if dev is DEV else ITEMS, dev, small, Keep(), resources, out=out)


def accuracies(outcome: Outcome) -> list[float]:
    return [member.dev_accuracy for member in outcome.inflector.members]


def test_every_kind_and_seed_votes(tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    outcome = trained(*KINDS, out=tmp_path / "model")
    assert torch.get_num_threads() == threads
    names = {f"{kind}-{seed}" for kind in KINDS for seed in (1, 2)}
    assert {member.name for member in outcome.inflector.members} == names
    assert not any((outcome.training.held_out, outcome.training.interrupted, outcome.restarted, outcome.failed))
    assert outcome.training.scored == len(DEV)
    back = Inflector.load(tmp_path / "model")
    for forms, accuracy in zip(back.member_forms(DEV), accuracies(outcome), strict=True):
        assert evaluate(DEV, predicted(DEV, forms)).accuracy == accuracy
    assert evaluate(DEV, predicted(DEV, back.inflect_many(DEV))).accuracy == outcome.training.accuracy
    assert max(accuracies(outcome)) > 0
    assert accuracies(outcome) == sorted(accuracies(outcome), reverse=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "model.log.jsonl"]
    lines = [json.loads(line) for line in (tmp_path / "model.log.jsonl").read_text().splitlines()]
    epochs = {(line["model"], line["epoch"]) for line in lines}
    assert epochs == {(name, epoch) for name in names for epoch in range(1, EPOCHS + 1)}


@pytest.mark.parametrize("seeds", [2, 5])
def test_without_dev_the_score_is_of_items_that_were_held_out(seeds: int) -> None:
    outcome = trained("haem-naive", "haem-smart", dev=None, seeds=seeds, strategy="vote")
    splits = lessons_of(ITEMS, None, seeds)
    assert outcome.training.held_out
    assert outcome.training.scored == len({item for split in splits for item in split.dev})
    assert outcome.training.scored == len(ITEMS) if seeds >= 5 else outcome.training.scored < len(ITEMS)
    answers: dict[Item, list[str]] = {}
    for member, accuracy in zip(outcome.inflector.members, accuracies(outcome), strict=True):
        held_out = splits[member.seed - 1].dev
        (forms,) = Inflector((member,), outcome.inflector.known_runs).member_forms(held_out)
        right = [form == item.form for item, form in zip(held_out, forms, strict=True)]
        assert accuracy == pytest.approx(100 * sum(right) / len(right), abs=0.01)
        for item, form in zip(held_out, forms, strict=True):
            answers.setdefault(item, []).append(form)
    right = [vote(forms) == item.form for item, forms in answers.items()]
    assert outcome.training.accuracy == pytest.approx(100 * sum(right) / len(right), abs=0.01)


def test_the_strategy_decides_who_votes_and_what_is_scored(tmp_path: Path) -> None:
    outcome = trained("haem-naive", "haem-smart", strategy="ensemble-3", out=tmp_path / "model")
    assert outcome.inflector.voters == outcome.inflector.members[:3]
    back = Inflector.load(tmp_path / "model")
    forms = back.inflect_many(DEV)
    assert forms == [vote(each) for each in zip(*back.member_forms(DEV)[:3], strict=True)]
    assert evaluate(DEV, predicted(DEV, forms)).accuracy == outcome.training.accuracy
    runs = {f"run{number}" for number in range(3, 8)}
    assert set(back.choices) == {*runs, "vote", "max", "average", "ensemble-3"}


def test_members_are_scored_filtered_and_the_best_decides_a_tie() -> None:
    bundle = Bundle("V")
    dev = (Item("ab", bundle, "abb"), Item("cd", bundle, "cde"), Item("ef", bundle, "ef"))

    def model(seed: int, *forms: str | None) -> tuple[Trained, Member]:
        predictions = Predictions(list(forms), [0.0] * len(forms))
        facts: dict[str, Any] = {"system": "haem", "alignment": "naive", "seed": seed, "dev_accuracy": 0.0}
        member = Member(settings=SMALL, inventory=Inventory((), ()), parameters={}, **facts)
        return member.with_predictions(predictions), member

    models = [
        model(1, "x", None, "y"),
        model(2, "abb", "cde", "e" + "f" * 9),  # a run that no training word has: the lemma is meant
    ]
    inflector = assemble(models, dev, dev, Keep(), strategy="run7", source="data")
    scores = {member.name: member.dev_accuracy for member in inflector.members}
    assert scores == {"haem-naive-2": 100.0, "haem-naive-1": 0.0}
    assert inflector.training is not None
    assert (inflector.training.accuracy, inflector.training.scored) == (100.0, 3)


def test_models_that_diverge_are_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def finite(fleet: Fleet) -> list[bool]:
        """HACM always diverges, a third seed too, and a second one at first."""
        restarts = {"haem": {1: 0, 2: 1}}.get(fleet.system.name, {})
        return [run.restarts >= restarts.get(run.spec.seed, 99) for run in fleet.columns]

    monkeypatch.setattr(Fleet, "finite", finite)
    outcome = trained("hacm-naive", "haem-naive", seeds=3)
    assert outcome.failed == ("hacm-naive-1", "hacm-naive-2", "hacm-naive-3", "haem-naive-3")
    assert set(outcome.restarted) == {*outcome.failed, "haem-naive-2"}
    restarts = {member.name: member.restarts for member in outcome.inflector.members}
    assert restarts == {"haem-naive-1": 0, "haem-naive-2": 1}
    assert not outcome.training.interrupted
    with pytest.raises(ReinflectError, match="every model diverged"):
        trained("hacm-naive")


@pytest.mark.parametrize("dev", [ITEMS, None])
def test_a_record_of_the_training_goes_with_the_inflector(dev: Sequence[Item] | None, tmp_path: Path) -> None:
    outcome = trained(dev=dev, seeds=5, out=tmp_path / "model")
    inflector, training = outcome.inflector, outcome.training
    assert (training.items, training.dev_items, training.source) == (len(ITEMS), len(dev or ()), "training data")
    assert training.held_out == (dev is None)
    assert training.bundles == Counter(item.features.spelling for item in ITEMS)
    assert set(inflector.confidences) == set(inflector.choices)
    assert inflector.confidences[inflector.strategy].items == training.scored == len(ITEMS)
    if dev:
        answers = inflector.answers(ITEMS)
        sure = sum(answer.confidence or 0 for answer in answers) / len(answers)
        assert sure == pytest.approx(training.accuracy / 100, abs=0.1)
    back = Inflector.load(tmp_path / "model")
    assert (back.training, back.confidences) == (training, inflector.confidences)


class Listener(Watcher):
    """Hears notes; can press Ctrl-C when models have learnt something, or kill processes."""

    def __init__(self, kills: int = 0, *, interrupts: bool = False) -> None:
        self.notes: list[str] = []
        self.kills, self.interrupts, self.victim = kills, interrupts, ""

    def note(self, text: str) -> None:
        if not text.startswith("training "):
            self.notes.append(text)

    def progress(self, now: Progress) -> None:
        begun = [name for name, pack in now.running.items() if pack.epoch]
        if self.interrupts and any(pack.best for pack in now.running.values()):
            self.interrupts = False
            signal.raise_signal(signal.SIGINT)
        if self.kills and begun:
            self.kills, self.victim = self.kills - 1, begun[0]
            for child in active_children():
                child.kill()


def train_and_kill(out: Path, kills: int, epochs: int) -> tuple[Listener, Outcome]:
    killer = Listener(kills)
    return killer, trained(seeds=4, epochs=epochs, out=out, workers=2, watcher=killer, checkpoint_seconds=0.0)


def test_when_processes_are_killed_again_and_again_all_work_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "model"
    with pytest.raises(ReinflectError, match=r"the process that trained haem-naive-.* ended unexpectedly") as caught:
        train_and_kill(out, kills=100, epochs=2000)
    assert f"kept in {out}.state" in str(caught.value)
    assert not out.exists()
    assert list(Store.beside(out).state.glob(f"*{CHECKPOINT}"))


def test_a_process_that_is_killed_once_is_made_up_for(tmp_path: Path) -> None:
    killer, outcome = train_and_kill(tmp_path / "killed", kills=1, epochs=12)
    assert any(killer.victim in text for text in outcome.retried)
    assert sorted(killer.notes) == sorted(f"note: {text}" for text in outcome.retried)
    train_and_kill(tmp_path / "left alone", kills=0, epochs=12)
    for end in ("", ".log.jsonl"):
        assert (tmp_path / f"killed{end}").read_bytes() == (tmp_path / f"left alone{end}").read_bytes()
    assert len(list(tmp_path.iterdir())) == 4


def test_on_a_gpu_that_is_too_small_all_are_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    broken = {"haem-1ba"}

    def run(pack: Pack, store: Store, stop: Any, seconds: float) -> PackResult:
        """As on a GPU with room for three models."""
        tried.append(f"{pack.name} {pack.device}")
        if pack.device == "cuda" and len(pack.specs) > 3:
            raise PackError("memory", "CUDA out of memory")
        if pack.name in broken:
            raise KeyError("as if it were killed")
        return train_pack(pack.on_cpu(), store, stop, seconds)

    monkeypatch.setattr("reinflect.run.driver.train_pack", run)
    listener, out, kinds = Listener(), tmp_path / "model", ("haem-naive", "haem-smart")
    with pytest.raises(KeyError):
        trained(*kinds, seeds=5, out=out, device="cuda", watcher=listener)
    assert tried == ["haem-1 cuda", "haem-1a cuda", "haem-1aa cuda", "haem-1ab cuda", "haem-1b cuda", "haem-1ba cuda"]
    tried.clear()
    broken.clear()
    outcome = trained(*kinds, seeds=5, out=out, device="cuda", watcher=listener)
    assert tried == ["haem-1ba cuda", "haem-1bb cuda"], "the others are finished"
    assert "(2 of 4 packs of models are trained, 0 begun)" in listener.notes[-1]
    assert not outcome.retried, "nothing went wrong this time"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "model.log.jsonl"]
    lines = [json.loads(line) for line in (tmp_path / "model.log.jsonl").read_text().splitlines()]
    assert len(lines) == 10 * EPOCHS
    expected = {member.name: member.parameters for member in trained(*kinds, seeds=5).inflector.members}
    assert {member.name for member in outcome.inflector.members} == expected.keys()
    for member in outcome.inflector.members:
        for name, array in member.parameters.items():
            assert np.allclose(array, expected[member.name][name], atol=1e-4)


def test_checkpoints_that_cannot_be_read_are_named_and_removed(tmp_path: Path) -> None:
    out = tmp_path / "model"
    state = Store.beside(out).state
    state.mkdir()
    paths = [state / f"{name}{CHECKPOINT}" for name in ("haem-naive-1-2", "haem-naive-9")]
    for path in paths:
        path.write_bytes(b"of another time")
    listener = Listener()
    trained(out=out, watcher=listener)
    assert [note.partition(" (")[0] for note in listener.notes] == [f"note: ignored {path}" for path in paths]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "model.log.jsonl"]
    trained(out=tmp_path / "fresh")
    assert (tmp_path / "fresh").read_bytes() == out.read_bytes()


def test_a_failure_to_write_keeps_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OutputError("model", "the disk is full", "make room")

    out = tmp_path / "model"
    with monkeypatch.context() as patch:
        patch.setattr(Inflector, "save", full)
        with pytest.raises(OutputError):
            trained(out=out)
    monkeypatch.setattr(Fleet, "update", lambda *_: pytest.fail("trained again"))
    listener = Listener()
    trained(out=out, watcher=listener)
    assert "resuming an earlier training (1 of 1 packs" in listener.notes[0]
    assert out.exists()


def test_a_finished_model_is_replaced_by_a_finished_one_only(tmp_path: Path) -> None:
    out = tmp_path / "model"
    stopped = trained(out=out, epochs=200, seeds=1, watcher=Listener(interrupts=True))
    assert stopped.training.interrupted
    assert stopped.written
    begun = out.read_bytes()
    trained(out=out, epochs=2, seeds=1)
    finished, log = out.read_bytes(), (tmp_path / "model.log.jsonl").read_bytes()
    assert finished != begun
    listener = Listener(interrupts=True)
    stopped = trained(out=out, epochs=200, seeds=1, watcher=listener)
    assert stopped.training.interrupted
    assert not stopped.written
    assert "is a finished model; it is replaced when this training is finished" in listener.notes[0]
    assert (out.read_bytes(), (tmp_path / "model.log.jsonl").read_bytes()) == (finished, log)
    assert Store.beside(out).state.is_dir()
    assert trained(out=out, epochs=200, seeds=1).written
    assert out.read_bytes() != finished
    assert not Store.beside(out).state.exists()


@pytest.mark.parametrize(
    ("items", "dev", "message"),
    [
        ([], None, "found no training items; give some"),
        (ITEMS, [], "found no dev items; give some"),
        (ITEMS[:9], None, "found 9 different items, too few to hold some out"),
    ],
)
def test_too_few_items_are_refused(items: Sequence[Item], dev: Sequence[Item] | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        reinflect.train(items, dev)


def test_the_public_function(tmp_path: Path) -> None:
    write_items(tmp_path / "train", TRAIN)
    small = ["hidden=6", "embedding=5", "history_hidden=4", "epochs=3", "feature_scale=2.0", "smart.sweeps=5"]
    options: dict[str, Any] = {"changes": small, "kinds": ["haem-smart"], "seeds": 1}
    inflector = reinflect.train(tmp_path / "train", DEV, out=tmp_path / "model", **options)
    again = reinflect.train(TRAIN, DEV, preset="low", **options)
    assert isinstance(inflector, reinflect.Inflector)
    form = inflector.inflect("leben", "V;PST")
    assert reinflect.load(tmp_path / "model").inflect("leben", "V;PST") == form == again.inflect("leben", "V;PST")
    options["changes"] = [*small, "smart.sweeps=-1"]
    with pytest.raises(InputError, match="found -1 sweeps"):
        reinflect.train(TRAIN, DEV, **options)


def test_without_torch_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"^training needs torch; pip install 'reinflect\[train\]'$"):
        reinflect.train(ITEMS)
