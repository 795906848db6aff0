"""Inflecting needs neither torch nor numba: all that is above the door works where they are blocked."""

import json
from pathlib import Path

import pytest

from reinflect.data.items import write_items
from reinflect.systems import SYSTEMS
from tests.cli import printed_by
from tests.fuzz import tiny_models
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


def run(program: str, folder: Path | None = None) -> str:
    """What a program prints that can import none of `BLOCKED`."""
    return printed_by("-c", BLOCKING + program, cwd=folder)


def test_they_are_blocked() -> None:
    program = (
        "for name in {}:\n    try:\n        __import__(name)\n    except ImportError as error:\n        print(error)"
    )
    assert run(program.format(BLOCKED)).splitlines() == [f"{name} is blocked" for name in BLOCKED]


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
    assert run(program).splitlines() == [f"{name} True" for name in SYSTEMS]


COMMANDS = {
    "inflect": "tiny.reinflect gehen V;PST",
    "inflect a file": "tiny.reinflect --input words.tsv --n-best 2 --json",
    "paradigm": "tiny.reinflect gehen",
    "models": "",
    "trace": "tiny.reinflect gehen V;PST --member all",
    "suggest": "tiny.reinflect --lemmas lemmas.txt",
    "analyse": "tiny.reinflect ging",
    "fill": "tiny.reinflect gaps.csv --output filled.csv",
    "check": "words.tsv",
    "evaluate": "words.tsv words.tsv",
    "baseline": "--train words.tsv --input words.tsv",
    "align": "words.tsv --sweeps 2",
    "oracle": "gehen ging",
    "data": "list",
    "info": "tiny.reinflect",
    "report": "tiny.reinflect --dev words.tsv --out page.html",
    "serve": "--help",
    "demo": "--only words",
}
TRAINING = "--train words.tsv --dev words.tsv --out model.reinflect"
RUNNING = """
import json
from click.testing import CliRunner
from reinflect.cli import main
for name, words in {}.items():
    result = CliRunner().invoke(main, [name.split()[0], *words.split()])
    print(json.dumps([name, result.exit_code, result.output, repr(result.exception)]))
"""
"""One process runs them all: none may need what another has loaded."""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    folder = tmp_path_factory.mktemp("light")
    (folder / "tiny.reinflect").write_bytes(tiny_models.model_file())
    write_items(folder / "words.tsv", tiny_models.ITEMS)
    (folder / "lemmas.txt").write_text("legen\nstand\n", encoding="utf-8")
    (folder / "gaps.csv").write_text("lemma,V;PST\ngehen,ging\nsehen,\n", encoding="utf-8")
    lines = run(RUNNING.format({**COMMANDS, "train": TRAINING}), folder).splitlines()
    return {name: (code, output + exception) for name, code, output, exception in map(json.loads, lines)}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_that_train_nothing_need_no_torch(results: dict[str, tuple[int, str]], name: str) -> None:
    code, output = results[name]
    assert code == 0, output
    assert output


def test_training_says_what_to_install(results: dict[str, tuple[int, str]]) -> None:
    code, output = results["train"]
    assert (code, output.partition("\n")[0]) == (2, "reinflect: training needs torch; pip install 'reinflect[train]'")
