"""Bad input of every kind, at volume: a hundredth of it every day, all of it in the long tests."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from reinflect.errors import InputError, ReinflectError
from tests.fuzz import campaign, model_files
from tests.fuzz.__main__ import KINDS
from tests.fuzz.campaign import DAILY, Kind, refusal, run, trial


@pytest.mark.parametrize("share", [pytest.param(DAILY, id="a hundredth"), pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", KINDS)
def test_no_input_fails(name: str, share: float, tmp_path: Path) -> None:
    numbers = KINDS[name].numbers(share)
    tally = run(KINDS[name], numbers, tmp_path)
    assert not tally.failures, "\n".join(tally.failures.values())
    assert tally.tried == len(numbers)
    if name == "models":
        assert 2 * tally.outcomes[model_files.REFUSED_AT_ONCE] <= tally.tried, "too few get past their header"
    if share == 1:
        assert tally.outcomes["used"], "nothing of it can be used: it tries too little"
        assert tally.outcomes["refused"]


@pytest.mark.parametrize("name", KINDS)
def test_an_input_is_known_by_its_number(name: str) -> None:
    kind = KINDS[name]
    assert kind.made(3) == kind.made(3)
    assert len({repr(kind.made(number)) for number in range(10)}) > 5


def works(_number: int) -> None:
    while True:
        with suppress(Exception):  # as some of our readers do
            sum(range(1000))


def unreadable(message: str) -> Callable[[int], None]:
    def attempt(_number: int) -> None:
        raise ReinflectError(message)

    return attempt


@pytest.mark.parametrize(
    ("attempt", "failure"),
    [
        (lambda number: 1 / (number - 3), "ZeroDivisionError"),
        *(
            (unreadable(odd), "AssertionError")
            for odd in ("two\rlines", "", "long" * 1000, "\x1b[31mred", "half \ud800")
        ),
        (works, "TooSlowError"),
        (lambda _: time.sleep(10), "TooSlowError"),
        (lambda _: bytearray(2 * campaign.HEADROOM), "MemoryError"),
    ],
)
def test_a_failure_is_told_with_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attempt: Callable[[int], object], failure: str
) -> None:
    """Another error than ours, a message that nobody can read, what never ends, what takes too much memory."""
    if failure == "TooSlowError":
        monkeypatch.setattr(campaign, "SECONDS" if attempt is works else "PATIENCE", 0.05)
    if failure == "MemoryError" and not Path("/proc/self/statm").exists():
        pytest.skip("this system does not limit a process's memory")
    kind = Kind("numbers", 40, lambda rng: rng.randrange(10), trial(lambda _, number: number == 3 and attempt(number)))
    tally = run(kind, range(40), tmp_path)
    assert tally.tried == 40
    (told,) = tally.failures.values()
    assert kind.made(int(told.splitlines()[0].removeprefix("python -m tests.fuzz numbers "))) == 3
    assert failure in told
    assert told.rstrip().endswith("from 3")


def test_what_users_can_read_is_a_refusal() -> None:
    assert refusal(InputError("two\nlines\r\x1b", "do this", path="a\nb")) == "refused"
