"""The settings of the Transformer."""

from typing import Annotated

from msgspec import Meta

from reinflect.errors import InputError
from reinflect.settings import Rate, Settings, Size


class TransformerSettings(Settings, frozen=True, kw_only=True):
    """The layers; `hidden` and `embedding` are both the width of a layer."""

    layers: Annotated[int, Meta(ge=1, le=64)] = 4
    """Of the encoder, and of the decoder."""
    heads: Size = 4
    """Attentions beside each other in a layer, each `hidden / heads` wide."""
    feed_forward: Size = 400
    """The width inside a layer, between its two maps."""
    label_smoothing: Rate = 0.0
    """The share of the target probability that is spread over all outputs."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.embedding != self.hidden or self.hidden % self.heads or self.hidden % 2:
            found = f"found embedding = {self.embedding}, hidden = {self.hidden} and heads = {self.heads}"
            raise InputError(found, "set embedding to hidden, and hidden to an even multiple of heads")
