"""An accident at any step on disk: what was there stays whole, and the same command ends as if nothing had been."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.crash.conftest import Bench
from tests.crash.jobs import TRAIN
from tests.crash.steps import Accident

FAULTS: tuple[Accident, ...] = ("full", "no room", "read-only", "gone")


def kinds(steps: Sequence[str]) -> list[int]:
    """The first and the last step of every kind; what differs only in the model it is of is of one kind."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, step in enumerate(steps):
        kind = re.sub(r"predictions/.*|-low-ha.m-\w+(-\d)?(\.\w{20}|\.\w{12})?|\.\w{8}\.part$", "", step)
        first.setdefault(kind, number)
        last[kind] = number
    return sorted({*first.values(), *last.values()})


def spread(numbers: Sequence[int], many: int) -> list[int]:
    """So many of them, evenly."""
    return [numbers[(2 * place + 1) * len(numbers) // (2 * many)] for place in range(many)]


def survives(bench: Bench, folder: Path, accident: Accident, step: int) -> None:
    """Have an accident, then run the same again."""
    place = f"{accident} at step {step}, {bench.undisturbed.steps[step]}"
    bench.job.prepare(folder)
    ran = bench.runner(bench.command(folder), folder, accident, step)
    if accident == "kill":
        assert ran.code == -9, f"{place}: {ran.said}"
    elif ran.code != 0:  # some things can be done without, such as a cache
        assert ran.complaint
    bench.job.check_visible(folder)
    if accident == "gone":
        (folder / "out").mkdir(parents=True, exist_ok=True)
    elif accident in ("full", "no room"):
        assert not list(folder.rglob("*.part")), place
    again = bench.runner(bench.command(folder), folder)
    assert again.code == 0, f"{place}: {again.said}"
    assert bench.job.made(folder) == bench.made, place


@pytest.mark.parametrize("accident", ["kill", *FAULTS])
def test_it_survives_accidents(bench: Bench, accident: Accident, tmp_path: Path) -> None:
    many = 6 if accident == "kill" else 3
    for step in spread(kinds(bench.undisturbed.steps), many):
        survives(bench, tmp_path / str(step), accident, step)


@pytest.mark.long
@pytest.mark.parametrize("accident", ["kill", *FAULTS])
def test_it_survives_accidents_at_many_more_steps(bench: Bench, accident: Accident, tmp_path: Path) -> None:
    """Kills at every step of a training, and at every kind of step of a benchmark, which has many more."""
    steps = bench.undisturbed.steps
    every = list(range(len(steps))) if bench.job is TRAIN else kinds(steps)
    for step in every if accident == "kill" else spread(kinds(steps), 40):
        survives(bench, tmp_path / str(step), accident, step)
