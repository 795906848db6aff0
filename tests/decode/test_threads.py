"""Products are made by one thread, and threads share out models, whatever the environment."""

import os
import subprocess
import sys
from pathlib import Path
from threading import get_ident

import pytest

from reinflect.decode.search import shared_out

ROOT = Path(__file__).parents[2]
CODE = """
import time
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from threadpoolctl import threadpool_info
from reinflect.decode.search import one_blas_thread

def blas():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

def decode(_):
    with one_blas_thread():
        time.sleep(0.01)
        return blas()

before = blas()
with one_blas_thread():
    with one_blas_thread():
        print(blas())
    print(blas())
print(blas() == before)
with ThreadPoolExecutor(4) as pool:
    print(*pool.map(decode, range(8)))
print(blas() == before)
"""


def run(code: str, **variables: str) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment |= {"PYTHONPATH": str(ROOT / "src"), **variables}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.parametrize("before", ["3", "1"])
def test_blas_has_one_thread_while_any_thread_decodes_and_then_those_it_had(before: str) -> None:
    assert run(CODE, OPENBLAS_NUM_THREADS=before) == ["[1]", "[1]", "True", " ".join(["[1]"] * 8), "True"]


def test_a_command_needs_no_library_to_hold_blas_to_one_thread() -> None:
    code = "import sys; sys.argv = ['reinflect', 'baseline', '--help']\nimport reinflect.__main__ as start\n"
    code += "try: start.run()\nexcept SystemExit: pass\n"
    code += "import numpy, os, reinflect.decode.search as search\n"
    code += "with search.one_blas_thread(): print('threadpoolctl' in sys.modules, os.environ['OPENBLAS_NUM_THREADS'])"
    assert run(code)[-1] == "False 1"
    assert run(code, OPENBLAS_NUM_THREADS="2")[-1] == "True 2"


@pytest.mark.parametrize(
    ("models", "items", "available", "number"),
    [(4, 400, "2", 2), (4, 300, "2", 1), (1, 9999, "2", 1), (4, 400, "1", 1), (1, 9999, "4,2", 1), (0, 9, "0", 1)],
)
def test_threads_share_models_where_it_is_worth_while(
    models: int, items: int, available: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", available)
    seen = set[int]()

    def decode(model: int) -> int:
        seen.add(get_ident())
        return model * model

    assert shared_out(decode, range(models), items) == [model * model for model in range(models)]
    assert (get_ident() in seen) == (number == 1 and models > 0)
    assert len(seen) <= number
