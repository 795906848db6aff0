"""Greedy decoding: the most probable action, again and again, for all models and items at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from reinflect.models.batches import Lemmas
from reinflect.models.examples import LEMMA, NOTHING, Stack
from reinflect.models.states import select
from reinflect.models.systems import Decoder

LEAST_ACTIONS = 150
ENDLESS_RUN = 30
"""A character written so often in a row, and the lemma's length more, is filtered out anyway: no need to wait for the
cap. (A lemma that is itself one long run is no reason to filter.)"""
LOOK_EVERY = 4
"""Steps between two looks at who has finished; each look waits for the device."""
ITEMS_AT_ONCE = {"cpu": 96, "cuda": 256}
"""More at once is no faster, and takes more memory."""


def most_actions(lengths: Tensor) -> Tensor:
    """The cap on actions: HACM needs the lemma's and the form's length, and forms can be far longer than lemmas.

    Each item's own, so that it does not depend on the other items of its batch. *Shape:* (M, B) → (M, B)
    """
    return (4 * lengths + 50).clamp(min=LEAST_ACTIONS)


class _Rows:
    """The items that are still being decoded: their decoder state, and the numbers that go with them."""

    def __init__(self, decoder: Decoder, lemmas: Lemmas, running: Tensor, **numbers: Tensor) -> None:
        self.decoder, self.running, self.numbers = decoder, running, numbers
        self.state: Any = decoder.start(lemmas)

    def step(self) -> tuple[Tensor, Tensor]:
        """Take the best action everywhere; what it wrote, and whether it was the last. *Shape:* (M, B)"""
        scores, self.state = self.decoder.log_probabilities(self.state)
        actions = scores.argmax(dim=-1)
        written, self.state = self.decoder.advance(self.state, actions)
        return torch.where(self.running, written, NOTHING), self.running & (actions == self.decoder.end)

    def drop_finished(self) -> bool:
        """Whether any still run; where many do not, go on without them."""
        most = int(self.running.sum(dim=1).max())
        if 0 < most <= 0.7 * self.running.shape[1]:
            # Running ones first; a model with fewer of them keeps some that have finished.
            chosen = torch.argsort(self.running.int(), dim=1, descending=True, stable=True)[:, :most]
            self.state = select(self.state, chosen)
            self.running = self.running.gather(1, chosen)
            self.numbers = {
                name: own.gather(1, chosen.view(*chosen.shape, *[1] * (own.dim() - 2)).expand(-1, -1, *own.shape[2:]))
                for name, own in self.numbers.items()
            }
        return most > 0


@torch.no_grad()
def greedy(decoder: Decoder, lemmas: Lemmas, asked: Tensor) -> tuple[Tensor, Tensor]:
    """What greedy decoding writes at each step (-1: nothing), and whether it came to an end by itself.

    *Shape:* asked (M, B) → (M, B, steps), (M, B)
    """
    models, items = lemmas.lengths.shape
    caps = most_actions(lemmas.lengths)
    cap = int(caps.max())
    written = lemmas.lengths.new_full((models, items, cap), NOTHING)
    finished = torch.zeros_like(asked)
    places = torch.arange(items, device=finished.device).repeat(models, 1)
    last, run, endless = torch.full_like(places, NOTHING), torch.zeros_like(places), ENDLESS_RUN + lemmas.lengths
    rows = _Rows(decoder, lemmas, asked, places=places, last=last, run=run, endless=endless, caps=caps)
    for step in range(cap):
        new, ends = rows.step()
        places, last, run = rows.numbers["places"], rows.numbers["last"], rows.numbers["run"]
        written[:, :, step].scatter_(1, places, new)
        finished.scatter_(1, places, finished.gather(1, places) | ends)
        wrote = new != NOTHING
        run = torch.where(wrote, torch.where(new == last, run + 1, 1), run)
        rows.numbers |= {"run": run, "last": torch.where(wrote, new, last)}
        going_on = (run < rows.numbers["endless"]) & (step + 1 < rows.numbers["caps"])
        rows.running = rows.running & ~ends & going_on
        if step % LOOK_EVERY == LOOK_EVERY - 1 and not rows.drop_finished():
            return written[:, :, : step + 1], finished
    return written, finished


@torch.no_grad()
def count_correct(decoder: Decoder, lemmas: Lemmas, gold: Tensor, counted: Tensor) -> Tensor:
    """How many items each model gets right; an item is dropped as soon as what it writes leaves its gold form.

    The filter for repeats plays no part here: a form that it would replace counts as it was written.

    *Shape:* gold (M, B, L), counted (M, B) → (M)
    """
    place = torch.zeros_like(lemmas.lengths)
    correct = torch.zeros_like(place[:, 0])
    caps = most_actions(lemmas.lengths)
    rows = _Rows(decoder, lemmas, counted, place=place, gold=gold, caps=caps)
    for step in range(int(caps.max())):
        new, ends = rows.step()
        place, gold = rows.numbers["place"], rows.numbers["gold"]
        expected = gold.gather(2, place.unsqueeze(-1)).squeeze(-1)
        correct += (ends & (expected == NOTHING)).sum(dim=1)
        wrote = new != NOTHING
        rows.running = rows.running & ~ends & (~wrote | (new == expected)) & (step + 1 < rows.numbers["caps"])
        rows.numbers["place"] = (place + wrote).clamp_(max=gold.shape[2] - 1)
        if step % LOOK_EVERY == LOOK_EVERY - 1 and not rows.drop_finished():
            break
    return correct


def accuracies(decoder: Decoder, stack: Stack, files: Sequence[int], items_at_once: int | None = None) -> list[float]:
    """The share of its file's items that each model gets right, in per cent."""
    which = torch.tensor(files, device=stack.device)
    correct = torch.zeros(len(files), dtype=torch.int64, device=stack.device)
    for block in _blocks(stack, files, items_at_once):
        lemmas, gold = stack.to_inflect(which, torch.from_numpy(block).to(stack.device), stack.longest(files, block))
        counted = torch.from_numpy(block >= 0).to(stack.device)
        correct += count_correct(decoder, lemmas, gold, counted)
    return [100.0 * right / len(stack.files[file]) for right, file in zip(correct.tolist(), files, strict=True)]


