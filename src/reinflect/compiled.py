"""Functions compiled by numba, whose machine code is cached on disk; plain Python where numba is absent."""

import ctypes
import mmap
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

# Sums may be rearranged, but NaN stays NaN: a model that diverged must be noticed, and must not stop its fleet either.
FAST = {"nogil": True, "fastmath": {"reassoc", "contract", "arcp", "nsz", "afn"}, "error_model": "numpy"}
"""Options for the loops of training."""


@cache
def compiles() -> bool:
    """Whether numba is installed, and not switched off by NUMBA_DISABLE_JIT."""
    try:
        from numba import config
    except ImportError:
        return False
    return not config.DISABLE_JIT


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`numba.njit` with a cache beside the source or in the user's cache folder; without numba, the function itself."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if not compiles():
            return function
        from numba import njit

        dispatcher: Any = njit(**options)(function)
        with suppress(RuntimeError):  # where it cannot write, numba refuses to cache
            dispatcher.enable_caching()
            _tolerate_cache_errors(dispatcher._cache)
        return dispatcher  # type: ignore[no-any-return]

    return decorate


def for_loops(*arrays: NDArray[Any]) -> tuple[Any, ...]:
    """Arrays as arguments of compiled functions; for plain Python as views of its own numbers, three times as fast."""
    return arrays if compiles() else tuple(map(memoryview, arrays))  # type: ignore[arg-type]


def _tolerate_cache_errors(machine_code: Any) -> None:
    """Compile anew instead of raising when the cache cannot be read or written."""
    load, save = machine_code.load_overload, machine_code.save_overload

    def load_overload(*arguments: Any) -> Any:
        overload = None
        with suppress(Exception):
            overload = load(*arguments)
        release_compiler()
        return overload

    def save_overload(*arguments: Any) -> None:
        try:
            save(*arguments)
        except Exception:  # the cache's index is damaged: start a new one; on a full disk that fails, too
            with suppress(Exception):
                machine_code.flush()
                save(*arguments)
        release_compiler()

    machine_code.load_overload, machine_code.save_overload = load_overload, save_overload


def release_compiler() -> None:
    """Free the memory of the compiler's own instructions, 50 MB; Linux reads them again when they are called."""
    with suppress(OSError, AttributeError):
        advise = ctypes.CDLL(None).madvise
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
        for addresses in re.findall(r"^(\w+)-(\w+) r-xp .*libllvmlite", maps, re.MULTILINE):
            start, end = (int(address, 16) for address in addresses)
            advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), mmap.MADV_DONTNEED)
