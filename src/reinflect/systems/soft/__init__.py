"""The encoder-decoder with soft attention: the part that Nematus played in the 2017 submission."""

from reinflect.layers.shapes import source_numbers
from reinflect.registry import later
from reinflect.systems.presets import read_presets
from reinflect.systems.soft import batch, model
from reinflect.systems.soft.settings import SoftSettings
from reinflect.systems.system import System
from reinflect.systems.write_step import BEGIN, END

SYSTEM = System(
    name="soft",
    title="soft attention",
    colour="#2f8f5b",
    settings=SoftSettings,
    presets=read_presets(__name__, SoftSettings),
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
    source_numbers=source_numbers,
    words=later("reinflect.systems.soft.words:SoftWords"),
    pair_numbers=lambda settings: settings.attention,
)
