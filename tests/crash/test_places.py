"""Places that cannot be written, or not by us: a clear line, nothing lost, and the same command goes on later."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reinflect.run.store import Store
from tests.cli import Reinflect
from tests.crash.conftest import Bench, Made
from tests.crash.jobs import BENCHMARK, JOBS, SHORT, TRAIN, Job
from tests.crash.steps import Ran
from tests.crash.trials import Trial


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of our own, in memory."""
    path = tmp_path / "disk"
    path.mkdir()
    if not shutil.which("mount"):
        pytest.skip("there is no mount")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", path], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"a disk of our own may not be mounted here ({made.stderr.strip()})")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


def remount(disk: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", disk], check=True)


def goes_on(bench: Bench, folder: Path) -> None:
    """The same command ends as if nothing had been."""
    again = bench.runner(bench.command(folder), folder)
    assert again.code == 0, again.said
    assert bench.job.made(folder) == bench.made


def test_a_disk_that_is_too_small(bench: Bench, disk: Path) -> None:
    """Made a little larger each time, it is full at another place each time."""
    folder, complaints = bench.job.prepare(disk / "job"), set[str]()
    for kilobytes in (4, 24, 48, 64, 80, 96, 112, 128, 144, 160, 192, 224, 256, 320, 400, 500):
        remount(disk, f"size={kilobytes}k")
        ran = bench.runner(bench.command(folder), folder)
        bench.job.check_visible(folder)
        if ran.code == 0:
            break
        complaints.add(ran.complaint)
        assert "(No space left on device); make room there, then run the same command again" in ran.complaint
        assert not list(folder.rglob("*.part"))
    assert len(complaints) > 1
    remount(disk, "size=16m")
    goes_on(bench, folder)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_a_disk_that_is_read_only(bench: Bench, disk: Path, share: float) -> None:
    """From the beginning, or from where an earlier run was killed."""
    folder = bench.job.prepare(disk / "job")
    if share:
        bench.runner(bench.command(folder), folder, "kill", int(share * len(bench.undisturbed.steps)))
    before = bench.job.made(folder)
    remount(disk, "ro")
    refused = bench.runner(bench.command(folder), folder).complaint.lower()
    assert "read-only" in refused or "no permission to write" in refused
    assert bench.job.made(folder) == before
    remount(disk, "rw")
    goes_on(bench, folder)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_processes_that_may_not_write_large_files(data: Path, undisturbed: Made, tmp_path: Path) -> None:
    """The error is theirs, and is told as if it were ours."""
    trial = Trial(TRAIN, data, tmp_path, SHORT[TRAIN.name], 0)
    arguments = TRAIN.command(data, trial.folder, "--workers", 2, changes=trial.changes)
    limited = subprocess.run(
        ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", sys.executable, "-m", "reinflect", *arguments],
        env=trial.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    said = Ran(limited.returncode, limited.stderr, []).complaint
    assert "(File too large); make room there" in said
    trial.finish()
    assert TRAIN.made(trial.folder) == undisturbed(TRAIN)


KINDS = [
    (TRAIN, "model", "folder", "this is a folder, not a file"),
    (TRAIN, "model", "file", "a file of this name exists and is not a model"),
    (TRAIN, "model.log.jsonl", "folder", "this is a folder, not a file"),
    (TRAIN, "model.state", "file", "needed as a folder, but not a folder; remove it"),
    *((BENCHMARK, name, "file", "this is a file, not a folder") for name in ("packs", "logs", "models", "parameters")),
    (BENCHMARK, "predictions", "file", "this is a file, not a folder"),
    (BENCHMARK, "training.state", "file", "this is a file, not a folder"),
    *((BENCHMARK, name, "folder", "this is a folder, not a file") for name in ("results.json", "results.md")),
    (BENCHMARK, "commands.jsonl", "folder", "this is a folder, not a file"),
    (BENCHMARK, ".", "file", "not a folder; remove it, or choose another --out"),
]


@pytest.mark.parametrize(("job", "name", "kind", "said"), KINDS, ids=lambda one: str(getattr(one, "name", one)))
def test_something_else_in_the_place(
    job: Job, name: str, kind: str, said: str, data: Path, tmp_path: Path, reinflect: Reinflect
) -> None:
    place = tmp_path / "out" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "file":
        place.write_text("mine")
    else:
        place.mkdir()
    before = sorted(tmp_path.rglob("*"))
    result = reinflect(*job.command(data, tmp_path, "--workers", 1, changes="epochs=1"))
    assert said in Ran(result.exit_code, result.stderr, []).complaint
    assert sorted(tmp_path.rglob("*")) == before
    assert kind == "folder" or place.read_text() == "mine"


@JOBS
def test_a_second_command_is_told_who_is_there(job: Job, data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    """That the first does not notice is in tests/run."""
    out = job.prepare(tmp_path) / "out"
    with (Store.beside(out / "model") if job is TRAIN else Store.inside(out)).held():
        second = reinflect(*job.command(data, tmp_path, "--workers", 1))
    complaint = Ran(second.exit_code, second.stderr, []).complaint
    assert f"(process {os.getpid()}) is working on this; wait for it, or choose another --out" in complaint


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
@JOBS
def test_a_folder_that_may_not_be_written(job: Job, data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    job.prepare(tmp_path / "job")
    (tmp_path / "job" / "out").chmod(0o500)
    result = reinflect(*job.command(data, tmp_path / "job", "--workers", 1))
    assert "written" in Ran(result.exit_code, result.stderr, []).complaint
    assert not list((tmp_path / "job" / "out").iterdir())
