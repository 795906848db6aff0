"""What decoding by NumPy is made of: a model, its recurrent cells, and hypotheses that attend to places of a source.

The equations of `layers/cells.py` for one model, without gradients.

Letters in shapes: B items, K hypotheses, N source symbols, A actions; others as in `systems`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reinflect.data.items import Item
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import Attention, System

Array = NDArray[np.float32]
Indices = NDArray[np.int64]
COPIED = 0
"""The action that writes the attended character, in every system."""


class NumpyWords:
    """A model that decodes by NumPy."""

    system: System
    end: int
    hypotheses: type["NumpyHypotheses"]

    def __init__(self, parameters: Mapping[str, Array], settings: Any, inventory: Inventory) -> None:
        self.parameters, self.settings, self.inventory = parameters, settings, inventory
        self.symbols = self.system.symbols(inventory)
        self.written = [symbol if len(symbol) == 1 else "" for symbol in self.system.choices(inventory).symbols]
        """What each action writes."""
        self.step = _coupled if settings.cell == "coupled" else _lstm
        self.embeddings: dict[str, Array] = {}
        """Of the symbols that an LSTM reads, where they are not those of the lemma. *Shapes:* (V, E)"""
        self._tables: dict[str, Array] = {}

    def start(self, items: Sequence[Item]) -> Any:
        return self.hypotheses(self, items)

    def projected(self, name: str, inputs: Array) -> Array:
        """W·x + b of an LSTM. *Shape:* (…, E) → (…, G)"""
        gates: Array = inputs @ self.parameters[f"{name}.input"] + self.parameters[f"{name}.bias"]
        return gates

    def gates(self, name: str, numbers: Indices) -> Array:
        """W·E(symbol) + b of an LSTM: of all symbols once, if many are read. *Shape:* (…) → (…, G)"""
        embedding = self.embeddings.get(name, self.parameters["embedding"])
        if name not in self._tables:
            if numbers.size < len(embedding):
                return self.projected(name, embedding[numbers])
            self._tables[name] = self.projected(name, embedding)
        return self._tables[name][numbers]

    def features(self, items: Sequence[Item]) -> Array:
        """f: an n-hot vector, or one embedding for each feature, row 0 for absent ones. *Shape:* (B, P or P·F)"""
        numbers = self.inventory.feature_numbers([item.features for item in items], self.settings)
        if self.settings.features != "embedded":
            return numbers
        rows = np.where(numbers > 0, np.arange(1, numbers.shape[1] + 1), 0)
        return self.parameters["features.embedding"][rows].reshape(len(items), -1)


class NumpyHypotheses:
    """Hypotheses of some items: at first one for each, without any action."""

    def __init__(self, words: Any, items: Sequence[Item]) -> None:
        self.words, self.parameters = words, dict[str, Array](words.parameters)
        self.sources = sources = words.system.sources(items, words.inventory, words.settings)
        self.lengths = np.array([len(source) for source in sources])
        self.symbols = np.zeros((len(sources), self.lengths.max()), dtype=np.int64)
        """The numbers of the sources' symbols, padded with 0. *Shape:* (B, N)"""
        self.real = np.arange(self.symbols.shape[1]) < self.lengths[:, np.newaxis]
        self.symbols[self.real] = words.symbols.numbers(symbol for source in sources for symbol in source)
        self.items, self.position = np.arange(len(sources)), np.zeros(len(sources), dtype=np.int64)
        """Of each hypothesis, its item and the attended symbol. *Shapes:* (K)"""

    def encoded(self) -> Array:
        """h_1 … h_n: a bidirectional LSTM over the source. *Shape:* (B, N, 2H)"""
        backward = self.words.gates("backward", self.mirrored(self.symbols))
        return self.read("", self.words.gates("forward", self.symbols), backward)

    def read(self, layer: str, forward: Array, backward: Array) -> Array:
        """The same from the gates of both directions. *Shape:* (B, N, G), (B, N, G) → (B, N, 2H)"""
        hidden = self.words.settings.hidden
        states = np.empty((*forward.shape[:2], 2 * hidden), dtype=forward.dtype)
        for name, gates, half in (("forward", forward, slice(hidden)), ("backward", backward, slice(hidden, None))):
            recurrent = self.parameters[f"{layer}{name}.recurrent"]
            output = memory = np.zeros((len(gates), hidden), dtype=gates.dtype)
            for now in range(gates.shape[1]):
                output, memory = self.words.step(gates[:, now], recurrent, output, memory)
                states[:, now, half] = output
        states[..., hidden:] = self.mirrored(states[..., hidden:])
        return states

    def mirrored(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Each source's rows from the last one back; padding comes last there too. *Shape:* (B, N, …) → (B, N, …)"""
        positions = (self.lengths[:, np.newaxis] - 1 - np.arange(rows.shape[1])).clip(min=0)
        reverse: NDArray[Any] = rows[np.arange(len(rows))[:, np.newaxis], positions]
        return reverse

    def attention(self) -> Attention:
        return Attention(int(self.position[0]))

    def keep(self, rows: Indices) -> None:
        self.items, self.position = self.items[rows], self.position[rows]

    def texts(self, actions: Indices) -> list[str]:
        """What an action in each hypothesis writes."""
        taken = zip(self.items.tolist(), self.position.tolist(), actions.tolist(), strict=True)
        return [
            self.sources[item][position] if action == COPIED else self.words.written[action]
            for item, position, action in taken
        ]


def log_softmax(logits: Array) -> Array:
    """The logarithms of probabilities, in the place of the logits. *Shape:* (K, A)"""
    logits -= logits.max(axis=1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logits


def _sigmoid(numbers: Array) -> Array:
    opened: Array = np.tanh(numbers * 0.5)  # exp would overflow
    opened *= 0.5
    opened += 0.5
    return opened


def _lstm(gates: Array, recurrent: Array, output: Array, memory: Array) -> tuple[Array, Array]:
    """One step: output and memory. *Shape:* gates (K, 4H), recurrent (H, 4H), output and memory (K, H)"""
    hidden, mixed = len(recurrent), output @ recurrent
    mixed += gates
    opened = _sigmoid(mixed[:, : 3 * hidden])
    enter, forget, release = opened[:, :hidden], opened[:, hidden : 2 * hidden], opened[:, 2 * hidden :]
    memory = forget * memory + enter * np.tanh(mixed[:, 3 * hidden :])
    return release * np.tanh(memory), memory


def _coupled(gates: Array, recurrent: Array, output: Array, memory: Array) -> tuple[Array, Array]:
    """One step: output and memory. *Shape:* gates (K, 3H), recurrent (H, 5H), output and memory (K, H)"""
    hidden = len(recurrent)
    mixed = gates + output @ recurrent[:, : 3 * hidden]
    enter, release, candidate = mixed[:, :hidden], mixed[:, hidden : 2 * hidden], mixed[:, 2 * hidden :]
    peep_enter, peep_release = recurrent[:, 3 * hidden : 4 * hidden], recurrent[:, 4 * hidden :]
    proposed: Array = np.tanh(candidate)
    memory = memory + _sigmoid(enter + memory @ peep_enter) * (proposed - memory)
    return _sigmoid(release + memory @ peep_release) * np.tanh(memory), memory
