from collections.abc import Callable

from click.testing import Result

Reinflect = Callable[..., Result]
"""The fixture that runs a command in this process."""
