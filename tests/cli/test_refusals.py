"""What is refused: with one line on standard error, exit code 2, and nothing written."""

import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.cli import Reinflect
from tests.cli.test_transcripts import GOLDEN

TABLES = tomllib.loads(Path(__file__).with_name("cases.toml").read_text(encoding="utf-8"))
CASES = [(line, message) for table in TABLES.values() for line, message in table.items()]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(GOLDEN / "files", tmp_path_factory.mktemp("refusals") / "files"))


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("line", "message"), CASES, ids=[line[:60] for line, _ in CASES])
def test_a_refusal_is_one_line(
    line: str, message: str, files: Path, reinflect: Reinflect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    monkeypatch.setenv("REINFLECT_MODELS", "pocket")
    before = contents(files)
    command, _, source = line.partition(" < ")
    words = shlex.split(command.replace("LONG", "a" * 1001))
    if "=" in words[0]:
        monkeypatch.setenv(*words.pop(0).split("="))
    result = reinflect(*words, stdin=Path(source).read_bytes() if source else None)
    *notes, refusal = result.stderr.splitlines()
    assert message in refusal
    assert (result.exit_code, result.stdout) == (2, "")
    assert refusal.startswith("reinflect: ")
    assert refusal.isprintable()
    assert not notes or (words[0] == "train" and all(note.startswith("note: ") for note in notes))
    assert contents(files) == before
