"""The settings of soft attention."""

from typing import Literal

from reinflect.layers.settings import RecurrentSettings
from reinflect.settings import Rate, Size


class SoftSettings(RecurrentSettings, frozen=True, kw_only=True):
    """Those of LSTMs, the size of the attention, a deeper encoder."""

    attention: Size = 64
    """The size of the layer in which states and source meet."""
    encoder_layers: Literal[1, 2] = 1
    label_smoothing: Rate = 0.0
    """The share of the target probability that is spread over all outputs."""
