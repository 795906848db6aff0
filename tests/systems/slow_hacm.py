"""HACM (§3) as a machine that takes one action at a time and builds every distribution from scratch."""

import torch
from torch import Tensor

from reinflect.data.features import Bundle
from reinflect.systems.hacm import HacmSettings
from reinflect.systems.symbols import Inventory
from tests.systems.slow_cells import Reader, Weights, encoded, features

UNKNOWN, BEGIN, END, STEP = "<unknown>", "<s>", "</s>", "STEP"


class SlowHacm:
    end = END

    def __init__(
        self, weights: Weights, settings: HacmSettings, inventory: Inventory, lemma: str, bundle: Bundle
    ) -> None:
        self.weights, self.settings = weights, settings
        self.symbols = [UNKNOWN, BEGIN, END, STEP, *sorted(inventory.characters)]
        self.lemma = [BEGIN, *lemma, END]
        self.h = encoded([self.embedding(x) for x in self.lemma], weights, settings)
        self.f = features(bundle, inventory, weights, settings)
        self.i, self.previous = 0, BEGIN
        self.state = Reader.named("decoder", weights, settings, "input", "attended", "features")
        self._read()

    def embedding(self, symbol: str) -> Tensor:
        return self.weights["embedding"][self.symbols.index(symbol if symbol in self.symbols else UNKNOWN)]

    def _read(self) -> None:
        self.state.push(torch.cat([self.embedding(self.previous), self.h[self.i], self.f]))

    def probabilities(self) -> dict[str, Tensor]:
        """Equations 2 to 4; `<s>` and the unknown symbol are never generated."""
        weights, s = self.weights, self.state.h
        names = [symbol for symbol in self.symbols if symbol not in (UNKNOWN, BEGIN)]
        columns = [self.symbols.index(symbol) for symbol in names]
        generated = torch.softmax((s @ weights["output.weights"] + weights["output.bias"])[columns], dim=0)
        found = dict(zip(names, generated, strict=True))
        if not self.settings.copy_mixture:
            return found
        v = torch.cat([weights[f"copy.{part}"] for part in ("attended", "features", "previous", "state")])[:, 0]
        w = torch.sigmoid(
            v @ torch.cat([self.h[self.i], self.f, self.embedding(self.previous), s]) + weights["copy.bias"][0]
        )
        found = {symbol: w * p for symbol, p in found.items()}
        x = self.lemma[self.i]
        found[x] = found.get(x, torch.zeros(())) + (1 - w)
        return found

    def choices(self) -> dict[str, Tensor]:
        """At test time an unknown x_i is copied with probability one, and `<s>` is no choice (equation 6)."""
        x = self.lemma[self.i]
        if self.settings.copy_mixture and x not in self.symbols:
            return {x: torch.ones(())}
        return {symbol: p for symbol, p in self.probabilities().items() if symbol != BEGIN}

    def do(self, action: str) -> str:
        """Take an action; what it writes."""
        unknown = action not in self.symbols
        if unknown or action == STEP:
            self.i = min(self.i + 1, len(self.lemma) - 1)
        self.previous = STEP if unknown else action
        self._read()
        return "" if action in (STEP, END) else action
