"""The encoder-decoder with soft attention, which Nematus was in the 2017 submission; also its equations by NumPy."""

from collections.abc import Hashable, Sequence
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.settings import Rate, Size
from reinflect.systems.oracle import BEGIN, END
from reinflect.systems.symbols import UNKNOWN, Inventory, RecurrentSettings, Shape, Vocabulary, read_presets
from reinflect.systems.system import ACTIONS, Attention, System, Tapes
from reinflect.systems.tapes import Ragged
from reinflect.systems.words import Array, Indices, NumpyHypotheses, NumpyWords, log_softmax

UNKNOWN_NUMBER, BEGIN_NUMBER, END_NUMBER, FIRST_CHARACTER = range(4)
REACH = 24
"""The largest distance between places in source and form that has a vector of its own."""


class SoftSettings(RecurrentSettings, frozen=True, kw_only=True):
    attention: Size = 64
    """The size of the layer in which states and source meet."""
    encoder_layers: Literal[1, 2] = 1
    label_smoothing: Rate = 0.0
    """The share of the target probability that is spread over all outputs."""


@lru_cache(maxsize=256)
def symbols(inventory: Inventory) -> Vocabulary:
    """First what the decoder can write, then the features, which only the encoder reads."""
    return Vocabulary((UNKNOWN, BEGIN, END, *inventory.characters, *inventory.every_feature_symbol))


def names(inventory: Inventory, _: SoftSettings) -> dict[str, Sequence[Hashable]]:
    rows = symbols(inventory).symbols
    return {"symbols": rows, "outputs": rows[: FIRST_CHARACTER + len(inventory.characters)]}


def shapes(settings: SoftSettings) -> dict[str, Shape]:
    both, hidden, embedding, size = 2 * settings.hidden, settings.hidden, settings.embedding, settings.attention
    written = settings.lstm("written", embedding)
    (gates,) = written["written.bias"].sizes
    return {
        "embedding": Shape(("symbols", embedding), "embedding"),
        **settings.encoder(),
        **(settings.encoder("deeper.", both) if settings.encoder_layers > 1 else {}),
        **written,
        "written.source": Shape((both, gates)),
        "attention.state": Shape((hidden, size)),
        "attention.source": Shape((both, size)),
        "attention.distance": Shape((2 * REACH + 1, size)),
        "attention.score": Shape((size, 1)),
        **settings.lstm("context", hidden),
        "context.attended": Shape((both, gates)),
        "state.context": Shape((hidden, hidden)),
        "state.attended": Shape((both, hidden)),
        "state.previous": Shape((embedding, hidden)),
        "state.bias": Shape((hidden,), "zero"),
        "output.weights": Shape((hidden, "outputs")),
        "output.bias": Shape(("outputs",), "zero"),
    }


def tapes(items: Sequence[Item], _: Sequence[Alignment], inventory: Inventory) -> Tapes:
    return {ACTIONS: Ragged.of([(*item.form, END) for item in items], symbols(inventory))}


SYSTEM = System(
    name="soft",
    title="soft attention",
    colour="#2f8f5b",
    settings=SoftSettings,
    presets=read_presets(__name__, SoftSettings),
    shapes=shapes,
    names=names,
    outputs="outputs",
    symbols=symbols,
    choices=symbols,
    tapes=tapes,
    bound=lambda item, _: len(item.form) + 1,
    learner="reinflect.systems.soft.model:LEARNER",
    frame=((BEGIN,), (END,)),
    aligned=False,
    reads_features=True,
    source_numbers=SoftSettings.source_numbers,
    words=lambda *model: SoftWords(*model),
    pair_numbers=lambda settings: settings.attention,
)


