"""Jobs in processes as users have them, started, killed and started again."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from reinflect.files import Snapshot
from reinflect.inflector.inflector import Inflector
from tests.crash.jobs import Job


class Trial:
    """A folder in which a job is started, killed and started again."""

    def __init__(self, job: Job, data: Path, folder: Path, changes: str, checkpoint_seconds: float) -> None:
        self.job, self.data, self.changes = job, data, changes
        self.folder = job.prepare(folder)
        variables = {"REINFLECT_CHECKPOINT_SECONDS": str(checkpoint_seconds), "REINFLECT_CACHE": str(folder / "cache")}
        self.environment = os.environ | variables

    def start(self, workers: int = 2) -> "subprocess.Popen[str]":
        more = ["--workers", workers, *self.job.again(self.folder)]
        arguments = self.job.command(self.data, self.folder, *more, changes=self.changes)
        call, null = [sys.executable, "-m", "reinflect", *arguments], subprocess.DEVNULL
        return subprocess.Popen(
            call, env=self.environment, start_new_session=True, text=True, stdout=null, stderr=subprocess.PIPE
        )

    def finish(self, workers: int = 2) -> str:
        """Run it to its end; what it said."""
        _, said = (process := self.start(workers)).communicate()
        assert process.returncode == 0, said
        wait_for(lambda: nobody_left(process.pid))
        return said

    def kill(self, process: "subprocess.Popen[str]", *, group: bool) -> bool:
        """SIGKILL to the process, or to all that it started too; whether it was still there."""
        if there := process.poll() is None:
            (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
        process.communicate()
        wait_for(lambda: nobody_left(process.pid))
        self.job.check_visible(self.folder)
        return there

    def checkpoints(self) -> set[tuple[str, int]]:
        """Which there are, and since when."""
        return {(path.name, path.stat().st_mtime_ns) for path in self.folder.rglob("*.checkpoint")}

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Load every model as soon as there is one, or another one."""
        over, wrong = threading.Event(), list[Exception]()

        def watch() -> None:
            seen = set[Snapshot]()
            while not over.wait(0.005):
                for path in (self.folder / "out").glob(self.job.models):
                    if (snapshot := Snapshot.of(path)) not in seen:
                        seen.add(snapshot)
                        try:
                            Inflector.load(path)
                        except Exception as error:
                            wrong.append(error)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()
        assert not wrong


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.01)


def nobody_left(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False
