"""Starts: the models that others begin with, and how much of their parameters fits."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rapidfuzz.distance.Levenshtein import distance

from reinflect.data.corrections import question
from reinflect.data.items import Item
from reinflect.errors import InputError
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import ENDING, INSTALL, find_model, load, pocket_models
from reinflect.learn.lesson import ModelSpec, Start
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import Inventory, expected_shapes

AUTO = "auto"
RELATIVES = 3
"""The most pocket models that `auto` takes; it names as many more."""
MOST_INFLECTED = 200
"""The most items that pocket models inflect for `auto`."""
LEAST_SHARED, LEAST_RIGHT, NEAR_BEST = 0.5, 3.0, 0.5
"""Of a relative: the share of the characters, and of the features, that it knows; the per cent of the forms that it has
right (with fewer, a start does harm); and this as a share of the best relative's."""

Startable = Inflector | Path | str
"""An inflector, a file, the name of a language, or `auto`."""
Note = Callable[[str], object]


def start_from(model: Startable, note: Note = lambda _: None) -> Start:
    """The start of a file or a language; an inflector that was not read from a file is called `model`."""
    if not isinstance(model, Inflector):
        model = load(find_model(model, lambda text: note(f"note: {text}")))
    name = re.sub(r"\W+", "-", model.source.path.name.removesuffix(ENDING)).strip("-") if model.source else ""
    return Start(name or "model", model.members, frozenset(map(question, model.attested)))


def find_starts(
    wished: Iterable[Startable], items: Sequence[Item], systems: Sequence[str], note: Note = lambda _: None
) -> list[Start]:
    """The models to start from, each once; `auto` is those pocket models that inflect the training items best."""
    starts: dict[str, Start] = {}
    for model in wished:
        for start in _relatives(items, systems, note) if model == AUTO else [start_from(model, note)]:
            available = sorted({member.system for member in start.members})
            if not set(available) & set(systems):
                finding = f"{start.name} has models of {' and '.join(available)}, but none of these is trained"
                raise InputError(finding, f"train {available[0]} too (--systems), or start from another model")
            starts[start.members[0].fingerprint] = start
    return list(starts.values())


@dataclass(frozen=True, eq=False)
class Relative:
    """A model of another language, by its predictions for the training items."""

    start: Start
    right: float
    """Per cent of the items' forms."""
    edits: float
    """The mean number of characters to insert, delete or replace in a prediction."""
    shared: str
    """Such as `38 of 41 characters and 9 of 9 features`."""


def relatives(items: Sequence[Item], starts: Iterable[Start], systems: Sequence[str]) -> list[Relative]:
    """The models that know enough characters and features of the items, by their predictions for these, best first."""
    inventory, sample, ranked = Inventory.of(items), items[:: -(-len(items) // MOST_INFLECTED)], []
    for start, member in ((start, next(filter(None, map(start.member, systems)), None)) for start in starts):
        if member is None:
            continue
        characters = len({*inventory.characters}.intersection(member.inventory.characters)), len(inventory.characters)
        atoms = len({*inventory.atoms}.intersection(member.inventory.atoms)), len(inventory.atoms)
        if all(common >= LEAST_SHARED * total for common, total in (characters, atoms)):
            [(forms, _)] = Inflector((member,), {}).predictions([member], sample)
            edits = [distance(form, item.form) for form, item in zip(forms, sample, strict=True)]
            shared = "{} of {} characters and {} of {} features".format(*characters, *atoms)
            ranked.append(Relative(start, 100 * edits.count(0) / len(edits), sum(edits) / len(edits), shared))
    return sorted(ranked, key=lambda relative: (-relative.right, relative.edits, relative.start.name))


def best_few(ranked: Sequence[Relative], most: int = RELATIVES) -> list[Relative]:
    """The best relatives that are right often enough, and half as often as the very best."""
    return [each for each in ranked[:most] if each.right >= max(LEAST_RIGHT, NEAR_BEST * ranked[0].right)]


def _relatives(items: Sequence[Item], systems: Sequence[str], note: Note) -> list[Start]:
    pocket = [start_from(path) for path in pocket_models().values()]
    if not pocket:
        raise InputError("auto chooses among pocket models, and none are installed", f"install them: {INSTALL}")
    if not any(start.member(system) for start in pocket for system in systems):
        return pocket[:1]  # the caller says that its system is not trained
    ranked = relatives(items, pocket, systems)
    chosen = best_few(ranked)
    then = "" if chosen else "; no model starts from them"
    note(f"note: {len(ranked)} of {len(pocket)} pocket models know enough characters and features of your items{then}")
    for each in ranked[: 2 * RELATIVES]:
        use = "a start" if each in chosen else "not used"
        note(f"note: {each.start.name}: {each.right:.0f} % of your forms right, {each.shared} known; {use}")
    return [each.start for each in chosen]


def started_models(starts: Sequence[Start], specs: Sequence[ModelSpec]) -> dict[str, tuple[str, ModelSpec]]:
    """For each model that specs start from, by its fingerprint: its name, and one of these specs."""
    names = {member.fingerprint: start.name for start in starts for member in start.members}
    return {key: (names[key], spec) for spec in specs if spec.start and (key := spec.start.fingerprint)}


def describe_starts(
    starts: Sequence[Start], started: Mapping[str, tuple[str, ModelSpec]], scored: Sequence[Item]
) -> list[str]:
    """Notes on how much the models take from each start, and on starts that have seen what models are scored on."""
    notes = [_describe_start(spec, name) for name, spec in started.values()]
    for start in starts:
        if seen := start.seen.intersection(map(question, scored)):
            high = "the accuracies below are too high, and its models may vote too often; give --dev FILE with others"
            notes.append(f"note: {start.name} has seen {len(seen)} of the held-out or dev items: {high}")
    return list(dict.fromkeys(notes))


def _describe_start(spec: ModelSpec, name: str) -> str:
    import torch

    from reinflect.learn.fleet import take_start

    assert spec.start is not None
    system, settings = SYSTEMS[spec.system], spec.start.settings
    shapes = system.shapes(spec.settings)
    sizes = expected_shapes(shapes, system.sizes(spec.lesson.inventory, spec.settings))
    copied = take_start(spec, {parameter: torch.zeros(size) for parameter, size in sizes.items()})
    differ = [
        f"{key} is {getattr(settings, key)} there and {getattr(spec.settings, key)} here"
        for key in msgspec.structs.asdict(settings)
        if system.shapes(msgspec.structs.replace(spec.settings, **{key: getattr(settings, key)})) != shapes
    ]
    sizes_differ = f" ({', '.join(differ)}; --set changes it)" if differ else ""
    if copied <= sum(size[0] for size in sizes.values() if len(size) == 1):  # biases alone, which always fit
        raise InputError(f"nothing of {name} fits the {spec.system} models{sizes_differ}", "start from another model")
    share = 100 * copied / sum(map(math.prod, sizes.values()))
    return f"note: {spec.system} models take over {share:.1f} % of their numbers from {name}{sizes_differ}"
