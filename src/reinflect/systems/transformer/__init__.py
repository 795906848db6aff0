"""A Transformer over characters and features, which reads and writes the symbols of soft attention."""

from dataclasses import replace

from reinflect.systems.presets import read_presets
from reinflect.systems.soft import SYSTEM as SOFT
from reinflect.systems.transformer import model
from reinflect.systems.transformer.settings import TransformerSettings

SYSTEM = replace(
    SOFT,
    name="transformer",
    title="Transformer",
    colour="#b8860b",
    settings=TransformerSettings,
    presets=read_presets(__name__, TransformerSettings),
    shapes=model.shapes,
    losses=model.losses,
    decoder=model.Decoder,
    words=None,
    source_numbers=lambda settings: 4 * settings.layers * settings.hidden,
    pair_numbers=lambda settings: 2 * settings.layers * settings.heads,
)
