"""A start from other models: which models are taken, and how much of their parameters."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import torch
from rapidfuzz.distance.Levenshtein import distance

from reinflect.data.corrections import Question, question
from reinflect.data.items import Item
from reinflect.decode.repeats import filtered_all
from reinflect.ensemble.fleets import by_fleets, decode
from reinflect.ensemble.member import TrainedModel
from reinflect.errors import InputError
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import ENDING, INSTALL, find_model, load, pocket_models
from reinflect.learn.fleet import take_start
from reinflect.learn.lesson import ModelSpec
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import Inventory, expected_shapes

AUTO = "auto"
RELATIVES = 3
"""The number of pocket models that `auto` takes; it names as many more."""
ASKED = 200
"""The most items that `auto` asks pocket models for."""
LEAST_KNOWN = 0.5
"""The least share of the characters, and of the features, that a relative knows."""
LEAST_RIGHT = 3.0
"""The least per cent of the items' forms that a relative has right: a start from one that has fewer does harm."""
NEAR_BEST = 0.5
"""The least number of right forms of a further relative, as a share of the first one's."""
LONGEST = 60
"""Characters of the name of a kind: it is part of file names."""


@dataclass(frozen=True, eq=False)
class Start:
    """A model that others start from."""

    name: str
    members: tuple[TrainedModel, ...]
    """The best first."""
    seen: frozenset[Question] = frozenset()
    """What it is known to have learnt from."""

    @classmethod
    def of(cls, model: Inflector | Path | str, note: Callable[[str], object] = lambda _: None) -> "Start":
        """A model, by its file or its language; an inflector that was not read from a file has the name `model`."""
        if not isinstance(model, Inflector):
            model = load(find_model(model, lambda text: note(f"note: {text}")))
        name = re.sub(r"\W+", "-", model.source.path.name.removesuffix(ENDING)).strip("-") if model.source else ""
        return cls(name or "model", model.members, frozenset(map(question, model.attested)))

    def member(self, system: str, alignment: str | None = None) -> TrainedModel | None:
        """The best member of a system: if possible, of those that learnt from the alignment."""
        own = [member for member in self.members if member.system == system]
        return next((member for member in own if member.alignment == alignment), own[0] if own else None)


Startable = Inflector | Path | str
"""An inflector, a file, the name of a language, or `auto`."""


def variant_of(starts: Sequence[Start]) -> str:
    """What sets the kind of models with this start apart: `from-polish+slovak`."""
    return f"from-{'+'.join(start.name for start in starts)}"[:LONGEST]


def find_starts(
    asked: Iterable[Startable],
    items: Sequence[Item],
    systems: Sequence[str],
    note: Callable[[str], object] = lambda _: None,
) -> tuple[Start, ...]:
    """The models to start from, each once; `auto` is those pocket models that inflect the training items best."""
    found: list[Start] = []
    for one in asked:
        found += _relatives(items, systems, note) if one == AUTO else [Start.of(one, note)]
    for start in found:
        own = sorted({member.system for member in start.members})
        if not set(own) & set(systems):
            untrained = f"{start.name} has models of {' and '.join(own)}, but none of these is trained"
            raise InputError(untrained, f"train {own[0]} too (--systems), or start from another model")
    return tuple({start.members[0].fingerprint: start for start in found}.values())


@dataclass(frozen=True, eq=False)
class Relative:
    """What a model of another language predicts for the training items, and what it knows of them."""

    start: Start
    right: float
    """Per cent of the items' forms."""
    edits: float
    """The mean number of characters to insert, delete or replace in a prediction."""
    known: str
    """Such as `38 of 41 characters and 9 of 9 features`."""


def relatives(items: Sequence[Item], starts: Iterable[Start], systems: Sequence[str]) -> list[Relative]:
    """The models that know enough characters and features of the items, by their predictions for these, best first."""
    own, some, fit = Inventory.of(items), items[:: -(-len(items) // ASKED)], []
    for start in starts:
        member = next(filter(None, map(start.member, systems)), None)
        if member is not None:
            characters = len({*own.characters}.intersection(member.inventory.characters)), len(own.characters)
            atoms = len({*own.atoms}.intersection(member.inventory.atoms)), len(own.atoms)
            if all(known >= LEAST_KNOWN * all_of_them for known, all_of_them in (characters, atoms)):
                known = "{} of {} characters and {} of {} features".format(*characters, *atoms)
                fit.append((start, member, known))
    said = by_fleets([member for _, member, _ in fit], len(some), "cpu", lambda fleet: decode(fleet, some))
    found = []
    for (start, _, known), (forms, _) in zip(fit, said, strict=True):
        words = filtered_all(forms, [item.lemma for item in some], {})
        away = [distance(word, item.form) for word, item in zip(words, some, strict=True)]
        found.append(Relative(start, 100 * away.count(0) / len(away), sum(away) / len(away), known))
    return sorted(found, key=lambda one: (-one.right, one.edits, one.start.name))


def best_few(found: Sequence[Relative], most: int = RELATIVES) -> list[Relative]:
    """The first relatives, without those that are far behind the very first, or are no relatives at all."""
    return [one for one in found[:most] if one.right >= max(LEAST_RIGHT, NEAR_BEST * found[0].right)]


def _relatives(items: Sequence[Item], systems: Sequence[str], note: Callable[[str], object]) -> list[Start]:
    pocket = [Start.of(path) for path in pocket_models().values()]
    if not pocket:
        raise InputError("auto chooses among pocket models, and none are installed", f"install them: {INSTALL}")
    if not any(start.member(system) for start in pocket for system in systems):
        return pocket[:1]  # the caller says that its system is not trained
    found = relatives(items, pocket, systems)
    chosen = best_few(found)
    then = "" if chosen else "; no model starts from them"
    note(f"note: {len(found)} of {len(pocket)} pocket models know enough characters and features of your items{then}")
    for one in found[: 2 * RELATIVES]:
        use = "a start" if one in chosen else "not used"
        note(f"note: {one.start.name}: {one.right:.0f} % of your forms right, {one.known} known; {use}")
    return [one.start for one in chosen]


def taken_over(spec: ModelSpec, name: str) -> str:
    """A sentence about how much the models of a spec's system take over from its start; an error if it is nothing."""
    assert spec.start is not None
    system, there = SYSTEMS[spec.system], spec.start.settings
    shapes = system.shapes(spec.settings)
    sizes = expected_shapes(shapes, system.sizes(spec.lesson.inventory, spec.settings))
    own = {part: torch.zeros(size) for part, size in sizes.items()}
    taken = take_start(spec, own)
    others = [
        f"{key} is {getattr(there, key)} there and {getattr(spec.settings, key)} here"
        for key in msgspec.structs.asdict(there)
        if system.shapes(msgspec.structs.replace(spec.settings, **{key: getattr(there, key)})) != shapes
    ]
    sizes_differ = f" ({', '.join(others)}; --set changes it)" if others else ""
    if taken <= sum(part.numel() for part in own.values() if part.dim() < 2):  # biases alone, which always fit
        raise InputError(f"nothing of {name} fits the {spec.system} models{sizes_differ}", "start from another model")
    share = 100 * taken / sum(part.numel() for part in own.values())
    return f"note: {spec.system} models take over {share:.1f} % of their numbers from {name}{sizes_differ}"
