"""Functions compiled by numba; the machine code is cached on disk where possible."""

import ctypes
import mmap
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import njit

FAST = {
    "nogil": True,
    # Sums may be rearranged, but NaN stays NaN: a model that diverged must be noticed, and must not stop its fleet by
    # an error either.
    "fastmath": {"reassoc", "contract", "arcp", "nsz", "afn"},
    "error_model": "numpy",
}
"""Options for the loops of training."""


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`numba.njit` with a cache beside the source or in the user's cache folder.

    Where neither can be written, as in many containers, on a full disk, or with a damaged cache, every run compiles.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            made: Any = njit(cache=True, **options)(function)
        except RuntimeError:  # numba refuses to cache where it cannot write
            return njit(**options)(function)  # type: ignore[no-any-return]
        _tolerate_cache_errors(made._cache)
        return made  # type: ignore[no-any-return]

    return decorated


def _tolerate_cache_errors(cache: Any) -> None:
    """Compile anew instead of raising when the cache cannot be read or written."""
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
        except Exception:  # the cache's index is damaged: start a new one
            with suppress(Exception):
                cache.flush()
                save(*given)
        release_the_compiler()

    cache.load_overload, cache.save_overload = load_overload, save_overload


def release_the_compiler() -> None:
    """Free the memory of the compiler's own instructions, about 50 MB of what a small training needs.

    Linux reads these pages from their file again when the compiler is next called.
    """
    with suppress(OSError, AttributeError):
        advise = ctypes.CDLL(None).madvise
        for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines():
            place, rights, *_ = line.split(maxsplit=5)
            if rights == "r-xp" and "libllvmlite" in line:
                start, end = (int(number, 16) for number in place.split("-"))
                advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), mmap.MADV_DONTNEED)
