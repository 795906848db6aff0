"""HACM: hard attention with a copy mixture over WRITE and STEP (§3)."""

from reinflect.layers.shapes import source_numbers
from reinflect.registry import later
from reinflect.systems.hacm import batch, model
from reinflect.systems.hacm.settings import HacmSettings
from reinflect.systems.presets import read_presets
from reinflect.systems.system import System
from reinflect.systems.write_step import BEGIN, END

SYSTEM = System(
    name="hacm",
    title="HACM",
    colour="#1f6fb5",
    settings=HacmSettings,
    presets=read_presets(__name__, HacmSettings),
    shapes=model.shapes,
    names=batch.names,
    outputs="symbols",
    allowed=batch.allowed_outputs,
    symbols=batch.symbols,
    choices=batch.symbols,
    tapes=batch.tapes,
    bound=lambda item, _: len(item.lemma) + len(item.form) + 2,
    trajectories=batch.trajectories,
    losses=model.losses,
    decoder=model.Decoder,
    frame=((BEGIN,), (END,)),
    source_numbers=source_numbers,
    words=later("reinflect.systems.hacm.words:HacmWords"),
)
