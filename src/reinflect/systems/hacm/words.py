"""HACM by NumPy: the equations of `model.py` for many items of one model."""

from collections.abc import Sequence

import numpy as np

from reinflect.data.items import Item
from reinflect.systems.hacm import BEGIN_NUMBER, END_NUMBER, STEP_NUMBER, SYSTEM, UNKNOWN_NUMBER
from reinflect.systems.system import Attention
from reinflect.systems.words import Array, Indices, NumpyHypotheses, NumpyWords, log_softmax


class HacmHypotheses(NumpyHypotheses):
    def __init__(self, words: "HacmWords", items: Sequence[Item]) -> None:
        super().__init__(words, items)
        states, features = self.encoded(), words.features(items)[:, np.newaxis]
        self.gates = self._entering("decoder", states, features)
        """What the lemma's positions and the features add to the gates. *Shape:* (B, N, G)"""
        if words.settings.copy_mixture:
            self.copy = self._entering("copy", states, features) + self.parameters["copy.bias"]
            """What they add to the logit of w. *Shape:* (B, N, 1)"""
        self.previous = np.full(len(items), BEGIN_NUMBER)
        self.output = self.memory = np.zeros_like(states[:, 0, : words.settings.hidden])

    def _entering(self, name: str, states: Array, features: Array) -> Array:
        by_state: Array = states @ self.parameters[f"{name}.attended"]
        by_features: Array = features @ self.parameters[f"{name}.features"]
        return by_state + by_features

    def log_probabilities(self) -> Array:
        """log P(a); the copy mixture copies an unknown x_i for certain, as action 0. *Shape:* (K, A)"""
        gates = self.words.gates("decoder", self.previous) + self.gates[self.items, self.position]
        recurrent = self.parameters["decoder.recurrent"]
        self.output, self.memory = self.words.step(gates, recurrent, self.output, self.memory)
        scores: Array = self.output @ self.parameters["output.weights"] + self.parameters["output.bias"]
        scores[:, [UNKNOWN_NUMBER, BEGIN_NUMBER]] = -np.inf
        log_softmax(scores)
        if self.words.settings.copy_mixture:
            mixture, attended = self._mixture(), self.symbols[self.items, self.position]
            scores -= np.logaddexp(0, -mixture)[:, np.newaxis]
            rows = np.arange(len(scores))
            scores[rows, attended] = np.logaddexp(scores[rows, attended], -np.logaddexp(0, mixture))
            scores[:, BEGIN_NUMBER] = -np.inf
            unknown = attended == UNKNOWN_NUMBER
            scores[unknown] = -np.inf
            scores[unknown, UNKNOWN_NUMBER] = 0
        return scores

    def _mixture(self) -> Array:
        """The logit of w, after the LSTM's step. *Shape:* (K)"""
        previous = self.parameters["embedding"][self.previous] @ self.parameters["copy.previous"]
        by_state = self.output @ self.parameters["copy.state"]
        mixture: Array = (self.copy[self.items, self.position] + previous + by_state)[:, 0]
        return mixture

    def attention(self) -> Attention:
        gate = float(np.exp(-np.logaddexp(0, -self._mixture()[0]))) if self.words.settings.copy_mixture else None
        return Attention(int(self.position[0]), gate)

    def keep(self, rows: Indices) -> None:
        super().keep(rows)
        self.previous, self.output, self.memory = self.previous[rows], self.output[rows], self.memory[rows]

    def advance(self, actions: Indices) -> list[str]:
        texts, unknown = self.texts(actions), actions == UNKNOWN_NUMBER
        moved = self.position + (unknown | (actions == STEP_NUMBER))
        self.position = np.minimum(moved, self.lengths[self.items] - 1)
        self.previous = np.where(unknown, STEP_NUMBER, actions)
        return texts


class HacmWords(NumpyWords):
    system, end, hypotheses = SYSTEM, END_NUMBER, HacmHypotheses
