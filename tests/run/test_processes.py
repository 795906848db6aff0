"""Processes that die, are told to stop, or have something to say."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from reinflect.errors import InputError, ReinflectError
from reinflect.run.failures import PackError
from reinflect.run.folder import WorkFolder
from reinflect.run.packs import Pack, PackResult
from reinflect.run.processes import Processes
from reinflect.run.retries import Lost, Retries

SPARED = "spared"
FOLDER = WorkFolder.beside(Path("nothing is kept"))


def act(pack: Pack, report: Callable[[Any], None], stop: Callable[[], bool], *, device: str) -> PackResult:
    """A pack does what its name says."""
    return PackResult(pack.name, [_said(pack, report, stop, device)])  # type: ignore[list-item]


def _said(pack: Pack, report: Callable[[Any], None], stop: Callable[[], bool], device: str) -> str:
    report(f"{pack.name} has begun")
    if pack.name == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if pack.name.startswith("dies once"):
        marker = Path(pack.name.removeprefix("dies once in "), "died")
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    if pack.name == "loses" and device != "cpu":
        raise PackError("gpu", "CUDA error: it fell off")
    if pack.name in ("loses", "keeps"):
        return f"{pack.name} on {device} in {os.getpid()}"
    if pack.name == "errs":
        raise InputError("found a thing", "do another")
    if pack.name == "has a bug":
        raise KeyError("nobody thought of this")
    if pack.name.startswith("signals"):
        return SPARED if signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()) else "reached"
    while pack.name.startswith("waits") and not stop():
        time.sleep(0.01)
    return f"{pack.name} is done"


def packs(*names: str) -> list[Pack]:
    return [Pack(name, ()) for name in names]


def processes(heard: Callable[[str], None] = lambda _: None, device: str = "cpu", **said: Any) -> Processes:
    return Processes(act, 2, heard, Retries(device, folder=FOLDER, processes=True, **said))


def words(found: Sequence[PackResult | Lost | None]) -> list[object]:
    """What the packs said, or what became of them."""
    return [one.models[0] if isinstance(one, PackResult) else one for one in found]


def test_one_that_dies_twice_is_named_and_takes_no_other_with_it() -> None:
    heard: list[str] = []
    found = processes(heard.append).go(packs("dies", "a", "b"))
    assert words(found) == [Lost("dies", "process"), "a is done", "b is done"]
    assert sorted(heard) == [f"{name} has begun" for name in ("a", "b", "dies", "dies")]


def test_one_that_dies_once_has_a_second_chance(tmp_path: Path) -> None:
    notes: list[str] = []
    name = f"dies once in {tmp_path}"
    died, _ = processes(note=notes.append).go(packs(name, "a"))
    assert words([died]) == [f"{name} is done"]
    assert isinstance(died, PackResult)
    assert notes == [f"note: {text}" for text in died.retried]
    assert notes[0].endswith("ended unexpectedly; trying again")


def test_a_process_that_lost_its_gpu_is_not_used_again() -> None:
    notes: list[str] = []
    gone = processes(device="cuda", note=notes.append)
    gone.workers = 1
    found = words(gone.go(packs("keeps", "loses", "keeps")))
    before, lost, after = ([*str(one).split(" in ")] for one in found)
    assert (before[0], lost[0], after[0]) == ("keeps on cuda", "loses on cpu", "keeps on cuda")
    assert before[1] != lost[1], "the GPU was lost in the first process"
    assert notes == ["note: the GPU failed while it trained loses (CUDA error: it fell off); training it on the CPU"]


def test_all_stop_when_told_and_the_rest_is_not_begun() -> None:
    heard: list[str] = []
    told = processes(heard.append)

    def stop_them() -> None:
        while len(heard) < 2:
            time.sleep(0.01)
        told.stop()

    threading.Thread(target=stop_them).start()
    found = told.go(packs("waits", "waits too", "a"))
    assert words(found) == ["waits is done", "waits too is done", None]


def test_all_stop_when_it_is_enough() -> None:
    heard: list[str] = []
    found = processes(heard.append).go(packs("waits", "waits too", "a"), enough=lambda: len(heard) == 2)
    assert words(found) == ["waits is done", "waits too is done", None]


def test_a_pack_begins_when_there_is_room_and_smaller_ones_do_not_wait_for_it() -> None:
    heard: list[str] = []
    sized = [Pack(name, (), bytes=own) for name, own in (("waits", 60), ("large", 50), ("small", 30))]
    told = Processes(act, 3, heard.append, Retries("cpu", folder=FOLDER, processes=True), room=100)
    found = told.go(sized, enough=lambda: "small has begun" in heard)
    assert words(found) == ["waits is done", None, "small is done"]
    assert sorted(heard) == ["small has begun", "waits has begun"]


def test_a_pack_that_there_is_never_room_for_has_it_to_itself() -> None:
    sized = [Pack(name, (), bytes=50) for name in "abc"]
    told = Processes(act, 3, lambda _: None, Retries("cpu", folder=FOLDER, processes=True), room=10)
    assert words(told.go(sized)) == ["a is done", "b is done", "c is done"]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system has no such masks")
def test_ctrl_c_never_reaches_a_process_itself_not_even_as_it_starts() -> None:
    # In a program of its own: the first process of all that a program starts is the one that was not spared.
    code = (
        "from tests.run.test_processes import *\n"
        "print(*words(processes().go(packs('signals', 'signals too', 'signals after'))))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [SPARED] * 3, ran.stderr


def test_an_error_is_raised_here_and_stops_the_others() -> None:
    with pytest.raises(ReinflectError, match=r"^found a thing; do another$"):
        processes().go(packs("waits", "errs", "waits too"))


def test_what_nobody_expected_is_raised_here_with_the_place_where_it_happened() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)trained has a bug:.*in _said.*KeyError: 'nobody thought of this'"):
        processes().go(packs("waits", "has a bug"))
