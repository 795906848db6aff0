"""HAEM's settings."""

from reinflect.layers.settings import RecurrentSettings
from reinflect.settings import Size


class HaemSettings(RecurrentSettings, frozen=True, kw_only=True):
    """Those of LSTMs, and which LSTMs HAEM has."""

    tied: bool = False
    """Whether characters and the actions that write them share their embeddings."""
    history: bool = True
    """Whether the state sees LSTM^a, the actions so far."""
    deletions: bool = True
    """Whether the state sees LSTM^d, the characters deleted since the last WRITE."""
    history_hidden: Size = 100
    """The size of LSTM^a (H in the paper, 100 in its code)."""
