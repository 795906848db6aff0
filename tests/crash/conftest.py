"""What the tests of accidents share: data, processes that stand ready, and what comes of a command without any."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.crash.jobs import BENCHMARK, SHORT, TRAIN, Job, write_data
from tests.crash.steps import Ran, Runner
from tests.crash.trials import Trial

CHANGES = "epochs=3 batch=10"


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data"))


Made = Callable[[Job], dict[str, Any]]


@pytest.fixture(scope="session")
def undisturbed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """What becomes of a short job when nothing happens."""

    @cache
    def made(job: Job) -> dict[str, Any]:
        trial = Trial(job, data, tmp_path_factory.mktemp("short") / job.name, SHORT[job.name], 1000)
        trial.finish(workers=1)
        return job.made(trial.folder)

    return made


@dataclass(frozen=True)
class Bench:
    """A job, a process that stands ready to run it, and what becomes of it when nothing happens."""

    job: Job
    data: Path
    runner: Runner
    undisturbed: Ran
    made: dict[str, Any]

    def command(self, folder: Path) -> list[str]:
        return self.job.command(self.data, folder, "--workers", 1, *self.job.again(folder), changes=CHANGES)


@pytest.fixture(scope="session", params=[TRAIN, BENCHMARK], ids=lambda job: job.name)
def bench(request: pytest.FixtureRequest, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    job: Job = request.param
    folder = tmp_path_factory.mktemp(job.name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REINFLECT_CHECKPOINT_SECONDS", "0")
        patch.setenv("REINFLECT_CACHE", str(folder / "warm" / "cache"))
        runner = Runner(job.command(data, job.prepare(folder / "warm"), "--workers", 1, changes=CHANGES))
    whole = job.prepare(folder / "undisturbed")
    with closing(runner):
        ran = runner(job.command(data, whole, "--workers", 1, changes=CHANGES), whole)
        assert ran.code == 0, ran.said
        yield Bench(job, data, runner, ran, job.made(whole))
