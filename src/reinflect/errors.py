"""Errors for users. Every message is one line: place, finding, remedy."""

from pathlib import Path

INTERRUPTED = 130
"""Exit code of the command line after Ctrl-C."""


class ReinflectError(Exception):
    """A problem that the user can solve; the command line prints it as one line and exits with 2."""

    def __reduce__(self) -> tuple[type["ReinflectError"], tuple[str]]:
        """Another process receives the message alone: the constructors take other arguments."""
        return ReinflectError, (str(self),)


class InputError(ReinflectError):
    """A file, a line or an argument that cannot be used as it is."""

    def __init__(self, finding: str, remedy: str, *, path: Path | str | None = None, line: int | None = None) -> None:
        self.found, self.remedy, self.line = finding, remedy, line
        places = [source_name(path)] if path else []
        if line is not None:
            places.append(f"line {line}")
        super().__init__(one_line(": ".join(filter(None, (", ".join(places), f"{finding}; {remedy}")))))


class OutputError(ReinflectError):
    """A file or folder that cannot be written."""

    def __init__(self, path: Path | str, finding: str, remedy: str) -> None:
        super().__init__(one_line(f"{source_name(path)}: {finding}; {remedy}"))


class StoppedError(ReinflectError):
    """Ctrl-C before there was any result; the command line exits with 130."""


class UnseenWarning(UserWarning):
    """A question about features, or a combination of them, that a model has not seen."""


class FetchError(ReinflectError):
    """A download that failed."""


def source_name(path: Path | str) -> str:
    """The name of a file as users know it: `-` is standard input or output."""
    return "standard input/output" if str(path) == "-" else str(path)


def quoted(text: str, limit: int = 40) -> str:
    """A piece of the user's data within a message: invisible characters escaped, long texts cut."""
    return f"'{shortened(text, limit)}'"


def shortened(text: str, limit: int) -> str:
    """The beginning of a text, safe to print."""
    beginning = printable(text[: limit + 1])
    return beginning if len(beginning) <= limit else f"{beginning[:limit]}…"


def printable(text: str) -> str:
    """A text with all characters escaped that a terminal cannot print."""
    return "".join(character if character.isprintable() else escaped(character) for character in text)


def escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def one_line(message: str) -> str:
    return printable(message.replace("\n", " "))
