import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Reinflect = Callable[..., Result]
"""The fixture that runs a command in this process."""


def succeeded(result: Result) -> Result:
    assert result.exit_code == 0, result.output
    return result


def refused(result: Result, message: str) -> None:
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert message in result.stderr


def as_options(changes: str) -> list[str]:
    """Changes of settings as a command takes them."""
    return [word for change in changes.split() for word in ("--set", change)]


def printed_by(*words: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """What Python prints when it runs these words."""
    call = [sys.executable, *map(str, words)]
    return subprocess.run(call, check=True, stdout=subprocess.PIPE, encoding="utf-8", cwd=cwd, env=env).stdout
