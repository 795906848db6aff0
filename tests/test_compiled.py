"""Compiled functions work wherever they are run, also where nothing may be written."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from numba.core import caching

from reinflect.compiled import compiled
from tests.cli import printed_by


@pytest.fixture
def doubled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Runs a program that doubles a number, after some code: the result, and the number of cache hits."""
    (tmp_path / "doubling.py").write_text(
        "from reinflect.compiled import compiled\n@compiled()\ndef double(x):\n    return 2 * x\n"
    )
    code = "import doubling; {}; print(doubling.double(21), sum(doubling.double.stats.cache_hits.values()))"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))

    def run(before: str = "pass") -> list[str]:
        return printed_by("-c", code.format(before), cwd=tmp_path).split()

    return run


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_on_a_full_disk_it_is_made_anew(doubled: Callable[..., list[str]], tmp_path: Path) -> None:
    full = "from resource import *; setrlimit(RLIMIT_FSIZE, (0, RLIM_INFINITY))"
    assert [doubled(full), doubled(full)] == [["42", "0"], ["42", "0"]]
    assert not [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]


@pytest.mark.parametrize(("ending", "content"), [("nbi", b""), ("nbc", b"no pickle")])
def test_machine_code_is_kept_and_made_anew_if_it_is_damaged(
    doubled: Callable[..., list[str]], tmp_path: Path, ending: str, content: bytes
) -> None:
    assert [doubled(), doubled()] == [["42", "0"], ["42", "1"]]
    for path in (tmp_path / "kept").rglob(f"*.{ending}"):
        path.write_bytes(content)
    assert [doubled(), doubled()] == [["42", "0"], ["42", "1"]]


def test_without_a_place_it_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.FunctionCache._impl_class, "_locator_classes", [])

    @compiled(inline="always")
    def one_more(x: int) -> int:
        return x + 1

    assert one_more(41) == 42


@pytest.mark.skipif(sys.platform != "linux", reason="it is let go on Linux alone")
def test_the_compiler_leaves_memory_and_comes_back() -> None:
    program = """
import re
from pathlib import Path
import numba
from reinflect.compiled import compiled, release_compiler

def taken():
    pages = re.findall(r"r-xp .*libllvmlite.*\\n(?:.*\\n)*?Rss: +(\\d+)", Path("/proc/self/smaps").read_text())
    return sum(map(int, pages))

before = taken()
release_compiler()
after = taken()

@compiled()
def double(x):
    return 2 * x

print(before, after, double(21), taken(), double(1.5))
"""
    before, after, whole, later, half = map(float, printed_by("-c", program).split())
    assert (whole, half) == (42, 3)
    assert before > 10_000
    assert after < before / 10
    assert after < later  # as the second function is not kept anywhere, it had to be compiled


ALIGNING = """
from reinflect.align.smart import Smart
from reinflect.compiled import compiles
from reinflect.data.german import read_split
pairs = [*((item.lemma, item.form) for item in read_split("train-low")), ("ab" * 150, "ba" * 160), ("", "a")]
print(compiles())
print(Smart(sweeps=3, alpha=5e-324).align(pairs[:20]), Smart(sweeps=3).align(pairs))
"""
"""Of long strings too, whose probabilities are logarithms."""
WITHOUT_NUMBA = {
    "switched off": "import os; os.environ['NUMBA_DISABLE_JIT'] = '1'",
    "not installed": "import sys; sys.modules['numba'] = None",
}


@pytest.mark.parametrize("before", WITHOUT_NUMBA)
def test_without_numba_plain_python_gives_the_same(before: str) -> None:
    plain, usual = (printed_by("-W", "error", "-c", more + ALIGNING) for more in (WITHOUT_NUMBA[before], ""))
    assert plain == usual.replace("True\n", "False\n", 1)
