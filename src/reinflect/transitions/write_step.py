"""The actions of HACM (§3.1): WRITE_σ and STEP, and `</s>` at the end.

The lemma is `<s> x_1 … x_n </s>`; the pointer starts at `<s>`, position 0, and ends at `</s>`, position n + 1.
"""

from collections.abc import Iterable, Iterator

from reinflect.alignment.pairs import EPSILON, Alignment
from reinflect.transitions.actions import Step, checked_end, is_write, refuse, written_form

BEGIN, END, STEP = "<s>", "</s>", "STEP"


def oracle(alignment: Alignment) -> list[str]:
    """The actions that write the form while the pointer walks the lemma.

    The pointer steps on for every pair with a lemma character, so an inserted character is written while it attends
    to the lemma character before it; the last step takes it to `</s>`.
    """
    actions: list[str] = []
    for x, y in alignment:
        if x != EPSILON:
            actions.append(STEP)
        if y != EPSILON:
            actions.append(y)
    return [*actions, STEP, END]


def walk(actions: Iterable[str], lemma: str) -> Iterator[Step]:
    """Carry the actions out, one by one. A STEP at `</s>` stays there."""
    symbols = [BEGIN, *lemma, END]
    position = 0
    for action, ends in checked_end(actions, END):
        if not (is_write(action) or ends or action == STEP):
            raise refuse(action, position, "HACM knows STEP, </s> and single characters")
        yield Step(action, position, symbols[position], action if is_write(action) else "")
        if action == STEP:
            position = min(position + 1, len(symbols) - 1)


def execute(actions: Iterable[str], lemma: str) -> str:
    return written_form(walk(actions, lemma))
