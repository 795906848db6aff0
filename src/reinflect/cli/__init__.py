"""The command line: one module a command, each imported only when it is used."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import click

from reinflect import __version__
from reinflect.errors import INTERRUPTED, InputError, ReinflectError, StoppedError, one_line, quoted, source_name
from reinflect.files import STANDARD
from reinflect.text import nearest

COMMANDS: dict[str, tuple[str, str]] = {
    # command: (its module, what `reinflect --help` says of it)
    "demo": ("reinflect.cli.demo", "See it work on bundled German verbs"),
    "train": ("reinflect.cli.train", "Learn to inflect from examples"),
    "inflect": ("reinflect.cli.inflect", "Inflect words with a trained model"),
    "paradigm": ("reinflect.cli.paradigm", "Show all forms of a lemma, as tables"),
    "trace": ("reinflect.cli.trace", "Watch a model make a form, action by action"),
    "suggest": ("reinflect.cli.suggest", "Say which forms to ask a speaker for next"),
    "info": ("reinflect.cli.info", "Show what a model file says of itself"),
    "serve": ("reinflect.cli.serve", "Inflect in the browser: a page of your own"),
    "ablate": ("reinflect.cli.ablate", "Compare values of a setting, and say whether they differ"),
    "baseline": ("reinflect.cli.baseline", "Inflect with the shared task's rule system"),
    "evaluate": ("reinflect.cli.evaluate", "Score predictions against the right forms"),
    "data": ("reinflect.cli.data", "List, show and download data sets"),
    "align": ("reinflect.cli.align", "Align lemmas with forms, letter by letter"),
    "oracle": ("reinflect.cli.oracle", "Show the actions that turn a lemma into a form"),
    "benchmark": ("reinflect.cli.benchmark", "Train the 2017 paper's models on many languages, and compare"),
    "report": ("reinflect.cli.report", "Write a page about a model or a benchmark"),
}


class LazyGroup(click.Group):
    """Lists commands without importing them, so that `--help` is instant; prints our errors as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = import_module(COMMANDS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS:
            remedy = nearest(args[0], COMMANDS, "reinflect --help lists all there are")
            raise InputError(f"found the command {quoted(args[0])}", remedy)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().main(*args, **extra)
        except OSError as error:  # such as a full disk behind standard output; all else is told where it happens
            place = source_name(error.filename or STANDARD)
            told = f"reinflect: {place}: {error.strerror or error}; check the disk and try again"
            click.echo(one_line(told), err=True)
            _forget_output()
            sys.exit(2)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _usage_in_a_line():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _usage_in_a_line():
                return super().invoke(ctx)
        except ReinflectError as error:
            click.echo(f"reinflect: {error}", err=True)
            ctx.exit(INTERRUPTED if isinstance(error, StoppedError) else 2)


@contextmanager
def _usage_in_a_line() -> Iterator[None]:
    """What click says of options and arguments that cannot be, as everything else that cannot be is said."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:  # which is the whole help
        raise
    except click.UsageError as error:
        words, place = list[str](), error.ctx
        while place and place.parent:  # the first is the program, whatever it is called
            words, place = [place.info_name or "", *words], place.parent
        how = " ".join(["reinflect", *words, "--help"])
        told = f"reinflect: {error.format_message().removesuffix('.')}; {how} says how it is used"
        click.echo(one_line(told), err=True)
        sys.exit(2)


def _forget_output() -> None:
    """What could not be written would otherwise be tried once more when Python ends, with another complaint."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Try it on bundled data: reinflect demo. Each command has a --help that ends with an example.",
)
@click.version_option(__version__, prog_name="reinflect")
def main() -> None:
    """Learn to inflect words of any language from examples of lemma, features and form."""
    # Forms are any script at all: what the terminal's own encoding cannot show must not end the program.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
