"""HAEM: hard attention over the edit actions COPY, DELETE, WRITE and STOP (§4); also its equations by NumPy."""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.settings import Size
from reinflect.systems.oracle import COPY, DELETE, STOP
from reinflect.systems.symbols import UNKNOWN, Inventory, RecurrentSettings, Shape, Vocabulary, read_presets
from reinflect.systems.system import System
from reinflect.systems.tapes import haem_tapes
from reinflect.systems.words import Array, Indices, NumpyHypotheses, NumpyWords, log_softmax

SPECIALS = COPY, DELETE, STOP
COPY_NUMBER, DELETE_NUMBER, STOP_NUMBER, FIRST_WRITE = range(4)
UNKNOWN_NUMBER, FIRST_CHARACTER = 0, 1
"""Character k of the alphabet is number k + 1 as a character and number k + 3 as the action that writes it."""


class HaemSettings(RecurrentSettings, frozen=True, kw_only=True):
    tied: bool = False
    """Whether characters and the actions that write them share their embeddings."""
    history: bool = True
    """Whether the state sees LSTM^a, the actions so far."""
    deletions: bool = True
    """Whether the state sees LSTM^d, the characters deleted since the last WRITE."""
    history_hidden: Size = 100
    """The size of LSTM^a (H in the paper, 100 in its code)."""


@lru_cache(maxsize=256)
def characters(inventory: Inventory) -> Vocabulary:
    return Vocabulary.of((UNKNOWN,), inventory.characters)


@lru_cache(maxsize=256)
def actions(inventory: Inventory) -> Vocabulary:
    return Vocabulary.of(SPECIALS, inventory.characters)


def names(inventory: Inventory, settings: HaemSettings) -> dict[str, Sequence[Hashable]]:
    symbols = {"characters": characters(inventory).symbols, "actions": actions(inventory).symbols}
    return {**symbols, **settings.feature_names(inventory.atoms)}


def shapes(settings: HaemSettings) -> dict[str, Shape]:
    hidden, embedding = settings.hidden, settings.embedding

    def reader(name: str, size: int) -> dict[str, Shape]:
        further = {f"{name}.empty": Shape((size,), "embedding"), f"state.{name}": Shape((size, hidden))}
        return settings.lstm(name, embedding, size) | further

    # Tied: WRITE actions have their characters' embeddings, and only the other three have their own.
    action_rows = FIRST_WRITE if settings.tied else "actions"
    return {
        "embedding": Shape(("characters", embedding), "embedding"),
        **({"action_embedding": Shape((action_rows, embedding), "embedding")} if settings.history else {}),
        **settings.feature_shapes(),
        **settings.encoder(),
        "encoder.empty": Shape((2 * hidden,), "embedding"),
        **settings.lstm("written", embedding),
        "written.empty": Shape((hidden,), "embedding"),
        **(reader("history", settings.history_hidden) if settings.history else {}),
        **(reader("deleted", hidden) if settings.deletions else {}),
        "state.written": Shape((hidden, hidden)),
        "state.attended": Shape((2 * hidden, hidden)),
        "state.features": Shape((settings.feature_width, hidden)),
        "state.bias": Shape((hidden,), "zero"),
        "output.weights": Shape((hidden, "actions")),
        "output.bias": Shape(("actions",), "zero"),
    }


def bound(item: Item, alignment: Alignment) -> int:
    """A COPY is one action for two characters; any other character has its own, and STOP comes last."""
    return len(item.lemma) + len(item.form) + 1 - sum(x == y for x, y in alignment)


SYSTEM = System(
    name="haem",
    title="HAEM",
    colour="#c9571b",
    settings=HaemSettings,
    presets=read_presets(__name__, HaemSettings),
    shapes=shapes,
    names=names,
    outputs="actions",
    symbols=characters,
    choices=actions,
    tapes=lambda _, alignments, inventory: haem_tapes(alignments, characters(inventory), actions(inventory)),
    bound=bound,
    learner="reinflect.systems.haem.model:LEARNER",
    source_numbers=HaemSettings.source_numbers,
    words=lambda *model: HaemWords(*model),
)


