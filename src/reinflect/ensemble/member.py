"""The record of a trained model, from training to model file."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from reinflect.decode.forms import Predictions
from reinflect.registry import later
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.kind import UNALIGNED as UNALIGNED
from reinflect.systems.symbols import Inventory

if TYPE_CHECKING:
    from reinflect.systems.system import Words

FACTS = ("system", "alignment", "variant", "seed", "fold", "restarts", "dev_accuracy")
"""The fields of a member that model files and cards store."""
TORCH_WORDS = later("reinflect.learn.torch_words:TorchWords")
NOTHING_PREDICTED = Predictions([], [])


def kind_of(system: str, alignment: str, variant: str = "") -> str:
    """Such as `hacm-naive`, or `hacm-naive+made-up`: models that differ only in their seed are of one kind."""
    kind = system if alignment == UNALIGNED else f"{system}-{alignment}"
    return f"{kind}+{variant}" if variant else kind


@dataclass(frozen=True)
class TrainedModel:
    """A trained model: its specification, the result of its training, and its predictions."""

    system: str
    alignment: str
    seed: int
    """The seed of its spec; a model that diverged was trained with another."""
    settings: Settings
    inventory: Inventory
    dev_accuracy: float
    """Counted in training before the filter for repeats; of a member, after it."""
    key: str = ""
    """The digest of its spec."""
    language: str = ""
    setting: str = ""
    variant: str = ""
    """What sets models apart from others of their system and alignment: settings, augmentation, or a start."""
    fold: int | None = None
    restarts: int = 0
    best_epoch: int = 0
    usable: bool = True
    """False if it diverged every time, or was stopped before it had learnt anything."""
    dev: Predictions = NOTHING_PREDICTED
    """For its dev items, before the filter for repeats."""
    asked: Predictions = NOTHING_PREDICTED
    parameters: Mapping[str, NDArray[np.float32]] = field(default_factory=dict, repr=False)

    @property
    def kind(self) -> str:
        return kind_of(self.system, self.alignment, self.variant)

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.seed}"

    @property
    def facts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in FACTS} | {"settings": msgspec.to_builtins(self.settings)}

    @property
    def words(self) -> "Words":
        """Its decoder, by NumPy; that of another package's system may need torch."""
        system, model = SYSTEMS[self.system], (self.parameters, self.settings, self.inventory)
        return system.words(*model) if system.words else TORCH_WORDS(system, *model)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of its parameters, and of the symbols that their rows stand for."""
        mark = hashlib.sha256(repr((self.system, self.inventory)).encode("utf-8", "surrogatepass"))
        for name in sorted(self.parameters):
            mark.update(name.encode() + np.ascontiguousarray(self.parameters[name]).tobytes())
        return mark.hexdigest()
