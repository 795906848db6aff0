"""The soft-attention system as a machine that writes one character at a time, and looks at one position at a time."""

import torch
from torch import Tensor

from reinflect.data.features import Bundle
from reinflect.systems.soft import REACH, SoftSettings
from reinflect.systems.symbols import Inventory
from tests.systems.slow_cells import Reader, Weights, encoded

UNKNOWN, BEGIN, END = "<unknown>", "<s>", "</s>"


class SlowSoft:
    end = END

    def __init__(
        self, weights: Weights, settings: SoftSettings, inventory: Inventory, lemma: str, bundle: Bundle
    ) -> None:
        self.weights = weights
        # Characters and features, which can be spelled alike (`3`, `N`), are told apart as pairs.
        self.symbols = [UNKNOWN, BEGIN, END, *inventory.characters, *((atom, "feature") for atom in inventory.atoms)]
        counted = sorted(bundle.atoms) if settings.features == "counts" else sorted(set(bundle.atoms))
        features = [(atom, "feature") for atom in counted if atom in inventory.atoms]
        self.source = [BEGIN, *lemma, END, *features]
        self.uncopied = [symbol not in self.symbols for symbol in self.source]
        self.h = encoded([self.embedding(x) for x in self.source], weights, settings)
        if settings.encoder_layers == 2:
            self.h = encoded(self.h, weights, settings, "deeper.")
        self.mean = sum(self.h[1:], self.h[0]) / len(self.h)
        self.t = 0
        self.previous: object = BEGIN
        self.written = Reader.named("written", weights, settings, "input", "source")
        self.context = Reader.named("context", weights, settings, "input", "attended")
        self._look()

    def embedding(self, symbol: object) -> Tensor:
        return self.weights["embedding"][self.symbols.index(symbol if symbol in self.symbols else UNKNOWN)]

    def _look(self) -> None:
        """The attention of step t, and what comes of it."""
        weights, y = self.weights, self.embedding(self.previous)
        s = self.written.push(torch.cat([y, self.mean]))
        scores = []
        for j, h in enumerate(self.h):
            distance = weights["attention.distance"][max(-REACH, min(REACH, j - self.t)) + REACH]
            mixed = torch.tanh(s @ weights["attention.state"] + h @ weights["attention.source"] + distance)
            scores.append(mixed @ weights["attention.score"][:, 0])
        self.alpha = torch.softmax(torch.stack(scores), dim=0)
        c = sum((a * h for a, h in zip(self.alpha, self.h, strict=True)), torch.zeros_like(self.h[0]))
        r = self.context.push(torch.cat([s, c]))
        inputs = torch.cat([weights[f"state.{part}"] for part in ("context", "attended", "previous")])
        self.o = torch.tanh(torch.cat([r, c, y]) @ inputs + weights["state.bias"])

    def probabilities(self) -> dict[str, Tensor]:
        """The unknown symbol, `<s>` and features are never written."""
        logits = (self.o @ self.weights["output.weights"] + self.weights["output.bias"])[2:]
        names = [str(symbol) for symbol in self.symbols[2 : 2 + len(logits)]]
        return dict(zip(names, torch.softmax(logits, dim=0), strict=True))

    def choices(self) -> dict[str, Tensor]:
        """At test time, what is attended to most is copied if it is unknown, and was not copied before."""
        place = int(self.alpha.argmax())
        return {str(self.source[place]): torch.ones(())} if self.uncopied[place] else self.probabilities()

    def do(self, action: str) -> str:
        """Take an action; what it writes."""
        if action not in self.symbols:
            self.uncopied[int(self.alpha.argmax())] = False
        self.t, self.previous = self.t + 1, action
        self._look()
        return "" if action == END else action
