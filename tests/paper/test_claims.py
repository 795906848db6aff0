"""Whether the paper's claims hold."""

from collections.abc import Mapping

from reinflect.paper.claims import claims
from reinflect.paper.figures import Figures
from tests.paper.made_up import macro

Accuracies = Mapping[str, float]


def held(figures: Figures) -> dict[str, bool | None]:
    return {claim.text: claim.held for claim in claims(figures)}


def one_language(name: str, naive: float, smart: float) -> Figures:
    figures = {f"{system}-naive": macro(**{name: naive}) for system in ("hacm", "haem")}
    figures |= {f"{system}-smart": macro(**{name: smart}) for system in ("hacm", "haem")}
    return {"low": figures}


def test_without_figures_nothing_is_checked() -> None:
    found = claims({})
    assert len(found) == 12
    assert {claim.held for claim in found} == {None}
    assert {claim.evidence for claim in found} == {""}


def test_naive_and_smart_in_single_languages() -> None:
    wins = "naive is consistently better than smart for Norwegian Nynorsk"
    assert held(one_language("norwegian_nynorsk", 50.1, 50.0))[wins] is True
    assert held(one_language("norwegian_nynorsk", 50.0, 50.0))[wins] is False
    assert held(one_language("turkish", 50.0, 50.0))[wins] is None
    worse = {**one_language("norwegian_nynorsk", 50, 40), "high": one_language("norwegian_nynorsk", 90, 91)["low"]}
    assert held(worse)[wins] is False
    fails = "naive fails at low for Navajo"
    assert held(one_language("navajo", 10.0, 15.0))[fails] is True
    assert held(one_language("navajo", 10.0, 14.9))[fails] is False


def test_the_systems_against_each_other() -> None:
    low, high = "HAEM is above HACM at low, by some 2 points or more", "HAEM is below HACM at high"

    def gap(first: float, second: float) -> dict[str, bool | None]:
        both = {"run1": macro(a=first), "run3": macro(a=second)}
        return held({"low": both, "high": both})

    assert [gap(46.5, 48.9)[low], gap(46.5, 47.9)[low]] == [True, False]
    assert [gap(95.0, 89.8)[high], gap(95.0, 95.0)[high]] == [True, False]


def test_only_languages_that_both_have_are_compared() -> None:
    figures = {"low": {"run1": macro(a=50.0), "run3": macro(a=53.0, b=1.0)}}
    assert held(figures)["HAEM is above HACM at low, by some 2 points or more"] is True


def test_ensembling() -> None:
    def gains(low: float, medium: float, high: float) -> bool | None:
        figures = {
            setting: {"run1": macro(a=50.0), "run3": macro(a=40.0), "run7": macro(a=50.0 + gain)}
            for setting, gain in (("low", low), ("medium", medium), ("high", high))
        }
        return held(figures)["the gain from ensembling is largest at low"]

    assert [gains(3, 2, 1), gains(2, 3, 1), gains(2, 1, 2)] == [True, False, False]
