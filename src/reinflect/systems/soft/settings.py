"""The settings of soft attention."""

from reinflect.settings import Size
from reinflect.systems.layers.settings import RecurrentSettings


class SoftSettings(RecurrentSettings, frozen=True, kw_only=True):
    """Those of LSTMs, and the size of the attention."""

    attention: Size = 64
    """The size of the layer in which states and source meet."""
