"""Where a command writes its results, and how: as text, JSON, a table or a spreadsheet."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from json import dumps
from pathlib import Path
from typing import Any

import click

from reinflect.cli.options import SOURCES, Gathered, option, say
from reinflect.data.items import COLUMNS_2017, Columns, Item, write_items
from reinflect.data.sheet_file import check_sheet, kind_of_sheet, write_rows
from reinflect.errors import InputError, OutputError
from reinflect.files import STANDARD, Kind, check_writable, has_content, kind_of_file, write_text

EXISTS = "a file of this name exists"
WIDE = "Write a spreadsheet with a row for each lemma and a column for each bundle."
KINDS: dict[Kind, str] = {"model": "a model", "page": "a web page", "JSON": "JSON", "table": "a tab-separated table"}
Notes = Iterable[str | None]
Rows = tuple[Sequence[str], Sequence[Sequence[str | float]]]
"""The headings and the rows of a spreadsheet."""


@dataclass(frozen=True)
class Output:
    """Where results go (`-` is the screen), and whether as JSON, as a wide sheet, and in the place of another file."""

    path: str = STANDARD
    json: bool = False
    force: bool = False
    wide: bool = False
    option: str = "--output"

    def check(self, *inputs: Path | str, replaces: Kind | None = None) -> None:
        """Check, before any work, that the file can be written and that nothing a person typed would be lost.

        A file that is read (`inputs`, and those of type `source`) is never replaced, and a model only by a model. Any
        other file is replaced only with `--force`; but where the output is only computed, never filled in or corrected,
        `replaces` is its kind: a file of this kind is replaced without asking, and no other. Spreadsheets are always
        asked about.
        """
        check_sheet(self.path)
        if self.json and kind_of_sheet(self.path):
            raise InputError("found --json for a spreadsheet", "leave it out, or name another file", path=self.path)
        check_writable(self.path)
        other = f"choose another {self.option}"
        for path in (*inputs, *click.get_current_context().meta.get(SOURCES, ())):
            if _same_file(self.path, path):
                raise OutputError(self.path, "this file is read from", other)
        if not has_content(self.path):
            return
        kind = kind_of_file(self.path)
        if replaces and not (replaces == "table" and kind_of_sheet(self.path)):
            if kind != replaces:
                raise OutputError(self.path, f"{EXISTS} and is not {KINDS[replaces]}", other)
        elif kind == "model":
            raise OutputError(self.path, f"{EXISTS} and is a model", other)
        elif not self.force:
            raise OutputError(self.path, EXISTS, f"{other}, or give --force to replace it")

    def write(
        self,
        text: Callable[[], str],
        json: Callable[[], Iterable[object]] = tuple,
        rows: Callable[[], Rows] | None = None,
        *,
        indent: int | None = None,
        notes: Notes = (),
        about: str = "",
    ) -> None:
        """Write what was asked for: JSON (a line an object, unless indented), rows to a spreadsheet, or else text."""
        if self.json:
            write_text(self.path, "".join(json_text(value, indent) for value in json()))
        elif rows and kind_of_sheet(self.path):
            write_rows(self.path, *rows())
        else:
            write_text(self.path, text())
        self.written(notes, about)

    def write_items(
        self, items: Iterable[Item], columns: Columns = COLUMNS_2017, notes: Notes = (), about: str = ""
    ) -> None:
        write_items(self.path, items, columns, wide=self.wide)
        self.written(notes, about)

    def written(self, notes: Notes = (), about: str = "") -> None:
        """Print notes, and which file was written; nothing about the screen or a device."""
        say(*notes, f"written: {self.path}{about}" if has_content(self.path) else None)


def output_options(
    where: str = "", json: str = "", names: str = "--output -o FILE", default: str = STANDARD, **more: bool
) -> Any:
    """The options of an `Output`; `where` and `json` are for their help."""
    required: dict[str, Any] = {"default": default} if default else {"required": True}
    screen = " (- is the screen)" * bool(default)
    options = {
        "path": where and option(names, f"Where {where}{screen}.", **required),
        "force": where and more.get("force", True) and option("--force", "Replace an existing file of this name."),
        "json": json and option("--json", json),
        "wide": more.get("wide") and option("--wide", WIDE),
    }
    return Gathered(partial(Output, option=names.split()[0]), **{key: each for key, each in options.items() if each})


def json_text(value: Any, indent: int | None = None) -> str:
    """A JSON object and a line end; dataclasses become objects."""
    import msgspec

    return dumps(msgspec.to_builtins(value), ensure_ascii=False, indent=indent) + "\n"


@contextmanager
def progress_bar(task: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function that moves a bar on the terminal to what is done of the total; None if there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        number = progress.add_task(task, total=None)
        yield lambda done, total: progress.update(number, completed=done, total=total)


def _same_file(output: str, other: Path | str) -> bool:
    """Whether two names, links or not, are of one regular file that exists."""
    try:
        return STANDARD not in (output, str(other)) and Path(output).is_file() and Path(output).samefile(other)
    except (OSError, ValueError):  # a file or name that does not exist: the code that reads it reports it
        return False
