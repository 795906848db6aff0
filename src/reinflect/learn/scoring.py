"""Greedy decoding of dev items in training, for all models and items of a fleet at once."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reinflect.decode.search import ENDLESS_RUN, LEAST_ACTIONS, Predictions
from reinflect.ensemble.member import Numbers
from reinflect.layers.examples import LEMMA, NOTHING, Lemmas, Stack, select
from reinflect.layers.parameters import Parameters
from reinflect.settings import Settings
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import Decoder, System

IDLE_ACTIONS = 20
"""While right answers are counted, an item that takes this many more actions than it can need is given up."""
LOOK_EVERY = 4
"""Steps between two checks for finished items; each check waits for the device."""
ITEMS_AT_ONCE = 200
"""On a CPU: smaller batches have more steps in all, larger ones leave the cache."""
STRAGGLERS = 1 / 12
"""On a CPU, the share of a batch's items that may be running when it ends. The last ones of all batches are decoded
again together, so that a few items that come to no end do not make every batch long."""
NUMBERS_AT_ONCE = 150_000_000
"""On a GPU, the size of a batch: lemma characters of all models together times the width of the decoder state. Fewer
batches mean fewer kernel launches."""


def joined(
    system: System, settings: Settings, models: Sequence[tuple[Inventory, Numbers]], device: torch.device | str
) -> tuple[Parameters, Tensor]:
    """The parameters of models of one system that may come from different fleets, and their valid outputs."""
    sizes = [system.sizes(inventory, settings) for inventory, _ in models]
    arrays = [{name: torch.from_numpy(array) for name, array in numbers.items()} for _, numbers in models]
    fleet = Parameters.join(system.shapes(settings), sizes, arrays)
    allowed = system.equations.allowed_outputs(sizes, fleet.sizes[system.outputs])
    return Parameters(fleet.shapes, fleet.sizes, fleet.flat.to(device)), allowed.to(device)


def places_at_once(hidden: int) -> int:
    """On a GPU, how many lemma characters, of all models together, are decoded at once."""
    return max(1, NUMBERS_AT_ONCE // hidden)


def most_actions(lengths: Tensor) -> Tensor:
    """The caps on actions; they do not depend on the other items of the batch. *Shape:* (M, B) → (M, B)"""
    return (4 * lengths + 50).clamp(min=LEAST_ACTIONS)


class _Unfinished:
    """The items that are still being decoded: their decoder state and their numbers."""

    def __init__(
        self, decoder: Decoder, lemmas: Lemmas, running: Tensor, leave: int, caps: Tensor, **numbers: Tensor
    ) -> None:
        """`leave`: how many items of each model may be running at the end."""
        self.decoder, self.running, self.leave, self.numbers = decoder, running, leave, {"caps": caps, **numbers}
        self.state: Any = decoder.start(lemmas)

    def steps(self) -> Iterator[tuple[int, Tensor, Tensor, Tensor]]:
        """Take the best action of every item until none is running: the number of the step, and of each action what it
        writes, whether it is the last, and its log-probability. *Shape:* (M, B)
        """
        for step in range(int(self.numbers["caps"].max())):
            scores, self.state = self.decoder.log_probabilities(self.state)
            best, actions = scores.max(dim=-1)
            written, self.state = self.decoder.advance(self.state, actions)
            ends = self.running & (actions == self.decoder.end)
            yield step, torch.where(self.running, written, NOTHING), ends, torch.where(self.running, best, 0.0)
            self.running = self.running & ~ends & (step + 1 < self.numbers["caps"])
            if step % LOOK_EVERY == LOOK_EVERY - 1:
                most = int(self.running.sum(dim=1).max())
                if most <= self.leave:
                    return
                if most <= 0.7 * self.running.shape[1]:
                    self._drop_finished(most)

    def _drop_finished(self, most: int) -> None:
        """Continue with so many items of each model, first those that are running."""
        chosen = torch.argsort(self.running.int(), dim=1, descending=True, stable=True)[:, :most]
        self.state, self.running, self.numbers = select((self.state, self.running, self.numbers), chosen)


@torch.no_grad()
def greedy(decoder: Decoder, lemmas: Lemmas, items: Tensor, leave: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What greedy decoding writes at each step (-1: nothing), whether it ended, its log-probability, and which items
    were left. *Shape:* items (M, B) → (M, B, steps), (M, B), (M, B), (M, B)
    """
    caps = most_actions(lemmas.lengths)
    written = lemmas.lengths.new_full((*items.shape, int(caps.max())), NOTHING)
    finished, total = torch.zeros_like(items), torch.zeros_like(items, dtype=torch.float64)
    places = torch.arange(items.shape[1], device=items.device).repeat(len(items), 1)
    last, run, endless = torch.full_like(places, NOTHING), torch.zeros_like(places), ENDLESS_RUN + lemmas.lengths
    active = _Unfinished(decoder, lemmas, items, leave, caps, places=places, last=last, run=run, endless=endless)
    step = 0
    for step, new, ends, best in active.steps():
        numbers = active.numbers
        places, wrote = numbers["places"], new != NOTHING
        written[:, :, step].scatter_(1, places, new)
        finished.scatter_(1, places, finished.gather(1, places) | ends)
        total.scatter_add_(1, places, best.double())
        again = torch.where(new == numbers["last"], numbers["run"] + 1, 1)
        numbers["run"] = torch.where(wrote, again, numbers["run"])
        numbers["last"] = torch.where(wrote, new, numbers["last"])
        active.running = active.running & (numbers["run"] < numbers["endless"])
    left = torch.zeros_like(items).scatter_(1, active.numbers["places"], active.running)
    return written[:, :, : step + 1], finished, total, left


