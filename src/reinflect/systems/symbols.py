"""What a system's models are made of, without torch: symbols, features, shapes of parameters, presets of settings."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.errors import InputError, nearest, quoted
from reinflect.files import read_text
from reinflect.settings import PRESETS, AnySettings, Settings, Size, from_table, parse_tables
from reinflect.systems import SYSTEMS

UNKNOWN = "<unknown>"


@dataclass(frozen=True)
class Vocabulary:
    """Symbols numbered from 0: special ones, whose names have several letters, then characters.

    A vocabulary that begins with `UNKNOWN` gives unknown symbols its number, 0; any other raises a `KeyError`.
    """

    symbols: tuple[str, ...]

    @classmethod
    def of(cls, specials: Sequence[str], characters: Iterable[str]) -> "Vocabulary":
        return cls((*specials, *sorted(set(characters))))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {symbol: number for number, symbol in enumerate(self.symbols)}

    def __len__(self) -> int:
        return len(self.symbols)

    def numbers(self, symbols: Iterable[str]) -> list[int]:
        table = self._numbers
        return [table[UNKNOWN if symbol not in table and UNKNOWN in table else symbol] for symbol in symbols]


ALIGNED = 32
"""Every parameter, and every row, starts at a multiple of this: a GPU took twice as long for rows of odd length."""
CELL_WIDTHS = {"lstm": (4, 4), "coupled": (3, 5)}
"""The widths of each recurrent cell's gates and of its recurrent weights, in units of H."""

Sizes = Mapping[str, int]
"""Of the named dimensions."""


@dataclass(frozen=True)
class Inventory:
    """The characters and the feature atoms of the training items, sorted."""

    characters: tuple[Annotated[str, Meta(min_length=1, max_length=1)], ...]
    atoms: tuple[str, ...]

    def __post_init__(self) -> None:
        if any(len(set(symbols)) < len(symbols) for symbols in (self.characters, self.atoms)):
            raise ValueError("a character or a feature occurs twice in its inventory")

    @classmethod
    def of(cls, items: Iterable[Item]) -> "Inventory":
        items = list(items)
        bundles = {item.features.spelling: item.features for item in items}
        atoms = {atom for bundle in bundles.values() for atom in bundle.atoms}
        characters = set("".join(word for item in items for word in (item.lemma, item.form)))  # Σ^train
        return cls(tuple(sorted(characters)), tuple(sorted(atoms)))

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {atom: column for column, atom in enumerate(self.atoms)}

    def _known(self, bundle: Bundle) -> list[str]:
        return [atom for atom in bundle.among(self._columns) if atom in self._columns]

    def feature_numbers(self, bundles: Sequence[Bundle], settings: Settings) -> NDArray[np.float32]:
        """For each bundle a row of known features: 1, or how often a feature occurs; scaled, unless it is embedded."""
        distinct = {bundle.spelling: bundle for bundle in bundles}  # thousands of items share a few hundred
        rows = np.zeros((len(distinct), len(self.atoms)), dtype=np.float32)
        for row, bundle in zip(rows, distinct.values(), strict=True):
            for atom, count in Counter(self._known(bundle)).items():
                row[self._columns[atom]] = count if settings.features == "counts" else 1.0
        if settings.features != "embedded":
            rows *= np.float32(settings.feature_scale)
        number = {spelling: row for row, spelling in enumerate(distinct)}
        return rows[[number[bundle.spelling] for bundle in bundles]]

    def feature_symbols(self, bundle: Bundle, *, counts: bool) -> list[str]:
        """The known features as symbols, in a fixed order; once, or as often as they occur."""
        atoms = sorted(self._known(bundle))
        return _symbols_of(atoms if counts else dict.fromkeys(atoms))

    @property
    def every_feature_symbol(self) -> list[str]:
        return _symbols_of(self.atoms)


def _symbols_of(atoms: Iterable[str]) -> list[str]:
    """Features in a sequence of characters: longer than a character, and different from special symbols."""
    return [f";{atom}" for atom in atoms]


