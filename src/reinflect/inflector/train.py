"""From items to an inflector: align, train the packs here or in processes, score."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch

from reinflect.alignment import ALIGNERS
from reinflect.data.items import Item, read_items
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.decoding.repeats import filtered, longest_runs
from reinflect.ensembles.confidence import HELD_OUT_PULL, Confidence, fit, judged_cells, seen_cells
from reinflect.ensembles.member import Member
from reinflect.ensembles.vote import DEFAULT, Voter, choices, dev_accuracy, kind_of
from reinflect.ensembles.vote import strategy as named_strategy
from reinflect.errors import InputError, ReinflectError, StoppedError, quoted
from reinflect.evaluation.cells import Cell
from reinflect.execution.execute import Watcher, pieces_of, run_packs, say_what_was_found
from reinflect.execution.packing import pack_models
from reinflect.execution.run import Learnt, Results, checkpoint_of, run_pack
from reinflect.execution.state import State
from reinflect.inflector.card import told
from reinflect.inflector.inflector import Inflector
from reinflect.settings import Settings, changed, load_preset, preset_for
from reinflect.systems.layers.inventory import Inventory
from reinflect.systems.system import SYSTEMS
from reinflect.training.checkpoint import SECONDS_BETWEEN
from reinflect.training.lesson import Pack, fixed_split, folded_splits, lessons, methods_of, models, packs


@dataclass(frozen=True)
class Outcome:
    """An inflector, and how good it is."""

    inflector: Inflector
    accuracy: float
    """Of the vote of those the strategy chose; without dev items, of those among them that had not seen the item."""
    scored: int
    """How many cells that is of."""
    held_out: bool
    interrupted: bool
    restarted: tuple[str, ...]
    """Members that diverged and were started again with another seed."""
    failed: tuple[str, ...]
    """Models that are not among the members: they diverged every time, or had not learnt anything when stopped."""
    retried: tuple[str, ...] = ()
    """What went wrong with packs of models, and what was done about it."""
    written: bool = True
    """False if it was interrupted, and a model that had been trained to its end stays in its place."""

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
    strategy: str = DEFAULT,
    half: bool = False,
    labels: Labels = NO_LABELS,
) -> Outcome:
    """Train one model per system, alignment and seed, and let them vote; soft attention has no alignment.

    Without dev items each seed holds out a fold of its own. With `out`, the inflector is saved there (`half`: in half
    precision), and while it is trained the folder `OUT.state` holds all that is needed to take the run up again after
    any interruption; a model that is there already, and was trained to its end, stays until this one is. The log
    `OUT.log.jsonl` has a line for each epoch of each model. More than one worker are processes; a script that asks for
    them must be safe to import (`if __name__ == "__main__":`). Ctrl-C ends the training early with what there is.
    """
    watcher = watcher or Watcher()
    for kind, named, known in (("system", systems, SYSTEMS), ("alignment", alignments, ALIGNERS)):
        if unknown := [name for name in named if name not in known]:
            raise InputError(f"found the {kind} {quoted(unknown[0])}", f"give a list of {', '.join(known)}")
    _check_strategy(strategy, systems)
    if seeds < 1:
        raise InputError(f"found {seeds} seeds", "train with one at least")
    if not train_items or (dev_items is not None and not dev_items):
        raise InputError(f"found no {'dev' if train_items else 'training'} items", "give some", path=source)
    splits = (
        folded_splits(train_items, seeds, source) if dev_items is None else fixed_split(train_items, dev_items, seeds)
    )
    state = State(out) if out else None
    with state.held() if state else nullcontext():
        learnt = lessons(splits, methods_of(systems, alignments), cache=alignment_cache, progress=watcher.aligning)
        if device == "cpu":
            work = packs(learnt, systems, settings, first_seed=first_seed)
        else:
            every = {system: models(learnt, system, settings[system], first_seed=first_seed) for system in systems}
            work = [pack for system, own in every.items() for pack in pack_models(system, own)]
        finished = out is not None and _is_finished(out)
        if state:
            found = [check.find() for pack in pieces_of(work, state) if (check := checkpoint_of(pack, state))]
            say_what_was_found(found, state, watcher)
        if finished:
            watcher.note(f"note: {out} is a trained model; it is replaced when this training is at its end")
        run = partial(run_pack, state=state, seconds_between=checkpoint_seconds)
        results = run_packs(work, run, device=device, workers=workers, watcher=watcher, state=state)
        # Whoever is given the model need not know in which folder the file was.
        name = Path(source).name if Path(source).is_file() else str(source)
        outcome = _outcome(work, results, train_items, dev_items, strategy=strategy, source=name, labels=labels)
        if finished and outcome.interrupted:
            return replace(outcome, written=False)
        if state and out:
            state.join_logs([pack.name for pack in work])
            outcome.inflector.save(out, half=half)
            if not outcome.interrupted:
                state.remove()
        return outcome


def _is_finished(path: Path) -> bool:
    """Whether there is a model whose training was not cut short."""
    if not path.is_file():
        return False
    try:
        training = Inflector.load(path).training
    except ReinflectError:
        return False
    return training is not None and not training.interrupted


def _check_strategy(name: str, systems: Sequence[str]) -> None:
    whose = named_strategy(name).systems
    if whose is not None and not set(whose) & set(systems):
        raise InputError(
            f"found the strategy {name}, in which only models of {' and '.join(whose)} vote",
            f"train that system too, or choose another strategy, such as {DEFAULT}",
        )


def _outcome(
    work: Sequence[Pack],
    results: Sequence[Results | None],
    train_items: Sequence[Item],
    dev_items: Sequence[Item] | None,
    *,
    strategy: str = DEFAULT,
    source: str = "training data",
    labels: Labels = NO_LABELS,
) -> Outcome:
    runs = longest_runs(word for item in train_items for word in (item.lemma, item.form))
    members, voters = [], []
    seen: set[Cell] = set()
    failed, restarted = [], []
    for pack, result in zip(work, results, strict=True):
        for learnt in result.models if result else ():
            dev = pack.models[learnt.number].lesson.split.dev if learnt.usable else ()
            voter = Voter.of(_kind(pack, learnt), learnt.seed, dev, _forms(dev, learnt, runs), learnt.log_probabilities)
            member = _member(pack, learnt, voter.dev_accuracy)
            if learnt.restarts:
                restarted.append(member.name)
            if learnt.usable:
                members.append(member)
                voters.append(voter)
                seen |= seen_cells(pack.models[learnt.number].lesson.split.train, dev)
            else:
                failed.append(member.name)
    interrupted = not all(result and result.ended for result in results)
    if not voters:
        raise _nothing_learnt(interrupted)
    chosen = choices(voters, [strategy])
    way = strategy if strategy in chosen else "vote"
    names = {name: tuple(f"{voter.kind}-{voter.seed}" for voter in some) for name, some in chosen.items()}
    accuracy = dev_accuracy(named_strategy(way), chosen[way])
    scored = len({cell for voter in chosen[way] for cell in voter.gold})
    fitted = {name: _fitted(name, chosen, seen, held_out=dev_items is None) for name in chosen}
    return Outcome(
        inflector=Inflector(
            tuple(members),
            runs,
            way,
            names,
            confidences={name: confidence for name, confidence in fitted.items() if confidence},
            training=told(
                train_items, dev_items, source=source, accuracy=accuracy, scored=scored, interrupted=interrupted
            ),
            labels=labels,
        ),
        accuracy=accuracy,
        scored=scored,
        held_out=dev_items is None,
        interrupted=interrupted,
        restarted=tuple(restarted),
        failed=tuple(failed),
        retried=tuple(text for result in results if result for text in result.retried),
    )


def _fitted(name: str, chosen: Mapping[str, Sequence[Voter]], seen: set[Cell], *, held_out: bool) -> Confidence | None:
    """The confidence of a strategy, by what its voters say of dev items, or all models of what they held out.

    Of the voters alone there may be one only that held out an item, and no vote.
    """
    if held_out:
        return fit(*judged_cells(named_strategy("vote"), chosen["vote"], seen), pull=HELD_OUT_PULL)
    return fit(*judged_cells(named_strategy(name), chosen[name], seen))


def _kind(pack: Pack, learnt: Learnt) -> str:
    return kind_of(pack.system, pack.models[learnt.number].lesson.alignment)


def _forms(asked: Sequence[Item], learnt: Learnt, runs: dict[str, int]) -> list[str]:
    """What a model says of its dev items, as the inflector would say it."""
    return [
        item.lemma if form is None else filtered(form, item.lemma, runs)
        for item, form in zip(asked, learnt.forms, strict=True)
    ]


def _member(pack: Pack, learnt: Learnt, accuracy: float) -> Member:
    model = pack.models[learnt.number]
    return Member(
        system=SYSTEMS[pack.system],
        alignment=model.lesson.alignment,
        seed=learnt.seed,
        settings=model.settings,
        inventory=Inventory.of(model.lesson.split.train),
        dev_accuracy=accuracy,
        parameters={name: torch.from_numpy(array) for name, array in learnt.parameters.items()},
    )


def _nothing_learnt(interrupted: bool) -> ReinflectError:
    if interrupted:
        return StoppedError("stopped before any model had learnt anything; there is no inflector yet")
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
    strategy: str = DEFAULT,
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
        source=Path(items).name if isinstance(items, (Path, str)) else "items given to reinflect.train",
        strategy=strategy,
    ).inflector


def _items(given: Sequence[Item] | Path | str) -> Sequence[Item]:
    return read_items(given) if isinstance(given, (Path, str)) else given


def load(path: Path | str) -> Inflector:
    """An inflector that was trained before."""
    return Inflector.load(path)