@torch.no_grad()
def count_correct(
    decoder: Decoder, lemmas: Lemmas, gold: Tensor, counted: Tensor, leave: int = 0
) -> tuple[Tensor, Tensor]:
    """How many items each model gets right, without the filter for repeats, and which items were left.

    An item is dropped as soon as its output differs from its gold form, or when it has taken many more actions than
    reading its lemma and writing its form can need: HACM, before it has learnt to end, never leaves the end of the
    lemma. *Shape:* gold (M, B, L), counted (M, B) → (M), (M, B)
    """
    column = torch.zeros_like(lemmas.lengths)
    places = torch.arange(column.shape[1], device=column.device).repeat(len(column), 1)
    correct = torch.zeros_like(column[:, 0])
    needed = lemmas.lengths + (gold == NOTHING).int().argmax(dim=2)
    caps = torch.minimum(most_actions(lemmas.lengths), needed + IDLE_ACTIONS)
    active = _Unfinished(decoder, lemmas, counted, leave, caps, column=column, gold=gold, places=places)
    for _, new, ends, _ in active.steps():
        column, gold = active.numbers["column"], active.numbers["gold"]
        expected = gold.gather(2, column.unsqueeze(-1)).squeeze(-1)
        correct += (ends & (expected == NOTHING)).sum(dim=1)
        wrote = new != NOTHING
        active.running = active.running & (~wrote | (new == expected))
        active.numbers["column"] = (column + wrote).clamp_(max=gold.shape[2] - 1)
    return correct, torch.zeros_like(counted).scatter_(1, active.numbers["places"], active.running)


def accuracies(decoder: Decoder, stack: Stack, files: Sequence[int], items_at_once: int | None = None) -> list[float]:
    """The accuracy of each model on its file, in per cent."""
    correct = torch.zeros(len(files), dtype=torch.int64, device=stack.device)
    rounds = _Rounds(decoder, stack, files, items_at_once)
    for items, lemmas, gold, counted, leave in rounds:
        right, left = count_correct(decoder, lemmas, gold, counted, leave)
        correct += right
        if leave:
            rounds.leave(items, left.numpy())
    return [100.0 * right / len(stack.files[file]) for right, file in zip(correct.tolist(), files, strict=True)]


