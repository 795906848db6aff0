"""Both transition systems as slow machines, with a list of the symbols each LSTM has read."""

from dataclasses import dataclass

COPY, DELETE, STOP = "COPY", "DELETE", "STOP"
BEGIN, END, STEP = "<s>", "</s>", "STEP"


@dataclass
class HaemMoment:
    """All that HAEM sees before it chooses an action, as characters and actions."""

    attended: str | None
    """None past the end of the lemma."""
    read_by_y: list[str]
    read_by_a: list[str]
    read_by_d: list[str]
    valid: set[str]


def haem_moments(lemma: str, actions: list[str], inventory: set[str]) -> list[HaemMoment]:
    left = list(lemma)
    moments, written, taken, deleted = [], list[str](), list[str](), list[str]()
    for action in actions:
        valid = inventory - ({STOP} if left else {COPY, DELETE})
        assert action in valid
        moments.append(HaemMoment(left[0] if left else None, list(written), list(taken), list(deleted), valid))
        taken.append(action)
        if action == COPY:
            written.append(left.pop(0))
        elif action == DELETE:
            deleted.append(left.pop(0))
        elif action != STOP:
            written.append(action)
            deleted.clear()
    return moments


@dataclass
class HacmMoment:
    attended: str
    previous: str
    target: str


def hacm_moments(lemma: str, actions: list[str]) -> list[HacmMoment]:
    left = [BEGIN, *lemma, END]
    moments, previous = [], BEGIN
    for action in actions:
        moments.append(HacmMoment(left[0], previous, action))
        if action == STEP and len(left) > 1:
            left.pop(0)
        previous = action
    return moments
