"""From alignments to actions: the oracles of HACM and HAEM (the paper's Table 1).

An action is a string. A single character writes that character; a longer string (`STEP`, `COPY`) is any other action,
so no letter of any language can be mistaken for one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reinflect.align.pairs import EPSILON, Alignment

BEGIN, END, STEP = "<s>", "</s>", "STEP"
COPY, DELETE, STOP = "COPY", "DELETE", "STOP"


@dataclass(frozen=True, slots=True)
class Step:
    """An action in its state, as `reinflect oracle` shows it: one row of the paper's Table 1."""

    action: str
    position: int
    """The attention pointer i, counted as in the paper."""
    attended: str
    """The character at the pointer; `<s>` or `</s>` at the edges, empty past the end."""
    written: str
    """What the action appends to the form."""


def write_step(alignment: Alignment) -> list[str]:
    """HACM's actions (§3.1): WRITE_σ and STEP, and `</s>` at the end.

    The pointer steps for every pair with a lemma character, so an inserted character is written while it attends to
    the lemma character before it; the last step moves it to `</s>`.
    """
    actions = [action for x, y in alignment for action in (STEP if x != EPSILON else "", y) if action]
    return [*actions, STEP, END]


def edits(alignment: Alignment) -> list[str]:
    """HAEM's actions (§4.1) by the paper's Algorithm 1, normalised: without a COPY between, DELETEs precede WRITEs."""
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


ORACLES = {"hacm": write_step, "haem": edits}


def walk(actions: Sequence[str], lemma: str) -> Iterator[Step]:
    """Each action of an oracle. HACM's pointer moves from `<s>`, 0, to `</s>`, n + 1; HAEM's from 1 past the last."""
    steps = STEP in actions
    symbols, position = [BEGIN, *lemma, END if steps else ""], 0 if steps else 1
    for action in actions:
        attended = symbols[position]
        yield Step(action, position, attended, attended if action == COPY else action if len(action) == 1 else "")
        position += action in (STEP, COPY, DELETE)
