"""Every number that decides what a model is and how it is trained.

A preset is a TOML file with one table per system; `--set key=value` changes single keys. Unknown keys and impossible
values are errors that name them.
"""

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Annotated, Any, Literal, get_args

import msgspec

from reinflect.errors import InputError, quoted, shortened
from reinflect.text import nearest

SYSTEMS = ("hacm", "haem", "soft")
LISTS = ("dropout_on",)
KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a word", "array": "a list"}
"""What messages call the kinds of values."""
PRESETS = ("low", "medium", "high", "paper-low", "paper-medium", "paper-high")

Size = Annotated[int, msgspec.Meta(ge=1, le=4096)]
Rate = Annotated[float, msgspec.Meta(ge=0, lt=1)]
Positive = Annotated[float, msgspec.Meta(gt=0, le=1e9)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of one system."""

    # the model
    embedding: Size = 100
    hidden: Size = 100
    cell: Literal["lstm", "coupled"] = "lstm"
    """lstm: the standard one; coupled: that of the 2017 code, with coupled gates and peepholes (slower here)."""
    forget_bias: Annotated[float, msgspec.Meta(ge=-10, le=10)] = 0.0
    """What the forget gates of the standard cell start from; 1 is often advised, but costs two points at low."""
    features: Literal["set", "counts", "embedded"] = "set"
    feature_scale: Positive = 10.0
    """What an active feature is instead of 1 (set and counts)."""
    feature_embedding: Size = 20
    tied: bool = False
    """Whether characters and the actions that write them share their embeddings (always so in HACM)."""
    copy_mixture: bool = msgspec.field(default=True, name="copy")
    """HACM: whether to mix copying in (§3.2); without it this is the plain hard monotonic model of §3.1."""
    history: bool = True
    """HAEM: whether the state sees LSTM^a, the actions so far."""
    deletions: bool = True
    """HAEM: whether the state sees LSTM^d, the characters deleted since the last WRITE."""
    history_hidden: Size = 100
    """HAEM: the size of LSTM^a (H in the paper, 100 in its code)."""
    attention: Size = 64
    """Soft attention: the size of the layer in which states and source meet."""
    dropout: Rate = 0.0
    dropout_kind: Literal["plain", "variational"] = "variational"
    """plain: drawn anew for every step; variational: one mask for all steps of a sequence."""
    dropout_on: tuple[Literal["encoder", "written", "deleted", "history", "state"], ...] = (
        "encoder",
        "written",
        "deleted",
        "history",
    )
    """Whose outputs are dropped: the encoder's, LSTM^y's, LSTM^d's, LSTM^a's, or the state s_t. HACM has the first and
    the last, soft attention these and LSTM^y. (Only outputs: the 2017 code's LSTMs also dropped what they fed back to
    themselves.)"""

    # its training
    optimiser: Literal["adadelta", "adam"] = "adadelta"
    step: Positive = 1.0
    """AdaDelta's factor, or Adam's learning rate."""
    rho: Rate = 0.95
    epsilon: Positive = 1e-6
    clip: Positive = 5.0
    loss: Literal["mean", "sum"] = "mean"
    """Over the actions of an item: the sum in the paper, the mean in its code."""
    precision: Literal["single", "tf32"] = "single"
    """How exactly a GPU multiplies; a CPU's products are always exact."""
    batch: Size = 2
    epochs: Size = 60
    patience: Size = 30
    """Epochs without a better dev accuracy before a model stops."""
    score_every: Size = 1
    """Epochs between two looks at the dev accuracy."""
    score_from: Annotated[int, msgspec.Meta(ge=0, le=4096)] = 0
    """Epochs before the first look."""


OF_EACH_MODEL = (
    "feature_scale",
    "dropout",
    "step",
    "rho",
    "epsilon",
    "clip",
    "loss",
    "epochs",
    "patience",
    "score_every",
    "score_from",
)
"""What models that train together can differ in: these change no shape and no operation, only numbers."""


def alike(settings: Settings) -> Settings:
    """The settings without what is each model's own: where this is equal, models can train together."""
    plain = Settings()
    return msgspec.structs.replace(settings, **{key: getattr(plain, key) for key in OF_EACH_MODEL})


def load_preset(name: str) -> dict[str, Settings]:
    """The settings of each system in a shipped preset."""
    if name not in PRESETS:
        raise InputError(f"found the preset {quoted(name)}", f"choose one of {', '.join(PRESETS)}")
    text = files("reinflect").joinpath("presets", f"{name}.toml").read_text(encoding="utf-8")
    return parse_preset(text, f"{name}.toml")


def parse_preset(text: str, path: str) -> dict[str, Settings]:
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # the latter of brackets within brackets within brackets
        raise InputError(f"this is not TOML ({error})", "correct the file", path=path) from None
    unknown = set(tables) - set(SYSTEMS)
    if unknown:
        raise InputError(f"found the table {quoted(min(unknown))}", f"use {', '.join(SYSTEMS)}", path=path)
    return {system: _settings(tables.get(system, {}), f"{path} [{system}]") for system in SYSTEMS}


def preset_for(items: int) -> str:
    """The preset for so many training items: the one whose setting of the shared task is nearest in size."""
    return "low" if items < 320 else "medium" if items < 3200 else "high"


def changed(settings: Mapping[str, Settings], changes: Iterable[str], option: str = "--set") -> dict[str, Settings]:
    """Settings with `key=value` changes made: `hidden=200` for every system, `haem.hidden=200` for one.

    `option` is where the user wrote them, for messages.
    """
    tables = {system: msgspec.to_builtins(own) for system, own in settings.items()}
    for change in changes:
        name, found, text = change.partition("=")
        system, dot, key = name.strip().rpartition(".")
        if not found or (dot and system not in tables):
            raise InputError(
                f"found {option} {quoted(change)}", "write key=value, or haem.key=value to change one system only"
            )
        for own in [system] if dot else list(tables):
            tables[own][key] = _value(key, text)
    return {system: _settings(table, option) for system, table in tables.items()}


def _value(key: str, text: str) -> Any:
    """A value as TOML has it; anything that is not TOML is a plain word, or words with commas between."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        words = [word.strip() for word in text.split(",")]
        return [word for word in words if word] if key in LISTS else text.strip()


def _settings(table: Any, place: str) -> Settings:
    if not isinstance(table, Mapping):
        raise InputError(
            f"found {quoted(str(table))} where a table should be", "write it as [hacm], [haem] or [soft]", path=place
        )
    known = {field.encode_name for field in msgspec.structs.fields(Settings)}
    for key in table:
        if key not in known:
            raise InputError(
                f"found the unknown setting {quoted(key)}",
                nearest(key, known, f"the settings are {', '.join(sorted(known))}"),
                path=place,
            )
    try:
        return msgspec.convert(table, Settings, strict=True)
    except msgspec.ValidationError as error:
        reason, _, where = str(error).partition(" - at ")
        key = where.strip("`").removeprefix("$.").partition("[")[0]
        for kind, plain in KINDS.items():
            reason = reason.replace(f"`{kind}`", plain)
        found = f"found {key} = {quoted(str(table.get(key)))}, which does not fit ({shortened(reason.lower(), 100)})"
        choices = _choices(key)
        remedy = f"the values are {', '.join(choices)}" if choices else "correct its value"
        raise InputError(found, remedy, path=place) from None


def _choices(key: str) -> tuple[str, ...]:
    """The words that a setting, or each word of its list, can be; none if it is something else."""
    (kind,) = (field.type for field in msgspec.structs.fields(Settings) if field.encode_name == key)
    words = get_args(get_args(kind)[0]) if key in LISTS else get_args(kind)
    return tuple(word for word in words if isinstance(word, str))
