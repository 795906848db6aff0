"""HAEM: hard attention over the edit actions COPY, DELETE, WRITE and STOP (§4)."""

from collections.abc import Hashable, Sequence
from functools import lru_cache

from reinflect.align.pairs import Alignment
from reinflect.data.items import Item
from reinflect.settings import Size, later
from reinflect.systems.oracle import COPY, DELETE, STOP
from reinflect.systems.symbols import UNKNOWN, Inventory, RecurrentSettings, Shape, Vocabulary, read_presets
from reinflect.systems.system import System
from reinflect.systems.tapes import haem_tapes

SPECIALS = COPY, DELETE, STOP
COPY_NUMBER, DELETE_NUMBER, STOP_NUMBER, FIRST_WRITE = range(4)
UNKNOWN_NUMBER, FIRST_CHARACTER = 0, 1
"""Character k of the alphabet is number k + 1 as a character and number k + 3 as the action that writes it."""


class HaemSettings(RecurrentSettings, frozen=True, kw_only=True):
    tied: bool = False
    """Whether characters and the actions that write them share their embeddings."""
    history: bool = True
    """Whether the state sees LSTM^a, the actions so far."""
    deletions: bool = True
    """Whether the state sees LSTM^d, the characters deleted since the last WRITE."""
    history_hidden: Size = 100
    """The size of LSTM^a (H in the paper, 100 in its code)."""


@lru_cache(maxsize=256)
def characters(inventory: Inventory) -> Vocabulary:
    return Vocabulary.of((UNKNOWN,), inventory.characters)


@lru_cache(maxsize=256)
def actions(inventory: Inventory) -> Vocabulary:
    return Vocabulary.of(SPECIALS, inventory.characters)


def names(inventory: Inventory, settings: HaemSettings) -> dict[str, Sequence[Hashable]]:
    symbols = {"characters": characters(inventory).symbols, "actions": actions(inventory).symbols}
    return {**symbols, **settings.feature_names(inventory.atoms)}


def shapes(settings: HaemSettings) -> dict[str, Shape]:
    hidden, embedding = settings.hidden, settings.embedding

    def reader(name: str, size: int) -> dict[str, Shape]:
        further = {f"{name}.empty": Shape((size,), "embedding"), f"state.{name}": Shape((size, hidden))}
        return settings.lstm(name, embedding, size) | further

    # Tied: WRITE actions have their characters' embeddings, and only the other three have their own.
    action_rows = FIRST_WRITE if settings.tied else "actions"
    return {
        "embedding": Shape(("characters", embedding), "embedding"),
        **({"action_embedding": Shape((action_rows, embedding), "embedding")} if settings.history else {}),
        **settings.feature_shapes(),
        **settings.encoder(),
        "encoder.empty": Shape((2 * hidden,), "embedding"),
        **settings.lstm("written", embedding),
        "written.empty": Shape((hidden,), "embedding"),
        **(reader("history", settings.history_hidden) if settings.history else {}),
        **(reader("deleted", hidden) if settings.deletions else {}),
        "state.written": Shape((hidden, hidden)),
        "state.attended": Shape((2 * hidden, hidden)),
        "state.features": Shape((settings.feature_width, hidden)),
        "state.bias": Shape((hidden,), "zero"),
        "output.weights": Shape((hidden, "actions")),
        "output.bias": Shape(("actions",), "zero"),
    }


def bound(item: Item, alignment: Alignment) -> int:
    """A COPY is one action for two characters; any other character has its own, and STOP comes last."""
    return len(item.lemma) + len(item.form) + 1 - sum(x == y for x, y in alignment)


SYSTEM = System(
    name="haem",
    title="HAEM",
    colour="#c9571b",
    settings=HaemSettings,
    presets=read_presets(__name__, HaemSettings),
    shapes=shapes,
    names=names,
    outputs="actions",
    symbols=characters,
    choices=actions,
    tapes=lambda _, alignments, inventory: haem_tapes(alignments, characters(inventory), actions(inventory)),
    bound=bound,
    learner="reinflect.systems.haem.model:LEARNER",
    source_numbers=HaemSettings.source_numbers,
    words=later("reinflect.systems.haem.words:HaemWords"),
)
