"""A strategy in which only the second best member answers."""

from collections.abc import Sequence
from typing import Any

from reinflect.ensemble.strategies import Accuracy, Strategy


def second(members: Sequence[Any], _: Accuracy) -> Sequence[Any]:
    return members[1:2] or members[:1]


RUNNER_UP = Strategy("runner-up", "the second best member", second)
