"""Bad input of every kind, at volume: a hundredth of it every day, all of it in the long tests."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from reinflect.errors import InputError, ReinflectError
from tests.fuzz import api_requests, campaign, item_files, model_files
from tests.fuzz.campaign import DAILY, Attempt, Kind, refusal, run
from tests.fuzz.kinds import KINDS


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


def test_there_is_enough_of_it() -> None:
    assert sum(kind.inputs for kind in item_files.TEXTS) >= 100_000
    assert sum(kind.inputs for kind in model_files.MODELS) >= 20_000
    assert sum(kind.inputs for kind in api_requests.REQUESTS) >= 20_000


@pytest.mark.parametrize("name", KINDS)
def test_an_input_is_known_by_its_number(name: str) -> None:
    kind = KINDS[name]
    assert kind.made(3) == kind.made(3)
    assert len({repr(kind.made(number)) for number in range(10)}) > 5


def of_numbers(attempt: Attempt) -> Kind:
    """A kind whose inputs are numbers from 0 to 9."""

    @contextmanager
    def trying(_folder: Path) -> Iterator[Attempt]:
        yield attempt

    def make(rng: Random) -> int:
        return rng.randrange(10)

    return Kind("numbers", 40, make, trying)


def failing(attempt: Attempt, folder: Path) -> str:
    tally = run(of_numbers(attempt), range(40), folder)
    assert tally.tried == 40
    ((_, told),) = tally.failures.items()
    return told


def test_an_error_that_is_not_ours_is_told_with_its_number(tmp_path: Path) -> None:
    def attempt(number: int) -> str:
        return str(1 / (number - 3))

    told = failing(attempt, tmp_path)
    number = int(told.splitlines()[0].removeprefix("python -m tests.fuzz numbers "))
    assert of_numbers(attempt).made(number) == 3
    assert "ZeroDivisionError" in told
    assert told.rstrip().endswith("from 3")


@pytest.mark.parametrize("message", ["two\rlines", "", "long" * 1000, "\x1b[31mred", "half \ud800"])
def test_messages_that_nobody_can_read_are_failures(tmp_path: Path, message: str) -> None:
    def attempt(number: int) -> str:
        return refusal(ReinflectError(message if number == 3 else "plain"))

    assert "AssertionError" in failing(attempt, tmp_path)
    assert refusal(InputError("two\nlines\r\x1b", "do this", path="a\nb")) == "refused"


@pytest.mark.parametrize("what", ["works", "waits"])
def test_what_never_ends_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    monkeypatch.setattr(campaign, "SECONDS" if what == "works" else "PATIENCE", 0.05)

    def attempt(number: int) -> str:
        while number == 3:
            try:
                sum(range(1000)) if what == "works" else time.sleep(10)
            except Exception:  # as some of our readers do
                return "refused"
        return "used"

    assert "TooSlowError" in failing(attempt, tmp_path)


def test_what_takes_too_much_memory_is_refused_it(tmp_path: Path) -> None:
    def attempt(number: int) -> str:
        return f"{len(bytearray(2 * campaign.HEADROOM)) if number == 3 else 'used'}"

    if not Path("/proc/self/statm").exists():
        pytest.skip("this system does not limit a process's memory")
    assert "MemoryError" in failing(attempt, tmp_path)
