"""Greedy decoding: the most probable action, again and again, for all models and items at once."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from reinflect.systems.layers.batches import Lemmas
from reinflect.systems.layers.examples import LEMMA, NOTHING, Stack
from reinflect.systems.layers.states import select
from reinflect.systems.system import Decoder

LEAST_ACTIONS = 150
ENDLESS_RUN = 30
"""A character written so often in a row, and the lemma's length more, is filtered out anyway: no need to wait for the
cap. (A lemma that is itself one long run is no reason to filter.)"""
IDLE_ACTIONS = 20
"""An item that takes so many more actions than it can need, while its answers are counted, will not come to an end."""
LOOK_EVERY = 4
"""Steps between two looks at who has finished; each look waits for the device."""
ITEMS_AT_ONCE = 96
"""On a CPU more at once is no faster, and takes more memory."""
NUMBERS_AT_ONCE = 150_000_000
"""On a GPU, how much is decoded at once: characters of lemmas, of all models together, times the width of a state, of
which each has several. The fewer blocks there are the less the host has to launch."""


def places_at_once(hidden: int) -> int:
    """On a GPU, how many characters of lemmas, of all models together, are decoded at once."""
    return max(1, NUMBERS_AT_ONCE // hidden)


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

    def step(self) -> tuple[Tensor, Tensor, Tensor]:
        """Take the best action everywhere; what it wrote, whether it was the last, and its log-probability.

        *Shape:* (M, B)
        """
        scores, self.state = self.decoder.log_probabilities(self.state)
        best, actions = scores.max(dim=-1)
        written, self.state = self.decoder.advance(self.state, actions)
        ends = self.running & (actions == self.decoder.end)
        return torch.where(self.running, written, NOTHING), ends, torch.where(self.running, best, 0.0)

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
def greedy(decoder: Decoder, lemmas: Lemmas, asked: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What greedy decoding writes at each step (-1: nothing), whether it came to an end by itself, how probable it is.

    *Shape:* asked (M, B) → (M, B, steps), (M, B), (M, B)
    """
    models, items = lemmas.lengths.shape
    caps = most_actions(lemmas.lengths)
    cap = int(caps.max())
    written = lemmas.lengths.new_full((models, items, cap), NOTHING)
    finished, total = torch.zeros_like(asked), torch.zeros_like(asked, dtype=torch.float64)
    places = torch.arange(items, device=finished.device).repeat(models, 1)
    last, run, endless = torch.full_like(places, NOTHING), torch.zeros_like(places), ENDLESS_RUN + lemmas.lengths
    rows = _Rows(decoder, lemmas, asked, places=places, last=last, run=run, endless=endless, caps=caps)
    for step in range(cap):
        new, ends, best = rows.step()
        places, last, run = rows.numbers["places"], rows.numbers["last"], rows.numbers["run"]
        written[:, :, step].scatter_(1, places, new)
        finished.scatter_(1, places, finished.gather(1, places) | ends)
        total.scatter_add_(1, places, best.double())
        wrote = new != NOTHING
        run = torch.where(wrote, torch.where(new == last, run + 1, 1), run)
        rows.numbers |= {"run": run, "last": torch.where(wrote, new, last)}
        going_on = (run < rows.numbers["endless"]) & (step + 1 < rows.numbers["caps"])
        rows.running = rows.running & ~ends & going_on
        if step % LOOK_EVERY == LOOK_EVERY - 1 and not rows.drop_finished():
            return written[:, :, : step + 1], finished, total
    return written, finished, total


