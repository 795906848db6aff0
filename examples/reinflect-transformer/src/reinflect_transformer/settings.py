"""The settings of the Transformer."""

from typing import Annotated

from msgspec import Meta

from reinflect.settings import Rate, Settings, Size


class TransformerSettings(Settings, frozen=True, kw_only=True):
    """The layers; `hidden` is their width."""

    layers: Annotated[int, Meta(ge=1, le=64)] = 4
    """Of the encoder, and of the decoder."""
    heads: Size = 4
    """Attentions beside each other in a layer."""
    feed_forward: Size = 400
    """The width inside a layer, between its two maps."""
    label_smoothing: Rate = 0.0
    """The share of the target probability that is spread over all outputs."""

    @property
    def attention(self) -> int:
        """The width of all heads together: of each as much as there is for it, and at least 1."""
        return self.heads * max(1, self.hidden // self.heads)
