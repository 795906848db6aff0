"""The HTTP server: uvicorn with httptools, which refuses what it need not read and waits for no client too long."""

import asyncio
import logging
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from reinflect.inflector.inflector import Inflector
from reinflect.web.app import create_app
from reinflect.web.guard import HEADERS, Hosts
from reinflect.web.queue import Queue
from reinflect.web.requests import LIMITS, RequestError, refusal

WAIT_SECONDS = 10
"""For a client to send the head of a request, or to receive what waits to be sent; bodies have their own limit."""
ENDING_SECONDS = 10
"""For open requests when the server shuts down."""
MOST_HEAD_BYTES = 64 * 1024
"""Of the head of a request: its first line and its headers."""
MOST_DROPPED_BYTES = 8 * LIMITS.body_bytes
"""Of what a client still sends after it was refused: most receive no answer before they have sent everything."""
BACKLOG = 512
"""Connections that wait to be accepted, and that are accepted at once; asyncio tries as often when it cannot."""


class Connection(HttpToolsProtocol):
    """A connection that reads no body that is too large, or whose length is not known."""

    error: RequestError | None = None
    """Why the connection ends."""
    unused_bytes = 0
    """Received of a head that is not complete, or after the refusal."""
    state: tuple[object, int] | None = None
    deadline = 0.0

    def on_headers_complete(self) -> None:
        headers, self.unused_bytes = dict(self.headers), 0
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > MOST_HEAD_BYTES:
            self.error = RequestError("broken_request", f"the head of the request exceeds {MOST_HEAD_BYTES:,} bytes")
        elif b"transfer-encoding" in headers:
            self.error = RequestError("no_length", "the body has no Content-Length; send it with one", status=411)
        elif int(headers.get(b"content-length", b"0")) > LIMITS.body_bytes:
            message = f"the request is too large; send at most {LIMITS.body_bytes:,} bytes at once"
            self.error = RequestError("body_too_large", message, status=413)
        if self.error:
            raise self.error  # so no byte of the body is parsed
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Keep a part of the body for the app, which is not called for each: there may be a million."""
        self.unused_bytes = 0
        self.cycle.body += body if not self.cycle.response_complete else b""

    def data_received(self, data: bytes) -> None:
        self.unused_bytes += len(data)
        if self.error:
            if self.unused_bytes > MOST_DROPPED_BYTES:
                self.transport.pause_reading()
            return
        super().data_received(data)
        if self.unused_bytes > MOST_HEAD_BYTES and not self.error:
            self.send_400_response("")

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Refuse with JSON, where uvicorn sends plain text; but only end the connection after an earlier request."""
        self.error = self.error or RequestError("broken_request", "not a valid HTTP request, or its head is too long")
        if self.cycle and not self.cycle.response_complete:
            self.cycle.keep_alive = False
            return
        response = refusal(self.error)
        response.headers.update(HEADERS | {"cache-control": "no-store", "connection": "close"})
        head = b"".join(b"%s: %s\r\n" % header for header in response.raw_headers)
        self.transport.write(STATUS_LINE[response.status_code] + head + b"\r\n" + bytes(response.body))
        self.transport.write_eof()

    def close_if_late(self, now: float) -> None:
        """Close the connection if the server has waited too long for the client."""
        waiting = self.cycle is None or self.cycle.response_complete or self.flow.write_paused
        before, self.state = self.state, (self.cycle, self.transport.get_write_buffer_size())
        if not waiting or self.state != before:
            self.deadline = now + WAIT_SECONDS
        elif now > self.deadline:
            self.transport.abort()


class Server(uvicorn.Server):
    """Serves models until a signal arrives; then it finishes open requests and accepts no new ones."""

    def __init__(self, models: Mapping[str, Inflector | Path], hosts: Hosts) -> None:
        _allow_open_files()
        logging.getLogger("asyncio").addFilter(_concerns_no_waiting_client)
        self.queue = Queue()
        self._ignores_ctrl_c = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        super().__init__(
            uvicorn.Config(
                create_app(models, hosts, self.queue),
                http=Connection,
                ws="none",
                lifespan="off",
                log_level="error",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                backlog=BACKLOG,
                timeout_keep_alive=WAIT_SECONDS,
                timeout_graceful_shutdown=ENDING_SECONDS + 2,  # to send refusals
            )
        )

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig != signal.SIGINT or not self._ignores_ctrl_c:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        for connection in list(self.server_state.connections):
            connection.close_if_late(asyncio.get_running_loop().time())  # type: ignore[union-attr]
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.queue.end(ENDING_SECONDS)
        await super().shutdown(sockets)
        self.queue.close()


def _concerns_no_waiting_client(record: logging.LogRecord) -> bool:
    """Where no more files may be open, clients wait: asyncio tries to accept them each second, and logs each time."""
    return not any(words in record.getMessage() for words in ("out of system resource", "_start_serving"))


def _allow_open_files() -> None:
    """Let this process open as many files, and so connections, as the system allows; often only 1,024 at first."""
    with suppress(ImportError, OSError, ValueError):
        from resource import RLIMIT_NOFILE, getrlimit, setrlimit

        setrlimit(RLIMIT_NOFILE, (getrlimit(RLIMIT_NOFILE)[1],) * 2)
