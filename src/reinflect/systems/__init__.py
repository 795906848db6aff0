"""The neural systems. Every parameter has a leading dimension M: one model and a thousand are the same program.

Letters in shapes: M models, B items, N lemma positions, T actions, Y written and K deleted characters, V symbols,
A actions to choose from, P features, E embedding, H hidden, G gates (4H, or 3H for the coupled cell).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from reinflect.registry import Registry

if TYPE_CHECKING:
    from reinflect.systems.system import System

NAMES = ("hacm", "haem", "soft", "imitation")
SYSTEMS: "Registry[System]" = Registry("system", {name: f"reinflect.systems.{name}:SYSTEM" for name in NAMES})

MOVED: Mapping[str, str] = {"transformer": "reinflect-transformer (examples/reinflect-transformer in the repository)"}
"""The packages of systems that were ours: model files of 0.2 do not name them."""
PAPER_SYSTEMS, PAPER_ALIGNMENTS = ("hacm", "haem"), ("naive", "smart")


class Usual(NamedTuple):
    """What is trained if the user does not choose."""

    kinds: Sequence[str]
    """Such as `hacm-smart+made-up`."""
    changes: Sequence[str] = ()
    """Of the preset's settings."""


DEEPER = ("encoder_layers=2", "label_smoothing=0.1")
"""What makes soft attention the best kind of model where items are many."""
_DEEP = tuple(f"soft.{change}" for change in DEEPER)
USUAL_FOR: Mapping[str, Usual] = {
    "low": Usual(("hacm-naive", "hacm-smart", "haem-naive", "haem-smart")),
    "medium": Usual(("hacm-smart", "soft", "soft+made-up"), (*_DEEP, "made-up.repeats=1", "made-up.epochs=7")),
    "high": Usual(("hacm-smart", "haem-smart", "soft"), _DEEP),
}
"""By preset: docs/lab-notebook.md has which were compared. With any other, the paper's systems and alignments."""