class Reader:
    """An LSTM that reads symbol by symbol; until it has read one, s_t sees its `empty` vector. *Shapes:* (K, H)"""

    def __init__(self, words: "HaemWords", name: str, items: int) -> None:
        self.words, self.name = words, name
        self.recurrent, self.empty = words.parameters[f"{name}.recurrent"], words.parameters[f"{name}.empty"]
        self.visible = np.repeat(self.empty[np.newaxis], items, axis=0)
        self.output, self.memory = np.zeros_like(self.visible), np.zeros_like(self.visible)

    def keep(self, rows: Indices) -> None:
        self.visible, self.output, self.memory = self.visible[rows], self.output[rows], self.memory[rows]

    def read(self, numbers: Indices, where: NDArray[np.bool_]) -> None:
        """Read one more symbol in those hypotheses that have one."""
        rows = np.flatnonzero(where)
        if len(rows):
            gates = self.words.gates(self.name, numbers[rows])
            output, self.memory[rows] = self.words.step(gates, self.recurrent, self.output[rows], self.memory[rows])
            self.visible[rows] = self.output[rows] = output

    def forget(self, where: NDArray[np.bool_]) -> None:
        if where.any():
            self.visible[where] = self.empty
            self.output[where] = self.memory[where] = 0


class HaemHypotheses(NumpyHypotheses):
    def __init__(self, words: "HaemWords", items: Sequence[Item]) -> None:
        super().__init__(words, items)
        parameters = words.parameters
        entering = words.features(items) @ parameters["state.features"] + parameters["state.bias"]
        states = np.pad(self.encoded(), ((0, 0), (0, 1), (0, 0)))
        states[self.items, self.lengths] = parameters["encoder.empty"]
        self.attended = states @ parameters["state.attended"] + entering[:, np.newaxis]
        """What features and each position add to s_t; the last one is the end of the lemma. *Shape:* (B, N + 1, H)"""
        self.symbols = np.pad(self.symbols, ((0, 0), (0, 1)))  # no action reads the symbol past the end
        names = [name for name in ("written", "history", "deleted") if f"{name}.empty" in parameters]
        self.readers = {name: Reader(words, name, len(items)) for name in names}

    def log_probabilities(self) -> Array:
        """log P over the valid actions, -inf for others. *Shape:* (K, A)"""
        state = self.attended[self.items, self.position]
        for name, reader in self.readers.items():
            state += reader.visible @ self.parameters[f"state.{name}"]
        logits = np.maximum(state, 0) @ self.parameters["output.weights"] + self.parameters["output.bias"]
        left = self.position < self.lengths[self.items]
        logits[left, STOP_NUMBER] = -np.inf
        logits[~left, COPY_NUMBER] = logits[~left, DELETE_NUMBER] = -np.inf
        return log_softmax(logits)

    def keep(self, rows: Indices) -> None:
        super().keep(rows)
        for reader in self.readers.values():
            reader.keep(rows)

    def advance(self, actions: Indices) -> list[str]:
        texts, attended = self.texts(actions), self.symbols[self.items, self.position]
        copies, deletes, writes = actions == COPY_NUMBER, actions == DELETE_NUMBER, actions >= FIRST_WRITE
        if "history" in self.readers:
            self.readers["history"].read(actions, np.ones_like(writes))
        if "deleted" in self.readers:
            self.readers["deleted"].forget(writes)
            self.readers["deleted"].read(attended, deletes)
        pushed = np.where(writes, actions - (FIRST_WRITE - FIRST_CHARACTER), attended)
        self.readers["written"].read(pushed, copies | writes)
        self.position = self.position + (copies | deletes)
        return texts


class HaemWords(NumpyWords):
    system, end, hypotheses = SYSTEM, STOP_NUMBER, HaemHypotheses

    def __init__(self, *model: Any) -> None:
        super().__init__(*model)
        if self.settings.history:
            table, characters = self.parameters["action_embedding"], self.parameters["embedding"][FIRST_CHARACTER:]
            self.embeddings["history"] = np.concatenate([table, characters]) if self.settings.tied else table
