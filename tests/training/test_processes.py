"""Processes that die, are told to stop, or have something to say."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from reinflect.errors import InputError, ReinflectError
from reinflect.training.jobs import Pack
from reinflect.training.processes import Lost, Processes
from tests.training.tiny import SMALL

SPARED = "spared"


def act(pack: Pack, report: Callable[[Any], None], stop: Callable[[], bool]) -> str:
    """A pack does what its name says."""
    report(f"{pack.name} has begun")
    if pack.name == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if pack.name == "errs":
        raise InputError("found a thing", "do another")
    if pack.name.startswith("signals"):
        return SPARED if signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()) else "reached"
    while pack.name.startswith("waits") and not stop():
        time.sleep(0.01)
    return f"{pack.name} is done"


def packs(*names: str) -> list[Pack]:
    return [Pack(name, "haem", SMALL, ()) for name in names]


def test_one_that_dies_is_named_and_takes_no_other_with_it() -> None:
    heard: list[str] = []
    found = Processes(act, 2, heard.append).go(packs("dies", "a", "b"))
    assert found == [Lost("dies"), "a is done", "b is done"]
    assert sorted(heard) == [f"{name} has begun" for name in ("a", "b", "dies")]


def test_all_stop_when_told_and_the_rest_is_not_begun() -> None:
    heard: list[str] = []
    processes = Processes(act, 2, heard.append)

    def stop_them() -> None:
        while len(heard) < 2:
            time.sleep(0.01)
        processes.stop()

    threading.Thread(target=stop_them).start()
    found = processes.go(packs("waits", "waits too", "a"))
    assert found == ["waits is done", "waits too is done", None]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system has no such masks")
def test_ctrl_c_never_reaches_a_process_itself_not_even_as_it_starts() -> None:
    # In a program of its own: the first process of all that a program starts is the one that was not spared.
    code = (
        "from tests.training.test_processes import *\n"
        "print(*Processes(act, 2, lambda _: None).go(packs('signals', 'signals too', 'signals after')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [SPARED] * 3, ran.stderr


def test_an_error_is_raised_here_and_stops_the_others() -> None:
    with pytest.raises(ReinflectError, match=r"^found a thing; do another$"):
        Processes(act, 2, lambda _: None).go(packs("waits", "errs", "waits too"))
