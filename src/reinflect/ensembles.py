"""Many predictions to one."""

from collections import Counter
from collections.abc import Sequence


def vote(forms: Sequence[str]) -> str:
    """E(·) of §5: the form that most members give. Members come best first; among tied forms the best member's wins.

    A majority vote over whole strings, not over actions.
    """
    # Counter keeps first-seen order, and max takes the first of equals: the form of the best member among the tied.
    counts = Counter(forms)
    return max(counts, key=lambda form: counts[form])


def vote_all(members: Sequence[Sequence[str]]) -> list[str]:
    """The vote of members on many items. *Shape:* a list of forms per member, best member first"""
    return [vote(forms) for forms in zip(*members, strict=True)]