def inflect_all(
    decoder: Decoder, stack: Stack, files: Sequence[int], items_at_once: int | None = None
) -> list[list[str | None]]:
    """The forms each model gives for its file's items; None where it did not come to an end."""
    which = torch.tensor(files, device=stack.device)
    forms: list[list[str | None]] = [[None] * len(stack.files[file]) for file in files]
    for block in _blocks(stack, files, items_at_once):
        lemmas, _ = stack.to_inflect(which, torch.from_numpy(block).to(stack.device), stack.longest(files, block))
        written, finished = greedy(decoder, lemmas, torch.from_numpy(block >= 0).to(stack.device))
        for model, file in enumerate(files):
            spellings = stack.files[file].spellings
            rows, ended = written[model].tolist(), finished[model].tolist()
            for place, item in enumerate(block[model].tolist()):
                if item >= 0 and ended[place]:
                    forms[model][item] = "".join(spellings[number] for number in rows[place] if number != NOTHING)
    return forms


def _blocks(
    stack: Stack, files: Sequence[int], items_at_once: int | None
) -> "list[np.ndarray[Any, np.dtype[np.int64]]]":
    """All items of each model's file in blocks of like length, the long ones first. *Shape:* (M, B), -1 for none"""
    items_at_once = items_at_once or ITEMS_AT_ONCE.get(torch.device(stack.device).type, 96)
    most = max(len(stack.files[file]) for file in files)
    everything = np.full((len(files), most), -1, dtype=np.int64)
    for model, file in enumerate(files):
        order = np.argsort(-stack.files[file].lengths[LEMMA], kind="stable")
        everything[model, : len(order)] = order
    return [everything[:, start : start + items_at_once] for start in range(0, most, items_at_once)]
