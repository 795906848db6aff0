import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.corrections import corrected, question
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.errors import InputError


def items_of(text: str) -> list[Item]:
    """`gehen V;PST gehte, …`"""
    rows = [row.split() for row in text.split(",")]
    return [
        Item(row[0], Bundle(row[1]), row[2] if len(row) > 2 else "", line) for line, row in enumerate(rows, start=1)
    ]


def fields_of(items: list[Item] | tuple[Item, ...]) -> list[tuple[str, str, str]]:
    return [(item.lemma, item.features.spelling, item.form) for item in items]


def test_a_correction_replaces_what_it_corrects() -> None:
    items = items_of("gehen V;PST gehte, sehen V;PST sah, gehen V;PST gong, gehen V;PRS gehe")
    made = corrected(items, items_of("gehen PST;V ging, sehen V;PST sah, stehen V;PST stand, stehen V;PRS"), "x.tsv")
    assert fields_of(made.items) == fields_of(
        items_of("gehen V;PST ging, sehen V;PST sah, gehen V;PRS gehe, stehen V;PST stand")
    )
    assert (made.replaced, made.added, made.same, made.covered) == (1, 1, 1, 1)
    assert made.note("x.tsv") == ("note: x.tsv: 1 item corrected, 1 added, 1 already correct, 1 ignored (no form)")


def test_of_two_forms_in_training_the_corrected_one_stays() -> None:
    made = corrected(items_of("a V b, a V c"), items_of("a V c"), "x")
    assert fields_of(made.items) == [("a", "V", "c")]
    assert (made.replaced, made.same) == (1, 0)


def test_corrections_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        corrected(items_of("a V b"), items_of("a V;PST c, a PST;V c, a PST;V d"), "x.tsv")
    assert str(caught.value).startswith("x.tsv, line 3: found 'd' for 'a' 'PST;V', but 'c' before (line 1); correct")


def test_corrections_without_any_form_change_nothing() -> None:
    items = items_of("a V b, c V d")
    made = corrected(items, items_of("a V, e V"), "x.tsv")
    assert list(made.items) == items
    assert made.note("x.tsv") == "note: x.tsv has no forms yet; nothing added"


def test_corrections_that_change_nothing_are_counted() -> None:
    note = corrected(items_of("a V b, c V d"), items_of("a V b, c V d"), "x.tsv").note("x.tsv")
    assert note == "note: x.tsv: 0 items corrected, 0 added, 2 already correct"


words = st.sampled_from("abc")
some = st.lists(st.builds(Item, words, st.sampled_from([Bundle("V;1"), Bundle("1;V"), Bundle("N")]), words), max_size=8)


@given(some, some)
def test_afterwards_every_question_has_the_corrected_answer_and_others_are_as_before(
    items: list[Item], corrections: list[Item]
) -> None:
    answers = {question(item): item.form for item in corrections}
    agreeing = [item for item in corrections if answers[question(item)] == item.form]
    made = corrected(items, agreeing, "x").items
    assert {question(item) for item in made} == {question(item) for item in (*items, *agreeing)}
    for asked, form in answers.items():
        assert [item.form for item in made if question(item) == asked] == [form]
    untouched = [item for item in items if question(item) not in answers]
    assert [item for item in made if question(item) not in answers] == untouched
