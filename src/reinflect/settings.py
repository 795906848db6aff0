"""Settings and how they are read and changed; registries of named things; random numbers by their purpose.

Each system has its own struct, which extends `Settings`; the settings of aligners and augmentations are their fields.
Another package names its own things by Python entry points in the groups `reinflect.systems`, `reinflect.aligners`,
`reinflect.strategies` and `reinflect.augmentations`. Each is imported when it is first used.
"""

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from pkgutil import resolve_name
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from reinflect.errors import InputError, nearest, quoted, shortened

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def key(*parts: int | str) -> int:
    """A 64-bit number for a purpose, such as key(seed, "shuffle", epoch).

    A model's shuffles, initial weights and dropout masks come from its seed and the place of use, never from what was
    drawn before, so that it trains the same alone, in any fleet, on any device, and after it resumes.
    """
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a word", "array": "a list"}
"""What messages call the kinds of values."""
PRESETS = ("low", "medium", "high", "paper-low", "paper-medium", "paper-high")

Size = Annotated[int, msgspec.Meta(ge=1, le=4096)]
Rate = Annotated[float, msgspec.Meta(ge=0, lt=1)]
Positive = Annotated[float, msgspec.Meta(gt=0, le=1e9)]
Updates = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
Schedule = Literal["constant", "inverse-sqrt", "linear", "cosine"]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings that all systems have."""

    embedding: Size = 100
    hidden: Size = 100
    features: Literal["set", "counts", "embedded"] = "set"
    feature_scale: Positive = 10.0
    """The value of an active feature, instead of 1 (set and counts)."""
    dropout: Rate = 0.0
    optimiser: Literal["adadelta", "adam"] = "adadelta"
    step: Positive = 1.0
    """AdaDelta's factor, or Adam's learning rate."""
    schedule: Schedule = "constant"
    """How the step changes once it has grown to `step`. constant: it stays; inverse-sqrt: it shrinks with the square
    root of the number of updates, to a half after four times `warmup`; linear, cosine: it falls to zero at `decay`."""
    warmup: Updates = 0
    """The number of updates over which the step first grows evenly from nearly zero to `step`."""
    decay: Updates = 0
    """The update at which the step reaches zero (linear and cosine)."""
    rho: Rate = 0.95
    epsilon: Positive = 1e-6
    clip: Positive = 5.0
    loss: Literal["mean", "sum"] = "mean"
    """Over the actions of an item: the sum in the paper, the mean in its code."""
    precision: Literal["single", "tf32"] = "single"
    """How exactly a GPU multiplies: with all 23 bits of a number, or with 10 (tf32)."""
    batch: Size = 2
    epochs: Size = 60
    patience: Size = 30
    """Epochs without a better dev accuracy before a model stops."""
    score_every: Size = 1
    """Epochs between two measurements of the dev accuracy."""
    score_from: Annotated[int, msgspec.Meta(ge=0, le=4096)] = 0
    """Epochs before the first measurement."""

    def __post_init__(self) -> None:
        if self.schedule in ("linear", "cosine") and self.decay <= self.warmup:
            finding = f"found schedule = '{self.schedule}' with decay = {self.decay} and warmup = {self.warmup}"
            raise InputError(finding, "set decay to the update at which the step reaches zero, more than warmup")


OF_EACH_MODEL = (
    "feature_scale dropout step schedule warmup decay rho epsilon clip loss epochs patience score_every score_from"
).split()
"""Settings in which the models of a fleet can differ: they change numbers, no shape and no operation."""

Struct = TypeVar("Struct", bound=msgspec.Struct)
AnySettings = TypeVar("AnySettings", bound=Settings)


def alike(settings: AnySettings) -> AnySettings:
    """The settings without those of `OF_EACH_MODEL`: models for which these are equal can train together."""
    plain = type(settings)()
    return msgspec.structs.replace(settings, **{key: getattr(plain, key) for key in OF_EACH_MODEL})


def not_default(settings: msgspec.Struct) -> dict[str, Any]:
    """The settings that are not at their defaults; a setting added later does not change the result."""
    values, defaults = msgspec.to_builtins(settings), msgspec.to_builtins(type(settings)())
    return {name: value for name, value in values.items() if value != defaults[name]}


def preset_for(items: int) -> str:
    """The preset whose size of training data is nearest to this number of items."""
    return "low" if items < 320 else "medium" if items < 3200 else "high"


def parse_tables(text: str, path: str) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # the latter for deeply nested brackets
        raise InputError(f"not a TOML file ({error})", "correct the file", path=path) from None


def changed(tables: Mapping[str, Struct], changes: Iterable[str], option: str = "--set") -> dict[str, Struct]:
    """Settings by name with `key=value` changes: `haem.hidden=200` in one of them, `hidden=200` in all with that key.

    A key that some system has is not changed in aligners and augmentations, some of which have epochs too. `option` is
    where the user wrote the changes.
    """
    values = {name: msgspec.to_builtins(table) for name, table in tables.items()}
    for change in changes:
        name, equals, text = change.partition("=")
        owner, dot, key = name.strip().rpartition(".")
        if not equals or (dot and owner not in tables):
            remedy = f"change a setting of {', '.join(tables)}" if equals else "write key=value, or haem.key=value"
            raise InputError(f"found {option} {quoted(change)}", remedy)
        with_key = [table for table in tables if key in known_keys(type(tables[table]))]
        of_systems = [table for table in with_key if isinstance(tables[table], Settings)]
        owners = of_systems or with_key or list(tables)[:1]  # if it is unknown to all, the first says so
        for table in [owner] if dot else owners:
            values[table][key] = _value(type(tables[table]), key, text)
    return {name: from_table(type(table), values[name], option) for name, table in tables.items()}


def known_keys(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The keys of a kind of settings, with the types of their values."""
    return {field.encode_name: field.type for field in msgspec.structs.fields(kind)}


