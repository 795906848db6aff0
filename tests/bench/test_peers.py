"""`bench.peers` with interpreters that only pretend: what is skipped, the order of runs, medians, ratios, misuse."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from bench import adapters, peers

DEV = "walk\twalked\tV;PST\ngo\twent\tV;PST\nsing\tsinging\tV;V.PTCP;PRS\nrun\trunning\tV;V.PTCP;PRS\n"

FAKE = """#!{python}
import json, sys
from pathlib import Path
name, what = sys.argv[-2:]
told = json.loads(Path({told!r}).read_text())[name]
if what == "version":
    if told is None:
        sys.exit({not_installed})
    print("1.2.3")
    sys.exit()
asked = json.loads(Path(what).read_text())
with open({log!r}, "a") as log:
    print(name, asked["seed"], len(asked["words"]), file=log)
if told == "fails":
    sys.exit("a line before\\nValueError: no such luck")
ready, inflecting, ending = told[asked["seed"] - 1]
forms = [lemma + ending for lemma, features in asked["words"]]
Path(what).write_text(json.dumps(dict(ready=ready, inflecting=inflecting, forms=forms)))
"""
OURS = [[10.0, 0.4, "ed"], [40.0, 0.4, "ed"], [20.0, 0.4, "ing"]]


class Stage:
    """A folder of data, and an interpreter that plays the programs it is told about."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log, self.told = folder, folder / "log", folder / "told.json"
        for language in ("german", "english"):
            for ending in ("train-low", "train-medium", "dev"):
                (folder / f"{language}-{ending}").write_text(DEV, encoding="utf-8")
        self.python = folder / "python"
        about = {"python": sys.executable, "told": str(self.told), "log": str(self.log)}
        self.python.write_text(FAKE.format(**about, not_installed=adapters.NOT_INSTALLED), encoding="utf-8")
        self.python.chmod(0o755)

    def play(self, told: Mapping[str, object], *options: str) -> list[str]:
        """The log of what ran."""
        self.told.write_text(json.dumps({**dict.fromkeys(adapters.ADAPTERS), **told}), encoding="utf-8")
        pythons = [f"--python={name}={self.python}" for name in adapters.ADAPTERS]
        peers.main(["--data", str(self.folder), *pythons, *options])
        return self.log.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_medians_and_ratios_of_runs_that_alternate(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    told = {"reinflect": OURS, "yoyodyne-hard": [[30.0, 2.0, ""], [40.0, 4.0, ""], [50.0, 1.0, "ing"]]}
    ran = stage.play(told, "--what", "german-low", "--peers", "baseline,yoyodyne-hard,inflect")
    assert ran == [f"{name} {seed} 4" for seed in (1, 2, 3) for name in ("reinflect", "yoyodyne-hard")]
    printed = capsys.readouterr()
    (row,) = [line.split() for line in printed.out.splitlines() if line.startswith("yoyodyne-hard 1.2.3")]
    # The medians of 30, 40, 50 and of 2, 1, 4 words/s; of the ratios 3, 1, 2.5 and 0.2, 0.1, 0.4.
    assert row[2:7] == ["4", "40.0", "2.5", "2", "0.2"]
    assert row[-2:] == ["0.0", "25.0"]
    assert "60 epochs" in printed.out
    assert "baseline: not installed: pip install -c constraints.txt reinflect" in printed.err
    assert "inflect: not installed: pip install -c constraints.txt inflect" in printed.err


def test_a_library_is_asked_only_for_what_it_has(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    told = {"reinflect": OURS, "inflect": OURS, "lemminflect": OURS}
    ran = stage.play(told, "--what", "german-medium,english-medium", "--peers", "inflect,lemminflect", "--rounds", "1")
    assert ran == ["reinflect 1 4", "reinflect 1 4", "lemminflect 1 4", "inflect 1 2"]
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("inflect 1.2.3")]
    assert [row[-2:] for row in rows] == [["0.0", "0.0"]]  # ours has 25 % of all, but none of the participles


def test_a_peer_that_fails_is_left_out(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    told = {"reinflect": OURS, "baseline": "fails", "yoyodyne-pointer": OURS}
    with pytest.raises(SystemExit, match="1"):
        stage.play(told, "--what", "german-low", "--peers", "baseline,yoyodyne-pointer", "--rounds", "2")
    assert stage.log.read_text(encoding="utf-8").count("baseline") == 1
    printed = capsys.readouterr()
    assert "baseline failed: ValueError: no such luck" in printed.err
    assert "yoyodyne-pointer 1.2.3" in printed.out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--peers", "pattern"], "--peers: found pattern"),
        (["--what", "german-high"], "--what: found german-high"),
        (["--python", "pattern=python"], "--python: found pattern=python"),
        (["--peers", "inflect", "--peers-python", "/no/such/python"], "found no interpreter /no/such/python"),
        (["--peers", "inflect", "--peers-python", "false"], "false did not run: no message"),
        (["--peers", "baseline", "--data", "/no/such/folder"], "/no/such/folder/german-train-low"),
        (["--rounds", "0"], "give at least 1"),
    ],
)
def test_misuse_is_one_line(options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        peers.main(options)
    assert complaint in capsys.readouterr().err.splitlines()[-1]


def test_without_data_the_bundled_verbs_are_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (task,) = peers.tasks_of(["german-low", "english-medium"], None, tmp_path)
    assert (task.train.name, task.language, task.size) == ("train-low.tsv", "german", "low")
    assert capsys.readouterr().err == "english-medium: needs --data, skipped\n"


def test_an_adapter_reports_forms_and_time(stage: Stage) -> None:
    """The rule baseline, as its process runs it."""
    file = stage.folder / "request.json"
    request = {"train": str(stage.folder / "german-dev"), "words": [["talk", "V;PST"], ["sing", "V;V.PTCP;PRS"]]}
    file.write_text(json.dumps(request), encoding="utf-8")
    adapters.main("baseline", str(file))
    report = json.loads(file.read_text(encoding="utf-8"))
    assert report["forms"] == ["talked", "singing"]
    assert min(report["ready"], report["inflecting"]) > 0
