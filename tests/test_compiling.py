"""Compiled functions work wherever they are run, also where nothing may be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import caching

from reinflect.compiling import compiled


def test_what_is_made_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "doubling.py").write_text(
        "from reinflect.compiling import compiled\n@compiled()\ndef double(x):\n    return 2 * x\n"
    )
    code = "import doubling; print(doubling.double(21), sum(doubling.double.stats.cache_hits.values()))"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    runs = [
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=os.environ, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert [run.stdout.split() for run in runs] == [["42", "0"], ["42", "1"]]


def test_without_a_place_it_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.FunctionCache._impl_class, "_locator_classes", [])

    @compiled(inline="always")
    def one_more(x: int) -> int:
        return x + 1

    assert one_more(41) == 42
