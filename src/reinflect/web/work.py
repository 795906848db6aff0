"""Where the models work: in one thread, one request at a time, so that the server can go on listening."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from reinflect.web.requests import RequestError

WAITING = 64
"""Requests that may wait for their turn; whoever comes after them is told to come back rather than kept."""

Result = TypeVar("Result")


class Work:
    """A queue with one thread behind it."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="models")
        self._waiting = 0

    async def do(self, call: Callable[[], Result]) -> Result:
        if self._waiting >= WAITING:
            raise RequestError(503, "too many requests are waiting; try again in a moment")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, call)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)
