"""What `train` and `forecast` still use of the way before `Output`."""

from collections.abc import Iterable
from pathlib import Path

from reinflect.cli.options import check_stdin_once, forced, say
from reinflect.cli.output import Output, json_text
from reinflect.data.items import Columns, Item, check_lengths, read_items
from reinflect.files import Kind

__all__ = ["check_output", "check_stdin_once", "json_text", "read_for_model", "say_written"]


def check_output(
    output: Path | str, inputs: Iterable[Path | str | None], name: str = "--output", *, again: Kind | None = None
) -> None:
    Output(output, force=forced(), option=name).check(*inputs, replaces=again)


def read_for_model(path: str, columns: Columns) -> list[Item]:
    items = read_items(path, columns, note=say)
    check_lengths(items, path, "models take", "shorten or remove it")
    return items


def say_written(output: str, more: str = "") -> None:
    Output(output).written(about=more)
