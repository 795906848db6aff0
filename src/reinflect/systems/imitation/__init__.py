"""HAEM trained by imitation: it reads no alignment, acts by itself in training, and learns what was right then."""

from reinflect.systems.haem import batch as haem
from reinflect.systems.haem import model
from reinflect.systems.imitation import batch
from reinflect.systems.imitation.settings import ImitationSettings
from reinflect.systems.layers.encoder import source_numbers
from reinflect.systems.presets import read_presets
from reinflect.systems.system import System

SYSTEM = System(
    name="imitation",
    title="HAEM by imitation",
    colour="#8a3fb0",
    settings=ImitationSettings,
    presets=read_presets(__name__, ImitationSettings),
    shapes=model.shapes,
    names=haem.names,
    outputs="actions",
    allowed=haem.allowed_outputs,
    symbols=haem.characters,
    choices=haem.actions,
    tapes=batch.tapes,
    bound=batch.bound,
    trajectories=batch.trajectories,
    losses=model.losses,
    decoder=model.Decoder,
    aligned=False,
    source_numbers=source_numbers,
)
