"""HACM: hard attention with a copy mixture over WRITE and STEP (§3); also its equations by NumPy."""

from collections.abc import Hashable, Sequence
from functools import lru_cache

import msgspec
import numpy as np

from reinflect.data.items import Item
from reinflect.systems.oracle import BEGIN, END, STEP
from reinflect.systems.symbols import UNKNOWN, Inventory, RecurrentSettings, Shape, Vocabulary, read_presets
from reinflect.systems.system import Attention, System
from reinflect.systems.tapes import hacm_tapes
from reinflect.systems.words import Array, Indices, NumpyHypotheses, NumpyWords, log_softmax

SPECIALS = UNKNOWN, BEGIN, END, STEP
UNKNOWN_NUMBER, BEGIN_NUMBER, END_NUMBER, STEP_NUMBER = range(4)


class HacmSettings(RecurrentSettings, frozen=True, kw_only=True):
    copy_mixture: bool = msgspec.field(default=True, name="copy")
    """Whether to mix copying in (§3.2); without it this is the plain hard monotonic model of §3.1."""


@lru_cache(maxsize=256)
def symbols(inventory: Inventory) -> Vocabulary:
    return Vocabulary.of(SPECIALS, inventory.characters)


def names(inventory: Inventory, settings: HacmSettings) -> dict[str, Sequence[Hashable]]:
    return {"symbols": symbols(inventory).symbols, **settings.feature_names(inventory.atoms)}


def shapes(settings: HacmSettings) -> dict[str, Shape]:
    hidden, embedding, features = settings.hidden, settings.embedding, settings.feature_width
    decoder = settings.lstm("decoder", embedding)
    (gates,) = decoder["decoder.bias"].sizes
    copy = {
        "copy.attended": Shape((2 * hidden, 1)),
        "copy.features": Shape((features, 1)),
        "copy.previous": Shape((embedding, 1)),
        "copy.state": Shape((hidden, 1)),
        "copy.bias": Shape((1,), "zero"),
    }
    return {
        "embedding": Shape(("symbols", embedding), "embedding"),
        **settings.feature_shapes(),
        **settings.encoder(),
        **decoder,
        "decoder.attended": Shape((2 * hidden, gates)),
        "decoder.features": Shape((features, gates)),
        "output.weights": Shape((hidden, "symbols")),
        "output.bias": Shape(("symbols",), "zero"),
        **(copy if settings.copy_mixture else {}),
    }


SYSTEM = System(
    name="hacm",
    title="HACM",
    colour="#1f6fb5",
    settings=HacmSettings,
    presets=read_presets(__name__, HacmSettings),
    shapes=shapes,
    names=names,
    outputs="symbols",
    symbols=symbols,
    choices=symbols,
    tapes=lambda _, alignments, inventory: hacm_tapes(alignments, symbols(inventory)),
    bound=lambda item, _: len(item.lemma) + len(item.form) + 2,
    learner="reinflect.systems.hacm.model:LEARNER",
    frame=((BEGIN,), (END,)),
    source_numbers=HacmSettings.source_numbers,
    words=lambda *model: HacmWords(*model),
)


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
