"""Whether the paper's claims hold."""

import pytest

from reinflect.paper.combine import Average, Figures
from reinflect.paper.published import claims
from tests.paper.made_up import macro


def one_language(name: str, naive: float, smart: float, setting: str = "low") -> dict[str, dict[str, Average]]:
    accuracies = {"naive": macro(**{name: naive}), "smart": macro(**{name: smart})}
    kinds = ((system, alignment) for system in ("hacm", "haem") for alignment in accuracies)
    return {setting: {f"{system}-{alignment}": accuracies[alignment] for system, alignment in kinds}}


def test_without_figures_nothing_is_checked() -> None:
    assert [(claim.held, claim.evidence) for claim in claims({})] == [(None, "")] * 12


WINS, FAILS = "naive is consistently better than smart for Norwegian Nynorsk", "naive fails at low for Navajo"
ABOVE, BELOW = "HAEM is above HACM at low, by some 2 points or more", "HAEM is below HACM at high"
GAIN = "the gain from ensembling is largest at low"


def runs(first: float, second: float) -> Figures:
    both = {"run1": macro(a=first), "run3": macro(a=second)}
    return {"low": both, "high": both}


def gains(*points: float) -> Figures:
    return {
        setting: {"run1": macro(a=50.0), "run3": macro(a=40.0), "run7": macro(a=50.0 + gain)}
        for setting, gain in zip(("low", "medium", "high"), points, strict=True)
    }


@pytest.mark.parametrize(
    ("text", "figures", "expected"),
    [
        (WINS, one_language("norwegian_nynorsk", 50.1, 50.0), True),
        (WINS, one_language("norwegian_nynorsk", 50.0, 50.0), False),
        (WINS, one_language("turkish", 50.0, 50.0), None),
        (WINS, one_language("norwegian_nynorsk", 50, 40) | one_language("norwegian_nynorsk", 90, 91, "high"), False),
        (FAILS, one_language("navajo", 10.0, 15.0), True),
        (FAILS, one_language("navajo", 10.0, 14.9), False),
        (ABOVE, runs(46.5, 48.9), True),
        (ABOVE, runs(46.5, 47.9), False),
        (ABOVE, {"low": {"run1": macro(a=50.0), "run3": macro(a=53.0, b=1.0)}}, True),  # b is not compared
        (BELOW, runs(95.0, 89.8), True),
        (BELOW, runs(95.0, 95.0), False),
        (GAIN, gains(3, 2, 1), True),
        (GAIN, gains(2, 3, 1), False),
        (GAIN, gains(2, 1, 2), False),
    ],
)
def test_claims(text: str, figures: Figures, expected: bool | None) -> None:
    assert {claim.text: claim.held for claim in claims(figures)}[text] is expected
