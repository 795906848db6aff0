"""The host names under which the server answers.

A foreign page can point its own host name to the address of this computer (DNS rebinding); the browser would then treat
it as our page. The foreign name is still in the Host header, so only known names are admitted. A bare address cannot be
rebound.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[([0-9a-f.]*:[0-9a-f:.]*)\]|([^\s:/?#@\[\]]+))(?::[0-9]{1,5})?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class Hosts:
    """The admitted names, and whether any IP address is admitted."""

    names: frozenset[str] = LOCAL
    any_address: bool = False

    @classmethod
    def at(cls, address: str, names: Iterable[str] = ()) -> "Hosts":
        """The hosts of a server that listens at an address; any address is admitted if others can reach it."""
        return cls(LOCAL | {address} | set(map(_plain, names)), any_address=not is_loopback(address))

    def admit(self, host: str) -> bool:
        """Whether a Host header, with a port or without, names this server."""
        name = host_name(host)
        return name is not None and (name in self.names or (self.any_address and is_address(name)))


def host_name(host: str) -> str | None:
    """The name in a Host header; None if the header is not valid."""
    found = _HOST.fullmatch(host)
    return _plain(found[1] or found[2]) if found else None


def same_origin(origin: str, host: str) -> bool:
    """Whether an Origin header names the host that the request is for."""
    try:
        found = urlsplit(origin)
    except ValueError:
        return False
    return found.scheme in ("http", "https") and found.netloc.lower() == host.lower()


def is_loopback(address: str) -> bool:
    """Whether only this computer can reach an address."""
    return is_address(address) and ip_address(address).is_loopback


def is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _plain(name: str) -> str:
    return name.lower().removesuffix(".")
