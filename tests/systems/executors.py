"""Slow executors of both transition systems, which refuse every action that is not valid where it stands."""

from collections.abc import Iterable, Iterator

from reinflect.systems.oracle import BEGIN, COPY, DELETE, END, STEP, STOP, Step


class InvalidActionError(ValueError):
    """An action that its transition system does not allow where it stands."""


def is_write(action: str) -> bool:
    return len(action) == 1


def refuse(action: str, position: int, because: str) -> InvalidActionError:
    return InvalidActionError(f"the action {action} at position {position} is not allowed: {because}")


def checked_end(actions: Iterable[str], last: str) -> Iterator[tuple[str, bool]]:
    """Each action with whether it is the last; refuses a sequence with actions after its end, or without an end."""
    ended = False
    for action in actions:
        if ended:
            raise InvalidActionError(f"found {action} after {last}: nothing may follow it")
        ended = action == last
        yield action, ended
    if not ended:
        raise InvalidActionError(f"the actions do not end with {last}")


def hacm_steps(actions: Iterable[str], lemma: str) -> Iterator[Step]:
    """A STEP at `</s>` stays there."""
    symbols = [BEGIN, *lemma, END]
    position = 0
    for action, ends in checked_end(actions, END):
        if not (is_write(action) or ends or action == STEP):
            raise refuse(action, position, "HACM knows STEP, </s> and single characters")
        yield Step(action, position, symbols[position], action if is_write(action) else "")
        if action == STEP:
            position = min(position + 1, len(symbols) - 1)


def haem_steps(actions: Iterable[str], lemma: str) -> Iterator[Step]:
    """While lemma characters are left, COPY, DELETE and WRITE are valid; after that, STOP and WRITE."""
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


def execute_hacm(actions: Iterable[str], lemma: str) -> str:
    return "".join(step.written for step in hacm_steps(actions, lemma))


def execute_haem(actions: Iterable[str], lemma: str) -> str:
    return "".join(step.written for step in haem_steps(actions, lemma))
