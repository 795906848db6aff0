"""What every request has to pass, and every answer: who may come in, and what never goes out."""

import logging

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reinflect.errors import printable, quoted
from reinflect.web.hosts import Hosts, same_origin
from reinflect.web.requests import LAST_WORDS, RequestError

HEADERS = {
    # Nothing comes from elsewhere, nothing runs that is not a file of ours, and nobody puts the page into theirs.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
}
API = "/api/"
INSIDE = 256
"""Requests that may be inside at once, waiting for models or still arriving, each with a body to keep in memory."""
RETRY_SECONDS = 1
log = logging.getLogger("reinflect.web")


class Door:
    """Around everything else."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self.app, self.hosts = app, hosts
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        said = Said(scope, send)
        self._inside += 1
        try:
            self._check(scope)
            await self.app(scope, receive, said)
        except RequestError as error:
            await refusal(error, last=True)(scope, receive, said)
        except Exception:
            log.exception("%s %s failed", scope["method"], printable(scope["path"]))
            if not said.anything:
                await refusal(our_fault())(scope, receive, said)
        finally:
            self._inside -= 1

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.hosts.admit(host):
            message = f"this server does not go by the name {quoted(host)}; if it should, start it with --allow-host"
            raise RequestError("wrong_host", message)
        if origin is not None and scope["method"] not in ("GET", "HEAD") and not same_origin(origin, host):
            raise RequestError("wrong_origin", f"a page of {quoted(origin)} may not ask this server")
        if self._inside > INSIDE:
            raise RequestError("busy", "too many requests are here already; try again in a moment")


class Said:
    """Sends an answer, with our headers on it, and knows whether there has been any."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.anything = False
        self._send = send
        caching = "no-store" if scope["path"].startswith(API) else "no-cache"
        self._headers = HEADERS | {"cache-control": caching}

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.anything = True
            MutableHeaders(scope=message).update(self._headers)
        await self._send(message)


def refusal(error: RequestError, *, last: bool = False) -> Response:
    """What is answered in the place of an answer."""
    headers = {}
    if error.status == 503:
        headers["retry-after"] = str(RETRY_SECONDS)
    if last or error.code in LAST_WORDS:
        headers["connection"] = "close"
    content = {"error": error.message, "code": error.code, "field": error.field}
    return json_response(content, error.status, headers)


def our_fault() -> RequestError:
    return RequestError("our_fault", "something went wrong here; the window in which reinflect serve runs says what")


def json_response(content: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(content), status, headers, media_type="application/json")
