"""Commands with everything they print and write: each transcript is run again, and nothing may differ.

    python -m tests.cli.test_transcripts [FILE…]

writes the transcripts in tests/golden/cli anew. A line `$ reinflect …` is a command, with its standard input after `<`;
`$ cat FILE` shows a file that it wrote. Below are standard output, standard error (`! `) and the exit code (`? `) if it
is not 0. Commands run in a copy of `files`, whose models of 0.2 have exact numbers, the same on every processor.
"""

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner
from openpyxl import load_workbook

from reinflect import __version__
from reinflect.cli import main

GOLDEN = Path(__file__).parents[1] / "golden" / "cli"
LONG_NUMBER = re.compile(r"\d\.\d{5,}(e-\d+)?")
TRANSCRIPTS = sorted(GOLDEN.glob("*.txt"))


def transcript(lines: list[str]) -> Iterator[str]:
    """The lines of a transcript whose commands were run in the current folder."""
    for line in lines:
        yield line
        command, _, source = line.removeprefix("$ ").partition(" < ")
        program, *arguments = shlex.split(command)
        if program == "cat":
            yield from content(Path(*arguments))
            continue
        result = CliRunner().invoke(main, arguments, input=Path(source).read_bytes() if source else None)
        yield from settled(result.stdout)
        yield from (f"! {note}" for note in result.stderr.splitlines())
        yield from [f"? {result.exit_code}"] * bool(result.exit_code)


def settled(text: str) -> list[str]:
    """The lines of a text without the version and without digits that depend on the processor."""
    return LONG_NUMBER.sub(
        lambda number: f"{float(number[0]):.4g}", text.replace(f"-{__version__}", "-VERSION")
    ).splitlines()


def content(path: Path) -> list[str]:
    if path.suffix != ".xlsx":
        return settled(path.read_text(encoding="utf-8"))
    rows = (row for sheet in load_workbook(path) for row in sheet.values)
    return ["\t".join("" if cell is None else str(cell) for cell in row) for row in rows]


def commands(path: Path) -> list[str]:
    """The lines of a transcript without what the commands printed."""
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line.startswith("$ ")]


def run(path: Path, folder: Path) -> str:
    shutil.copytree(GOLDEN / "files", folder / "files")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "files")
        patch.setenv("REINFLECT_CACHE", str(folder / "cache"))
        patch.setenv("REINFLECT_MODELS", "pocket")
        return "\n".join(transcript(commands(path))) + "\n"


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_transcript_is_repeated(path: Path, tmp_path: Path) -> None:
    assert run(path, tmp_path) == path.read_text(encoding="utf-8")


if __name__ == "__main__":
    for file in [Path(name).resolve() for name in sys.argv[1:]] or TRANSCRIPTS:
        with TemporaryDirectory() as place:
            text = run(file, Path(place))
        file.write_text(text, encoding="utf-8")
