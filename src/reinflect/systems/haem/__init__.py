"""HAEM: hard attention over the edit actions COPY, DELETE, WRITE and STOP (§4)."""

from reinflect.layers.shapes import source_numbers
from reinflect.registry import later
from reinflect.systems.haem import batch
from reinflect.systems.haem.settings import HaemSettings
from reinflect.systems.presets import read_presets
from reinflect.systems.system import System

SYSTEM = System(
    name="haem",
    title="HAEM",
    colour="#c9571b",
    settings=HaemSettings,
    presets=read_presets(__name__, HaemSettings),
    shapes=batch.shapes,
    names=batch.names,
    outputs="actions",
    allowed=batch.allowed_outputs,
    symbols=batch.characters,
    choices=batch.actions,
    tapes=batch.tapes,
    bound=batch.bound,
    trajectories=batch.trajectories,
    losses=later("reinflect.systems.haem.model:losses"),
    decoder=later("reinflect.systems.haem.model:Decoder"),
    source_numbers=source_numbers,
    words=later("reinflect.systems.haem.words:HaemWords"),
)
