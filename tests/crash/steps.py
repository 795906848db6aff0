"""Runs commands with an accident at a chosen step, each in a process of its own.

A step is whatever is done to the files of a folder that is watched: one is made or opened for writing, renamed,
removed, given permissions, or brought to the disk. Everything is imported and compiled once, by the process that stands
here as `python -m tests.crash.steps`; those that have the accidents are forked from it, and take a moment each.
"""

import contextlib
import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Accident = Literal["none", "kill", "full", "no room", "read-only", "gone"]
"""kill: SIGKILL; where a file is being brought to the disk, with half of its bytes only. From the step on, full: no
file takes any more bytes; no room: nor can any be made; read-only: nothing can be changed. gone: the folder is
removed."""

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"}


@dataclass(frozen=True)
class Ran:
    """How a command ended, what it said, and the steps it took."""

    code: int
    said: str
    steps: list[str]

    @property
    def complaint(self) -> str:
        """The one line with which it failed; anything else is an error of ours."""
        lines = [line for line in self.said.splitlines() if line.startswith("reinflect:")]
        assert self.code == 2, f"ended with {self.code}: {self.said}"
        assert "Traceback" not in self.said, self.said
        assert len(lines) == 1, self.said
        return lines[0]


class Runner:
    """The process that stands ready."""

    def __init__(self, warm_up: Sequence[object]) -> None:
        program = [sys.executable, "-m", "tests.crash.steps", *map(str, warm_up)]
        self._process = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
        )

    def __call__(self, arguments: Sequence[object], watched: Path, accident: Accident = "none", step: int = -1) -> Ran:
        """Run a command, with a cache in the folder that is watched; steps are counted from 0."""
        assert self._process.stdin
        assert self._process.stdout
        work = {"arguments": [*map(str, arguments)], "watched": str(watched), "accident": accident, "step": step}
        self._process.stdin.write(json.dumps(work) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the process that stands ready has ended"
        return Ran(**json.loads(answer))

    def close(self) -> None:
        self._process.communicate()


# In the process that stands ready:


def _main(warm_up: Sequence[str]) -> None:
    from reinflect.cli import main

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    main(list(warm_up), standalone_mode=False)
    for line in sys.stdin:
        answers.write(json.dumps(_forked(json.loads(line))) + "\n")
        answers.flush()


def _forked(work: dict[str, Any]) -> dict[str, Any]:
    (said, saying), (steps, stepping) = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        sys.stdout, sys.stderr = (os.fdopen(saying, "w", encoding="utf-8", closefd=False) for _ in range(2))
        os._exit(_run(**work, trace=stepping))
    os.close(saying)
    os.close(stepping)
    with open(steps, encoding="utf-8") as trace, open(said, encoding="utf-8") as output:  # noqa: PTH123
        # Their ends are those of the child; it says far less than a pipe takes.
        taken, text = trace.read().splitlines(), output.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {"code": status, "said": text, "steps": taken}


def _run(arguments: list[str], watched: str, accident: Accident, step: int, trace: int) -> int:
    from reinflect.cli import main

    os.environ["REINFLECT_CACHE"] = f"{watched}/cache"
    _Steps(watched, accident, step, trace)
    code = 99
    try:
        main(arguments)
    except SystemExit as end:
        code = (end.code or 0) if isinstance(end.code, int | None) else 98
    except BaseException:
        import traceback

        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    return code


class _Steps:
    """Counts steps, and lets the accident happen."""

    def __init__(self, watched: str, accident: Accident, step: int, trace: int) -> None:
        self.watched, self.accident, self.step, self.trace = watched, accident, step, trace
        self.number, self.busy = -1, False
        plain = os.fsync

        def fsync(handle: int) -> None:
            path = os.readlink(f"/proc/self/fd/{handle}")  # noqa: PTH115

            def halve() -> None:
                if path.endswith(".part"):
                    os.ftruncate(handle, os.fstat(handle).st_size // 2)

            self._take("fsync", path, before_kill=halve)
            plain(handle)

        os.fsync = fsync  # type: ignore[assignment]
        sys.addaudithook(self._hear)

    def _hear(self, event: str, details: tuple[Any, ...]) -> None:
        if self.busy or not (event in CHANGES or (event == "open" and details[2] & WRITES)):
            return
        path = details[1] if event == "os.rename" else details[0]
        if isinstance(path, (str, os.PathLike)):
            self._take(event.removeprefix("os."), os.path.abspath(path))  # noqa: PTH100

    def _take(self, event: str, path: str, before_kill: Callable[[], None] = lambda: None) -> None:
        if not path.startswith(self.watched):
            return
        self.number += 1
        self.busy = True
        try:
            os.write(self.trace, f"{event} {os.path.relpath(path, self.watched)}\n".encode())
            if self.number == self.step:
                self._begin(before_kill)
            if 0 <= self.step <= self.number:
                self._refuse(event, path)
        finally:
            self.busy = False

    def _begin(self, before_kill: Callable[[], None]) -> None:
        if self.accident == "kill":
            before_kill()
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.accident in ("full", "no room"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        elif self.accident == "gone":
            shutil.rmtree(self.watched)

    def _refuse(self, event: str, path: str) -> None:
        makes = event == "mkdir" or (event == "open" and not os.path.exists(path))  # noqa: PTH110
        if self.accident == "read-only":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        if (self.accident == "no room" and makes) or (self.accident in ("full", "no room") and event == "fsync"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)


if __name__ == "__main__":
    _main(sys.argv[1:])
