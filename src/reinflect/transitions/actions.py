"""What both transition systems share.

An action is a string: a single character stands for writing that character, a longer word (`STEP`, `COPY`) for
anything else, so that no letter of any language can be mistaken for one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reinflect.errors import ReinflectError


class InvalidActionError(ReinflectError):
    """An action that its transition system does not allow where it stands."""


@dataclass(frozen=True, slots=True)
class Step:
    """One action where it happens: the row of the paper's Table 1."""

    action: str
    position: int
    """The attention pointer i when the action is taken, counted as the paper counts it."""
    attended: str
    """The character at the pointer; `<s>` or `</s>` at the edges, empty past the end."""
    written: str
    """What the action appends to the form."""


def is_write(action: str) -> bool:
    return len(action) == 1


def written_form(steps: Iterable[Step]) -> str:
    return "".join(step.written for step in steps)


def refuse(action: str, position: int, because: str) -> InvalidActionError:
    return InvalidActionError(f"the action {action} at position {position} is not allowed: {because}")


def checked_end(actions: Iterable[str], last: str) -> Iterator[tuple[str, bool]]:
    """Each action with whether it is the last; refuses a sequence that goes on after its end or has none."""
    ended = False
    for action in actions:
        if ended:
            raise InvalidActionError(f"found {action} after {last}: nothing may follow it")
        ended = action == last
        yield action, ended
    if not ended:
        raise InvalidActionError(f"the actions do not end with {last}")
