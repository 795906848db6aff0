"""From items to an inflector: align, train the packs here or in processes, score."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from reinflect.data.features import Bundle
from reinflect.data.items import Item, read_items
from reinflect.decoding.repeats import filtered, longest_runs
from reinflect.ensembles import vote
from reinflect.errors import ReinflectError
from reinflect.evaluation import evaluate
from reinflect.inflector import Inflector, Member
from reinflect.models.inventory import Inventory
from reinflect.models.systems import SYSTEMS
from reinflect.settings import Settings, changed, load_preset, preset_for
from reinflect.training.checkpoint import SECONDS_BETWEEN
from reinflect.training.jobs import SEEDS_A_PACK, Pack, fixed_split, folded_splits, lessons, packs
from reinflect.training.processes import Lost, Processes
from reinflect.training.run import Learnt, Results, Standing, checkpoint_of, run_pack
from reinflect.training.state import State


class Watcher:
    """Hears what happens; a progress display overrides what it wants to show."""

    def note(self, text: str) -> None:
        """Something the user should know."""

    def aligning(self, method: str, done: int, total: int) -> None: ...

    def begin(self, names: Sequence[str], workers: int) -> None:
        """The packs that are about to be trained."""

    def standing(self, now: Standing) -> None: ...


@dataclass(frozen=True)
class Outcome:
    """An inflector, and how good it is."""

    inflector: Inflector
    accuracy: float
    """Of the vote; without dev items, of the members that had not seen the item."""
    scored: int
    """How many cells that is of."""
    held_out: bool
    interrupted: bool
    restarted: tuple[str, ...]
    """Members that diverged and were started again with another seed."""
    failed: tuple[str, ...]
    """Models that are not among the members: they diverged every time, or had not learnt anything when stopped."""

    @property
    def member_accuracies(self) -> tuple[float, ...]:
        """On dev, or on each member's own held-out items, in the order of the inflector's members."""
        return tuple(member.dev_accuracy for member in self.inflector.members)


def train_inflector(
    train_items: Sequence[Item],
    dev_items: Sequence[Item] | None,
    *,
    settings: Mapping[str, Settings],
    systems: Sequence[str] = ("hacm", "haem"),
    alignments: Sequence[str] = ("naive", "smart"),
    seeds: int = 5,
    first_seed: int = 1,
    device: str = "cpu",
    workers: int = 1,
    out: Path | None = None,
    watcher: Watcher | None = None,
    alignment_cache: Path | None = None,
    checkpoint_seconds: float = SECONDS_BETWEEN,
    source: Path | str = "training data",
) -> Outcome:
    """Train one model per system, alignment and seed, and let them vote.

    Without dev items each seed holds out a fold of its own. With `out`, the inflector is saved there, and while it is
    trained the folder `OUT.state` holds all that is needed to take the run up again after any interruption; the log
    `OUT.log.jsonl` has a line for each epoch of each model. More than one worker are processes; a script that asks
    for them must be safe to import (`if __name__ == "__main__":`). Ctrl-C ends the training early with what there is.
    """
    watcher = watcher or Watcher()
    splits = (
        folded_splits(train_items, seeds, source) if dev_items is None else fixed_split(train_items, dev_items, seeds)
    )
    state = State(out) if out else None
    with state.held() if state else nullcontext():
        learnt = lessons(splits, alignments, cache=alignment_cache, progress=watcher.aligning)
        most = SEEDS_A_PACK if device == "cpu" else None
        work = packs(learnt, systems, settings, seeds_a_pack=most, first_seed=first_seed)
        if state:
            _say_what_was_found(work, state, watcher)
        run = partial(run_pack, state=state, device=device, seconds_between=checkpoint_seconds)
        results = _run_all(work, run, min(workers, len(work)), watcher, state)
        outcome = _outcome(work, results, train_items, held_out=dev_items is None)
        if state and out:
            state.join_logs([pack.name for pack in work])
            outcome.inflector.save(out)
            if not outcome.interrupted:
                state.remove()
        return outcome


def _say_what_was_found(work: Sequence[Pack], state: State, watcher: Watcher) -> None:
    found = [check.find() for pack in work if (check := checkpoint_of(pack, state))]
    begun, finished, other = (found.count(kind) for kind in ("begun", "finished", "other"))
    if begun or finished:
        watcher.note(
            f"note: going on where an earlier run stopped ({finished} of {len(work)} packs of models are trained, "
            f"{begun} begun); to start anew, remove {state.folder} first"
        )
    if other:
        watcher.note(
            f"note: {state.folder} has the state of a run with other data or settings, which cannot be gone on with; "
            "starting anew"
        )


def _run_all(
    work: Sequence[Pack], run: Callable[..., Results], workers: int, watcher: Watcher, state: State | None
) -> list[Results | None]:
    """The results of each pack; None where Ctrl-C came before its turn."""
    watcher.begin([pack.name for pack in work], workers)
    if workers == 1:
        stop = threading.Event()
        with _on_interrupt(stop.set, watcher):
            return [None if stop.is_set() else run(pack, watcher.standing, stop.is_set) for pack in work]
    processes = Processes(run, workers, watcher.standing)
    with _on_interrupt(processes.stop, watcher):
        found = processes.go(work)
    results = [one for one in found if not isinstance(one, Lost)]
    if len(results) < len(found):
        names = ", ".join(one.pack for one in found if isinstance(one, Lost))
        kept = f" all other work is kept in {state.folder}:" if state else ""
        raise ReinflectError(
            f"the process that trained {names} ended before its time (killed, or out of memory);{kept} "
            "run the same again, perhaps with fewer --workers"
        )
    return results


@contextmanager
def _on_interrupt(stop: Callable[[], None], watcher: Watcher) -> Iterator[None]:
    """Ctrl-C stops the training; a second one stops everything."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are for the main thread
        return
    before = signal.getsignal(signal.SIGINT)

    def stopped(*_: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()
        with suppress(RuntimeError):  # where Ctrl-C came in the midst of other words
            watcher.note("stopping, and keeping the best so far (Ctrl-C again: at once)")

    signal.signal(signal.SIGINT, stopped)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _outcome(
    work: Sequence[Pack], results: Sequence[Results | None], train_items: Sequence[Item], *, held_out: bool
) -> Outcome:
    runs = longest_runs(word for item in train_items for word in (item.lemma, item.form))
    voters: list[tuple[Member, list[Item]]] = []
    gold: dict[int, Sequence[Item]] = {}
    failed, restarted = [], []
    for pack, result in zip(work, results, strict=True):
        for learnt in result.models if result else ():
            split = pack.models[learnt.number][0].split
            answers = _answers(split.dev, learnt, runs)
            member = _member(pack, learnt, evaluate(split.dev, answers).accuracy)
            if learnt.restarts:
                restarted.append(member.name)
            if learnt.usable:
                voters.append((member, answers))
                gold[id(split)] = split.dev
            else:
                failed.append(member.name)
    interrupted = not all(result and result.ended for result in results)
    if not voters:
        raise _nothing_learnt(interrupted)
    inflector = Inflector(tuple(member for member, _ in voters), runs)
    scored = evaluate([item for dev in gold.values() for item in dev], _voted(inflector, voters))
    return Outcome(
        inflector=inflector,
        accuracy=scored.accuracy,
        scored=scored.items,
        held_out=held_out,
        interrupted=interrupted,
        restarted=tuple(restarted),
        failed=tuple(failed),
    )


def _answers(asked: Sequence[Item], learnt: Learnt, runs: dict[str, int]) -> list[Item]:
    """What a model says of its dev items, as the inflector would say it."""
    return [
        Item(item.lemma, item.features, item.lemma if form is None else filtered(form, item.lemma, runs))
        for item, form in zip(asked, learnt.forms, strict=learnt.usable)
    ]


def _voted(inflector: Inflector, voters: Sequence[tuple[Member, Sequence[Item]]]) -> list[Item]:
    """The vote on each cell of those that were asked it, best first."""
    place = {id(member): number for number, member in enumerate(inflector.members)}
    votes: dict[tuple[str, Bundle], list[str]] = {}
    for _, answers in sorted(voters, key=lambda voter: place[id(voter[0])]):
        # Of several lines for one cell the last counts, as everywhere; no member has two votes.
        for cell, form in {(answer.lemma, answer.features): answer.form for answer in answers}.items():
            votes.setdefault(cell, []).append(form)
    return [Item(lemma, features, vote(forms)) for (lemma, features), forms in votes.items()]


def _member(pack: Pack, learnt: Learnt, accuracy: float) -> Member:
    lesson, _ = pack.models[learnt.number]
    return Member(
        system=SYSTEMS[pack.system],
        alignment=lesson.alignment,
        seed=learnt.seed,
        settings=pack.settings,
        inventory=Inventory.of(lesson.split.train),
        dev_accuracy=accuracy,
        parameters={name: torch.from_numpy(array) for name, array in learnt.parameters.items()},
    )


def _nothing_learnt(interrupted: bool) -> ReinflectError:
    if interrupted:
        return ReinflectError("stopped before any model had learnt anything; there is no inflector yet")
    return ReinflectError("every model diverged, even when started again; try a smaller step (--set step=0.1)")


def train(
    items: Sequence[Item] | Path | str,
    dev: Sequence[Item] | Path | str | None = None,
    *,
    preset: str = "auto",
    changes: Sequence[str] = (),
    systems: Sequence[str] = ("hacm", "haem"),
    alignments: Sequence[str] = ("naive", "smart"),
    seeds: int = 5,
    device: str = "cpu",
    workers: int = 1,
    out: Path | str | None = None,
) -> Inflector:
    """Train an inflector on items or a file of them; `changes` are settings such as `hidden=200`.

    The first of `train_inflector`'s results, and all that most programs need: `train("verbs.tsv").inflect("gehen",
    "V;PST")`.
    """
    taught, asked = (_items(items), None if dev is None else _items(dev))
    settings = changed(load_preset(preset_for(len(taught)) if preset == "auto" else preset), changes)
    return train_inflector(
        taught,
        asked,
        settings=settings,
        systems=systems,
        alignments=alignments,
        seeds=seeds,
        device=device,
        workers=workers,
        out=None if out is None else Path(out),
    ).inflector


def _items(given: Sequence[Item] | Path | str) -> Sequence[Item]:
    return read_items(given) if isinstance(given, (Path, str)) else given


def load(path: Path | str) -> Inflector:
    """An inflector that was trained before."""
    return Inflector.load(path)
