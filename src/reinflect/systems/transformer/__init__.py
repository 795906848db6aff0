"""A Transformer over characters and features."""

from reinflect.systems.presets import read_presets
from reinflect.systems.soft import batch
from reinflect.systems.system import System
from reinflect.systems.transformer import model
from reinflect.systems.transformer.settings import TransformerSettings
from reinflect.transitions.write_step import BEGIN, END

SYSTEM = System(
    name="transformer",
    title="Transformer",
    colour="#b8860b",
    settings=TransformerSettings,
    presets=read_presets(__name__, TransformerSettings),
    shapes=model.shapes,
    names=batch.names,
    outputs="outputs",
    allowed=batch.allowed_outputs,
    symbols=batch.symbols,
    choices=batch.symbols,
    tapes=batch.tapes,
    bound=lambda item, _: len(item.form) + 1,
    trajectories=batch.trajectories,
    losses=model.losses,
    decoder=model.Decoder,
    frame=((BEGIN,), (END,)),
    aligned=False,
    reads_features=True,
    source_numbers=lambda settings: 4 * settings.layers * settings.hidden,
    pair_numbers=lambda settings: 2 * settings.layers * settings.heads,
)
