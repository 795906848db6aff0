"""HAEM for one word by NumPy alone: the equations of `model.py` for one model and the hypotheses of one item.

Importing torch, or the first call of a compiled function, takes longer than inflecting many words this way.

Shapes: K hypotheses, N lemma positions, H hidden, G gates.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reinflect.data.items import Item
from reinflect.systems import haem as batch
from reinflect.systems.haem import HaemSettings
from reinflect.systems.symbols import Inventory

Array = NDArray[np.float32]
HALF = np.float32(0.5)


class HaemWord:
    """The hypotheses of one item: at first a single one, without any action."""

    end = batch.STOP_NUMBER

    def __init__(
        self, parameters: Mapping[str, Array], settings: HaemSettings, inventory: Inventory, item: Item
    ) -> None:
        self.parameters, self.step = parameters, _coupled if settings.cell == "coupled" else _lstm
        self.lemma, self.written = item.lemma, ("", "", "", *batch.actions(inventory).symbols[batch.FIRST_WRITE :])
        embedding, symbols = parameters["embedding"], batch.characters(inventory).numbers(item.lemma)
        self.symbols = np.array([*symbols, batch.UNKNOWN_NUMBER])
        """The lemma, and a symbol that no action reads at its end."""
        self.tables = {"written": embedding}
        if settings.history:
            own = parameters["action_embedding"]
            self.tables["history"] = np.concatenate([own, embedding[batch.FIRST_CHARACTER :]]) if settings.tied else own
        if settings.deletions:
            self.tables["deleted"] = embedding
        states = [self._encode("forward", embedding[symbols]), self._encode("backward", embedding[symbols[::-1]])[::-1]]
        attended = np.concatenate([np.concatenate(states, axis=1), parameters["encoder.empty"][np.newaxis]])
        entering = _features(parameters, settings, inventory, item) @ parameters["state.features"]
        self.attended = attended @ parameters["state.attended"] + (entering + parameters["state.bias"])
        """What the lemma's positions, the last one its end, add to s_t, with features and bias. *Shape:* (N + 1, H)"""
        self.position = np.zeros(1, dtype=np.int64)
        self.readers = {name: self._empty(name) for name in self.tables}
        """Of each LSTM what s_t reads, its output and its memory. *Shapes:* (3, K, H)"""

    def log_probabilities(self) -> Array:
        """log P over the valid actions, -inf for others. *Shape:* (K, A)"""
        parameters, left = self.parameters, self.position < len(self.lemma)
        state = self.attended[self.position]
        for name, reader in self.readers.items():
            state = state + reader[0] @ parameters[f"state.{name}"]
        logits: Array = np.maximum(state, 0) @ parameters["output.weights"] + parameters["output.bias"]
        logits[left, batch.STOP_NUMBER] = -np.inf
        logits[~left, batch.COPY_NUMBER] = logits[~left, batch.DELETE_NUMBER] = -np.inf
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return logits

    def advance(self, parents: Sequence[int], taken: Sequence[int]) -> list[str]:
        """Continue these hypotheses, which may repeat, by these actions; what each action writes."""
        chosen, numbers = list(parents), np.array(taken)
        before = self.position[chosen]
        copies, deletes = numbers == batch.COPY_NUMBER, numbers == batch.DELETE_NUMBER
        writes = numbers >= batch.FIRST_WRITE
        pushed = np.where(writes, numbers - (batch.FIRST_WRITE - batch.FIRST_CHARACTER), self.symbols[before])
        readers = {name: own[:, chosen] for name, own in self.readers.items()}
        if "history" in readers:
            readers["history"] = self._read("history", readers["history"], numbers)
        if "deleted" in readers:
            if writes.any():
                readers["deleted"] = np.where(writes[:, np.newaxis], self._empty("deleted"), readers["deleted"])
            readers["deleted"] = self._read("deleted", readers["deleted"], self.symbols[before], deletes)
        readers["written"] = self._read("written", readers["written"], pushed, copies | writes)
        self.readers, self.position = readers, before + (copies | deletes)
        return [
            self.lemma[place] if action == batch.COPY_NUMBER else self.written[action]
            for place, action in zip(before.tolist(), taken, strict=True)
        ]

    def _empty(self, name: str) -> Array:
        shown = self.parameters[f"{name}.empty"]
        return np.array([shown, np.zeros_like(shown), np.zeros_like(shown)])[:, np.newaxis]

    def _read(self, name: str, reader: Array, numbers: NDArray[Any], where: NDArray[Any] | None = None) -> Array:
        """An LSTM after one more symbol, for those hypotheses that have one."""
        if where is not None and not where.any():
            return reader
        gates = self.tables[name][numbers] @ self.parameters[f"{name}.input"] + self.parameters[f"{name}.bias"]
        output, memory = self.step(gates, self.parameters[f"{name}.recurrent"], reader[1], reader[2])
        after = np.array([output, output, memory])
        return after if where is None or where.all() else np.where(where[:, np.newaxis], after, reader)

    def _encode(self, name: str, inputs: Array) -> Array:
        """*Shape:* (N, E) → (N, H)"""
        recurrent = self.parameters[f"{name}.recurrent"]
        output = memory = np.zeros((1, len(recurrent)), dtype=np.float32)
        found = [output[:0]]
        for gates in inputs @ self.parameters[f"{name}.input"] + self.parameters[f"{name}.bias"]:
            output, memory = self.step(gates[np.newaxis], recurrent, output, memory)
            found.append(output)
        return np.concatenate(found)


