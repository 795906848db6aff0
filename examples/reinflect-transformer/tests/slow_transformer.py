"""The Transformer as a machine that writes one character at a time, with every position and head by itself."""

import math

import torch
from tests.systems.slow_cells import Weights
from tests.systems.slow_soft import BEGIN, END, UNKNOWN, SlowSoft
from torch import Tensor

from reinflect.data.features import Bundle
from reinflect.systems.symbols import Inventory
from reinflect_transformer import TransformerSettings

CHARACTER, FEATURE = 0, 1


class SlowTransformer(SlowSoft):
    """It copies and writes as soft attention does."""

    def __init__(
        self, weights: Weights, settings: TransformerSettings, inventory: Inventory, lemma: str, bundle: Bundle
    ) -> None:
        self.weights, self.settings = weights, settings
        # Characters and features, which can be spelled alike (`3`, `N`), are told apart as pairs.
        self.symbols = [UNKNOWN, BEGIN, END, *inventory.characters, *((atom, "feature") for atom in inventory.atoms)]
        counted = sorted(bundle.atoms) if settings.features == "counts" else sorted(set(bundle.atoms))
        features = [(atom, "feature") for atom in counted if atom in inventory.atoms]
        characters = [BEGIN, *lemma, END]
        self.source = [*characters, *features]
        self.uncopied = [symbol not in self.symbols for symbol in self.source]
        states = [self.symbol(x, CHARACTER) + self.place(k) for k, x in enumerate(characters)]
        states += [self.symbol(x, FEATURE) for x in features]
        for layer in range(settings.layers):
            name = f"encoder.{layer}"
            inputs = [self.norm(f"{name}.norm.self", x) for x in states]
            states = [
                x + self.map(f"{name}.joined", self.attend(f"{name}.self", normed, inputs)[0])
                for x, normed in zip(states, inputs, strict=True)
            ]
            states = [self.feed(name, x) for x in states]
        self.h = [self.norm("encoder.norm", x) for x in states]
        self.t = 0
        self.previous: object = BEGIN
        self.inputs: list[list[Tensor]] = [[] for _ in range(settings.layers)]
        """What each layer of the decoder has read."""
        self._look()

    def symbol(self, symbol: object, kind: int) -> Tensor:
        number = self.symbols.index(symbol if symbol in self.symbols else UNKNOWN)
        embedded = self.weights["embedding"][number] @ self.weights["embedding.map"]
        return embedded * math.sqrt(self.settings.hidden) + self.weights["kind"][kind]

    def place(self, number: int) -> Tensor:
        width = self.settings.hidden
        angles = [number / 10_000 ** (2 * k / width) for k in range((width + 1) // 2)]
        waves = [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]
        return torch.tensor(waves[:width], dtype=torch.float64)

    def map(self, name: str, x: Tensor) -> Tensor:
        return x @ self.weights[name] + self.weights[f"{name}.bias"]

    def norm(self, name: str, x: Tensor) -> Tensor:
        centred = x - x.mean()
        return (
            centred / torch.sqrt((centred**2).mean() + 1e-5) * (1 + self.weights[f"{name}.gain"])
            + self.weights[f"{name}.shift"]
        )

    def heads(self, x: Tensor) -> list[Tensor]:
        return list(x.chunk(self.settings.heads))

    def attend(self, name: str, x: Tensor, others: list[Tensor]) -> tuple[Tensor, Tensor]:
        """A state's attention to others; what it finds, and the mean weight of each."""
        width = max(1, self.settings.hidden // self.settings.heads) * self.settings.heads
        if name.endswith("self"):
            query, pairs = self.map(name, x)[:width], [self.map(name, other)[width:] for other in others]
        else:
            query, pairs = x, [self.map(name, other) for other in others]
        attended, weights = [], []
        for head, part in enumerate(self.heads(query)):
            keys = [self.heads(pair[:width])[head] for pair in pairs]
            values = [self.heads(pair[width:])[head] for pair in pairs]
            alpha = torch.softmax(torch.stack([part @ key for key in keys]) / math.sqrt(len(part)), dim=0)
            attended.append(sum((a * value for a, value in zip(alpha, values, strict=True)), torch.zeros_like(part)))
            weights.append(alpha)
        return torch.cat(attended), torch.stack(weights).mean(dim=0)

    def feed(self, name: str, x: Tensor) -> Tensor:
        wide = torch.relu(self.map(f"{name}.wide", self.norm(f"{name}.norm.wide", x)))
        return x + self.map(f"{name}.narrow", wide)

    def _look(self) -> None:
        """Read the character written last; those before it stay as they were read."""
        x = self.symbol(self.previous, CHARACTER) + self.place(self.t)
        for layer, inputs in enumerate(self.inputs):
            name = f"decoder.{layer}"
            inputs.append(self.norm(f"{name}.norm.self", x))
            x = x + self.map(f"{name}.joined", self.attend(f"{name}.self", inputs[-1], inputs)[0])
            query = self.map(f"{name}.query", self.norm(f"{name}.norm.query", x))
            attended, self.alpha = self.attend(f"{name}.source", query, self.h)
            x = self.feed(name, x + self.map(f"{name}.crossed", attended))
        self.o = self.norm("decoder.norm", x)