@torch.no_grad()
def count_correct(decoder: Decoder, lemmas: Lemmas, gold: Tensor, counted: Tensor) -> Tensor:
    """How many items each model gets right; an item is dropped as soon as what it writes leaves its gold form.

    The filter for repeats plays no part here: a form that it would replace counts as it was written. And an item is
    given up when it has taken many more actions than reading its lemma and writing its form can need: HACM, before it
    has learnt to end, stays at the end of the lemma for ever.

    *Shape:* gold (M, B, L), counted (M, B) → (M)
    """
    place = torch.zeros_like(lemmas.lengths)
    correct = torch.zeros_like(place[:, 0])
    needed = lemmas.lengths + (gold == NOTHING).int().argmax(dim=2)
    caps = torch.minimum(most_actions(lemmas.lengths), needed + IDLE_ACTIONS)
    rows = _Rows(decoder, lemmas, counted, place=place, gold=gold, caps=caps)
    for step in range(int(caps.max())):
        new, ends, _ = rows.step()
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
    for block in blocks(decoder, stack, files, items_at_once):
        lemmas, gold = stack.to_inflect(which, torch.from_numpy(block).to(stack.device), stack.longest(files, block))
        counted = torch.from_numpy(block >= 0).to(stack.device)
        correct += count_correct(decoder, lemmas, gold, counted)
    return [100.0 * right / len(stack.files[file]) for right, file in zip(correct.tolist(), files, strict=True)]


class Answers(NamedTuple):
    """What a model says of the items of a file."""

    forms: list[str | None]
    """None where it did not come to an end."""
    log_probabilities: list[float]
    """Of all actions taken."""


def answer_all(decoder: Decoder, stack: Stack, files: Sequence[int], items_at_once: int | None = None) -> list[Answers]:
    """What each model says of its file's items, and how sure it is."""
    which = torch.tensor(files, device=stack.device)
    forms: list[list[str | None]] = [[None] * len(stack.files[file]) for file in files]
    sure = [np.zeros(len(stack.files[file])) for file in files]
    for block in blocks(decoder, stack, files, items_at_once):
        lemmas, _ = stack.to_inflect(which, torch.from_numpy(block).to(stack.device), stack.longest(files, block))
        said = greedy(decoder, lemmas, torch.from_numpy(block >= 0).to(stack.device))
        written, finished, total = (one.cpu().numpy() for one in said)
        for model, file in enumerate(files):
            asked = np.flatnonzero(block[model] >= 0)
            items = block[model][asked]
            sure[model][items] = total[model][asked]
            texts = texts_of(written[model][asked], stack.files[file].spellings)
            for item, text, ended in zip(items.tolist(), texts, finished[model][asked].tolist(), strict=True):
                forms[model][item] = text if ended else None
    return [Answers(own, scores.tolist()) for own, scores in zip(forms, sure, strict=True)]


def texts_of(rows: "np.ndarray[Any, np.dtype[np.int64]]", spellings: Sequence[str]) -> list[str]:
    """What the numbers of each row spell. *Shape:* (B, steps)"""
    wrote = rows != NOTHING
    letters = [spellings[number] for number in rows[wrote].tolist()]
    ends = np.cumsum(wrote.sum(axis=1)).tolist()
    return ["".join(letters[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def blocks(
    decoder: Decoder, stack: Stack, files: Sequence[int], items_at_once: int | None, width: int = 1
) -> "list[np.ndarray[Any, np.dtype[np.int64]]]":
    """All items of each model's file in blocks of like length, the long ones first. *Shape:* (M, B), -1 for none

    An item that is decoded in so many ways at once, its `width`, takes as much memory as that many.
    """
    most = max(len(stack.files[file]) for file in files)
    everything = np.full((len(files), most), -1, dtype=np.int64)
    longest = np.ones(most, dtype=np.int64)
    for model, file in enumerate(files):
        lengths = stack.files[file].lengths[LEMMA]
        order = np.argsort(-lengths, kind="stable")
        everything[model, : len(order)] = order
        longest[: len(order)] = np.maximum(longest[: len(order)], lengths[order])
    if items_at_once is None and torch.device(stack.device).type == "cpu":
        items_at_once = max(1, 2 * ITEMS_AT_ONCE // (1 + width))  # fewer would be slower, and each step costs calls
    places = places_at_once(decoder.settings.hidden)
    found, start = [], 0
    while start < most:
        size = items_at_once or max(1, places // (len(files) * width * int(longest[start])))
        found.append(everything[:, start : start + size])
        start += size
    return found
