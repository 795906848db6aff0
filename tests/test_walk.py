"""How much of the package two walks visit: a small training, and a word that a model inflects.

`python -m tests.test_walk` prints the functions of both walks by module.
"""

import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from click.testing import Result

import reinflect as package
from reinflect.data.items import write_items
from tests.learn.tiny import language

PACKAGE = str(Path(package.__file__).parent)
MOST = {"train": (44, 374), "inflect": (20, 138)}
"""Modules and functions: only ever lowered, to 300 functions of train."""
SMALL = "embedding=5 hidden=6 history_hidden=4 epochs=2 score_from=0 smart.sweeps=2".split()


def visited(reinflect: Callable[..., Result], *arguments: object) -> set[tuple[str, str]]:
    """Module and name of each function of the package that is called, but for those without a name."""
    functions = set()

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<"):
            functions.add((code.co_filename, code.co_qualname))

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        result = reinflect(*arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert result.exit_code == 0, result.output
    return functions


def walks_of(reinflect: Callable[..., Result]) -> dict[str, set[tuple[str, str]]]:
    """The functions of both walks; files are written into the current folder."""
    write_items("verbs.tsv", language("german"))
    words = ["--kinds", "haem-smart", "--seeds", "2", "--workers", "1", "--device", "cpu"]
    words += [word for change in SMALL for word in ("--set", change)]
    for out in ("imports", "model"):  # what is imported calls functions too
        walks = {
            "train": visited(reinflect, "train", "--train", "verbs.tsv", "--out", out, *words),
            "inflect": visited(reinflect, "inflect", f"./{out}", "loben", "V;PST"),
        }
    return walks


def test_the_walks_are_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reinflect: Callable[..., Result]) -> None:
    monkeypatch.chdir(tmp_path)
    counts = {name: (len({module for module, _ in walk}), len(walk)) for name, walk in walks_of(reinflect).items()}
    assert all(count <= most for name in MOST for count, most in zip(counts[name], MOST[name], strict=True)), counts


if __name__ == "__main__":
    from click.testing import CliRunner

    from reinflect.cli import main

    os.chdir(tempfile.mkdtemp())
    for name, walk in walks_of(lambda *words: CliRunner().invoke(main, words)).items():
        print(f"{name}: {len({module for module, _ in walk})} modules, {len(walk)} functions")
        for module in sorted({module for module, _ in walk}):
            functions = sorted(function for other, function in walk if other == module)
            print(f"  {Path(module).relative_to(PACKAGE)} ({len(functions)}):", *functions)
