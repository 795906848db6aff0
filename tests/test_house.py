"""Who may import whom."""

import ast
from pathlib import Path

import pytest

import reinflect

PACKAGE = Path(reinflect.__file__).parent
ORDER = (
    "errors locks files text registry compiled settings data align score systems layers decode "
    "ensemble learn run inflector assemble start train changes forecast paper report web cli"
).split()
TOGETHER = {"systems", "layers"}
"""Rooms that still import from each other."""
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or not path.name.startswith("__"))


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name their module in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("reinflect.")}
    return rooms


def test_there_are_modules_to_check() -> None:
    assert len(MODULES) > 10


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_those_before_it(path: Path) -> None:
    own = ORDER.index(room(path))
    later = {name for name in imported_rooms(path) if name in ORDER and ORDER.index(name) > own}
    later -= TOGETHER if room(path) in TOGETHER else set()
    assert not later, f"{room(path)} may not import {', '.join(sorted(later))}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_are_named_for_what_they_are(path: Path) -> None:
    assert path.stem not in {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
