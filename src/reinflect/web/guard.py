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
"""Requests at once, waiting for models or still arriving; each may keep a body in memory."""
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
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                caching = "no-store" if scope["path"].startswith("/api/") else "no-cache"
                MutableHeaders(scope=message).update(HEADERS | {"cache-control": caching})
            await send(message)

        self._requests += 1
        try:
            self._check(scope)
            await self.app(scope, receive, send_with_headers)
        except RequestError as error:
            await refusal(error, close=True)(scope, receive, send_with_headers)
        except Exception:
            log.exception("%s %s failed", scope["method"], printable(scope["path"]))
            if not started:
                await refusal(INTERNAL_ERROR)(scope, receive, send_with_headers)
        finally:
            self._requests -= 1

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.hosts.admit(host):
            message = f"{quoted(host)} is not a name of this server; to allow it, start the server with --allow-host"
            raise RequestError("wrong_host", message)
        if origin is not None and scope["method"] not in ("GET", "HEAD") and not same_origin(origin, host):
            raise RequestError("wrong_origin", f"requests from a page of {quoted(origin)} are not allowed")
        if self._requests > MOST_REQUESTS:
            raise RequestError("busy", "there are too many requests; try again in a moment")


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
