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

from reinflect.data.items import Item, write_items
from reinflect.run.pack_files import read_results
from tests.learn.tiny import language

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
OTHER_VERSION = "import reinflect.run.work\nreinflect.run.work.__version__ = '9.9'\n"
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
    folder = tmp_path_factory.mktemp("data")
    items = language("german")
    write_items(folder / "german-dev", items[:4])
    write_items(folder / "german-train-low", items[4:])
    write_items(folder / "german-covered-test", [Item(item.lemma, item.features) for item in items[:3]])
    return folder


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


class Cluster:
    """A scheduler with its workers, all of which end with the test."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.file, self.stack = folder, folder / "scheduler.json", stack
        more = {"REINFLECT_CACHE": str(folder / "cache"), "DASK_TEMPORARY_DIRECTORY": str(folder)}
        self.environment = os.environ | more | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}
        host = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file)]
        self.scheduler = self.start([*DASK, "scheduler", *host])
        wait_until(self.file.exists, self.scheduler)

    def start(self, call: Sequence[str]) -> Process:
        return self.stack.enter_context(running(call, self.environment))

    def add_worker(self, preload: str = "") -> Process:
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


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    with ExitStack() as stack:
        yield Cluster(tmp_path, stack)


def results(out: Path) -> dict[str, object]:
    """All that does not depend on how long things took."""
    files = [path for path in out.rglob("*") if path.is_file() and path.parent.name != "packs" and "." not in path.name]
    content: dict[str, object] = {str(path.relative_to(out)): path.read_bytes() for path in files}
    content["results"] = (out / "results.json").read_bytes()
    content["logs"] = {path.name: path.read_bytes() for path in (out / "logs").iterdir()}
    content["packs"] = [(pack.pack, pack.device, pack.models) for pack in read_results(out / "packs")]
    return content


@pytest.fixture(scope="module")
def undisturbed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one process makes of it."""
    out = tmp_path_factory.mktemp("undisturbed")
    done = subprocess.run(command(data, out, "--workers", 1), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


def complaint(process: Process) -> str:
    """The one line with which a command failed."""
    _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 2, stderr
    assert "Traceback" not in stderr
    (line,) = [line for line in stderr.splitlines() if line.startswith("reinflect:")]
    return line


def finish(data: Path, out: Path, cluster: Cluster, undisturbed: Path, *more: object) -> str:
    """The same command resumes the benchmark, and ends as if nothing had happened; what it says."""
    kept = {path: path.stat().st_mtime_ns for path in (out / "packs").iterdir()}
    done = subprocess.run(command(data, out, *more), env=cluster.environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert results(out) == results(undisturbed)
    assert not (out / "training.state").exists()
    return done.stderr


def test_a_worker_is_killed_in_the_middle_of_training(data: Path, undisturbed: Path, cluster: Cluster) -> None:
    out = cluster.folder / "out"
    workers = [cluster.add_worker(SLOW) for _ in range(2)]
    process = cluster.start(command(data, out, "--dask", cluster.file))
    wait_until(lambda: len(cluster.logs()) == 2, process)
    os.killpg(workers[0].pid, signal.SIGKILL)
    _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, stderr
    assert "8 of 8 models trained" in stderr
    assert "Traceback" not in stderr
    assert results(out) == results(undisturbed)
    assert not (out / "training.state").exists()


def test_the_scheduler_dies_and_the_same_command_goes_on_without_it(
    data: Path, undisturbed: Path, cluster: Cluster
) -> None:
    out = cluster.folder / "out"
    for _ in range(2):
        cluster.add_worker(SLOW)
    process = cluster.start(command(data, out, "--dask", cluster.file))
    wait_until(lambda: list(out.glob("packs/*.xz")) and cluster.logs(), process)
    os.killpg(cluster.scheduler.pid, signal.SIGKILL)
    assert "lost the Dask scheduler at tcp://" in complaint(process)
    assert 0 < len(list((out / "packs").iterdir())) < 4
    finish(data, out, cluster, undisturbed, "--workers", 1)


def test_ctrl_c_stops_the_workers_and_keeps_what_is_done(data: Path, undisturbed: Path, cluster: Cluster) -> None:
    out = cluster.folder / "out"
    for _ in range(2):
        cluster.add_worker(SLOW)
    process = cluster.start(command(data, out, "--dask", cluster.file))
    wait_until(lambda: list(out.glob("packs/*.xz")) and cluster.logs(), process)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, stderr
    assert "models are not trained yet; the same command resumes the training" in stderr
    assert "Traceback" not in stderr
    assert 0 < len(list((out / "packs").iterdir())) < 4
    assert "8 of 8 models trained" in finish(data, out, cluster, undisturbed, "--dask", cluster.file)


def test_clusters_that_are_of_no_use_are_told_in_one_line(data: Path, cluster: Cluster) -> None:
    out = cluster.folder / "out"
    impatient = command(data, out, "--dask", cluster.file, program=("-c", IMPATIENT))
    assert "has had no worker for 0.5 s; start some, such as dask worker" in complaint(cluster.start(impatient))
    cluster.add_worker(OTHER_VERSION)
    told = complaint(cluster.start(command(data, out, "--dask", cluster.file)))
    assert "has reinflect 9.9, not 0.2.0 as here; start workers from the same environment" in told
    os.killpg(cluster.scheduler.pid, signal.SIGKILL)
    cluster.environment["DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"] = "1s"
    told = complaint(cluster.start(command(data, out, "--dask", cluster.file)))
    assert told.startswith("reinflect: could not reach a Dask scheduler at '")
    assert "tcp://127.0.0.1:" in told
    assert not list(out.glob("packs/*"))


def test_a_worker_of_another_version_that_joins_later_is_refused(data: Path, cluster: Cluster) -> None:
    out = cluster.folder / "out"
    cluster.add_worker(SLOW)
    process = cluster.start(command(data, out, "--dask", cluster.file))
    wait_until(cluster.logs, process)
    cluster.add_worker(OTHER_VERSION)
    assert "a Dask worker has reinflect 9.9, not 0.2.0 as here; start workers from" in complaint(process)
