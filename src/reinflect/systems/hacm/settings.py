"""HACM's settings."""

import msgspec

from reinflect.layers.settings import RecurrentSettings


class HacmSettings(RecurrentSettings, frozen=True, kw_only=True):
    """Those of LSTMs, and whether HACM copies."""

    copy_mixture: bool = msgspec.field(default=True, name="copy")
    """Whether to mix copying in (§3.2); without it this is the plain hard monotonic model of §3.1."""
