"""The outermost layer of the app: refuses requests for other hosts or from other pages, and sets headers.

A foreign page can point its own host name to the address of this computer (DNS rebinding); the browser would then treat
it as our page. The foreign name is still in the Host header, so only known names are admitted. A bare address cannot be
rebound.
"""

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reinflect.errors import printable, quoted
from reinflect.web.requests import RequestError, refusal

HEADERS = {
    # The page loads only files of this server, runs no inline scripts, and cannot be framed by another page.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
}
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[([0-9a-f.]*:[0-9a-f:.]*)\]|([^\s:/?#@\[\]]+))(?::[0-9]{1,5})?", re.IGNORECASE | re.ASCII)
log = logging.getLogger("reinflect.web")


@dataclass(frozen=True)
class Hosts:
    """The admitted names, and whether any IP address is admitted."""

    names: frozenset[str] = LOCAL
    any_address: bool = False

    @classmethod
    def at(cls, address: str, names: Iterable[str] = ()) -> "Hosts":
        """The hosts of a server that listens at an address; any address is admitted if others can reach it."""
        admitted = LOCAL | {address} | {name.lower().removesuffix(".") for name in names}
        return cls(admitted, any_address=not ip_address(address).is_loopback)

    def admit(self, host: str) -> bool:
        """Whether a Host header, with a port or without, names this server."""
        name = host_name(host)
        return name is not None and (name in self.names or (self.any_address and is_address(name)))


class Guard:
    """Checks each request before the app gets it, and sets headers on each response."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                caching = "no-store" if scope["path"].startswith("/api/") else "no-cache"
                MutableHeaders(scope=message).update(HEADERS | {"cache-control": caching})
            await send(message)

        try:
            self._check(Headers(scope=scope), scope["method"])
            await self.app({**scope, "app": self}, receive, send_with_headers)
        except Exception as error:
            response = refusal(error)
            if response.status_code == 500:
                log.exception("%s %s failed", scope["method"], printable(scope["path"]))
            await response(scope, receive, send_with_headers)

    def _check(self, headers: Headers, method: str) -> None:
        host = ", ".join(headers.getlist("host"))
        origin = headers.get("origin", f"http://{host}")
        if not self.hosts.admit(host):
            message = f"{quoted(host)} is not a name of this server; to allow it, start the server with --allow-host"
            raise RequestError("wrong_host", message, status=403)
        if method not in ("GET", "HEAD") and origin.lower() not in (
            f"http://{host.lower()}",
            f"https://{host.lower()}",
        ):
            message = f"requests from a page of {quoted(origin)} are not allowed"
            raise RequestError("wrong_origin", message, status=403)


def host_name(host: str) -> str | None:
    """The name in a Host header; None if the header is not valid."""
    parts = _HOST.fullmatch(host)
    return (parts[1] or parts[2]).lower().removesuffix(".") if parts else None


def is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
