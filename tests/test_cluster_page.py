"""The scripts of docs/cluster.md run: on this machine, with small models, and stand-ins for what it does not have."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from reinflect.data.items import write_items
from tests.learn.tiny import language
from tests.test_docs import ROOT

PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\S*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SCRIPTS = {name: block for name, block in BLOCKS if "." in name}
CERTIFICATES = next(block for _, block in BLOCKS if "openssl" in block)
SMALL = "--device cpu --settings low --grid quick --set epochs=1 --set hidden=6 --set history_hidden=4"
PROGRAMS = {
    "dask": f'exec {sys.executable} -m dask "$@"',
    "reinflect": f'exec {sys.executable} -m reinflect "$@" {SMALL}',
    # Takes its options away and does the rest, as often as a job has tasks.
    "srun": 'while [ "${1#-}" != "$1" ]; do shift; done; "$@" & exec "$@"',
    "ssh": 'shift; program=$(basename "$1"); shift; exec "$program" "$@"',
    "nvidia-cuda-mps-control": "exit 0",
}
FEWER = {"--nworkers 16": "--nworkers 1", "0 1 2 3": "0 1", "192.168.1.10": "127.0.0.1", "--workers 4": "--workers 2"}


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    for name, script in PROGRAMS.items():
        program = tmp_path / "bin" / name
        program.write_text(f"#!/bin/bash\n{script}\n")
        program.chmod(0o755)
    (tmp_path / "conll2017").mkdir()
    items = language("german")
    write_items(tmp_path / "conll2017" / "german-dev", items[:4])
    write_items(tmp_path / "conll2017" / "german-train-low", items[4:])
    return tmp_path


def ran(folder: Path, script: str) -> str:
    """What it says; all that it started is gone afterwards."""
    for shown, less in {**FEWER, "8786": free_port()}.items():
        script = script.replace(shown, less)
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    own = {"PATH": path, "REINFLECT_CACHE": str(folder / "cache"), "DASK_TEMPORARY_DIRECTORY": str(folder)}
    with (folder / "stderr").open("w") as stderr:
        shell = subprocess.Popen(
            ["bash", "-c", script],
            cwd=folder,
            env=os.environ | own,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            status = shell.wait(timeout=300)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
    said = (folder / "stderr").read_text(encoding="utf-8")
    assert status == 0, said
    return said


def test_there_are_scripts_to_run() -> None:
    assert list(SCRIPTS) == ["tls.sh", "grid.slurm", "hosts.sh", "mps.sh", "gpus.sh"]


@pytest.mark.parametrize(
    "name",
    [
        "grid.slurm",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("tls.sh", "hosts.sh", "mps.sh", "gpus.sh")),
    ],
)
def test_a_script_trains_everything(folder: Path, name: str) -> None:
    if name == "tls.sh":
        if shutil.which("openssl") is None:
            pytest.skip("there is no openssl here")
        subprocess.run(["bash", "-ec", CERTIFICATES], cwd=folder, check=True, capture_output=True)
    assert "8 of 8 models trained" in ran(folder, SCRIPTS[name])
    assert len(list((folder / "results" / "packs").iterdir())) == 4


@pytest.mark.long
def test_the_command_at_the_top_runs(folder: Path) -> None:
    (line,) = re.findall(r"^reinflect .*$", BLOCKS[0][1], re.MULTILINE)
    assert "8 of 8 models trained" in ran(folder, line)
