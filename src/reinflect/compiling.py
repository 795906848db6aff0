"""Functions compiled to machine code by numba, which is kept on disk wherever there is a place for it."""

import ctypes
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import njit

COMPILER = "libllvmlite"
MAPS = Path("/proc/self/maps")
DO_NOT_NEED = 4
"""What madvise(2) calls MADV_DONTNEED."""


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`numba.njit`, which keeps what it makes beside the source or in the user's cache.

    Where neither may be written, as in many containers, numba would refuse; then it compiles in every run anew. So it
    does on a full disk, and where what was kept is damaged.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            made: Any = njit(cache=True, **options)(function)
        except RuntimeError:
            return njit(**options)(function)  # type: ignore[no-any-return]
        _forgive(made._cache)
        return made  # type: ignore[no-any-return]

    return decorated


def _forgive(cache: Any) -> None:
    """Let nothing that happens to what is kept happen to the program."""
    load, save = cache.load_overload, cache.save_overload

    def load_overload(*given: Any) -> Any:
        try:
            return load(*given)
        except Exception:
            return None
        finally:
            release_the_compiler()

    def save_overload(*given: Any) -> None:
        try:
            save(*given)
        except OSError:
            pass
        except Exception:  # the list of what is there cannot be read; without it there is room for a new one
            with suppress(Exception):
                cache.flush()
                save(*given)
        release_the_compiler()

    cache.load_overload, cache.save_overload = load_overload, save_overload


def release_the_compiler() -> None:
    """Let go of the memory that the compiler's own instructions take, some 50 MB of what a small training needs.

    They are parts of a file that nobody writes to; should it be called again they are read from there. Done on Linux
    alone, where we can see which they are.
    """
    with suppress(OSError, AttributeError):
        advise = ctypes.CDLL(None).madvise
        for line in MAPS.read_text(encoding="utf-8", errors="replace").splitlines():
            place, rights, *_ = line.split(maxsplit=5)
            if rights == "r-xp" and COMPILER in line:
                start, end = (int(number, 16) for number in place.split("-"))
                advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), DO_NOT_NEED)
