"""Kinds of models: which kind a model name stands for, and the title and colour of a kind."""

from reinflect.alignment import ALIGNERS

SYSTEMS = {"hacm": ("HACM", "#1f6fb5"), "haem": ("HAEM", "#c9571b"), "soft": ("soft attention", "#2f8f5b")}
"""Title and CSS colour of each system."""
PALETTE = ("#8250c4", "#9a6b00", "#b8327a", "#0b7d80", "#5d6673")
"""Colours for kinds of other systems."""


def kind_of_model(name: str) -> str:
    """A model name without language, setting and seed: `haem-smart` for `welsh-low-haem-smart-3`."""
    parts = name.split("-")[:-1]
    aligned = parts[-1:] and parts[-1] in ALIGNERS
    return "-".join(parts[-2:] if aligned else parts[-1:])


def title_of(kind: str) -> str:
    system, _, alignment = kind.partition("-")
    title, _ = SYSTEMS.get(system, (system, ""))
    return f"{title}, {alignment}" if alignment else title


def colour_of(kind: str, number: int) -> str:
    """The colour of the kind's system; the kind with this number in a chart gets a palette colour if it has none."""
    _, colour = SYSTEMS.get(kind.partition("-")[0], ("", PALETTE[number % len(PALETTE)]))
    return colour
