"""The actions of HACM (§3.1): WRITE_σ and STEP, and `</s>` at the end.

The lemma is `<s> x_1 … x_n </s>`; the pointer starts at `<s>`, position 0, and ends at `</s>`, position n + 1.
"""

from collections.abc import Iterable, Iterator

from reinflect.align.pairs import EPSILON, Alignment
from reinflect.systems.oracle import Step

BEGIN, END, STEP = "<s>", "</s>", "STEP"


def oracle(alignment: Alignment) -> list[str]:
    """The actions that write the form while the pointer moves along the lemma.

    The pointer steps for every pair with a lemma character, so an inserted character is written while it attends to
    the lemma character before it; the last step moves it to `</s>`.
    """
    actions = [action for x, y in alignment for action in (STEP if x != EPSILON else "", y) if action]
    return [*actions, STEP, END]


def walk(actions: Iterable[str], lemma: str) -> Iterator[Step]:
    """Carry out the oracle's actions one by one."""
    symbols = [BEGIN, *lemma, END]
    position = 0
    for action in actions:
        yield Step(action, position, symbols[position], action if len(action) == 1 else "")
        position += action == STEP
