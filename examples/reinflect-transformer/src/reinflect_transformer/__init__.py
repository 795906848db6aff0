"""A Transformer over characters and features, which reads and writes the symbols of soft attention."""

from dataclasses import replace
from typing import Annotated

from msgspec import Meta

from reinflect.settings import Rate, Settings, Size
from reinflect.systems.soft import SYSTEM as SOFT
from reinflect.systems.symbols import Shape, read_presets

ENCODER, DECODER = "encoder", "decoder"


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


def shapes(settings: TransformerSettings) -> dict[str, Shape]:
    width, inside = settings.hidden, settings.attention
    maps: dict[str, tuple[int, int]] = {}
    norms = [f"{ENCODER}.norm", f"{DECODER}.norm"]
    for side, parts in ((ENCODER, ("self", "wide")), (DECODER, ("self", "query", "wide"))):
        for layer in range(settings.layers):
            of_layer = {"self": (width, 3 * inside), "joined": (inside, width)}
            if side == DECODER:
                of_layer |= {"query": (width, inside), "source": (width, 2 * inside), "crossed": (inside, width)}
            of_layer |= {"wide": (width, settings.feed_forward), "narrow": (settings.feed_forward, width)}
            maps |= {f"{side}.{layer}.{name}": sizes for name, sizes in of_layer.items()}
            norms += [f"{side}.{layer}.norm.{part}" for part in parts]
    return {
        "embedding": Shape(("symbols", settings.embedding), "embedding"),
        "embedding.map": Shape((settings.embedding, width)),
        "kind": Shape((2, width), "embedding"),
        **{name: Shape(sizes) for name, sizes in maps.items()},
        **{f"{name}.bias": Shape((sizes[1],), "zero") for name, sizes in maps.items()},
        **{f"{name}.{part}": Shape((width,), "zero") for name in norms for part in ("gain", "shift")},
        "output.weights": Shape((width, "outputs")),
        "output.bias": Shape(("outputs",), "zero"),
    }


SYSTEM = replace(
    SOFT,
    name="transformer",
    title="Transformer",
    colour="#b8860b",
    settings=TransformerSettings,
    presets=read_presets(__name__, TransformerSettings),
    shapes=shapes,
    words=None,
    learner="reinflect_transformer.model:LEARNER",
    source_numbers=lambda settings: 4 * settings.layers * settings.hidden,
    pair_numbers=lambda settings: 2 * settings.layers * settings.heads,
)
