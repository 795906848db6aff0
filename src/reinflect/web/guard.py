"""The outermost layer of the server: refuses requests for other hosts or from other pages, and sets headers."""

import logging

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reinflect.errors import printable, quoted
from reinflect.web.hosts import Hosts, same_origin
from reinflect.web.requests import CLOSING_CODES, RequestError

HEADERS = {
    # The page loads only files of this server, runs no inline scripts, and cannot be framed by another page.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
}
MOST_REQUESTS = 256
"""Requests at once that have arrived. Those still arriving do not count, or slow clients would keep others out."""
MOST_HEAD_BYTES = 64 * 1024
"""Of the head of a request: its first line and its headers."""
RETRY_SECONDS = 1
INTERNAL_ERROR = RequestError("our_fault", "internal error; the terminal in which reinflect serve runs shows details")
log = logging.getLogger("reinflect.web")


class Guard:
    """Checks each request before the app gets it, and sets headers on each response."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self.app, self.hosts = app, hosts
        self._requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = arrived = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                caching = "no-store" if scope["path"].startswith("/api/") else "no-cache"
                MutableHeaders(scope=message).update(HEADERS | {"cache-control": caching})
            await send(message)

        def count() -> None:
            nonlocal arrived
            arrived = True
            self._requests += 1
            if self._requests > MOST_REQUESTS:
                raise RequestError("busy", "there are too many requests; try again in a moment")

        async def receive_and_count() -> Message:
            message = await receive()
            if not arrived and not message.get("more_body", False):
                count()
            return message

        try:
            self._check(scope)
            if scope["method"] in ("GET", "HEAD"):  # whose bodies are not read
                count()
            await self.app(scope, receive_and_count, send_with_headers)
        except RequestError as error:
            await refusal(error, close=True)(scope, receive, send_with_headers)
        except Exception:
            log.exception("%s %s failed", scope["method"], printable(scope["path"]))
            if not started:
                await refusal(INTERNAL_ERROR)(scope, receive, send_with_headers)
        finally:
            self._requests -= arrived

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        line = (scope["method"], scope.get("raw_path") or b"", scope["query_string"], "  HTTP/1.1\r\n")
        length = sum(map(len, line)) + sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"])
        if length > MOST_HEAD_BYTES:
            raise RequestError("broken_request", f"the head of the request is longer than {MOST_HEAD_BYTES:,} bytes")
        if "content-length" in headers and "transfer-encoding" in headers:  # proxies disagree on where it ends
            raise RequestError("broken_request", "the request gives both Content-Length and Transfer-Encoding")
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.hosts.admit(host):
            message = f"{quoted(host)} is not a name of this server; to allow it, start the server with --allow-host"
            raise RequestError("wrong_host", message)
        if origin is not None and scope["method"] not in ("GET", "HEAD") and not same_origin(origin, host):
            raise RequestError("wrong_origin", f"requests from a page of {quoted(origin)} are not allowed")


def refusal(error: RequestError, *, close: bool = False) -> Response:
    """The response to a refused request; `close` also closes the connection."""
    headers = {}
    if error.status == 503:
        headers["retry-after"] = str(RETRY_SECONDS)
    if close or error.code in CLOSING_CODES:
        headers["connection"] = "close"
    content = {"error": error.message, "code": error.code, "field": error.field}
    return json_response(content, error.status, headers)


def json_response(content: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(content), status, headers, media_type="application/json")
