"""Random numbers that depend on their purpose, never on what was drawn before.

A model's shuffles, initial weights and dropout masks come from its seed and the place of use, so that it trains the
same alone, in any fleet, on any device, and after it resumes.
"""

import hashlib


def key(*parts: int | str) -> int:
    """A 64-bit number for a purpose, such as key(seed, "shuffle", epoch)."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")
