"""The encoder-decoder with soft attention: the part that Nematus played in the 2017 submission."""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Literal

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.settings import Rate, Size, later
from reinflect.systems.oracle import BEGIN, END
from reinflect.systems.symbols import UNKNOWN, Inventory, RecurrentSettings, Shape, Vocabulary, read_presets
from reinflect.systems.system import ACTIONS, System, Tapes
from reinflect.systems.tapes import Ragged

UNKNOWN_NUMBER, BEGIN_NUMBER, END_NUMBER, FIRST_CHARACTER = range(4)
REACH = 24
"""The largest distance between places in source and form that has a vector of its own."""


class SoftSettings(RecurrentSettings, frozen=True, kw_only=True):
    attention: Size = 64
    """The size of the layer in which states and source meet."""
    encoder_layers: Literal[1, 2] = 1
    label_smoothing: Rate = 0.0
    """The share of the target probability that is spread over all outputs."""


@lru_cache(maxsize=256)
def symbols(inventory: Inventory) -> Vocabulary:
    """First what the decoder can write, then the features, which only the encoder reads."""
    return Vocabulary((UNKNOWN, BEGIN, END, *inventory.characters, *inventory.every_feature_symbol))


def names(inventory: Inventory, _: SoftSettings) -> dict[str, Sequence[Hashable]]:
    rows = symbols(inventory).symbols
    return {"symbols": rows, "outputs": rows[: FIRST_CHARACTER + len(inventory.characters)]}


def shapes(settings: SoftSettings) -> dict[str, Shape]:
    both, hidden, embedding, size = 2 * settings.hidden, settings.hidden, settings.embedding, settings.attention
    written = settings.lstm("written", embedding)
    (gates,) = written["written.bias"].sizes
    return {
        "embedding": Shape(("symbols", embedding), "embedding"),
        **settings.encoder(),
        **(settings.encoder("deeper.", both) if settings.encoder_layers > 1 else {}),
        **written,
        "written.source": Shape((both, gates)),
        "attention.state": Shape((hidden, size)),
        "attention.source": Shape((both, size)),
        "attention.distance": Shape((2 * REACH + 1, size)),
        "attention.score": Shape((size, 1)),
        **settings.lstm("context", hidden),
        "context.attended": Shape((both, gates)),
        "state.context": Shape((hidden, hidden)),
        "state.attended": Shape((both, hidden)),
        "state.previous": Shape((embedding, hidden)),
        "state.bias": Shape((hidden,), "zero"),
        "output.weights": Shape((hidden, "outputs")),
        "output.bias": Shape(("outputs",), "zero"),
    }


def tapes(items: Sequence[Item], _: Sequence[Alignment], inventory: Inventory) -> Tapes:
    return {ACTIONS: Ragged.of([(*item.form, END) for item in items], symbols(inventory))}


SYSTEM = System(
    name="soft",
    title="soft attention",
    colour="#2f8f5b",
    settings=SoftSettings,
    presets=read_presets(__name__, SoftSettings),
    shapes=shapes,
    names=names,
    outputs="outputs",
    symbols=symbols,
    choices=symbols,
    tapes=tapes,
    bound=lambda item, _: len(item.form) + 1,
    learner="reinflect.systems.soft.model:LEARNER",
    frame=((BEGIN,), (END,)),
    aligned=False,
    reads_features=True,
    source_numbers=SoftSettings.source_numbers,
    words=later("reinflect.systems.soft.words:SoftWords"),
    pair_numbers=lambda settings: settings.attention,
)
