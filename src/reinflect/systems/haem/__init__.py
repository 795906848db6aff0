"""HAEM: hard attention over the edit actions COPY, DELETE, WRITE and STOP (§4)."""

from reinflect.systems.haem import batch, model
from reinflect.systems.haem.settings import HaemSettings
from reinflect.systems.layers.encoder import source_numbers
from reinflect.systems.presets import read_presets
from reinflect.systems.system import System

SYSTEM = System(
    name="haem",
    title="HAEM",
    colour="#c9571b",
    settings=HaemSettings,
    presets=read_presets(__name__, HaemSettings),
    shapes=model.shapes,
    names=batch.names,
    outputs="actions",
    allowed=batch.allowed_outputs,
    symbols=batch.characters,
    choices=batch.actions,
    tapes=batch.tapes,
    bound=batch.bound,
    trajectories=batch.trajectories,
    losses=model.losses,
    decoder=model.Decoder,
    source_numbers=source_numbers,
)
