"""Lists of the likeliest forms, and traces, of an inflector with several members."""

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.decode.search import WIDTH
from reinflect.ensemble.confidence import Answer, Confidence, ranked
from reinflect.errors import InputError
from reinflect.inflector.inflector import Inflector
from reinflect.systems import SYSTEMS
from tests.inflector.test_inflector import ITEMS, a_member, an_inflector

pytestmark = pytest.mark.filterwarnings("ignore::reinflect.errors.UnseenWarning")

PROBABILITIES = st.dictionaries(st.sampled_from("abcdef"), st.floats(-20, 0), min_size=1)


def probability(answer: Answer) -> float:
    assert answer.log_probability is not None
    return math.exp(answer.log_probability)


@given(st.lists(PROBABILITIES, min_size=1, max_size=6), st.data())
def test_ranked_is_votes_then_mean_probability(lists: list[dict[str, float]], data: st.DataObject) -> None:
    forms = [data.draw(st.sampled_from(sorted(own))) for own in lists]
    first = data.draw(st.sampled_from(forms))
    found = ranked(first, forms, lists, seen=True)
    assert next(iter(found)) == first
    assert set(found) == {form for own in lists for form in own}
    votes = Counter(forms)
    for form, one in found.items():
        mean = sum(math.exp(own[form]) for own in lists if form in own) / len(lists)
        assert math.exp(one.log_mean) == pytest.approx(mean)
        assert one.log_best == max(own[form] for own in lists if form in own)
        assert (one.votes, one.voters) == (votes[form], len(lists))
    others = [(-one.votes, -one.log_mean) for one in found.values()][1:]
    assert others == sorted(others)


def test_probabilities_too_small_for_a_number_still_have_a_logarithm() -> None:
    (one,) = ranked("a", ["a", "a"], [{"a": -2000.0}, {"a": -2000.0}], seen=True).values()
    assert one.log_mean == pytest.approx(-2000.0)


@pytest.mark.parametrize("strategy", ["vote", "ensemble-2", "average"])
def test_the_first_is_what_inflect_says(strategy: str) -> None:
    inflector = an_inflector().using(strategy)
    answers, lists = inflector.answers(ITEMS), inflector.nbest_many(ITEMS, 3)
    for answer, found in zip(answers, lists, strict=True):
        assert (found[0].form, found[0].votes, found[0].voters) == (answer.form, answer.votes, answer.voters)
        assert 1 <= len(found) <= 3
        assert len({one.form for one in found}) == len(found)
        # A search comes upon at least as much as the members said.
        assert probability(found[0]) >= probability(answer) - 1e-3
        assert sum(map(probability, found)) <= 1 + 1e-3
        assert all(one.confidence is None for one in found)
    assert inflector.nbest_many([], 3) == []


@pytest.mark.parametrize("confidences", [{}, {"vote": Confidence((0.5, 0.3, 0.3, 0.2, 0.3), 100)}])
def test_asking_for_more_only_adds_and_together_is_one_by_one(confidences: dict[str, Confidence]) -> None:
    inflector = replace(an_inflector(), confidences=confidences)
    long = inflector.nbest_many(ITEMS, WIDTH)
    assert max(map(len, long)) == WIDTH
    for n in (1, 2):
        assert inflector.nbest_many(ITEMS, n) == [found[:n] for found in long]
    for item, found in zip(ITEMS, long, strict=True):
        [alone] = inflector.nbest_many([item], WIDTH)
        assert [one.form for one in alone] == [one.form for one in found]
        assert [one.log_probability for one in alone] == pytest.approx([one.log_probability for one in found], abs=1e-3)
    assert len(inflector.nbest("gehen", "V", 12)) > WIDTH


def test_forms_that_repeat_endlessly_become_the_lemma() -> None:
    member = a_member()
    for array in member.parameters.values():
        array[:] = 0
    write = SYSTEMS["haem"].choices(member.inventory).numbers(["e"])[0]
    member.parameters["output.bias"][0] = 50.0  # COPY, then e or STOP by the toss of a coin
    member.parameters["output.bias"][[2, write]] = 20.0
    inflector = Inflector((member,), {})
    found = inflector.nbest("gh", "V", 10)
    assert len(found) == 4
    assert {one.form for one in found} == {"gh", "ghe", "ghee", "gheee"}
    probabilities = {one.form: probability(one) for one in found}
    assert probabilities["ghe"] == pytest.approx(0.25, rel=1e-3)
    # Six of the ten sequences that were found write four or more.
    assert probabilities["gh"] == pytest.approx(0.5 + sum(0.5 ** (n + 1) for n in range(4, 10)), rel=1e-3)
    assert sum(probabilities.values()) <= 1


def test_a_trace_is_of_the_best_voter_who_gives_the_form() -> None:
    inflector = an_inflector()
    items = [item for item in ITEMS if item.lemma]
    forms = inflector.member_forms(items)
    for place, item in enumerate(items):
        voted = inflector.inflect(item.lemma, item.features.spelling)
        trace = inflector.trace(item.lemma, item.features.spelling)
        assert trace.form == voted
        givers = [member.name for member, own in zip(inflector.members, forms, strict=True) if own[place] == voted]
        assert trace.member == givers[0]
        for member, own in zip(inflector.members, forms, strict=True):
            named = inflector.trace(item.lemma, item.features.spelling, member.name)
            assert (named.member, named.system, named.form) == (member.name, member.system, own[place])
            assert (named.lemma, named.features) == (item.lemma, item.features.spelling)


def test_numbers_and_members_that_there_are_not() -> None:
    for n in (0, -1):
        with pytest.raises(InputError, match="one form or more"):
            an_inflector().nbest("a", "V", n)
    with pytest.raises(InputError, match="did you mean haem-naive-"):
        an_inflector().trace("gehen", "V", "haem-naive")
