"""Combine the predictions of members: by vote, or by mean probability."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

Form = TypeVar("Form", str, str | None)
"""None if decoding did not end."""


def vote(forms: Sequence[Form]) -> Form:
    """E(·) of §5: the form that most members give. Members come best first; among tied forms the best member's wins.

    A majority vote over whole strings, not over actions.
    """
    # Nearly always the best member's form has half of the votes, and then no other has more.
    if 2 * forms.count(forms[0]) >= len(forms):
        return forms[0]
    # The forms are in the order of the members, and max takes the first of equals.
    return max(dict.fromkeys(forms), key=forms.count)


def vote_all(members: Sequence[Sequence[Form]]) -> list[Form]:
    """The vote of members on many items. *Shape:* a list of forms per member, best member first"""
    return [vote(forms) for forms in zip(*members, strict=True)]


def average(forms: Sequence[str], log_probabilities: Sequence[float]) -> str:
    """The form with the largest mean probability; among equals the best member's.

    Members have different actions, so that probabilities of whole forms are averaged; a member counts with 0 for forms
    other than its own.
    """
    weights: defaultdict[str, float] = defaultdict(float)
    for form, log_probability in zip(forms, log_probabilities, strict=True):
        weights[form] += math.exp(log_probability)
    return max(weights, key=lambda form: weights[form])
