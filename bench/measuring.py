"""What the programs share that measure processes: their time and memory, and tables of figures."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from reinflect.errors import InputError
from reinflect.text import Side, table

BYTES_PER_UNIT = 1 if sys.platform == "darwin" else 1024


class Measured(NamedTuple):
    """What a process printed, and its seconds of CPU time (user and system, children included) and by the clock."""

    output: str
    cpu: float
    wall: float


def measured(call: Sequence[object], environment: Mapping[str, str] | None = None) -> Measured:
    words = [str(word) for word in call]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True, env=environment or os.environ)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        why = done.stderr.strip() or "run it by itself to see why"
        raise InputError(f"{' '.join(words)} ended with {done.returncode}", why)
    return Measured(done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall)


def most_memory() -> int:
    """Bytes that this process had at its largest."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * BYTES_PER_UNIT


def figures(header: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """A table whose first columns are words, the others numbers."""
    sides: list[Side] = ["left" if column < words else "right" for column in range(len(header))]
    return table(header, rows, sides=sides)
