"""The HTTP server: uvicorn, with a time limit for every wait."""

import asyncio
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from reinflect.inflector.inflector import Inflector
from reinflect.web.app import create_app
from reinflect.web.guard import HEADERS, refusal
from reinflect.web.hosts import Hosts
from reinflect.web.queue import Queue
from reinflect.web.requests import RequestError

HEAD_SECONDS = 10
"""For a client to send the head of a request; bodies have their own limit."""
RECEIVE_SECONDS = 10
"""For a client to receive more of a response that is too long to be sent at once."""
ENDING_SECONDS = 10
"""For open requests when the server shuts down."""
REFUSAL_SECONDS = 2
"""After that, to send refusals."""
MOST_CONNECTIONS = 4096
"""One more closes the connection that has waited longest: clients that do nothing keep no other out. Where a process
may open few files, half of them may be connections: accepting would fail otherwise, again and again."""
ACCEPTED_AT_ONCE = 64
"""Connections between two looks at what clients have sent: of more than `MOST_CONNECTIONS` that arrive together, some
would be closed before their requests are read."""
MOST_WAITING = 2048
"""Connections that the system keeps until they are accepted; one more has to try again a second later."""
TURN_SECONDS = 0.0005
"""After which the thread of the models lets that of the connections work, and the other way round. With Python's 5 ms
each waits for the other most of the time: a quarter fewer words a second."""


class Connection(H11Protocol):
    """A connection that is closed when the client is too slow."""

    _head_timer: asyncio.TimerHandle | None = None
    _send_timer: asyncio.TimerHandle | None = None

    def __init__(self, *given: Any, waiting: Sequence[dict["Connection", None]], **more: Any) -> None:
        """`waiting`: the open connections of a server by `_waits`, in each the one first that has waited longest."""
        super().__init__(*given, **more)
        self._waiting = waiting

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(HEAD_SECONDS, transport.abort)
        *_, bodies, idle = self._waiting
        if sum(map(len, self._waiting)) >= min(MOST_CONNECTIONS, _open_files() // 2):
            longest = next(chain(idle, bodies), self)
            longest._leave()
            longest.transport.abort()
        if not transport.is_closing():
            idle[self] = None

    @property
    def _waits(self) -> int:
        """2 between requests, 1 while a body arrives, 0 while a request is answered."""
        if self.cycle is None or self.cycle.response_complete:
            return 2
        return int(self.cycle.more_body)

    def _leave(self) -> None:
        for own in self._waiting:
            own.pop(self, None)

    def _wait(self) -> None:
        """Wait behind the others for what comes next, be it that the client receives what is left."""
        if self in self.connections:
            self._leave()
            self._waiting[self._waits][self] = None

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self not in self._waiting[self._waits]:
            self._wait()
        if self.cycle is not None and not self.cycle.response_complete:  # the head has arrived
            _cancel(self._head_timer)
            self._head_timer = None
        elif self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def send_400_response(self, _msg: str) -> None:
        """Answer invalid HTTP with JSON, where uvicorn sends plain text."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):  # no response has begun
            error = RequestError("broken_request", "not a valid HTTP request, or its head is too long")
            response = refusal(error, close=True)
            headers = [*response.raw_headers, *((name.encode(), value.encode()) for name, value in HEADERS.items())]
            head = h11.Response(status_code=response.status_code, headers=headers)
            for event in (head, h11.Data(data=bytes(response.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._send_timer = self.loop.call_later(RECEIVE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._send_timer)

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._head_timer)
        _cancel(self._send_timer)
        self._leave()
        super().connection_lost(exc)


def _open_files() -> int:
    """The number of files that this process may open."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return sys.maxsize
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _allow_open_files(wanted: int) -> None:
    """Raise the number of files that this process may open, often 1,024, as far as the system lets it."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard) if hard >= 0 else wanted, hard))


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class Server(uvicorn.Server):
    """Serves models until a signal arrives; then it finishes open requests and accepts no new ones."""

    def __init__(self, models: Mapping[str, Inflector | Path], hosts: Hosts) -> None:
        sys.setswitchinterval(TURN_SECONDS)
        _allow_open_files(2 * MOST_CONNECTIONS)
        self.queue = Queue()
        self._ignores_ctrl_c = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        super().__init__(
            uvicorn.Config(
                create_app(models, hosts, self.queue),
                http=partial(Connection, waiting=({}, {}, {})),  # type: ignore[arg-type]
                ws="none",
                log_level="error",
                server_header=False,
                proxy_headers=False,
                backlog=ACCEPTED_AT_ONCE,
                timeout_graceful_shutdown=ENDING_SECONDS + REFUSAL_SECONDS,
            )
        )

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig != signal.SIGINT or not self._ignores_ctrl_c:
            super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(MOST_WAITING)  # asyncio lets only as many wait as it accepts at once

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.queue.end(ENDING_SECONDS)
        await super().shutdown(sockets)