@dataclass(frozen=True, slots=True)
class Shape:
    """The size and the initial values of one parameter of one model."""

    sizes: tuple[int | str, ...]
    """Named dimensions such as `symbols` differ between the models of a fleet, which pads them."""
    start: Literal["glorot", "embedding", "zero", "forget"] = "glorot"
    """glorot: uniform by fan-in and fan-out; embedding: uniform ±√(6/dimension); zero; forget: zero but for an LSTM's
    forget gate, which starts at `forget`."""
    forget: float = 0.0

    def resolved(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(sizes[size] if isinstance(size, str) else size for size in self.sizes)


def expected_shapes(shapes: Mapping[str, Shape], sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """The size of every parameter of one model."""
    return {name: shape.resolved(sizes) for name, shape in shapes.items()}


def room(sizes: tuple[int, ...]) -> int:
    return -(-math.prod(sizes) // ALIGNED) * ALIGNED


def row_length(shapes: Mapping[str, Shape], sizes: Sizes) -> int:
    """The count of numbers of a model of these sizes, including gaps."""
    return sum(room(shape.resolved(sizes)) for shape in shapes.values())


class RecurrentSettings(Settings, frozen=True, kw_only=True):
    """The settings that systems made of LSTMs share: the LSTMs, and the dropout of their outputs."""

    cell: Literal["lstm", "coupled"] = "lstm"
    """lstm: the standard one; coupled: that of the 2017 code, with coupled gates and peepholes (slower here)."""
    forget_bias: Annotated[float, Meta(ge=-10, le=10)] = 0.0
    """The initial bias of the standard cell's forget gates; 1 is often advised, but costs two points at low."""
    feature_embedding: Size = 20
    dropout_kind: Literal["plain", "variational"] = "variational"
    """plain: a mask for every step; variational: one mask for all steps of a sequence."""
    dropout_on: tuple[Literal["encoder", "written", "deleted", "history", "state"], ...] = (
        "encoder",
        "written",
        "deleted",
        "history",
    )
    """Whose outputs are dropped: the encoder's, LSTM^y's, LSTM^d's, LSTM^a's, or the state s_t. HACM has the first and
    the last, soft attention these and LSTM^y. (Only outputs: the 2017 code's LSTMs also dropped their own feedback.)"""

    def lstm(self, name: str, inputs: int, hidden: int | None = None) -> dict[str, Shape]:
        """The parameters of one LSTM: W, U and b."""
        hidden = hidden or self.hidden
        gates, recurrent = (hidden * width for width in CELL_WIDTHS[self.cell])
        bias = Shape((gates,), "forget", self.forget_bias) if self.cell == "lstm" else Shape((gates,), "zero")
        return {
            f"{name}.input": Shape((inputs, gates)),
            f"{name}.recurrent": Shape((hidden, recurrent)),
            f"{name}.bias": bias,
        }

    def encoder(self, layer: str = "", inputs: int | None = None) -> dict[str, Shape]:
        """The parameters of a bidirectional LSTM."""
        inputs = inputs or self.embedding
        return self.lstm(f"{layer}forward", inputs) | self.lstm(f"{layer}backward", inputs)

    @property
    def feature_width(self) -> str:
        return "embedded_features" if self.features == "embedded" else "features"

    def feature_shapes(self) -> dict[str, Shape]:
        rows = Shape(("feature_rows", self.feature_embedding), "embedding")
        return {"features.embedding": rows} if self.features == "embedded" else {}

    def feature_names(self, atoms: Sequence[str]) -> dict[str, Sequence[Hashable]]:
        return {
            "features": atoms,
            "feature_rows": ("", *atoms),
            "embedded_features": [(atom, k) for atom in atoms for k in range(self.feature_embedding)],
        }

    def source_numbers(self) -> int:
        """Numbers that decoding keeps for each symbol: gates, states, what is attended to; a GPU took two thirds."""
        return self.hidden * (2 * CELL_WIDTHS[self.cell][0] + 5)


def read_presets(package: str, kind: type[AnySettings]) -> dict[str, AnySettings]:
    """The presets in the file `presets.toml` of a system's package."""
    text = files(package).joinpath("presets.toml").read_text(encoding="utf-8")
    return {name: from_table(kind, table, f"{package} [{name}]") for name, table in parse_tables(text, package).items()}


def load_preset(preset: str, systems: Iterable[str] | None = None) -> dict[str, Settings]:
    """The settings of each of these systems in a preset or a TOML file; of all that the preset has if none is named."""
    if preset not in PRESETS:
        if systems is not None and (Path(preset).is_file() or preset.endswith(".toml")):
            return parse_preset(read_text(preset), preset, systems)
        remedy = nearest(preset, PRESETS, f"choose auto, {', '.join(PRESETS)} or a TOML file")
        raise InputError(f"found the preset {quoted(preset)}", remedy)
    settings = {}
    for name in [name for name in SYSTEMS if preset in SYSTEMS[name].presets] if systems is None else systems:
        presets = SYSTEMS[name].presets
        if preset not in presets:
            remedy = f"write a TOML file with a table [{name}] and give it with --preset"
            choices = f"choose {' or '.join(presets)}, or " if presets else ""
            raise InputError(f"the system {name} has no preset {preset}", f"{choices}{remedy}")
        settings[name] = presets[preset]
    return settings


def parse_preset(text: str, path: str, systems: Iterable[str]) -> dict[str, Settings]:
    """The settings of each of these systems in a user's file, which must have a table for it."""
    tables: Mapping[str, object] = parse_tables(text, path)
    for table in tables:
        if table not in SYSTEMS:
            raise InputError(f"found the table {quoted(table)}", f"use {', '.join(SYSTEMS)}", path=path)
    settings = {}
    for system in systems:
        if system not in tables:
            raise InputError(f"found no table [{system}]", f"add one, or leave {system} out with --systems", path=path)
        settings[system] = from_table(SYSTEMS[system].settings, tables[system], f"{path} [{system}]")
    return settings
