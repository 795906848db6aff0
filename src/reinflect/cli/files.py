"""Input files and JSON output of several commands."""

import json
from collections.abc import Callable
from typing import Any

from reinflect.cli.options import say
from reinflect.data.features import Bundle
from reinflect.data.items import Columns, Forms, Item, check_lengths, read_items
from reinflect.data.lemmas import Lexicon, read_lemmas
from reinflect.data.sheet_files import kind_of_sheet
from reinflect.errors import InputError, quoted
from reinflect.files import STANDARD, lines_of, read_text


def check_stdin_once(*paths: str | None) -> None:
    if paths.count(STANDARD) > 1:
        raise InputError("found - (standard input) more than once", "give - for one file only")


def check_no_json_sheet(as_json: bool, output: str) -> None:
    if as_json and kind_of_sheet(output):
        raise InputError("found --json for a spreadsheet", "leave it out, or name another kind of file", path=output)


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
