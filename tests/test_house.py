"""Who may import whom."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import reinflect

PACKAGE = Path(reinflect.__file__).parent
LIGHT = (
    "errors locks text files tensors registry settings chance compiled data score align systems decode ensemble "
    "inflector report web"
).split()
TRAINING = "layers equations learn run assemble start train changes forecast paper".split()
"""Rooms behind the door: only their modules import torch, numba or triton at the top."""
ORDER = [*LIGHT, *TRAINING, "cli"]
HEAVY = {"torch", "numba", "triton"}
EQUATIONS = {"model", "roll_in", "expert", "triton_expert"}
"""The modules of systems that are behind the door."""
PATHS = {
    ".".join(("reinflect", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
"""Of every module, by its name."""
MODULES = [name for name in PATHS if name not in ("reinflect", "reinflect.__main__")]
every_module = pytest.mark.parametrize("name", MODULES)


def room(name: str) -> str:
    parts = name.split(".")
    return "equations" if parts[1] == "systems" and parts[-1] in EQUATIONS else parts[1]


def imports(path: Path, *, at_the_top: bool = False) -> Iterator[str]:
    """The names a module imports, but for types; all of them, or those it imports when it is imported."""
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name their module in full"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes += node.orelse
        elif not (at_the_top and isinstance(node, ast.FunctionDef | ast.Lambda)):
            nodes += ast.iter_child_nodes(node)


def module_of(imported: str) -> str:
    """The module that has an imported name, if it is not a module itself."""
    return imported if imported in PATHS else imported.rpartition(".")[0]


def test_there_are_modules_to_check() -> None:
    assert len(MODULES) > 100
    assert {room(name) for name in MODULES} == set(ORDER)


@every_module
def test_a_module_imports_only_from_those_before_it(name: str) -> None:
    rooms = {room(module_of(imported)) for imported in imports(PATHS[name]) if module_of(imported) in MODULES}
    later = {other for other in rooms if ORDER.index(other) > ORDER.index(room(name))}
    assert not later, f"{name} may not import from {', '.join(sorted(later))}"


@every_module
def test_only_training_needs_torch(name: str) -> None:
    heavy = HEAVY & {imported.partition(".")[0] for imported in imports(PATHS[name], at_the_top=True)}
    assert not heavy or room(name) in TRAINING, f"{name} may not import {', '.join(sorted(heavy))} at the top"


@every_module
def test_modules_are_named_for_what_they_are(name: str) -> None:
    assert name.rpartition(".")[2] not in {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
