"""The records of a trained model: `Trained` with what it predicts, `Member` with its parameters."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from reinflect.decode.search import Predictions
from reinflect.settings import Settings, later
from reinflect.systems import SYSTEMS
from reinflect.systems.kind import UNALIGNED
from reinflect.systems.symbols import Inventory

if TYPE_CHECKING:
    from reinflect.systems.system import Words

TORCH_WORDS = later("reinflect.learn.scoring:TorchWords")
NOTHING_PREDICTED = Predictions([], [])
Numbers = Mapping[str, NDArray[np.float32]]
"""The parameters of one model, by their names."""


@dataclass(frozen=True, kw_only=True)
class Named:
    """What names a trained model, and how well it did."""

    system: str
    alignment: str
    variant: str = ""
    """What sets models apart from others of their system and alignment: settings, augmentation, or a start."""
    seed: int
    """The seed of its spec; a model that diverged was trained with another."""
    fold: int | None = None
    restarts: int = 0
    dev_accuracy: float
    """Of a `Trained`, before the filter for repeats; of a `Member` in a model file, after it."""

    @property
    def kind(self) -> str:
        """Such as `hacm-naive`, or `hacm-naive+made-up`: models that differ only in their seed are of one kind."""
        aligned = self.system if self.alignment == UNALIGNED else f"{self.system}-{self.alignment}"
        return f"{aligned}+{self.variant}" if self.variant else aligned

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.seed}"

    @property
    def facts(self) -> dict[str, Any]:
        """What model files and cards store of it."""
        return {each.name: getattr(self, each.name) for each in fields(Named)}


@dataclass(frozen=True, kw_only=True)
class Trained(Named):
    """What training made of a spec, without the numbers: a pack file is a list of these."""

    key: str
    """The digest of its spec."""
    language: str = ""
    setting: str = ""
    best_epoch: int
    usable: bool
    """False if it diverged every time, or was stopped before it had learnt anything."""
    dev: Predictions = NOTHING_PREDICTED
    """For its dev items, before the filter for repeats."""
    asked: Predictions = NOTHING_PREDICTED


@dataclass(frozen=True, kw_only=True)
class Member(Named):
    """A trained model that inflects: what a model file holds."""

    settings: Settings
    inventory: Inventory
    parameters: Numbers = field(repr=False)

    @property
    def facts(self) -> dict[str, Any]:
        return super().facts | {"settings": msgspec.to_builtins(self.settings)}

    @property
    def words(self) -> "Words":
        """Its decoder, by NumPy; that of another package's system may need torch."""
        system, model = SYSTEMS[self.system], (self.parameters, self.settings, self.inventory)
        return system.words(*model) if system.words else TORCH_WORDS(system, *model)

    def with_predictions(self, dev: Predictions) -> Trained:
        """Its record, with predictions for dev items before the filter for repeats."""
        return Trained(key=self.name, best_epoch=0, usable=True, dev=dev, **super().facts)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of its parameters, and of the symbols that their rows stand for."""
        digest = hashlib.sha256(repr((self.system, self.inventory)).encode("utf-8", "surrogatepass"))
        for name in sorted(self.parameters):
            digest.update(name.encode() + np.ascontiguousarray(self.parameters[name]).tobytes())
        return digest.hexdigest()