def predict_all(
    decoder: Decoder, stack: Stack, files: Sequence[int], items_at_once: int | None = None
) -> list[Predictions]:
    """The predictions of each model for its file, with their log-probabilities."""
    forms: list[list[str | None]] = [[None] * len(stack.files[file]) for file in files]
    scores = [np.zeros(len(stack.files[file])) for file in files]
    rounds = _Rounds(decoder, stack, files, items_at_once)
    for batch, lemmas, _, decoded, leave in rounds:
        written, finished, total, left = (array.cpu().numpy() for array in greedy(decoder, lemmas, decoded, leave))
        if leave:
            rounds.leave(batch, left)
        for model, file in enumerate(files):
            places = np.flatnonzero(batch[model] >= 0)
            items = batch[model][places]
            scores[model][items] = total[model][places]
            texts = _texts(written[model][places], stack.files[file].spellings)
            for item, text, ended in zip(items.tolist(), texts, finished[model][places].tolist(), strict=True):
                forms[model][item] = text if ended else None
    return [Predictions(of_model, score.tolist()) for of_model, score in zip(forms, scores, strict=True)]


def _texts(written: NDArray[np.int64], spellings: Sequence[str]) -> list[str]:
    """The text that each item's numbers spell. *Shape:* (B, steps)"""
    wrote = written != NOTHING
    letters = [spellings[number] for number in written[wrote].tolist()]
    ends = np.cumsum(wrote.sum(axis=1)).tolist()
    return ["".join(letters[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


class _Rounds:
    """All items of each model's file in batches of similar length, the longest first; then the items that were left.

    A batch: the numbers of the items (-1 for none), their lemmas, their gold forms, whether there is an item, and the
    number of items of a model that may be left. *Shape:* items (M, B), gold (M, B, L)
    """

    def __init__(self, decoder: Decoder, stack: Stack, files: Sequence[int], items_at_once: int | None) -> None:
        self.stack, self.files, self.items_at_once = stack, list(files), items_at_once
        self.on_cpu, self.places = torch.device(stack.device).type == "cpu", places_at_once(decoder.settings.hidden)
        self._left: list[list[int]] = [[] for _ in files]

    def __iter__(self) -> Iterator[tuple[NDArray[np.int64], Lemmas, Tensor, Tensor, int]]:
        orders = [np.argsort(-self.stack.files[file].lengths[LEMMA], kind="stable") for file in self.files]
        for batch in self._batches(orders):
            yield *batch, int(STRAGGLERS * batch[0].shape[1]) if self.on_cpu else 0
        if any(self._left):
            for batch in self._batches([np.array(items, dtype=np.int64) for items in self._left]):
                yield *batch, 0

    def _batches(
        self, orders: Sequence[NDArray[np.int64]]
    ) -> Iterator[tuple[NDArray[np.int64], Lemmas, Tensor, Tensor]]:
        stack, most = self.stack, max(map(len, orders))
        everything = np.full((len(orders), most), -1, dtype=np.int64)
        longest = np.ones(most, dtype=np.int64)
        for row, file, order in zip(everything, self.files, orders, strict=True):
            row[: len(order)] = order
            longest[: len(order)] = np.maximum(longest[: len(order)], stack.files[file].lengths[LEMMA][order])
        start, which = 0, torch.tensor(self.files, device=stack.device)
        while start < most:
            fitting = ITEMS_AT_ONCE if self.on_cpu else self.places // (len(orders) * int(longest[start]))
            items = everything[:, start : start + (self.items_at_once or max(1, fitting))]
            lengths, numbers = stack.longest(self.files, items), torch.from_numpy(items).to(stack.device)
            yield items, *stack.to_inflect(which, numbers, lengths), numbers >= 0
            start += items.shape[1]

    def leave(self, items: NDArray[np.int64], left: NDArray[np.bool_]) -> None:
        """Decode these items of a batch again. *Shape:* (M, B)"""
        for of_model, numbers, chosen in zip(self._left, items, left, strict=True):
            of_model.extend(numbers[chosen].tolist())
