"""`Words` of a system that decodes by torch alone, such as one of another package."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from reinflect.data.items import Item
from reinflect.decode.search import NEVER
from reinflect.layers.examples import NOTHING, Examples, Stack, select
from reinflect.layers.operations import one_thread
from reinflect.layers.parameters import Parameters
from reinflect.settings import Settings
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import Attention, Hypotheses, System

IMPOSSIBLE = -1e8
"""Actions that are not allowed have log-probabilities far below this."""


class TorchWords:
    def __init__(
        self, system: System, parameters: Mapping[str, NDArray[np.float32]], settings: Settings, inventory: Inventory
    ) -> None:
        self.system, self.inventory, self.settings = system, inventory, settings
        sizes = system.sizes(inventory, settings)
        tensors = {name: torch.from_numpy(np.array(array)) for name, array in parameters.items()}
        model = Parameters.join(system.shapes(settings), [sizes], [tensors])
        allowed = system.equations.allowed_outputs([sizes], sizes[system.outputs])
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
