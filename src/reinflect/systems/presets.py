"""Named settings of each system, and settings from a user's file."""

from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from reinflect.errors import InputError, quoted
from reinflect.files import read_text
from reinflect.settings import PRESETS, AnySettings, Settings, from_table, parse_tables
from reinflect.systems import SYSTEMS
from reinflect.text import nearest


def read_presets(package: str, kind: type[AnySettings]) -> dict[str, AnySettings]:
    """The presets in the file `presets.toml` of a system's package."""
    text = files(package).joinpath("presets.toml").read_text(encoding="utf-8")
    return {name: from_table(kind, table, f"{package} [{name}]") for name, table in parse_tables(text, package).items()}


def load_preset(name: str, systems: Iterable[str] | None = None) -> dict[str, Settings]:
    """The settings of each of these systems in a preset or a TOML file; of all that the preset has if none is named."""
    if name not in PRESETS:
        if systems is not None and (Path(name).is_file() or name.endswith(".toml")):
            return parse_preset(read_text(name), name, systems)
        remedy = nearest(name, PRESETS, f"choose auto, {', '.join(PRESETS)} or a TOML file")
        raise InputError(f"found the preset {quoted(name)}", remedy)
    settings = {}
    for system in [own for own in SYSTEMS if name in SYSTEMS[own].presets] if systems is None else systems:
        own = SYSTEMS[system].presets
        if name not in own:
            remedy = f"write a TOML file with a table [{system}] and give it with --preset"
            known = f"choose {' or '.join(own)}, or " if own else ""
            raise InputError(f"the system {system} has no preset {name}", f"{known}{remedy}")
        settings[system] = own[name]
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
