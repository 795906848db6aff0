"""The command line: one module for each command, imported only when the command is used."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from reinflect import __version__, errors
from reinflect.errors import INTERRUPTED, InputError, ReinflectError, StoppedError, one_line, quoted, source_name
from reinflect.files import STANDARD

COMMANDS = {
    "demo": "Try training and inflecting on bundled German verbs",
    "check": "Check a file of examples before training",
    "train": "Train a model on examples",
    "models": "List the pocket models, which inflect many languages by name",
    "inflect": "Inflect words with a trained model",
    "paradigm": "Show all forms of a lemma, as tables",
    "fill": "Fill the gaps of your own spreadsheet",
    "trace": "Show how a model makes a form, action by action",
    "analyse": "Say which lemma and features a form could have",
    "forecast": "Say how many forms will be right with more training data",
    "suggest": "Suggest which forms to ask a speaker for next",
    "info": "Show the training data, accuracy and members of a model file",
    "serve": "Inflect in the browser, on a page served by this computer",
    "baseline": "Inflect with the shared task's rule system",
    "evaluate": "Score predictions against the right forms",
    "data": "List, show and download data sets",
    "align": "Align lemmas with forms, character by character",
    "oracle": "Show the actions that turn a lemma into a form",
    "benchmark": "Train the 2017 paper's models on many languages, and compare",
    "report": "Write a web page about a model or a benchmark",
}
"""The commands with their summaries in `reinflect --help`."""
MODULES = {
    "align": "oracle",
    "data": "check",
    "evaluate": "baseline",
    "fieldwork": "fill suggest analyse",
    "inflect": "paradigm trace",
    "models": "info report",
    "train": "forecast",
}
"""Modules of several commands; any other command is in the module of its name."""


class LazyGroup(click.Group):
    """Lists commands without importing them, so that `--help` is instant; prints every error as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            remedy = errors.nearest(cmd_name, COMMANDS, "reinflect --help lists all commands")
            raise InputError(f"there is no command {quoted(cmd_name)}", remedy)
        module = next((module for module, names in MODULES.items() if cmd_name in names.split()), cmd_name)
        command: click.Command = getattr(import_module(f"reinflect.cli.{module}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any) -> Any:  # type: ignore[override]
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **extra)
        try:
            sys.exit(super().main(args, standalone_mode=False, **extra))
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(error.exit_code)
        except (click.Abort, StoppedError) as error:  # Ctrl-C
            message, code = str(error), INTERRUPTED
        except (ReinflectError, click.ClickException, MemoryError, OSError) as error:
            message, code = describe(error), 2
        if message:
            click.echo(one_line(f"reinflect: {message}"), err=True)
        sys.exit(code)


def describe(error: Exception) -> str:
    """One line about an error: place, finding, remedy."""
    if isinstance(error, click.UsageError) and error.ctx:
        program = error.ctx.find_root().command_path  # whatever its file is called
        words = error.ctx.command_path.removeprefix(program)
        return f"{error.format_message().removesuffix('.')}; reinflect{words} --help explains the options"
    if isinstance(error, MemoryError):
        return "there is not enough memory; use smaller files, or close other programs"
    if isinstance(error, OSError):  # such as a full disk behind standard output
        # Python would otherwise try to write the rest of the output on exit, and print a second error.
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        path = source_name(error.filename or ("this command" if error.errno in errors.TOO_MANY_FILES else STANDARD))
        return f"{path}: {error.strerror or error}; {errors.remedy_for(error, 'check the disk and try again')}"
    return str(error)


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Try it on bundled data: reinflect demo. The --help of each command ends with an example.",
)
@click.version_option(__version__, prog_name="reinflect")
def main() -> None:
    """Learn to inflect words of any language from examples of lemma, features and form."""
    # Forms may be in any script: a character that the terminal's encoding lacks must not end the program.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
