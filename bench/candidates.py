"""The probability that each model gives to the forms of all models: that of the actions that write a form.

For a system that learns from alignments these are the oracle's actions for an alignment of lemma and form; for one that
learns by imitation, at each step the right action with the best score; for others, the form's characters.

A pool has the forms of all models of a language in a setting, for each item, and every model's probability of each. Its
file is MessagePack, compressed as xz, beside the packs; its name has a digest of the models and of their forms.
"""

import hashlib
import lzma
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from reinflect.align import ALIGNERS
from reinflect.align.pairs import Alignment
from reinflect.assemble import known_runs
from reinflect.data.items import Item, grouped
from reinflect.ensemble.strategies import Member, Trained
from reinflect.files import write_bytes
from reinflect.layers.examples import LEMMA, Examples, Stack
from reinflect.layers.operations import one_thread
from reinflect.learn.lesson import Lesson
from reinflect.learn.scoring import joined
from reinflect.paper.combine import SPLITS, forms_by_rules, kept_forms
from reinflect.run.packs import PRESET, unpacked
from reinflect.systems import SYSTEMS
from reinflect.systems.kind import UNALIGNED, Kind
from reinflect.systems.system import ACTIONS

ENDING = ".pool.xz"
FORMAT = 2
LEAST = -64.0
"""The least log-probability that is kept."""
NUMBERS_AT_ONCE = {"cpu": 1 << 24, "cuda": 1 << 30}
"""The size of a batch: numbers that the models keep of it."""

Questions = tuple[Sequence[Item], Sequence[Alignment]]
"""Items with the forms to be scored, and their alignments; all characters are the model's."""


@dataclass(frozen=True)
class Pool:
    """The candidates of all items of a language in a setting, and the log-probability that each model gives to each."""

    models: Sequence[str]
    """Keys."""
    candidates: Mapping[str, Sequence[Sequence[str]]]
    """By split, of each item."""
    scores: Mapping[str, NDArray[np.float16]]
    """By split; nan where a lemma has characters that training has not. *Shape:* (models, candidates)"""


def pool_path(folder: Path, corpus: Lesson, models: Sequence[Trained]) -> Path:
    """The file of the pool of these models, which are in the order of their keys."""
    plain = [[model.key, model.dev.forms, model.asked.forms] for model in models]
    digest = hashlib.sha256(msgspec.json.encode([FORMAT, plain])).hexdigest()[:12]
    return folder / f"{corpus.label}.{digest}{ENDING}"


def read_pool(path: Path) -> Pool | None:
    """A pool; None if there is no such file, or it is damaged."""
    try:
        plain = msgspec.msgpack.decode(unpacked(path.read_bytes()))
        counts = [sum(map(len, plain[split])) for split in SPLITS]
        scores = np.frombuffer(plain["scores"], dtype="<f2").reshape(len(plain["models"]), sum(counts))
        parts = np.split(scores, counts[:1], axis=1)
        return Pool(plain["models"], {split: plain[split] for split in SPLITS}, dict(zip(SPLITS, parts, strict=True)))
    except (OSError, EOFError, lzma.LZMAError, ValueError, LookupError, TypeError):
        return None


def write_pool(
    path: Path,
    corpus: Lesson,
    members: Sequence[tuple[Trained, Member]],
    cache: Path | None = None,
    device: str = "cpu",
) -> None:
    """Score the candidates of models."""
    models = [model for model, _ in members]
    first, by_rules = kept_forms(corpus, models, known_runs(corpus.train)), forms_by_rules(corpus)
    forms = {
        split: [
            list(dict.fromkeys(of_item))
            for of_item in zip(*(first[model.name, split] for model in models), by_rules[split], strict=True)
        ]
        for split in SPLITS
    }
    characters = set(corpus.inventory.characters)
    questions = [
        (Item(item.lemma, item.features, form), characters >= set(item.lemma))
        for item, candidates in zip((*corpus.dev, *corpus.asked), (*forms["dev"], *forms["test"]), strict=True)
        for form in candidates
    ]
    scored = np.array([scorable for _, scorable in questions], dtype=bool)
    items = [item for item, scorable in questions if scorable]
    files = {name: (items, _alignments(name, corpus, items, cache)) for name in _alignments_of(models)}
    rows = np.full((len(models), len(questions)), np.nan, dtype="<f2")
    if items:
        numbers = {id(member): number for number, (_, member) in enumerate(members)}
        for fleet in grouped((member for _, member in members), lambda one: (one.system, one.settings)).values():
            names = _alignments_of(fleet)
            which = [names.index(member.alignment) for member in fleet]
            with one_thread(device):
                found = log_probabilities(fleet, [files[name] for name in names], which, device)
            for member, log_probability in zip(fleet, found, strict=True):
                rows[numbers[id(member)], scored] = np.maximum(log_probability, LEAST)
    plain = {"models": [model.key for model in models], **forms, "scores": rows.tobytes()}
    write_bytes(path, lzma.compress(msgspec.msgpack.encode(plain), preset=PRESET))