def is_list(kind: type[msgspec.Struct], key: str) -> bool:
    return get_origin(known_keys(kind).get(key)) is tuple


def _value(kind: type[msgspec.Struct], key: str, text: str) -> Any:
    """A value as TOML has it; anything that is not TOML is a plain word, or words separated by commas."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        words = [word.strip() for word in text.split(",")]
        return [word for word in words if word] if is_list(kind, key) else text.strip()


def from_table(kind: type[Struct], table: Any, source: str) -> Struct:
    """Settings of a kind from a table of values; unknown keys and impossible values are errors that name them."""
    if not isinstance(table, Mapping):
        finding = f"found {quoted(str(table))} instead of a table"
        raise InputError(finding, "write a heading such as [haem] above it", path=source)
    keys = known_keys(kind)
    for key in table:
        if key not in keys:
            remedy = nearest(key, keys, f"the settings are {', '.join(sorted(keys)) or 'none'}")
            raise InputError(f"found the unknown setting {quoted(key)}", remedy, path=source)
    try:
        return msgspec.convert(table, kind, strict=True)
    except InputError as error:  # from the struct: values that do not fit together
        raise InputError(error.found, error.remedy, path=source) from None
    except msgspec.ValidationError as error:
        reason, _, where = str(error).partition(" - at ")
        key = where.strip("`").removeprefix("$.").partition("[")[0]
        for name, plain in KINDS.items():
            reason = reason.replace(f"`{name}`", plain)
        finding = f"found {key} = {quoted(str(table.get(key)))}, which does not fit ({shortened(reason.lower(), 100)})"
        choices = _choices(keys.get(key))
        remedy = f"the values are {', '.join(choices)}" if choices else "correct its value"
        raise InputError(finding, remedy, path=source) from None


def _choices(expected: Any) -> list[str]:
    """The words that a setting, or each word of its list, can be; none if it is something else."""
    words = get_args(expected)
    if words and get_origin(expected) in (tuple, Union, UnionType):
        words = get_args(words[0])
    return [word for word in words if isinstance(word, str)]


T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Things by name: ours in our order, then those of other packages by the alphabet."""

    def __init__(self, kind: str, ours: Mapping[str, T | str]) -> None:
        """`ours` are things by name, or names such as `reinflect.systems.hacm:SYSTEM`, which are imported."""
        self.kind = kind
        self.group = f"reinflect.{'strategies' if kind == 'strategy' else f'{kind}s'}"
        self._ours = ours
        self._loaded: dict[str, T] = {}

    @cached_property
    def _others(self) -> "dict[str, EntryPoint]":
        from importlib.metadata import entry_points  # looking for packages takes longer than inflecting a word

        entries = sorted(entry_points(group=self.group))
        return {entry.name: entry for entry in entries if entry.name not in self._ours}  # nothing replaces ours

    def __iter__(self) -> Iterator[str]:
        return chain(self._ours, self._others)

    def __len__(self) -> int:
        return len(self._ours) + len(self._others)

    def __contains__(self, name: object) -> bool:
        return name in self._ours or name in self._others

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            thing = self._ours[name] if name in self._ours else self._from_another_package(self._others[name])
            self._loaded[name] = resolve_name(thing) if isinstance(thing, str) else thing
        return self._loaded[name]

    def _from_another_package(self, entry: "EntryPoint") -> T:
        try:
            return entry.load()  # type: ignore[no-any-return]
        except Exception as error:
            thing = f"the {self.kind} {quoted(entry.name)} of the package {self.package(entry.name)}"
            raise InputError(f"{thing} could not be loaded ({error})", "update or uninstall that package") from None

    def package(self, name: str) -> str:
        """The package that brings a thing; empty for ours."""
        entry = None if name in self._ours else self._others.get(name)
        return entry.dist.name if entry and entry.dist else ""

    def find(self, name: str) -> T:
        """The thing of that name; an unknown name is the user's error."""
        if name not in self:
            names = f"{self.group.rpartition('.')[2]}: {', '.join(self)}"
            raise InputError(f"there is no {self.kind} {quoted(name)}", nearest(name, self, names))
        return self[name]
