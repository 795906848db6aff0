"""The names and sizes of parameters: all that reading a model file needs to know of a system, without torch."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from reinflect.layers.settings import RecurrentSettings


@dataclass(frozen=True, slots=True)
class Shape:
    """The size and the initial values of one parameter of one model."""

    sizes: tuple[int | str, ...]
    """Named dimensions such as `symbols` differ between the models of a fleet, which pads them."""
    start: str = "glorot"
    """glorot: uniform by fan-in and fan-out; embedding: uniform ±√(6/dimension); zero; forget: zero but for an LSTM's
    forget gate, which starts at `forget`."""
    forget: float = 0.0


Sizes = Mapping[str, int]
"""Of the named dimensions."""

ALIGNED = 32
"""Every parameter, and every row, starts at a multiple of this: a GPU took twice as long for rows of odd length."""
CELL_WIDTHS = {"lstm": (4, 4), "coupled": (3, 5)}
"""The widths of each recurrent cell's gates and of its recurrent weights, in units of H."""


def expected_shapes(shapes: Mapping[str, Shape], sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """The size of every parameter of one model."""
    return {name: resolve(shape, sizes) for name, shape in shapes.items()}


def resolve(shape: Shape, sizes: Sizes) -> tuple[int, ...]:
    return tuple(sizes[size] if isinstance(size, str) else size for size in shape.sizes)


def row_length(shapes: Mapping[str, Shape], sizes: Sizes) -> int:
    """The count of numbers of a model of these sizes, including gaps."""
    return sum(room(resolve(shape, sizes)) for shape in shapes.values())


def room(sizes: tuple[int, ...]) -> int:
    return -(-math.prod(sizes) // ALIGNED) * ALIGNED


def lstm_shapes(
    name: str, inputs: int | str, settings: RecurrentSettings, hidden: int | None = None
) -> dict[str, Shape]:
    """The parameters of one LSTM: W, U and b."""
    hidden = hidden or settings.hidden
    gates, recurrent = (hidden * width for width in CELL_WIDTHS[settings.cell])
    bias = Shape((gates,), "forget", settings.forget_bias) if settings.cell == "lstm" else Shape((gates,), "zero")
    return {
        f"{name}.input": Shape((inputs, gates)),
        f"{name}.recurrent": Shape((hidden, recurrent)),
        f"{name}.bias": bias,
    }


def feature_width(settings: RecurrentSettings) -> int | str:
    return "embedded_features" if settings.features == "embedded" else "features"


def feature_shapes(settings: RecurrentSettings) -> dict[str, Shape]:
    if settings.features != "embedded":
        return {}
    return {"features.embedding": Shape(("feature_rows", settings.feature_embedding), "embedding")}


def feature_names(atoms: Sequence[str], settings: RecurrentSettings) -> dict[str, Sequence[Hashable]]:
    return {
        "features": atoms,
        "feature_rows": ("", *atoms),
        "embedded_features": [(atom, k) for atom in atoms for k in range(settings.feature_embedding)],
    }


def encoder_shapes(settings: RecurrentSettings, name: str = "", inputs: int | None = None) -> dict[str, Shape]:
    inputs = inputs or settings.embedding
    return lstm_shapes(f"{name}forward", inputs, settings) | lstm_shapes(f"{name}backward", inputs, settings)


def source_numbers(settings: RecurrentSettings) -> int:
    """Numbers that decoding keeps for each symbol: an LSTM's gates before and after, states, and what the decoder
    attends to, at most as wide as gates. A GPU was seen to take less than two thirds of this.
    """
    return settings.hidden * (2 * CELL_WIDTHS[settings.cell][0] + 5)
