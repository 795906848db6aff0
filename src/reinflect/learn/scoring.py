"""Decoding by torch: of dev items in training, for a whole fleet at once, and of systems without NumPy."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reinflect.data.items import Item
from reinflect.decode.search import ENDLESS_RUN, LEAST_ACTIONS, NEVER, Predictions
from reinflect.ensemble.strategies import Numbers
from reinflect.layers.examples import LEMMA, NOTHING, Examples, Lemmas, Stack, select
from reinflect.layers.operations import one_thread
from reinflect.layers.parameters import Parameters
from reinflect.settings import Settings
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import Attention, Decoder, Hypotheses, System

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
    arrays = [{name: torch.tensor(array) for name, array in numbers.items()} for _, numbers in models]
    parameters = Parameters.join(system.shapes(settings), sizes, arrays, device)
    outputs = parameters.sizes[system.outputs]
    return parameters, torch.stack([system.equations.allowed(model, outputs) for model in sizes]).to(device)


def places_at_once(hidden: int) -> int:
    """On a GPU, how many lemma characters, of all models together, are decoded at once."""
    return max(1, NUMBERS_AT_ONCE // hidden)


def most_actions(lengths: Tensor) -> Tensor:
    """The caps on actions; they do not depend on the other items of the batch. *Shape:* (M, B) → (M, B)"""
    return (4 * lengths + 50).clamp(min=LEAST_ACTIONS)


def _steps(
    decoder: Decoder, lemmas: Lemmas, leave: int, numbers: dict[str, Tensor]
) -> Iterator[tuple[int, Tensor, Tensor, Tensor]]:
    """Take the best action of every item until no more than `leave` items of each model are running.

    Yields the number of the step, and of each action what it writes, whether it is the last, and its log-probability.
    `numbers` are of the items that are still there; `running` and `caps` among them. *Shapes:* (M, B)
    """
    state = decoder.start(lemmas)
    for step in range(int(numbers["caps"].max())):
        scores, state = decoder.log_probabilities(state)
        best, actions = scores.max(dim=-1)
        written, state = decoder.advance(state, actions)
        running = numbers["running"]
        ends = running & (actions == decoder.end)
        yield step, torch.where(running, written, NOTHING), ends, torch.where(running, best, 0.0)
        running = numbers["running"] = numbers["running"] & ~ends & (step + 1 < numbers["caps"])
        if step % LOOK_EVERY == LOOK_EVERY - 1:
            most = int(running.sum(dim=1).max())
            if most <= leave:
                return
            if (
                most <= 0.7 * running.shape[1]
            ):  # continue with this number of items of each model, first those that are running
                chosen = torch.argsort(running.int(), dim=1, descending=True, stable=True)[:, :most]
                state, remaining = select((state, numbers), chosen)
                numbers.update(remaining)


@torch.no_grad()
def greedy(decoder: Decoder, lemmas: Lemmas, items: Tensor, leave: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What greedy decoding writes at each step (-1: nothing), whether it ended, its log-probability, and which items
    were left. *Shape:* items (M, B) → (M, B, steps), (M, B), (M, B), (M, B)
    """
    caps, step = most_actions(lemmas.lengths), 0
    written = lemmas.lengths.new_full((*items.shape, int(caps.max())), NOTHING)
    finished, total = torch.zeros_like(items), torch.zeros_like(items, dtype=torch.float64)
    places = torch.arange(items.shape[1], device=items.device).repeat(len(items), 1)
    numbers = {"running": items, "caps": caps, "places": places, "endless": ENDLESS_RUN + lemmas.lengths}
    numbers |= {"last": torch.full_like(places, NOTHING), "run": torch.zeros_like(places)}
    for step, new, ends, best in _steps(decoder, lemmas, leave, numbers):
        places, wrote = numbers["places"], new != NOTHING
        written[:, :, step].scatter_(1, places, new)
        finished.scatter_(1, places, finished.gather(1, places) | ends)
        total.scatter_add_(1, places, best.double())
        again = torch.where(new == numbers["last"], numbers["run"] + 1, 1)
        numbers["run"] = torch.where(wrote, again, numbers["run"])
        numbers["last"] = torch.where(wrote, new, numbers["last"])
        numbers["running"] = numbers["running"] & (numbers["run"] < numbers["endless"])
    left = torch.zeros_like(items).scatter_(1, numbers["places"], numbers["running"])
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
    numbers = {"running": counted, "caps": caps, "column": column, "gold": gold, "places": places}
    for _, new, ends, _ in _steps(decoder, lemmas, leave, numbers):
        column, gold = numbers["column"], numbers["gold"]
        expected = gold.gather(2, column.unsqueeze(-1)).squeeze(-1)
        correct += (ends & (expected == NOTHING)).sum(dim=1)
        wrote = new != NOTHING
        numbers["running"] = numbers["running"] & (~wrote | (new == expected))
        numbers["column"] = (column + wrote).clamp_(max=gold.shape[2] - 1)
    return correct, torch.zeros_like(counted).scatter_(1, numbers["places"], numbers["running"])


