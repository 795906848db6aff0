"""The neural systems. Every parameter has a leading dimension M: one model and a thousand are the same program.

Letters in shapes: M models, B items, N lemma positions, T actions, Y written and K deleted characters, V symbols,
A actions to choose from, P features, E embedding, H hidden, G gates (4H, or 3H for the coupled cell).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from reinflect.registry import Registry

if TYPE_CHECKING:
    from reinflect.systems.system import System

NAMES = ("hacm", "haem", "soft", "imitation", "transformer")
SYSTEMS: "Registry[System]" = Registry("system", {name: f"reinflect.systems.{name}:SYSTEM" for name in NAMES})


class Usual(NamedTuple):
    """What is trained if the user does not choose."""

    systems: Sequence[str] = ("hacm", "haem")
    alignments: Sequence[str] = ("naive", "smart")
    augmentations: Sequence[str] = ()
    """Such as `made-up`, or `soft.made-up` for further models of one system."""
    changes: Sequence[str] = ()
    """Of the preset's settings."""


DEEPER = ("encoder_layers=2", "label_smoothing=0.1")
"""What makes soft attention the best kind of model where items are many."""
USUAL = Usual()
_DEEP = tuple(f"soft.{change}" for change in DEEPER)
_MIDDLE = Usual(("hacm", "soft"), ("smart",), ("soft.made-up",), (*_DEEP, "made-up.repeats=1", "made-up.epochs=7"))
_LARGE = Usual(("hacm", "haem", "soft"), ("smart",), (), _DEEP)
USUAL_FOR: Mapping[str, Usual] = {"medium": _MIDDLE, "high": _LARGE}
"""By preset, where others vote better: docs/lab-notebook.md has which were compared."""
