"""A Transformer over characters and features, which reads and writes the symbols of soft attention."""

from dataclasses import replace

from reinflect.registry import later
from reinflect.systems.soft import SYSTEM as SOFT
from reinflect.systems.symbols import read_presets
from reinflect.systems.transformer.settings import TransformerSettings

SYSTEM = replace(
    SOFT,
    name="transformer",
    title="Transformer",
    colour="#b8860b",
    settings=TransformerSettings,
    presets=read_presets(__name__, TransformerSettings),
    shapes=later("reinflect.systems.transformer.model:shapes"),
    learner="reinflect.systems.transformer.model:LEARNER",
    source_numbers=lambda settings: 4 * settings.layers * settings.hidden,
    pair_numbers=lambda settings: 2 * settings.layers * settings.heads,
)
