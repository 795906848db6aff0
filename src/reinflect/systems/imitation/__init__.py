"""HAEM trained by imitation: it reads no alignment, acts by itself in training, and learns what was right then."""

from dataclasses import replace

import msgspec

from reinflect.systems.haem import SYSTEM as HAEM
from reinflect.systems.imitation import batch
from reinflect.systems.imitation.settings import ImitationSettings

SYSTEM = replace(
    HAEM,
    name="imitation",
    title="HAEM by imitation",
    colour="#8a3fb0",
    settings=ImitationSettings,
    presets={
        name: msgspec.convert(msgspec.to_builtins(HAEM.presets[name]), ImitationSettings)
        for name in ("low", "medium", "high")
    },
    tapes=batch.tapes,
    bound=batch.bound,
    trajectories=batch.trajectories,
    aligned=False,
)
