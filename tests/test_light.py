"""Inflecting needs neither torch nor numba: all that is above the door works where they are blocked."""

import subprocess
import sys

import pytest

from reinflect.systems import SYSTEMS
from tests.test_house import LIGHT, MODULES, room

BLOCKED = ("torch", "numba", "triton", "safetensors")
BLOCKING = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ImportError(f"{{name}} is blocked")

sys.meta_path.insert(0, Blocked())
"""
ABOVE = [name for name in MODULES if room(name) in LIGHT]


def run(program: str) -> str:
    """What a program prints that can import none of `BLOCKED`."""
    call = [sys.executable, "-c", BLOCKING + program]
    return subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout


@pytest.mark.parametrize("name", BLOCKED)
def test_they_are_blocked(name: str) -> None:
    assert run(f"try:\n    import {name}\nexcept ImportError as error:\n    print(error)") == f"{name} is blocked\n"


def test_every_module_above_the_door_can_be_imported() -> None:
    assert len(ABOVE) > 50
    program = "from importlib import import_module\nfor name in {}:\n    import_module(name)\nprint(len(sys.modules))"
    assert int(run(program.format(ABOVE))) > len(ABOVE)


def test_systems_are_known_and_what_is_missing_is_named() -> None:
    """Their settings, shapes and symbols; only their equations need torch."""
    program = """
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import Inventory, expected_shapes
inventory = Inventory(("a", "b"), ("V",))
for name in SYSTEMS:
    system = SYSTEMS[name]
    sizes = system.sizes(inventory, settings := system.presets["low"])
    print(name, len(expected_shapes(system.shapes(settings), sizes)) > 10)
"""
    ours = [name for name in SYSTEMS if name != "transformer"]  # which becomes a plugin
    printed = run(program.replace("in SYSTEMS:", f"in {ours}:")).splitlines()
    assert printed == [f"{name} True" for name in ours]
