"""A system as the rest of the program sees it: one record with everything that differs between systems."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.settings import Settings
from reinflect.systems.symbols import Inventory, Shape, Sizes, Vocabulary
from reinflect.systems.tapes import Ragged

if TYPE_CHECKING:
    from torch import Tensor

    from reinflect.layers.examples import Drawn, Lemmas, Trajectory
    from reinflect.layers.operations import Dropout
    from reinflect.layers.parameters import Parameters

Tapes = dict[str, Ragged]
"""Named index arrays of many items; those of one name are padded to the same length when stacked."""
ACTIONS = "actions"
"""The name of the tape of actions, in systems whose oracle is static."""


class Attention(NamedTuple):
    """What a hypothesis attends to, to explain its next action."""

    position: int
    """The attended symbol of the source, or one past the last."""
    gate: float | None = None
    """The share of the probability that is generated; the rest is copied."""
    weights: tuple[float, ...] | None = None
    """Of each symbol, in soft attention."""


class Hypotheses(Protocol):
    """Hypotheses of some items, at first one for each. A step: log-probabilities, then what to keep, then actions."""

    @property
    def sources(self) -> Sequence[Sequence[str]]:
        """The symbols that the model reads of each item."""

    lengths: NDArray[np.int64]
    """The number of these. *Shape:* (B)"""

    def log_probabilities(self) -> NDArray[np.float32]:
        """Of each action in each hypothesis; -inf for those that are not allowed. *Shape:* (K, A)"""

    def attention(self) -> Attention:
        """Of the first hypothesis, after `log_probabilities`."""

    def keep(self, rows: NDArray[np.int64]) -> None:
        """Continue with these hypotheses, which may repeat; those of one item stay together."""

    def advance(self, actions: NDArray[np.int64]) -> list[str]:
        """Take an action in each hypothesis; what each action writes."""


class Words(Protocol):
    """A model that decodes many items at once, by NumPy; `end` is the action that ends a form."""

    end: int

    def start(self, items: Sequence[Item]) -> Hypotheses: ...


@dataclass(frozen=True)
class System:
    """Everything that differs between systems."""

    name: str
    title: str
    colour: str
    """In figures, as CSS writes it."""
    settings: type[Settings]
    presets: Mapping[str, Settings]
    shapes: Callable[[Any], dict[str, Shape]]
    names: Callable[[Inventory, Any], dict[str, Sequence[Hashable]]]
    """What the rows of each named size stand for, such as characters: a model that starts from another takes over rows
    of the same names."""
    outputs: str
    """The named size of the outputs."""
    symbols: Callable[[Inventory], Vocabulary]
    """The lemma's symbols, which are also what decoders write."""
    choices: Callable[[Inventory], Vocabulary]
    """The actions that decoders choose from."""
    tapes: Callable[[Sequence[Item], Sequence[Alignment], Inventory], Tapes]
    bound: Callable[[Item, Alignment], int]
    """The most actions of an item's trajectory; with a static oracle, the exact number."""
    learner: str | Learner
    """Or where it is, such as `reinflect.systems.hacm.model:LEARNER`, whose import brings torch."""
    frame: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """The symbols before and after the lemma's characters."""
    aligned: bool = True
    """Whether it learns from alignments."""
    reads_features: bool = False
    """Whether features are symbols of the source, after the lemma."""
    source_numbers: Callable[[Any], int] = lambda settings: 20 * int(settings.hidden)
    """Numbers that decoding keeps for each symbol of a source, to estimate memory."""
    words: Callable[[Mapping[str, NDArray[np.float32]], Any, Inventory], Words] | None = None
    """The model with these parameters, settings and inventory, decoded by NumPy; None if decoding needs torch."""
    pair_numbers: Callable[[Any], int] = lambda _: 0
    """Numbers that an update keeps for each pair of an action and a symbol of the source."""

    def sizes(self, inventory: Inventory, settings: Any) -> dict[str, int]:
        return {size: len(names) for size, names in self.names(inventory, settings).items()}

    def sources(self, items: Sequence[Item], inventory: Inventory, settings: Settings) -> list[tuple[str, ...]]:
        """The symbols the encoder reads of each item."""
        before, after = self.frame
        if not self.reads_features:
            return [(*before, *item.lemma, *after) for item in items]
        behind = cache(partial(inventory.feature_symbols, counts=settings.features == "counts"))
        return [(*before, *item.lemma, *after, *behind(item.features)) for item in items]

    @cached_property
    def equations(self) -> Learner:
        learner = resolve_name(self.learner) if isinstance(self.learner, str) else self.learner
        assert isinstance(learner, Learner)
        return learner


@dataclass(frozen=True)
class Learner:
    """A system's equations in torch, each for all models of a fleet."""

    allowed: Callable[[Sizes, int], Tensor]
    """The valid outputs of a model with these sizes, padded to a number of outputs."""
    trajectories: Callable[[Drawn, Parameters, Any, Tensor, Tensor, Tensor], Trajectory]
    """From items, parameters, settings, valid outputs, finished epochs (M) and keys of random numbers (M): by a static
    oracle, or by letting the models act and labelling what they visit."""
    losses: Callable[[Parameters, Any, Any, Tensor, Dropout | None], Tensor]
    """-log P of the right actions. *Shape:* (M, T, B)"""
    decoder: Callable[[Parameters, Any, Tensor], Decoder]


class Decoder(Protocol):
    """A system step by step. One that inflects by torch also has `focus`: the `Attention` in a state's first item."""

    end: int
    settings: Any

    def start(self, lemmas: Lemmas) -> Any: ...

    def log_probabilities(self, state: Any) -> tuple[Tensor, Any]: ...

    def advance(self, state: Any, actions: Tensor) -> tuple[Tensor, Any]: ...
