"""Under which names the server may be visited.

A page from elsewhere can give its own name the address of this computer, and would then be taken for ours by the
browser. What it cannot change is the name in the request. So the name must be one that we know; a bare address is never
a name that somebody else has given out.
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
    """The names, and whether any address will do."""

    names: frozenset[str] = LOCAL
    any_address: bool = False

    @classmethod
    def at(cls, address: str, names: Iterable[str] = ()) -> "Hosts":
        """Those of a server that listens at an address: where others can reach it, they may use any it has."""
        own = frozenset(_plain(name) for name in names)
        return cls(LOCAL | {address} | own, any_address=not is_loopback(address))

    def admit(self, host: str) -> bool:
        """Whether a request for this host, with a port or without, is meant for us."""
        name = host_name(host)
        return name is not None and (name in self.names or (self.any_address and is_address(name)))


def host_name(host: str) -> str | None:
    """The name in a Host header, or none if it is not one."""
    found = _HOST.fullmatch(host)
    return _plain(found[1] or found[2]) if found else None


def same_origin(origin: str, host: str) -> bool:
    """Whether a page with this origin came from the host that is now asked."""
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
