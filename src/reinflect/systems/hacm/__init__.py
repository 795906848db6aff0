"""HACM: hard attention with a copy mixture over WRITE and STEP (§3)."""

from collections.abc import Hashable, Sequence
from functools import lru_cache

import msgspec

from reinflect.settings import later
from reinflect.systems.oracle import BEGIN, END, STEP
from reinflect.systems.symbols import UNKNOWN, Inventory, RecurrentSettings, Shape, Vocabulary, read_presets
from reinflect.systems.system import System
from reinflect.systems.tapes import hacm_tapes

SPECIALS = UNKNOWN, BEGIN, END, STEP
UNKNOWN_NUMBER, BEGIN_NUMBER, END_NUMBER, STEP_NUMBER = range(4)


class HacmSettings(RecurrentSettings, frozen=True, kw_only=True):
    copy_mixture: bool = msgspec.field(default=True, name="copy")
    """Whether to mix copying in (§3.2); without it this is the plain hard monotonic model of §3.1."""


@lru_cache(maxsize=256)
def symbols(inventory: Inventory) -> Vocabulary:
    return Vocabulary.of(SPECIALS, inventory.characters)


def names(inventory: Inventory, settings: HacmSettings) -> dict[str, Sequence[Hashable]]:
    return {"symbols": symbols(inventory).symbols, **settings.feature_names(inventory.atoms)}


def shapes(settings: HacmSettings) -> dict[str, Shape]:
    hidden, embedding, features = settings.hidden, settings.embedding, settings.feature_width
    decoder = settings.lstm("decoder", embedding)
    (gates,) = decoder["decoder.bias"].sizes
    copy = {
        "copy.attended": Shape((2 * hidden, 1)),
        "copy.features": Shape((features, 1)),
        "copy.previous": Shape((embedding, 1)),
        "copy.state": Shape((hidden, 1)),
        "copy.bias": Shape((1,), "zero"),
    }
    return {
        "embedding": Shape(("symbols", embedding), "embedding"),
        **settings.feature_shapes(),
        **settings.encoder(),
        **decoder,
        "decoder.attended": Shape((2 * hidden, gates)),
        "decoder.features": Shape((features, gates)),
        "output.weights": Shape((hidden, "symbols")),
        "output.bias": Shape(("symbols",), "zero"),
        **(copy if settings.copy_mixture else {}),
    }


SYSTEM = System(
    name="hacm",
    title="HACM",
    colour="#1f6fb5",
    settings=HacmSettings,
    presets=read_presets(__name__, HacmSettings),
    shapes=shapes,
    names=names,
    outputs="symbols",
    symbols=symbols,
    choices=symbols,
    tapes=lambda _, alignments, inventory: hacm_tapes(alignments, symbols(inventory)),
    bound=lambda item, _: len(item.lemma) + len(item.form) + 2,
    learner="reinflect.systems.hacm.model:LEARNER",
    frame=((BEGIN,), (END,)),
    source_numbers=HacmSettings.source_numbers,
    words=later("reinflect.systems.hacm.words:HacmWords"),
)
