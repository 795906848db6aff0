"""HAEM (§4) as a machine that takes one action at a time and builds every distribution from scratch."""

import torch
from torch import Tensor

from reinflect.data.features import Bundle
from reinflect.systems.haem import HaemSettings
from reinflect.systems.symbols import Inventory
from tests.systems.slow_cells import Reader, Weights, encoded, features

UNKNOWN, COPY, DELETE, STOP = "<unknown>", "COPY", "DELETE", "STOP"


class SlowHaem:
    end = STOP

    def __init__(
        self, weights: Weights, settings: HaemSettings, inventory: Inventory, lemma: str, bundle: Bundle
    ) -> None:
        self.weights, self.settings = weights, settings
        self.letters = [UNKNOWN, *sorted(inventory.characters)]
        self.actions = [COPY, DELETE, STOP, *sorted(inventory.characters)]
        self.lemma, self.i = lemma, 0
        self.h = encoded([self.embedding(x) for x in lemma], weights, settings)
        self.f = features(bundle, inventory, weights, settings)
        self.y = Reader.named("written", weights, settings)
        self.a = Reader.named("history", weights, settings) if settings.history else None
        self.d = Reader.named("deleted", weights, settings) if settings.deletions else None

    def embedding(self, character: str) -> Tensor:
        return self.weights["embedding"][self.letters.index(character if character in self.letters else UNKNOWN)]

    def action_embedding(self, action: str) -> Tensor:
        if self.settings.tied and len(action) == 1:
            return self.embedding(action)
        return self.weights["action_embedding"][self.actions.index(action)]

    def left(self) -> bool:
        return self.i < len(self.lemma)

    def probabilities(self) -> dict[str, Tensor]:
        """s = ReLU(W [y; h_i; f; a; d] + b), softmax over the valid actions."""
        weights = self.weights
        parts = [
            ("written", self.y.shown(weights["written.empty"])),
            ("attended", self.h[self.i] if self.left() else weights["encoder.empty"]),
            ("features", self.f),
        ]
        if self.a is not None:
            parts.append(("history", self.a.shown(weights["history.empty"])))
        if self.d is not None:
            parts.append(("deleted", self.d.shown(weights["deleted.empty"])))
        w = torch.cat([weights[f"state.{name}"] for name, _ in parts])
        s = torch.relu(torch.cat([part for _, part in parts]) @ w + weights["state.bias"])
        invalid = (STOP,) if self.left() else (COPY, DELETE)
        valid = [action for action in self.actions if action not in invalid]
        columns = [self.actions.index(action) for action in valid]
        scores = (s @ weights["output.weights"] + weights["output.bias"])[columns]
        return dict(zip(valid, torch.softmax(scores, dim=0), strict=True))

    choices = probabilities

    def do(self, action: str) -> str:
        """Take an action; what it writes."""
        if self.a is not None:
            self.a.push(self.action_embedding(action))
        if action == STOP:
            return ""
        if action in (COPY, DELETE):
            character = self.lemma[self.i]
            self.i += 1
            if action == DELETE:
                if self.d is not None:
                    self.d.push(self.embedding(character))
                return ""
        else:
            character = action
            if self.d is not None:
                self.d.empty()
        self.y.push(self.embedding(character))
        return character
