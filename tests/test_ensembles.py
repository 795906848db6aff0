"""The vote."""

from hypothesis import given
from hypothesis import strategies as st

from reinflect.ensembles import vote, vote_all


def test_ties_go_to_the_best_member_among_the_tied() -> None:
    assert vote(["a", "b", "b"]) == "b"
    assert vote(["a", "b"]) == "a"
    assert vote(["c", "a", "b", "b", "a"]) == "a"  # c is the best member's, but a and b have more votes
    assert vote(["", "a"]) == ""


@given(st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=9))
def test_the_vote_of_anyone(forms: list[str]) -> None:
    most = max(forms.count(form) for form in forms)
    assert vote(forms) == next(form for form in forms if forms.count(form) == most)


def test_votes_are_taken_item_by_item() -> None:
    assert vote_all([["a", "x"], ["b", "y"], ["b", "x"]]) == ["b", "x"]
    assert vote_all([[], []]) == []