def accuracies(decoder: Decoder, stack: Stack, files: Sequence[int], items_at_once: int | None = None) -> list[float]:
    """The accuracy of each model on its file, in per cent."""
    correct = torch.zeros(len(files), dtype=torch.int64, device=stack.device)
    left: list[list[int]] = [[] for _ in files]
    for items, lemmas, gold, counted, leave in _batches(decoder, stack, files, items_at_once, left):
        right, unfinished = count_correct(decoder, lemmas, gold, counted, leave)
        correct += right
        _add_left(left, items, unfinished, leave)
    return [100.0 * right / len(stack.files[file]) for right, file in zip(correct.tolist(), files, strict=True)]


def predict_all(
    decoder: Decoder, stack: Stack, files: Sequence[int], items_at_once: int | None = None
) -> list[Predictions]:
    """The predictions of each model for its file, with their log-probabilities."""
    forms: list[list[str | None]] = [[None] * len(stack.files[file]) for file in files]
    scores = [np.zeros(len(stack.files[file])) for file in files]
    left: list[list[int]] = [[] for _ in files]
    for batch, lemmas, _, decoded, leave in _batches(decoder, stack, files, items_at_once, left):
        *outcome, unfinished = greedy(decoder, lemmas, decoded, leave)
        _add_left(left, batch, unfinished, leave)
        written, finished, total = (array.cpu().numpy() for array in outcome)
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


def _batches(
    decoder: Decoder, stack: Stack, files: Sequence[int], items_at_once: int | None, left: Sequence[Sequence[int]]
) -> Iterator[tuple[NDArray[np.int64], Lemmas, Tensor, Tensor, int]]:
    """All items of each model's file in batches of similar length, the longest first; then those that are in `left`.

    A batch: the numbers of the items (-1 for none), their lemmas, their gold forms, whether there is an item, and the
    number of items of a model that may be left. *Shape:* items (M, B), gold (M, B, L)
    """
    on_cpu, which = torch.device(stack.device).type == "cpu", torch.tensor(files, device=stack.device)
    orders = [np.argsort(-stack.files[file].lengths[LEMMA], kind="stable") for file in files]
    for share in (STRAGGLERS if on_cpu else 0.0, 0.0):
        most = max(map(len, orders))
        everything = np.full((len(orders), most), -1, dtype=np.int64)
        longest = np.ones(most, dtype=np.int64)
        for row, file, order in zip(everything, files, orders, strict=True):
            row[: len(order)] = order
            longest[: len(order)] = np.maximum(longest[: len(order)], stack.files[file].lengths[LEMMA][order])
        start = 0
        while start < most:
            places = len(orders) * int(longest[start])
            fitting = ITEMS_AT_ONCE if on_cpu else places_at_once(decoder.settings.hidden) // places
            items = everything[:, start : start + (items_at_once or max(1, fitting))]
            lengths, numbers = stack.longest(files, items), torch.from_numpy(items).to(stack.device)
            yield items, *stack.to_inflect(which, numbers, lengths), numbers >= 0, int(share * items.shape[1])
            start += items.shape[1]
        orders = [np.array(items, dtype=np.int64) for items in left]


def _add_left(left: Sequence[list[int]], items: NDArray[np.int64], unfinished: Tensor, leave: int) -> None:
    """Have these items of a batch decoded again, if any may be left. *Shape:* (M, B)"""
    if leave:
        for of_model, numbers, chosen in zip(left, items, unfinished.numpy(), strict=True):
            of_model.extend(numbers[chosen].tolist())


IMPOSSIBLE = -1e8
"""Actions that are not allowed have log-probabilities far below this."""


class TorchWords:
    """`Words` of a system that decodes by torch alone, such as one of another package."""

    def __init__(self, system: System, parameters: Numbers, settings: Settings, inventory: Inventory) -> None:
        self.system, self.inventory, self.settings = system, inventory, settings
        model, allowed = joined(system, settings, [(inventory, parameters)], "cpu")
        self.dtype, self.decoder = model.flat.dtype, system.equations.decoder(model, settings, allowed)
        self.end: int = self.decoder.end

    def start(self, items: Sequence[Item]) -> Hypotheses:
        return TorchHypotheses(self, items)


class TorchHypotheses:
    @one_thread()
    def __init__(self, words: TorchWords, items: Sequence[Item]) -> None:
        examples = Examples.to_inflect(words.system, items, words.inventory, words.settings)
        stack, numbers = Stack([examples], dtype=words.dtype), torch.arange(len(items)).unsqueeze(0)
        lemmas, _ = stack.to_inflect(torch.tensor([0]), numbers, stack.longest([0], numbers.numpy()))
        self.decoder: Any = words.decoder
        self.state, self.spellings = self.decoder.start(lemmas), examples.spellings
        self.sources = words.system.sources(items, words.inventory, words.settings)
        self.lengths = lemmas.lengths[0].numpy()

    @one_thread()
    def log_probabilities(self) -> NDArray[np.float32]:
        scores, self.state = self.decoder.log_probabilities(self.state)
        return np.where(scores[0] < IMPOSSIBLE, np.float32(NEVER), scores[0])

    def attention(self) -> Attention:
        attention: Attention = self.decoder.focus(self.state)
        return attention

    def keep(self, rows: NDArray[np.int64]) -> None:
        self.state = select(self.state, torch.from_numpy(rows).unsqueeze(0))

    @one_thread()
    def advance(self, actions: NDArray[np.int64]) -> list[str]:
        written, self.state = self.decoder.advance(self.state, torch.from_numpy(actions).unsqueeze(0))
        return ["" if number == NOTHING else self.spellings[number] for number in written[0].tolist()]
