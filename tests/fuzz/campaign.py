"""Many inputs of one kind, each made from its number: what was tried, what became of it, and how to try it again.

An input may be used or refused. Whatever else comes of it is a failure: another error than ours, a message of several
lines, more than a few seconds, or more memory than an input of that size can need. Failures name the kind and the
number, which is all that `python -m tests.fuzz KIND NUMBER` needs to make the same input again.
"""

import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from reinflect.errors import ReinflectError

SCALE = 1.0
"""How much of it all there is: with 1, the numbers of inputs are those that the kinds give."""
DAILY = 0.01
"""The share of it that every run of the tests tries."""
SEED = 1
SECONDS = 20
"""Of work for one input. The slowest takes three; this is to tell one that never ends."""
PATIENCE = 600
"""Seconds by the clock, for one that waits for something: others may be at work on the same machine."""
HEADROOM = 1 << 30
"""Bytes of address space that a campaign may take beyond what the process has when it begins."""
FAILURES = 20
"""After so many different ones a campaign ends."""
LONGEST_MESSAGE = 1000

Attempt = Callable[[Any], str]
"""Tries an input, and says in a word what came of it."""


@dataclass(frozen=True)
class Kind:
    """A kind of input."""

    name: str
    inputs: int
    """In the whole of it."""
    make: Callable[[Random], Any]
    trying: Callable[[Path], AbstractContextManager[Attempt]]
    """What tries them, given a folder of its own."""

    def numbers(self, share: float) -> range:
        return range(max(1, round(self.inputs * SCALE * share)))

    def made(self, number: int) -> Any:
        """The same input whenever, wherever and after whatever others."""
        return self.make(Random(f"{self.name} {SEED} {number}"))


@dataclass
class Tally:
    """What became of the inputs."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    """The first of each sort, by where it happened, told at length."""
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        return sum(self.outcomes.values())


class TooSlowError(BaseException):
    """Not an ordinary exception: code that catches all of those must not catch this one."""


def trial(
    read: Callable[[Path, Any], Any], check: Callable[[Path, Any, Any], None] = lambda *_: None
) -> Callable[[Path], AbstractContextManager[Attempt]]:
    """Reads an input, which may be refused, and checks what was read, which must not."""

    @contextmanager
    def trying(folder: Path) -> Iterator[Attempt]:
        def attempt(made: Any) -> str:
            try:
                result = read(folder, made)
            except ReinflectError as error:
                return refusal(error)
            check(folder, made, result)
            return "used"

        yield attempt

    return trying


def refusal(error: ReinflectError) -> str:
    """An outcome: our own error, if it is one that a user can read."""
    message = str(error)
    assert message, "an error without a message"
    assert message.isprintable(), f"a message of several lines, or with what cannot be printed: {message!r}"
    assert len(message) <= LONGEST_MESSAGE, f"a message of {len(message)} characters: {message[:200]!r}"
    return "refused"


def run(kind: Kind, numbers: range, folder: Path) -> Tally:
    """Try the inputs of these numbers."""
    tally, start = Tally(), time.perf_counter()
    current = Path(tempfile.gettempdir()) / f"reinflect-fuzz-{kind.name}-{os.getpid()}.now"
    with kind.trying(folder) as attempt, little_memory():
        for number in numbers:
            current.write_text(f"{number}")  # which stays if the input kills the process
            made = kind.made(number)
            try:
                with _little_time():
                    outcome = attempt(made)
            except (Exception, TooSlowError) as error:
                outcome = "failed"
                tally.failures.setdefault(_where(error), _told(kind, number, made, error))
                if len(tally.failures) >= FAILURES:
                    break
            tally.outcomes[outcome] += 1
    current.unlink()
    tally.seconds = time.perf_counter() - start
    return tally


def _where(error: BaseException) -> str:
    """What tells failures apart: the kind of error, and the innermost line of ours that it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}reinflect{os.sep}" in frame.filename] or frames
    return f"{type(error).__name__} at {Path(ours[-1].filename).name}:{ours[-1].lineno}"


def _told(kind: Kind, number: int, made: Any, error: BaseException) -> str:
    trace = "".join(traceback.format_exception(error, limit=-8))
    return f"python -m tests.fuzz {kind.name} {number}\n{trace}from {made!r:.1000}\n"


@contextmanager
def _little_time() -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return

    def late(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlowError(f"it took more than {SECONDS} seconds of work, or {PATIENCE} by the clock")

    clocks = ((signal.ITIMER_PROF, signal.SIGPROF, SECONDS), (signal.ITIMER_REAL, signal.SIGALRM, PATIENCE))
    before = [signal.signal(told, late) for _, told, _ in clocks]
    for clock, _, seconds in clocks:
        signal.setitimer(clock, seconds)
    try:
        yield
    finally:
        for (clock, told, _), handler in zip(clocks, before, strict=True):
            signal.setitimer(clock, 0)
            signal.signal(told, handler)


@contextmanager
def little_memory() -> Iterator[None]:
    """Where the system can: more memory than there should be need of is a MemoryError."""
    if sys.platform != "linux":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + HEADROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
