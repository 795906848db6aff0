"""What can go wrong for a user. Every message is one line and says where, what was found and what to do."""

from pathlib import Path

INTERRUPTED = 130
"""What the command line exits with after Ctrl-C."""


class ReinflectError(Exception):
    """Something the user can put right; the command line prints it as one line and exits with 2."""


class InputError(ReinflectError):
    """A file, a line or an argument that cannot be used as it is."""

    def __init__(self, found: str, remedy: str, *, path: Path | str | None = None, line: int | None = None) -> None:
        self.found, self.remedy, self.path, self.line = found, remedy, path, line
        place = "" if path is None else source_name(path)
        if line is not None:
            place += f", line {line}" if place else f"line {line}"
        super().__init__(one_line(f"{place}: {found}; {remedy}" if place else f"{found}; {remedy}"))


class OutputError(ReinflectError):
    """A place that cannot be written to."""

    def __init__(self, path: Path | str, found: str, remedy: str) -> None:
        super().__init__(one_line(f"{source_name(path)}: {found}; {remedy}"))


class StoppedError(ReinflectError):
    """Ctrl-C came before there was anything to show for it; no mistake, and the command line exits with 130."""


class FetchError(ReinflectError):
    """A download that did not arrive whole."""


def source_name(path: Path | str) -> str:
    """The name of a file as a user knows it: `-` is standard input or output."""
    return "standard input/output" if str(path) == "-" else str(path)


def quoted(text: str, limit: int = 40) -> str:
    """A piece of someone's data, safe to print within a message: escaped where invisible, cut where long."""
    return f"'{shortened(text, limit)}'"


def shortened(text: str, limit: int) -> str:
    """The beginning of a text that may be long, safe to print."""
    shown = printable(text[: limit + 1])
    return shown if len(shown) <= limit else f"{shown[:limit]}…"


def printable(text: str) -> str:
    """A text as it is, blanks and all, but with no surprises for the terminal: what cannot be printed is escaped."""
    return "".join(character if character.isprintable() else escaped(character) for character in text)


def escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def one_line(message: str) -> str:
    return printable(" ".join(message.split("\n")))
