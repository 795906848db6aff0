"""The neural systems. Every parameter has a leading dimension M: one model and a thousand are the same program.

Letters in shapes: M models, B items, N lemma positions, T actions, Y written and K deleted characters, V symbols,
A actions to choose from, P features, E embedding, H hidden, G gates (4H, or 3H for the coupled cell).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reinflect.settings import Registry

if TYPE_CHECKING:
    from reinflect.systems.system import System

NAMES = ("hacm", "haem", "soft", "imitation")
SYSTEMS: "Registry[System]" = Registry("system", {name: f"reinflect.systems.{name}:SYSTEM" for name in NAMES})

MOVED: Mapping[str, str] = {"transformer": "reinflect-transformer (examples/reinflect-transformer in the repository)"}
"""The packages of systems that were ours: model files of 0.2 do not name them."""