def _features(parameters: Mapping[str, Array], settings: HaemSettings, inventory: Inventory, item: Item) -> Array:
    """f: an n-hot vector, or one embedding for each feature, row 0 for absent ones. *Shape:* (P or P·F)"""
    numbers: Array = inventory.feature_numbers([item.features], counts=settings.features == "counts")[0]
    if settings.features != "embedded":
        return numbers * np.float32(settings.feature_scale)
    rows: Array = parameters["features.embedding"][np.where(numbers > 0, np.arange(1, len(numbers) + 1), 0)]
    return rows.ravel()


def _sigmoid(numbers: Array) -> Array:
    opened: Array = np.tanh(numbers * HALF)  # exp would overflow
    opened *= HALF
    opened += HALF
    return opened


def _lstm(gates: Array, recurrent: Array, output: Array, memory: Array) -> tuple[Array, Array]:
    """One step: output and memory. *Shape:* gates (K, 4H), recurrent (H, 4H), output and memory (K, H)"""
    hidden, mixed = len(recurrent), gates + output @ recurrent
    opened = _sigmoid(mixed[:, : 3 * hidden])
    enter, forget, release = opened[:, :hidden], opened[:, hidden : 2 * hidden], opened[:, 2 * hidden :]
    memory = forget * memory + enter * np.tanh(mixed[:, 3 * hidden :])
    return release * np.tanh(memory), memory


def _coupled(gates: Array, recurrent: Array, output: Array, memory: Array) -> tuple[Array, Array]:
    """One step: output and memory. *Shape:* gates (K, 3H), recurrent (H, 5H), output and memory (K, H)"""
    hidden = len(recurrent)
    mixed: Array = gates + output @ recurrent[:, : 3 * hidden]
    enter, release, candidate = mixed[:, :hidden], mixed[:, hidden : 2 * hidden], mixed[:, 2 * hidden :]
    peep_enter, peep_release = recurrent[:, 3 * hidden : 4 * hidden], recurrent[:, 4 * hidden :]
    proposed: Array = np.tanh(candidate)
    memory = memory + _sigmoid(enter + memory @ peep_enter) * (proposed - memory)
    return _sigmoid(release + memory @ peep_release) * np.tanh(memory), memory
