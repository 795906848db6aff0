"""The server itself: uvicorn, with an end to every wait."""

import asyncio
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from reinflect.web.app import create_app
from reinflect.web.door import HEADERS, refusal
from reinflect.web.hosts import Hosts
from reinflect.web.requests import RequestError
from reinflect.web.work import Work

if TYPE_CHECKING:
    from reinflect.inflector.inflector import Inflector

HEAD_SECONDS = 10
"""To send the head of a request, once there is a connection; bodies have a time of their own."""
TAKING_SECONDS = 10
"""To take more of an answer that is too long to be sent at once."""
ENDING_SECONDS = 10
"""For requests in flight, when the server is ended."""
GOODBYE_SECONDS = 2
"""After that, to say that there will be no answer."""


class Connection(H11Protocol):
    """A connection whose other end has to get on with it."""

    _late: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._late = self.loop.call_later(HEAD_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:  # the head is here
            _cancel(self._late)
            self._late = None
        elif self._late is None and not self.transport.is_closing():
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def send_400_response(self, _msg: str) -> None:
        """In the place of uvicorn's own answer to what is no HTTP, which is no JSON."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):  # otherwise an answer has begun, or was given
            said = refusal(
                RequestError("broken_request", "this is no HTTP request, or its head is too long"), last=True
            )
            headers = [*said.raw_headers, *((name.encode(), value.encode()) for name, value in HEADERS.items())]
            for event in (
                h11.Response(status_code=said.status_code, headers=headers),
                h11.Data(data=bytes(said.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stuck = self.loop.call_later(TAKING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._stuck)

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._late)
        _cancel(self._stuck)
        super().connection_lost(exc)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class Server(uvicorn.Server):
    """Serves models until a signal ends it; then it finishes what it is at, and takes nothing new."""

    def __init__(self, models: "Mapping[str, Inflector]", hosts: Hosts) -> None:
        self.work = Work()
        super().__init__(
            uvicorn.Config(
                create_app(models, hosts, self.work),
                http=Connection,
                ws="none",
                log_level="error",
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=ENDING_SECONDS + GOODBYE_SECONDS,
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.work.end(ENDING_SECONDS)
        await super().shutdown(sockets)
