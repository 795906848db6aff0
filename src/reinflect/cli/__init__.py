"""The command line: one module for each command, imported only when the command is used."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import click

from reinflect import __version__
from reinflect.errors import INTERRUPTED, InputError, ReinflectError, StoppedError, one_line, quoted, source_name
from reinflect.files import STANDARD, TOO_MANY_FILES, remedy_for
from reinflect.text import nearest

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
"""The commands, each the name of its module, with their summaries in `reinflect --help`."""


class LazyGroup(click.Group):
    """Lists commands without importing them, so that `--help` is instant; prints every error as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            remedy = nearest(cmd_name, COMMANDS, "reinflect --help lists all commands")
            raise InputError(f"there is no command {quoted(cmd_name)}", remedy)
        command: click.Command = import_module(f"reinflect.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().main(*args, **extra)
        except OSError as error:  # such as a full disk behind standard output
            place = source_name(error.filename or ("this command" if error.errno in TOO_MANY_FILES else STANDARD))
            _print_error(f"{place}: {error.strerror or error}; {remedy_for(error, 'check the disk and try again')}")
            # Python would otherwise try to write the rest of the output on exit, and print a second error.
            with suppress(OSError, ValueError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(2)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _usage_errors_as_one_line():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _usage_errors_as_one_line():
                return super().invoke(ctx)
        except ReinflectError as error:
            _print_error(str(error))
            ctx.exit(INTERRUPTED if isinstance(error, StoppedError) else 2)
        except KeyboardInterrupt:  # for which click exits with 1
            ctx.exit(INTERRUPTED)


@contextmanager
def _usage_errors_as_one_line() -> Iterator[None]:
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:  # whose message is the whole help
        raise
    except click.UsageError as error:
        program = error.ctx.find_root().command_path if error.ctx else ""  # whatever its file is called
        words = error.ctx.command_path.removeprefix(program) if error.ctx else ""
        _print_error(f"{error.format_message().removesuffix('.')}; reinflect{words} --help explains the options")
        sys.exit(2)


def _print_error(message: str) -> None:
    click.echo(one_line(f"reinflect: {message}"), err=True)


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
