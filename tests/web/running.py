"""A listening server, and a client that sends raw bytes."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPResponse
from typing import Any, NamedTuple

from reinflect.inflector.inflector import Inflector
from reinflect.web.guard import Hosts
from reinflect.web.server import Server

PATIENCE = 60
"""Seconds; only failing tests wait this long."""


class Reply(NamedTuple):
    """A response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def content(self) -> Any:
        return json.loads(self.body)


class Running:
    """A server in a thread of this process."""

    def __init__(self, models: Mapping[str, Inflector]) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.server = Server(models, Hosts())
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listener]}, daemon=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def send(self, request: bytes) -> Reply:
        with self.connect() as connection:
            connection.sendall(request)
            return reply(connection)

    def ask(self, name: str, **body: object) -> Reply:
        return self.send(post(name, body))


@contextmanager
def running(models: Mapping[str, Inflector]) -> Iterator[Running]:
    here = Running(models)
    here.thread.start()
    until(lambda: here.server.started)
    try:
        yield here
    finally:
        here.server.should_exit = True
        here.thread.join(PATIENCE)
        assert not here.thread.is_alive()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "the condition was never true"
        time.sleep(0.01)


def post(name: str, body: object) -> bytes:
    content = json.dumps(body).encode()
    return head(name, "127.0.0.1", f"Content-Length: {len(content)}") + content


def head(name: str, host: str = "127.0.0.1", *more: str) -> bytes:
    lines = [f"POST /api/{name} HTTP/1.1", f"Host: {host}", "Content-Type: application/json", *more]
    return "\r\n".join([*lines, "", ""]).encode()


def reply(connection: socket.socket) -> Reply:
    """The next response on a connection; an error if the connection ends first."""
    with HTTPResponse(connection) as response:
        response.begin()
        return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
