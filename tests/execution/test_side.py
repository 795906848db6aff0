"""Processes beside the training, which end with the one that started them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.trials import nobody_left, semaphores, wait_for

WAITING = (
    "import os, time; from reinflect.execution.side import side_processes\n"
    "if __name__ == '__main__':\n"
    "    with side_processes(2) as pool:\n"
    "        {}\n"
    "        print('ready', flush=True)\n"
    "        time.sleep(600)"
)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="this system does not show its processes")
@pytest.mark.parametrize("busy", [True, False])
def test_nothing_is_left_when_whoever_started_them_is_killed(busy: bool) -> None:
    work = "pool.submit(os.getpid).result(), pool.submit(time.sleep, 600)" if busy else "pass"
    with subprocess.Popen(
        [sys.executable, "-c", WAITING.format(work)], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        shared = semaphores(process.pid)
        assert bool(shared) == busy
        process.kill()
    wait_for(lambda: nobody_left(process.pid))
    assert not [path for path in shared if path.exists()]
