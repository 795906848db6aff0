"""Two real Dask workers on this machine: what they train, and what becomes of it when processes die.

Scheduler, workers and commands are processes of their own here, as they are elsewhere.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from distributed import Client

from tests.crash.jobs import BENCHMARK, write_data

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
"""What a worker loads first whose packs take long enough to be interrupted."""
OTHER_VERSION = "import reinflect.run.cluster\nreinflect.run.cluster.__version__ = '9.9'\n"
IMPATIENT = (
    "import sys, reinflect.cli, reinflect.run.cluster\n"
    "reinflect.run.cluster.SECONDS_TO_WAIT = 0.5\n"
    "sys.exit(reinflect.cli.main())"
)
"""The command, waiting less for a worker."""
DASK = [sys.executable, "-m", "dask"]
Process = subprocess.Popen[str]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data"))


def command(data: Path, out: Path, *more: object, program: Sequence[str] = ("-m", "reinflect")) -> list[str]:
    fixed = ["benchmark", "--data", data, "--out", out, "--grid", "quick", "--settings", "low", "--device", "cpu"]
    changes = [argument for change in CHANGES for argument in ("--set", change)]
    return [sys.executable, *program, *map(str, (*fixed, *changes, *more))]


def wait_until(ready: Callable[[], object], process: Process) -> None:
    end = time.monotonic() + SECONDS
    while not ready():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.02)


@contextmanager
def running(call: Sequence[str], environment: dict[str, str]) -> Iterator[Process]:
    """A process in a group of its own, which ends with the block."""
    with subprocess.Popen(
        call, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


class Cluster:
    """A scheduler with its workers, all of which end with the test, and the folder `out` of a benchmark."""

    def __init__(self, data: Path, folder: Path, stack: ExitStack) -> None:
        self.data, self.folder, self.file, self.stack = data, folder, folder / "scheduler.json", stack
        self.out = folder / "out"
        more = {"REINFLECT_CACHE": str(folder / "cache"), "DASK_TEMPORARY_DIRECTORY": str(folder)}
        self.environment = os.environ | more | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}
        host = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file)]
        self.scheduler = self.start([*DASK, "scheduler", *host])
        wait_until(self.file.exists, self.scheduler)

    def start(self, call: Sequence[str]) -> Process:
        return self.stack.enter_context(running(call, self.environment))

    def benchmark(self, program: Sequence[str] = ("-m", "reinflect")) -> Process:
        return self.start(command(self.data, self.out, "--dask", self.file, program=program))

    def add_worker(self, preload: str = SLOW) -> Process:
        """A worker that executes some code first."""
        with Client(scheduler_file=str(self.file), set_as_default=False) as client:
            before = len(client.nthreads())
            (self.folder / f"preload_{before}.py").write_text(preload)
            fixed = ["--nthreads", "1", "--memory-limit", "0", "--no-dashboard", "--no-nanny"]
            more = ["--scheduler-file", str(self.file), "--preload", str(self.folder / f"preload_{before}.py")]
            worker = self.start([*DASK, "worker", *fixed, *more])
            client.wait_for_workers(before + 1, timeout=SECONDS)
        return worker

    def logs(self) -> list[Path]:
        """The logs of packs that workers are in the middle of."""
        return [log for log in (self.folder / "temporary").glob("*/*.jsonl") if log.stat().st_size]

    def some_finished(self) -> bool:
        """Whether some pack is finished, and another is not."""
        return bool(list(self.out.glob("packs/*.xz")) and self.logs())

    def finish(self, *more: object) -> str:
        """The same command resumes the benchmark, and keeps what is finished; what it says."""
        kept = {path: path.stat().st_mtime_ns for path in (self.out / "packs").iterdir()}
        assert 0 < len(kept) < 4
        call = command(self.data, self.out, *more)
        done = subprocess.run(call, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert {path: path.stat().st_mtime_ns for path in kept} == kept
        return done.stderr


@pytest.fixture
def cluster(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    with ExitStack() as stack:
        yield Cluster(data, tmp_path, stack)


@pytest.fixture(scope="module")
def undisturbed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What one process makes of it."""
    out = tmp_path_factory.mktemp("undisturbed")
    done = subprocess.run(command(data, out, "--workers", 1), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return BENCHMARK.made(out)


def last_words(process: Process, code: int) -> str:
    """What a command said that ended with this code."""
    _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == code, stderr
    assert "Traceback" not in stderr
    return stderr


def complaint(process: Process) -> str:
    """The one line with which a command failed."""
    (line,) = [line for line in last_words(process, 2).splitlines() if line.startswith("reinflect:")]
    return line


@pytest.mark.parametrize("accident", ["worker", "scheduler", "ctrl-c"])
def test_accidents_in_the_middle_of_training(accident: str, cluster: Cluster, undisturbed: dict[str, object]) -> None:
    """The benchmark goes on, or the same command resumes it, and it ends as if nothing had happened."""
    workers = [cluster.add_worker() for _ in range(2)]
    process = cluster.benchmark()
    if accident == "worker":
        wait_until(lambda: len(cluster.logs()) == 2, process)
        os.killpg(workers[0].pid, signal.SIGKILL)
        assert "8 of 8 models trained" in last_words(process, 0)
    else:
        wait_until(cluster.some_finished, process)
        if accident == "scheduler":
            os.killpg(cluster.scheduler.pid, signal.SIGKILL)
            assert "lost the Dask scheduler at tcp://" in complaint(process)
            cluster.finish("--workers", 1)
        else:
            os.killpg(process.pid, signal.SIGINT)
            assert "are not trained yet; the same command resumes the training" in last_words(process, 130)
            assert "8 of 8 models trained" in cluster.finish("--dask", cluster.file)
    assert BENCHMARK.made(cluster.out) == undisturbed


def test_clusters_that_are_of_no_use_are_told_in_one_line(cluster: Cluster) -> None:
    said = complaint(cluster.benchmark(("-c", IMPATIENT)))
    assert "has had no worker for 0.5 s; start some, such as dask worker" in said
    cluster.add_worker()
    process = cluster.benchmark()
    wait_until(cluster.logs, process)
    cluster.add_worker(OTHER_VERSION)
    other = " has reinflect 9.9, not 0.2.0 as here; start workers from the same environment"
    assert other in complaint(process), "it joined later"
    assert other in complaint(cluster.benchmark()), "it was there from the beginning"
    os.killpg(cluster.scheduler.pid, signal.SIGKILL)
    cluster.environment["DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"] = "1s"
    said = complaint(cluster.benchmark())
    assert said.startswith("reinflect: could not reach a Dask scheduler at '")
    assert "tcp://127.0.0.1:" in said
