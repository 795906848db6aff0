"""Input and output files of several commands, and JSON output."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from reinflect.cli.options import LABELS_FILE, WORDS_FILE, forced, say
from reinflect.data.features import Bundle
from reinflect.data.items import Columns, Forms, Item, check_lengths, read_items
from reinflect.data.lexicon import Lexicon, read_lemmas
from reinflect.data.sheet_file import kind_of_sheet
from reinflect.errors import InputError, OutputError, quoted
from reinflect.files import STANDARD, Kind, check_writable, has_content, kind_of_file, lines_of, read_text

EXISTS = "a file of this name exists"
KINDS: dict[Kind, str] = {"model": "a model", "page": "a web page", "JSON": "JSON", "table": "a tab-separated table"}


def check_stdin_once(*paths: str | None) -> None:
    if paths.count(STANDARD) > 1:
        raise InputError("found - (standard input) more than once", "give - for one file only")


def check_output(
    output: Path | str,
    inputs: Iterable[Path | str | None],
    name: str = "--output",
    *,
    again: Kind | None = None,
    as_json: bool = False,
) -> None:
    """Check, before any work, that `output` can be written and that nothing a person typed would be lost.

    A file that is read (`inputs`, `--labels`, `--words`) is never replaced, and a model only by a model. Any other
    file is replaced only with `--force`; but where the output is only computed, never filled in or corrected, `again`
    is its kind: a file of this kind is replaced without asking, and no other. Spreadsheets are always asked about.
    """
    if as_json and kind_of_sheet(output):
        raise InputError("found --json for a spreadsheet", "leave it out, or name another kind of file", path=output)
    check_writable(output)
    others = map(click.get_current_context().meta.get, (LABELS_FILE, WORDS_FILE))
    if any(path is not None and _same_file(output, path) for path in (*inputs, *others)):
        raise OutputError(output, "this file is read from", f"choose another {name}")
    if not has_content(output):
        return
    found = kind_of_file(output)
    if again and not (again == "table" and kind_of_sheet(output)):
        if found != again:
            raise OutputError(output, f"{EXISTS} and is not {KINDS[again]}", f"choose another {name}")
    elif found == "model":
        raise OutputError(output, f"{EXISTS} and is a model", f"choose another {name}")
    elif not forced():
        raise OutputError(output, EXISTS, f"choose another {name}, or give --force to replace it")


def say_written(output: str, more: str = "") -> None:
    """Say which file was written; nothing about the screen or a device."""
    if has_content(output):
        say(f"written: {output}{more}")


def _same_file(one: Path | str, other: Path | str) -> bool:
    """Whether two names, links or not, are of one regular file that exists."""
    if STANDARD in (str(one), str(other)):
        return False
    try:
        return Path(one).is_file() and Path(one).samefile(other)
    except (OSError, ValueError):  # a file or name that does not exist: the code that reads it reports it
        return False


def json_text(value: Any, indent: int | None = None) -> str:
    """A JSON object and a line end; dataclasses become objects."""
    import msgspec

    return json.dumps(msgspec.to_builtins(value), ensure_ascii=False, indent=indent) + "\n"


def read_for_model(path: str, columns: Columns, forms: Forms = "required") -> list[Item]:
    """Items of a file, none of them too long for a model."""
    items = read_items(path, columns, forms=forms, note=say)
    check_lengths(items, path, "models take", "shorten or remove it")
    return items


def read_lexicon(path: str, columns: Columns) -> Lexicon:
    lexicon = read_lemmas(path, columns, note=say)
    check_lengths([Item(lemma, Bundle("")) for lemma in lexicon.lemmas], path, "models take", "remove it")
    return lexicon


def read_bundles(path: str, to_features: Callable[[str], str]) -> list[str]:
    """The bundles of a file that has one on each line, without repetitions; blank lines are ignored."""
    lines = list(lines_of(read_text(path), path))
    for number, line in lines:
        if "\t" in line:
            remedy = "write only the features of one form on each line"
            raise InputError(f"found several columns in {quoted(line)}", remedy, path=path, line=number)
    bundles = list(dict.fromkeys(to_features(line) for _, line in lines if line.strip(" ")))
    if not bundles:
        raise InputError("found no features", "write the features of one form on each line", path=path)
    return bundles
