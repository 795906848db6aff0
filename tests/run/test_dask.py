"""A real Dask cluster on this machine: what it trains, and what becomes of it when workers and schedulers die.

Clusters and those who use them are processes of their own here, as they are elsewhere.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest
from distributed import Client

from reinflect.data.items import Item, write_items
from reinflect.run.packs import read_results
from tests.learn.tiny import language

LINES = 20
"""Of the 80 of a log, when a pack is well under way."""
CHANGES = "embedding=5 hidden=6 history_hidden=4 epochs=40 patience=90 score_from=0 score_every=20".split()
SECONDS = 300.0
SLOW = """
import time
from reinflect.learn.fleet import Fleet

def slowly(fleet, prepare=Fleet.prepare):
    time.sleep(0.05)
    return prepare(fleet)

Fleet.prepare = slowly
"""
"""What a worker loads first that is slower than the failures of another."""
FULL = """
import reinflect.run.worker

def train_in(*arguments, **options):
    raise OSError(28, "No space left on device")

reinflect.run.worker.train_in = train_in
"""
"""What a worker loads first whose disk is full."""
DASK = [sys.executable, "-m", "dask"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    items = language("german")
    write_items(folder / "german-dev", items[:4])
    write_items(folder / "german-train-low", items[4:])
    write_items(folder / "german-covered-test", [Item(item.lemma, item.features) for item in items[:3]])
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    own = {"REINFLECT_CACHE": str(tmp_path / "cache"), "DASK_TEMPORARY_DIRECTORY": str(tmp_path)}
    return os.environ | own | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}


def command(data: Path, out: Path, *more: object) -> list[str]:
    fixed = ["benchmark", "--data", data, "--out", out, "--grid", "quick", "--settings", "low", "--device", "cpu"]
    changes = [argument for change in CHANGES for argument in ("--set", change)]
    return [sys.executable, "-m", "reinflect", *(str(argument) for argument in (*fixed, *changes, *more))]


@contextmanager
def running(call: Sequence[str], environment: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """A process in a group of its own, which ends with the block."""
    with subprocess.Popen(
        call, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def wait_until(ready: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + SECONDS
    while not ready():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.02)


def half_done(folder: Path) -> list[Path]:
    """The logs of packs that workers are in the middle of."""
    found = []
    for log in folder.glob("dask-scratch-space/*/*/training.state/*.jsonl"):
        try:
            if log.read_bytes().count(b"\n") > LINES:
                found.append(log)
        except FileNotFoundError:
            pass
    return found


def spawned(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """The worker processes of a local cluster."""
    children = psutil.Process(process.pid).children(recursive=True)
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]


def said(out: Path) -> dict[str, object]:
    """All that does not depend on how long things took."""
    files = [path for path in out.rglob("*") if path.is_file() and path.parent.name != "packs" and "." not in path.name]
    found: dict[str, object] = {str(path.relative_to(out)): path.read_bytes() for path in files}
    found["results"] = (out / "results.json").read_bytes()
    found["logs"] = {path.name: path.read_bytes() for path in (out / "logs").iterdir()}
    found["packs"] = [(result.pack, result.device, result.models) for result in read_results(out / "packs")]
    return found


@pytest.fixture(scope="module")
def undisturbed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the processes of one command make of it."""
    out = tmp_path_factory.mktemp("undisturbed")
    done = subprocess.run(command(data, out, "--workers", 1), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


def test_a_worker_is_killed_in_the_middle_of_training(
    data: Path, undisturbed: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    out = tmp_path / "out"
    with running(command(data, out, "--engine", "dask", "--workers", 2), environment) as process:
        wait_until(lambda: len(half_done(tmp_path)) == 2, process)
        workers = spawned(process)
        assert len(workers) == 2
        workers[0].kill()
        _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, stderr
    assert "ended unexpectedly; tls://127.0.0.1:" in stderr
    assert "8 of 8 models trained" in stderr
    assert "Traceback" not in stderr
    assert said(out) == said(undisturbed)
    assert not (out / "training.state").exists()


def test_the_scheduler_stops_and_the_same_goes_on_without_it(
    data: Path, undisturbed: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    out, file = tmp_path / "out", tmp_path / "scheduler.json"
    with ExitStack() as stack:
        scheduler = stack.enter_context(running(scheduler_call(file), environment))
        wait_until(file.exists, scheduler)
        for _ in range(2):
            stack.enter_context(running(worker_call(file), environment))
        more = ["--engine", "dask", "--scheduler-file", file]
        process = stack.enter_context(running(command(data, out, *more), environment))
        wait_until(lambda: bool(list(out.glob("packs/*.xz"))) and bool(half_done(tmp_path)), process)
        scheduler.kill()
        _, stderr = process.communicate(timeout=SECONDS)
    kept = {path.name: path.read_bytes() for path in (out / "packs").iterdir()}
    assert process.returncode == 2, stderr
    (complaint,) = [line for line in stderr.splitlines() if line.startswith("reinflect:")]
    assert "lost the Dask scheduler at tcp://" in complaint
    assert "Traceback" not in stderr
    assert 0 < len(kept) < 4
    done = subprocess.run(command(data, out, "--workers", 1), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {name: (out / "packs" / name).read_bytes() for name in kept} == kept
    assert said(out) == said(undisturbed)


def test_a_worker_whose_disk_is_full_costs_no_pack(
    data: Path, undisturbed: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    out, file, full, slow = tmp_path / "out", tmp_path / "scheduler.json", tmp_path / "full.py", tmp_path / "slow.py"
    full.write_text(FULL)
    slow.write_text(SLOW)
    with ExitStack() as stack:
        scheduler = stack.enter_context(running(scheduler_call(file), environment))
        wait_until(file.exists, scheduler)
        stack.enter_context(running(worker_call(file, "--preload", str(slow)), environment))
        broken = stack.enter_context(running(worker_call(file, "--preload", str(full)), environment))
        with Client(scheduler_file=str(file), set_as_default=False) as client:
            client.wait_for_workers(2, timeout=SECONDS)
        call = command(data, out, "--engine", "dask", "--scheduler-file", file)
        done = subprocess.run(call, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert broken.wait(timeout=SECONDS) == 0
    (away,) = [line for line in done.stderr.splitlines() if "not used any more" in line]
    assert " failed one after the other at the Dask worker at tcp://127.0.0.1:" in away
    assert away.endswith("(OSError: [Errno 28] No space left on device); it is not used any more")
    assert "8 of 8 models trained" in done.stderr
    assert "ended unexpectedly" not in done.stderr
    assert "Traceback" not in done.stderr
    assert said(out) == said(undisturbed)


def scheduler_call(file: Path) -> list[str]:
    return [*DASK, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]


def worker_call(file: Path, *more: str) -> list[str]:
    fixed = ["--scheduler-file", str(file), "--nthreads", "1", "--memory-limit", "0", "--no-dashboard", "--no-nanny"]
    return [*DASK, "worker", *fixed, *more]


@pytest.mark.long
def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(
    data: Path, undisturbed: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    out = tmp_path / "out"
    call = command(data, out, "--engine", "dask", "--workers", 2)
    with running(call, environment) as process:
        wait_until(lambda: bool(list(out.glob("packs/*.xz"))) and bool(half_done(tmp_path)), process)
        os.killpg(process.pid, signal.SIGINT)  # to all of them, as a terminal does
        _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, stderr
    assert "models are not trained yet; the same command resumes the training" in stderr
    assert "Traceback" not in stderr
    kept = {path: path.stat().st_mtime_ns for path in (out / "packs").iterdir()}
    assert 0 < len(kept) < 4
    done = subprocess.run(call, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert said(out) == said(undisturbed)


def test_clusters_that_are_of_no_use_are_told_in_one_line(
    data: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    file, skew = tmp_path / "scheduler.json", tmp_path / "skew.py"
    skew.write_text("import reinflect\nreinflect.__version__ = '9.9'\n")

    def complaint(*more: object) -> str:
        call = command(data, tmp_path / "out", "--engine", "dask", *more)
        done = subprocess.run(call, env=environment, capture_output=True, text=True)
        assert done.returncode == 2, done.stderr
        (line,) = done.stderr.splitlines()
        return line

    with running(scheduler_call(file), environment) as scheduler:
        wait_until(file.exists, scheduler)
        told = complaint("--scheduler-file", file, "--wait", 0.5)
        assert "has had no worker for 0.5 s; start some" in told
        with running(worker_call(file, "--preload", str(skew)), environment):
            told = complaint("--scheduler-file", file)
            assert "has reinflect 9.9, not 0.2.0 as here; start workers from the same environment" in told
    environment["DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"] = "1s"
    told = complaint("--scheduler-file", file)
    assert told.startswith("reinflect: could not reach a Dask scheduler at 'tcp://127.0.0.1:")
    assert not list(tmp_path.glob("out/packs/*"))