class SoftHypotheses(NumpyHypotheses):
    def __init__(self, words: "SoftWords", items: Sequence[Item]) -> None:
        super().__init__(words, items)
        parameters, states = self.parameters, self.encoded()
        if words.settings.encoder_layers > 1:
            gates = words.projected("deeper.forward", states)
            states = self.read("deeper.", gates, words.projected("deeper.backward", self.mirrored(states)))
        shares = (self.real / self.lengths[:, np.newaxis]).astype(states.dtype)
        self.of_items = {
            "states": states,
            "keys": states @ parameters["attention.source"],
            "gates": (shares[:, np.newaxis] @ states)[:, 0] @ parameters["written.source"],
            "mask": np.where(self.real, 0, -np.inf).astype(states.dtype),
        }
        """h, U·h, what h̄ adds to the gates of LSTM^y, and what keeps attention off padding. *Shapes:* (B, …)"""
        self.of_rows = self.of_items
        """The same of each hypothesis. *Shapes:* (K, …)"""
        self.unknown = (self.symbols == UNKNOWN_NUMBER) & self.real
        """The unknown characters that were not copied yet. *Shape:* (K, N)"""
        self.steps, self.previous, self.weights = 0, np.full(len(items), BEGIN_NUMBER), self.of_items["mask"]
        zero = np.zeros_like(states[:, 0, : words.settings.hidden])
        self.written, self.context = (zero, zero), (zero, zero)
        """The output and the memory of LSTM^y and LSTM^c. *Shapes:* (K, H)"""

    def log_probabilities(self) -> Array:
        """log P, after the LSTMs' step. *Shape:* (K, A)

        An unknown character is copied for certain, as action 0, the first time that it is attended to most.
        """
        parameters, words, step = self.parameters, self.words, self.words.step
        gates = self.of_rows["gates"] + words.gates("written", self.previous)
        self.written = step(gates, parameters["written.recurrent"], *self.written)
        attended = self._attend(self.written[0])
        gates = words.projected("context", self.written[0]) + attended @ parameters["context.attended"]
        self.context = step(gates, parameters["context.recurrent"], *self.context)
        deep = self.context[0] @ parameters["state.context"] + attended @ parameters["state.attended"]
        deep += words.previous[self.previous]
        scores = np.tanh(deep) @ parameters["output.weights"] + parameters["output.bias"]
        scores[:, :END_NUMBER] = -np.inf
        copies = self.unknown[np.arange(len(scores)), self.position]
        scores[copies] = -np.inf
        scores[copies, UNKNOWN_NUMBER] = 0
        return log_softmax(scores)

    def _attend(self, written: Array) -> Array:
        """c_t; keeps α, and where it is largest. *Shape:* (K, H) → (K, 2H)"""
        parameters, keys = self.parameters, self.of_rows["keys"]
        distances = (np.arange(keys.shape[1]) - self.steps).clip(-REACH, REACH) + REACH
        mixed = keys + parameters["attention.distance"][distances]
        mixed += (written @ parameters["attention.state"])[:, np.newaxis]
        scores = (np.tanh(mixed, out=mixed) @ parameters["attention.score"])[..., 0] + self.of_rows["mask"]
        self.weights = np.exp(log_softmax(scores))
        self.position, self.steps = self.weights.argmax(axis=1), self.steps + 1
        attended: Array = (self.weights[:, np.newaxis] @ self.of_rows["states"])[:, 0]
        return attended

    def attention(self) -> Attention:
        weights = self.weights[0, : len(self.sources[self.items[0]])]
        return Attention(int(self.position[0]), weights=tuple(weights.tolist()))

    def keep(self, rows: Indices) -> None:
        if not np.array_equal(self.items[rows], self.items):
            self.of_rows = {name: array[self.items[rows]] for name, array in self.of_items.items()}
        super().keep(rows)
        self.unknown, self.previous, self.weights = self.unknown[rows], self.previous[rows], self.weights[rows]
        self.written, self.context = ((output[rows], memory[rows]) for output, memory in (self.written, self.context))

    def advance(self, actions: Indices) -> list[str]:
        texts, copies = self.texts(actions), np.flatnonzero(actions == UNKNOWN_NUMBER)
        self.unknown[copies, self.position[copies]] = False
        self.previous = actions
        return texts


class SoftWords(NumpyWords):
    system, end, hypotheses = SYSTEM, END_NUMBER, SoftHypotheses

    @cached_property
    def previous(self) -> Array:
        """What the character before adds to o_t, and the bias. *Shape:* (V, H)"""
        return self.parameters["embedding"] @ self.parameters["state.previous"] + self.parameters["state.bias"]