def _alignments_of(models: Sequence[Trained] | Sequence[Member]) -> list[str]:
    return list(dict.fromkeys(model.alignment for model in models))


def _alignments(name: str, corpus: Lesson, items: Sequence[Item], cache: Path | None) -> Sequence[Alignment]:
    """Those of the candidates, by what the aligner learnt from the training items, if it learns."""
    if name == UNALIGNED:
        return [()] * len(items)
    train, more = ([(item.lemma, item.form) for item in part] for part in (corpus.train, items))
    aligner = ALIGNERS[name]()
    align_more = getattr(aligner, "align_more", None)
    if align_more is None:
        return aligner.align(more)
    lesson = corpus.for_kind(Kind("", name), {name: aligner}, 0).prepared(cache)
    alignments: Sequence[Alignment] = align_more(train, lesson.alignments, more)
    return alignments


@torch.no_grad()
def log_probabilities(
    models: Sequence[Member], files: Sequence[Questions], which: Sequence[int], device: torch.device | str = "cpu"
) -> list[NDArray[np.float32]]:
    """What models that share system and settings give to the forms of their files; `which` is each model's file."""
    system, settings = SYSTEMS[models[0].system], models[0].settings
    if hasattr(settings, "label_smoothing"):
        settings = msgspec.structs.replace(settings, label_smoothing=0.0)
    parameters, allowed = joined(system, settings, [(model.inventory, model.parameters) for model in models], device)
    inventories = [models[which.index(file)].inventory for file in range(len(files))]
    examples = [
        Examples.to_learn(system, *file, inventory, settings)
        for file, inventory in zip(files, inventories, strict=True)
    ]
    stack, numbers = Stack(examples, device), torch.tensor(which, device=device)
    zeros, no_epoch = torch.zeros_like(numbers), torch.full_like(numbers, -math.inf, dtype=torch.float32)
    orders = [np.argsort(-examples[file].lengths[ACTIONS], kind="stable") for file in which]
    places = np.full((len(models), max(map(len, orders))), -1, dtype=np.int64)
    for row, order in zip(places, orders, strict=True):
        row[: len(order)] = order
    result, start = np.zeros(places.shape, dtype=np.float32), 0
    while start < places.shape[1]:
        longest = stack.longest(which, places[:, start : start + 1])
        of_action = 8 * settings.hidden + longest[LEMMA] * system.pair_numbers(settings) + allowed.shape[-1]
        size = max(1, NUMBERS_AT_ONCE[torch.device(device).type] // (len(models) * longest[ACTIONS] * of_action))
        items = places[:, start : start + size]
        drawn = stack.to_learn(numbers, torch.from_numpy(items).to(device), stack.longest(which, items), zeros.bool())
        # Long before the first epoch, no model acts by itself: every action is a right one.
        batch = system.equations.trajectories(drawn, parameters, settings, allowed, no_epoch, zeros)
        losses = system.equations.losses(parameters, replace(batch, right=batch.taken), settings, allowed, None)
        result[:, start : start + size] = -(losses * (batch.weights > 0)).sum(dim=1).cpu().numpy()
        start += size
    return [row[np.argsort(order)] for row, order in zip(result, orders, strict=True)]
