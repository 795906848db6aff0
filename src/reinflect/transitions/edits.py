"""The actions of HAEM (§4.1): COPY, DELETE, WRITE_σ and STOP.

The pointer starts at the first lemma character, position 1; position n + 1 is past the end.
"""

from collections.abc import Iterable, Iterator

from reinflect.alignment.pairs import EPSILON, Alignment
from reinflect.transitions.actions import Step, checked_end, is_write, refuse, written_form

COPY, DELETE, STOP = "COPY", "DELETE", "STOP"


def oracle(alignment: Alignment) -> list[str]:
    """The paper's Algorithm 1, then its normalisation, then STOP."""
    actions: list[str] = []
    for x, y in alignment:
        if x == EPSILON:
            actions.append(y)
        elif y == EPSILON:
            actions.append(DELETE)
        elif x == y:
            actions.append(COPY)
        else:
            actions.extend((DELETE, y))
    return [*_deletes_first(actions), STOP]


def _deletes_first(actions: Iterable[str]) -> Iterator[str]:
    """Within every stretch without COPY, all DELETEs before all WRITEs, which keep their order."""
    writes: list[str] = []
    for action in actions:
        if action == DELETE:
            yield action
        elif action == COPY:
            yield from writes
            writes.clear()
            yield action
        else:
            writes.append(action)
    yield from writes


def walk(actions: Iterable[str], lemma: str) -> Iterator[Step]:
    """Carry the actions out, one by one, refusing those that are not valid where they stand.

    While lemma characters are left: COPY, DELETE and WRITE; once none is left: STOP and WRITE.
    """
    position = 1
    for action, ends in checked_end(actions, STOP):
        attended = lemma[position - 1 : position]
        if ends and attended:
            raise refuse(action, position, "lemma characters are left; COPY or DELETE them first")
        if action in (COPY, DELETE):
            if not attended:
                raise refuse(action, position, "no lemma character is left")
            yield Step(action, position, attended, attended if action == COPY else "")
            position += 1
        elif ends or is_write(action):
            yield Step(action, position, attended, "" if ends else action)
        else:
            raise refuse(action, position, "HAEM knows COPY, DELETE, STOP and single characters")


def execute(actions: Iterable[str], lemma: str) -> str:
    return written_form(walk(actions, lemma))
