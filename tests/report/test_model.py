"""The page of a model, and its mistakes: lemma, right form and prediction, aligned."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from reinflect.align import align
from reinflect.data.features import Bundle, Labels
from reinflect.data.items import Item
from reinflect.ensemble.confidence import USUAL, Answer, Confidence
from reinflect.inflector.card import describe_training
from reinflect.inflector.inflector import Inflector
from reinflect.report.drawing import Epoch, ModelLog
from reinflect.report.model import aligned, alignment_table, columns_of, mistakes_list, model_page
from reinflect.score.scores import Judged
from tests.data.test_corrections import items_of
from tests.inflector.test_inflector import a_member
from tests.report.pages import Page

NOUNS = [Item("<b>", Bundle("N;PL"), "<b>s & co"), Item("שלום", Bundle("N;PL"), "שלומות")]
DEV = [*NOUNS, *items_of("sagen V;PST sagte, fragen V;PST fragte")]


class Answering(Inflector):
    """Gives fixed answers."""

    def answers(self, items, *, attested=False):  # type: ignore[no-untyped-def]  # noqa: ARG002
        forms = {"<b>": "<b>x", "שלום": "שלום", "sagen": "sagte", "fragen": "fragen"}
        sure = None if self.strategy not in self.confidences else 0.75
        return [Answer(forms[item.lemma], sure, 2, 2, -0.1) for item in items]


@pytest.fixture
def inflector() -> Inflector:
    members = (a_member("haem"), a_member("hacm"))
    training = describe_training(DEV[:2], None, source="<words>.tsv", accuracy=50.0, scored=2, interrupted=False)
    return Answering(members, {}, "vote", {}, {"vote": Confidence(USUAL, 40)}, training)


def test_a_page_with_dev_items(inflector: Inflector) -> None:
    text = model_page("my <model>", inflector, [], DEV)
    page = Page(text)
    assert "Report on my <model>" in page.text
    titles = ["by-part-of-speech", "by-features", "commonest-mistakes", "confidence", "not-seen-in-training", "models"]
    assert page.titles == titles
    assert "accuracy25.0 %" in page.text
    assert "2 forms of 2 lemmas (<words>.tsv)" in page.text
    assert "V50.01" in page.text  # one of two verbs, with a mean edit distance of 1
    assert "confidence 75 %, accuracy 25 %" in page.text
    assert "expected calibration error 0.500" in page.text
    assert page.elements("table", "letters")[1].get("dir") == "rtl"


def test_the_rule_baseline_is_beside_the_model(inflector: Inflector) -> None:
    """It learns from attested forms other than those tested: else it would know the answers."""
    others = items_of("legen V;PST legte, wagen V;PST wagte")
    page = Page(model_page("x", replace(inflector, attested=(*others, *DEV)), [], DEV))
    assert page.titles[0] == "beside-rules"
    assert "which learnt from 2 attested forms" in page.text
    assert "accuracy of rules50.0 %" in page.text  # the verbs are right, the nouns are not
    assert "beside-rules" not in Page(model_page("x", replace(inflector, attested=tuple(DEV)), [], DEV)).titles


def test_the_page_loads_and_runs_nothing(inflector: Inflector) -> None:
    page = Page(model_page("x", inflector, [], DEV))
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.found}
    assert all((link["href"] or "").startswith("#") for link in page.elements("a"))
    assert {(link["href"] or "")[1:] for link in page.elements("a")} == set(page.titles)
    assert "default-src 'none'" in (page.elements("meta")[1]["content"] or "")


def test_labels_replace_features_and_a_confidence_may_be_missing(inflector: Inflector) -> None:
    text = Page(model_page("x", replace(inflector, labels=Labels((("past", "V;PST"),))), [], DEV)).text
    assert "past" in text
    assert "V;PST" not in text
    assert "has no confidence" in Page(model_page("x", replace(inflector, confidences={}), [], DEV)).text


def test_a_page_without_dev_items_and_with_a_log(inflector: Inflector) -> None:
    epochs = [Epoch("hacm-naive-1", number, 5.0 / number, 10.0 * number, 10.0 * number) for number in (1, 2, 3)]
    page = Page(model_page("x", inflector, [ModelLog("hacm-naive-1", epochs)]))
    assert page.titles == ["models", "learning-curves"]
    assert "reinflect report MODEL --dev FILE" in page.text
    assert len(page.elements("polyline")) == 4  # the model and the mean of its kind, accuracy and loss


def test_the_page_says_which_forms_were_tested(inflector: Inflector) -> None:
    def of(**changes: str | None) -> str:
        assert inflector.training
        other = replace(inflector, training=changed(inflector.training, **changes))
        return Page(model_page("x", other, [], DEV[:2])).text

    digest = inflector.training.fingerprint if inflector.training else ""
    assert "The forms tested are the training items" in of()
    assert "may be a little lower" in of(fingerprint="other", dev_fingerprint=digest)
    assert "The forms tested" not in of(fingerprint="other", dev_fingerprint="another")


WORDS = st.text("abcde", max_size=8)


def judged(lemma: str, gold: str, predicted: str) -> Judged:
    return Judged(lemma, Bundle("V"), gold, predicted, int(gold != predicted), False)


@given(WORDS, WORDS, WORDS, st.sampled_from(["naive", "smart"]))
def test_each_row_spells_its_word(lemma: str, right: str, predicted: str, method: str) -> None:
    columns = columns_of(*align([(lemma, right), (lemma, predicted)], method))
    assert ["".join(column[number] for column in columns) for number in range(3)] == [lemma, right, predicted]
    assert all(any(column) for column in columns)


def test_equal_insertions_share_a_column() -> None:
    right = (("g", "g"), ("", "t"), ("", "e"), ("", "n"))
    predicted = (("g", "g"), ("", "e"), ("", "n"))
    assert columns_of(right, predicted) == [("g", "g", "g"), ("", "t", ""), ("", "e", "e"), ("", "n", "n")]


def test_differences_are_marked() -> None:
    (columns,) = aligned([judged("ab", "ab", "ab")] * 20, [judged("sagen", "sagte", "sage")])
    page = Page(alignment_table(columns))
    assert page.text.startswith("lemma")
    assert len(page.elements("td", "wrong")) == len(page.elements("td", "missed")) > 0
    assert aligned([], []) == []


@pytest.mark.parametrize(("cell", "direction"), [(("זז", "זוז", "זז"), "rtl"), (("ab", "b<", "&"), None)])
def test_right_to_left_words_have_right_to_left_columns(cell: tuple[str, str, str], direction: str | None) -> None:
    page = Page(mistakes_list([judged(*cell)] * 2, 5))
    assert page.elements("table")[0].get("dir") == direction
    assert "2 times" in page.text
    assert all(character in page.text for character in cell[2])


def test_without_mistakes_there_is_a_sentence() -> None:
    assert Page(mistakes_list([judged("ab", "ab", "ab")], 5)).text == "All forms are right."
