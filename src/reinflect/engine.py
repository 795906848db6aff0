"""From items to an inflector: align, train the fleets, score."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decoding.repeats import longest_runs
from reinflect.ensembles import vote
from reinflect.evaluation import evaluate
from reinflect.inflector import Inflector, Member
from reinflect.settings import Settings
from reinflect.training.checkpoint import Checkpoint, fingerprint
from reinflect.training.jobs import Split, fixed_split, folded_splits, tasks
from reinflect.training.loop import Report, Trained, train


@dataclass(frozen=True)
class Outcome:
    """An inflector, and how good it is."""

    inflector: Inflector
    member_accuracies: tuple[float, ...]
    """On dev, or on each member's own held-out items, in the order of the inflector's members."""
    accuracy: float
    """Of the vote; without dev items, of the members that had not seen the item."""
    scored: int
    """How many items that is of."""
    held_out: bool
    interrupted: bool
    restarted: tuple[str, ...]


def train_inflector(
    train_items: Sequence[Item],
    dev_items: Sequence[Item] | None,
    *,
    settings: Mapping[str, Settings],
    systems: Sequence[str] = ("hacm", "haem"),
    alignments: Sequence[str] = ("naive", "smart"),
    seeds: int = 5,
    device: torch.device | str = "cpu",
    alignment_cache: Path | None = None,
    state: Path | None = None,
    report: Callable[[str, Report], None] | None = None,
    source: Path | str = "training data",
) -> Outcome:
    """Train one model per system, alignment and seed, and let them vote.

    `state` is where an interrupted run is taken up from: files with this beginning, which the caller removes with
    `forget` once the inflector is safe. Without dev items each seed holds out a fold of its own.
    """
    if dev_items is None:
        splits = folded_splits(train_items, seeds, source)
    else:
        splits = fixed_split(train_items, dev_items, seeds)
    work = tasks(splits, systems, alignments, settings, cache=alignment_cache)
    trained: list[tuple[Trained, Split]] = []
    interrupted = False
    for system, own in work.items():
        checkpoint = None
        if state is not None:
            mark = fingerprint(
                items=[[i.lemma, i.form, i.features.spelling] for s in splits for i in (*s.train, *s.dev)],
                work=[(task.name, seed) for task, seed in own],
                settings=settings[system],
            )
            checkpoint = Checkpoint(state_file(state, system), mark)
        results, cut_short = train(
            own,
            device=device,
            checkpoint=checkpoint,
            log=None if state is None else log_file(state, system),
            report=None if report is None else lambda now, system=system: report(system, now),  # type: ignore[misc]
        )
        interrupted = interrupted or cut_short
        trained += [(result, splits[number % len(splits)]) for number, result in enumerate(results)]
        if interrupted:
            break
    return _outcome(trained, train_items, held_out=dev_items is None, interrupted=interrupted, device=device)


def state_file(state: Path, system: str) -> Path:
    return state.with_name(f"{state.name}.{system}.checkpoint")


def log_file(state: Path, system: str) -> Path:
    return state.with_name(f"{state.name}.{system}.jsonl")


def forget(state: Path, systems: Sequence[str]) -> None:
    """Remove what a run left to be taken up from; its logs stay."""
    for system in systems:
        state_file(state, system).unlink(missing_ok=True)


def _outcome(
    trained: Sequence[tuple[Trained, Split]],
    train_items: Sequence[Item],
    *,
    held_out: bool,
    interrupted: bool,
    device: torch.device | str,
) -> Outcome:
    runs = longest_runs(word for item in train_items for word in (item.lemma, item.form))
    split_of = {}
    members = []
    for result, split in trained:
        member = Member(
            system=result.task.system,
            alignment=result.task.alignment,
            seed=result.seed,
            settings=result.task.settings,
            inventory=result.task.inventory,
            dev_accuracy=max(result.dev_accuracy, 0.0),
            parameters=result.parameters,
        )
        members.append(member)
        split_of[id(member)] = split
    inflector = Inflector(tuple(members), runs)
    accuracies = [0.0] * len(members)
    votes: dict[tuple[str, Bundle], dict[int, str]] = {}
    devs = list(dict.fromkeys(split.dev for split in split_of.values()))
    for dev in devs:
        # Members with the same dev items are decoded together.
        together = [number for number, member in enumerate(inflector.members) if split_of[id(member)].dev == dev]
        group = Inflector(tuple(inflector.members[number] for number in together), runs)
        for number, forms in zip(together, group.member_forms(dev, device), strict=True):
            answers = [Item(item.lemma, item.features, form) for item, form in zip(dev, forms, strict=True)]
            accuracies[number] = evaluate(dev, answers).accuracy
            for answer in answers:
                votes.setdefault((answer.lemma, answer.features), {})[number] = answer.form
    # Each cell's voters are those that were asked it, best first.
    voted = [
        Item(lemma, features, vote([forms[number] for number in sorted(forms)]))
        for (lemma, features), forms in votes.items()
    ]
    everyone = [item for dev in devs for item in dev]
    return Outcome(
        inflector=inflector,
        member_accuracies=tuple(accuracies),
        accuracy=evaluate(everyone, voted).accuracy,
        scored=len(everyone),
        held_out=held_out,
        interrupted=interrupted,
        restarted=tuple(f"{r.task.name}-{r.seed}" for r, _ in trained if r.restarts),
    )
