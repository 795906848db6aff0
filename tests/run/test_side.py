"""Processes beside the training, which end with the one that started them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reinflect.run.side import map_in_processes
from tests.crash.trials import nobody_left, semaphores, wait_for

WAITING = (
    "import time; from reinflect.run.side import map_in_processes\n"
    "if __name__ == '__main__':\n"
    "    made = map_in_processes(time.sleep, [0, 0, 600, 600], workers=2)\n"
    "    next(made), print('ready', flush=True), list(made)"
)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="this system does not show its processes")
def test_nothing_is_left_when_the_process_that_started_them_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        shared = semaphores(process.pid)
        assert shared
        process.kill()
    wait_for(lambda: nobody_left(process.pid))
    assert not [path for path in shared if path.exists()]


def doubled(number: int, parent: int) -> int:
    if number == 3 and os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def test_where_processes_die_the_rest_is_done_here() -> None:
    made = map_in_processes(doubled, [1, 2, 3, 4], [os.getpid()] * 4, workers=2)
    assert list(made) == [2, 4, 6, 8]


def test_one_worker_is_this_process() -> None:
    assert list(map_in_processes(lambda number: (number, os.getpid()), [7, 8], workers=1)) == [
        (7, os.getpid()),
        (8, os.getpid()),
    ]
