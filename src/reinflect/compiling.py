"""Functions compiled to machine code by numba, which is kept on disk wherever there is a place for it."""

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`numba.njit`, which keeps what it makes beside the source or in the user's cache.

    Where neither may be written, as in many containers, numba would refuse; then it compiles in every run anew.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            made: Callable[..., Any] = njit(cache=True, **options)(function)
        except RuntimeError:
            made = njit(**options)(function)
        return made

    return decorated
