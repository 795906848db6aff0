"""Who may import whom, how large each room may be, and which names say too little.

`python -m tests.test_house` prints the present numbers of `BUDGET` and `VAGUE_NAMES`.
"""

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import reinflect

PACKAGE = Path(reinflect.__file__).parent
ROOT = PACKAGE.parents[1]
LIGHT = (
    "errors text files tensors settings compiled data score align systems decode ensemble inflector report web"
).split()
TRAINING = "layers equations learn run assemble start train changes forecast paper".split()
"""Rooms behind the door: only their modules import torch, numba or triton at the top."""
ORDER = [*LIGHT, *TRAINING, "cli"]
HEAVY = {"torch", "numba", "triton"}
EQUATIONS = {"model", "roll_in", "triton_expert"}
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


BUDGET = {
    "align": 556,
    "bench": 4_227,
    "cli": 2_452,
    "data": 2_424,
    "decode": 322,
    "ensemble": 590,
    "examples": 549,
    "inflector": 1_551,
    "layers": 1_609,
    "learn": 1_363,
    "paper": 1_235,
    "reinflect": 1_911,
    "report": 604,
    "run": 1_443,
    "score": 650,
    "src": 19_909,
    "systems": 2_310,
    "tests": 24_326,
    "web": 889,
}
"""Lines of Python in each room of src (`reinflect` is the modules beside the rooms), and in whole folders. Whoever
shrinks a room lowers its number."""
LONGEST_MODULE = 330
VAGUE = frozenset("own found one given known made asked said shown mark place".split())
VAGUE_NAMES = 4
"""The most variables and parameters that have one of these names: they say nothing in a traceback."""


def sizes() -> dict[str, int]:
    """The lines of Python in each room, and in whole folders."""
    counts = Counter[str]()
    for folder in ("src", "tests", "bench", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            counts[folder] += lines
            if folder == "src":
                counts[path.parent.relative_to(PACKAGE).parts[0] if path.parent != PACKAGE else "reinflect"] += lines
    return dict(sorted(counts.items()))


def vague_names() -> int:
    nodes = [node for path in PACKAGE.rglob("*.py") for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    names = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    names += [node.arg for node in nodes if isinstance(node, ast.arg)]
    return sum(name in VAGUE for name in names)


def test_rooms_keep_to_their_budgets() -> None:
    assert sizes().keys() == BUDGET.keys()
    assert {room: lines for room, lines in sizes().items() if not 0.98 * BUDGET[room] <= lines <= BUDGET[room]} == {}


@every_module
def test_modules_are_short(name: str) -> None:
    assert len(PATHS[name].read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


def test_names_say_what_they_name() -> None:
    assert vague_names() <= VAGUE_NAMES


def test_lines_are_as_long_as_ruff_allows() -> None:
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]
    assert ruff["line-length"] == 120
    assert "E" in ruff["lint"]["select"]
    assert not {"E", "E5", "E501"} & {*ruff["lint"]["ignore"]}
    assert not [path for path in PATHS.values() if "fmt: off" in path.read_text(encoding="utf-8")]


if __name__ == "__main__":
    print(*(f'    "{room}": {lines:_},' for room, lines in sizes().items()), f"VAGUE_NAMES = {vague_names()}", sep="\n")
