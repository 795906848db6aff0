"""Errors for users, and the phrases of messages. Every message is one line: place, finding, remedy."""

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

INTERRUPTED = 130
"""Exit code of the command line after Ctrl-C."""
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
TOO_MANY_FILES = {errno.EMFILE, errno.ENFILE}


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


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Turn whatever prevents a file from being written into an error that names the file."""
    try:
        yield
    except BrokenPipeError:  # the reader has closed the pipe
        raise
    except OSError as error:
        raise cannot_write(path, error) from None


def cannot_write(
    path: Path | str, error: OSError, remedy: str = "check the disk or choose another place"
) -> OutputError:
    return OutputError(path, f"could not be written ({error.strerror or error})", remedy_for(error, remedy))


def remedy_for(error: OSError, otherwise: str) -> str:
    if error.errno in NO_ROOM:
        return "make room there, then run the same command again, or choose another place"
    if error.errno in TOO_MANY_FILES:
        return "allow more open files (ulimit -n), or use fewer --workers"
    return otherwise


def raise_if_too_many_files(error: Exception) -> None:
    """Raise an error that says nothing of the file itself: no file can be opened."""
    if isinstance(error, OSError) and error.errno in TOO_MANY_FILES:
        raise error


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


def counted(number: int, noun: str) -> str:
    """`1 item`, `2 items`."""
    return f"{number} {noun}{'s'[: number != 1]}"


def nearest(name: str, names: Iterable[str], otherwise: str) -> str:
    """A remedy for an unknown name: the names most like it, or else `otherwise`."""
    return f"did you mean {' or '.join(close)}?" if (close := close_names(name, names)) else otherwise


def close_names(name: str, names: Iterable[str]) -> list[str]:
    """The names spelled most like this one, ignoring case, the nearest first."""
    from difflib import get_close_matches

    spelling = {other.lower(): other for other in sorted(names)}
    return [spelling[other] for other in get_close_matches(name.lower(), spelling)]
