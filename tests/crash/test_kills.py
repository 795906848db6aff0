"""SIGKILL at any moment, in processes as users have them: the same command goes on, and ends as if nothing had been."""

import random
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.crash.conftest import Made
from tests.crash.jobs import BENCHMARK, JOBS, LONG, SHORT, TRAIN, Job
from tests.crash.trials import Trial, wait_for

KILLS = {TRAIN.name: (True, False), BENCHMARK.name: (False,)}
"""Whether all processes are killed, or only the one that started the others; for every day."""
MOMENTS = 20


@JOBS
def test_killed_again_and_again_it_ends_the_same(job: Job, data: Path, undisturbed: Made, tmp_path: Path) -> None:
    trial = Trial(job, data, tmp_path, SHORT[job.name], 0)
    chance = random.Random(1)
    with trial.watched():
        for group in KILLS[job.name]:
            process = trial.start()
            before = trial.checkpoints()
            wait_for(lambda: trial.checkpoints() != before or process.poll() is not None)  # noqa: B023
            time.sleep(chance.uniform(0, 0.3))
            assert trial.kill(process, group=group), "it was over before it was killed"
        said = trial.finish(workers=1)
    if job is TRAIN:
        assert "note: resuming an earlier training (" in said
        assert "also has work with other data or settings" not in said
    assert job.made(trial.folder) == undisturbed(job)


@pytest.mark.long
@JOBS
def test_killed_at_moments_all_over_a_long_job(job: Job, data: Path, tmp_path: Path) -> None:
    whole = Trial(job, data, tmp_path / "whole", LONG[job.name], 0.5)
    started = time.monotonic()
    whole.finish()
    seconds = time.monotonic() - started
    for number in range(MOMENTS):
        killed, group = False, number % 2 == 1
        while not killed:  # again, if it was over before: the machine has more time for it now
            trial = Trial(job, data, tmp_path / f"{number}, {seconds}", LONG[job.name], 0.5)
            with trial.watched():
                process, started = trial.start(), time.monotonic()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(seconds * (number + 0.5) / MOMENTS)
                    seconds = time.monotonic() - started
                killed = trial.kill(process, group=group)
                trial.finish(workers=1 if group else 2)
            assert job.made(trial.folder) == job.made(whole.folder), number


@pytest.mark.long
def test_killed_six_times_at_random_moments(data: Path, undisturbed: Made, tmp_path: Path) -> None:
    chance = random.Random(2)
    for number in range(5):
        trial = Trial(TRAIN, data, tmp_path / str(number), SHORT[TRAIN.name], 0)
        for kill in range(6):
            process = trial.start(workers=1 + kill % 2)
            time.sleep(chance.uniform(0, 6))
            trial.kill(process, group=kill % 3 == 0)
        trial.finish()
        assert TRAIN.made(trial.folder) == undisturbed(TRAIN)
