"""The actions of HAEM (§4.1): COPY, DELETE, WRITE_σ and STOP.

The pointer starts at the first lemma character, position 1; position n + 1 is past the end.
"""

from collections.abc import Iterable, Iterator

from reinflect.align.pairs import EPSILON, Alignment
from reinflect.systems.oracle import Step

COPY, DELETE, STOP = "COPY", "DELETE", "STOP"


def oracle(alignment: Alignment) -> list[str]:
    """The paper's Algorithm 1, normalised, then STOP.

    Normalised: in every stretch without COPY, all DELETEs come before all WRITEs, which keep their order.
    """
    actions: list[str] = []
    writes: list[str] = []
    for x, y in alignment:
        if x == y:
            actions += [*writes, COPY]
            writes = []
        else:
            actions += [DELETE] * (x != EPSILON)
            writes += [y] * (y != EPSILON)
    return [*actions, *writes, STOP]


def walk(actions: Iterable[str], lemma: str) -> Iterator[Step]:
    """Carry out the oracle's actions one by one."""
    position = 1
    for action in actions:
        attended = lemma[position - 1 : position]
        written = attended if action == COPY else action if len(action) == 1 else ""
        yield Step(action, position, attended, written)
        position += action in (COPY, DELETE)
