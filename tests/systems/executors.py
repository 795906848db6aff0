"""Slow executors of both transition systems, which refuse every action that is not valid in its state."""

from collections.abc import Iterator, Sequence

from reinflect.systems.oracle import BEGIN, COPY, DELETE, END, STEP, STOP, Step


class InvalidActionError(ValueError):
    """An action that its transition system does not allow in its state."""


def is_write(action: str) -> bool:
    return len(action) == 1


def require(valid: bool, *what: object) -> None:
    if not valid:
        raise InvalidActionError(*what)


def hacm_steps(actions: Sequence[str], lemma: str) -> Iterator[Step]:
    """A STEP at `</s>` stays there."""
    symbols, position = [BEGIN, *lemma, END], 0
    require(list(actions).index(END) == len(actions) - 1 if END in actions else False, "it ends with its only </s>")
    for action in actions:
        require(is_write(action) or action in (STEP, END), action, position)
        yield Step(action, position, symbols[position], action if is_write(action) else "")
        position = min(position + (action == STEP), len(symbols) - 1)


def haem_steps(actions: Sequence[str], lemma: str) -> Iterator[Step]:
    """While lemma characters are left, COPY, DELETE and WRITE are valid; after that, STOP and WRITE."""
    position = 1
    require(list(actions).index(STOP) == len(actions) - 1 if STOP in actions else False, "it ends with its only STOP")
    for action in actions:
        attended = lemma[position - 1 : position]
        require(is_write(action) or action in ((COPY, DELETE) if attended else (STOP,)), action, position)
        yield Step(action, position, attended, attended if action == COPY else action if is_write(action) else "")
        position += action in (COPY, DELETE)


def execute_hacm(actions: Sequence[str], lemma: str) -> str:
    return "".join(step.written for step in hacm_steps(actions, lemma))


def execute_haem(actions: Sequence[str], lemma: str) -> str:
    return "".join(step.written for step in haem_steps(actions, lemma))
