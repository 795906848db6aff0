"""Labels, unknown features, new combinations and empty lemmas: the same in Python, commands, page and report."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.data.features import Bundle, Labels
from reinflect.data.items import Item
from reinflect.ensemble.confidence import USUAL, Confidence
from reinflect.errors import InputError, UnseenWarning
from reinflect.inflector.inflector import Inflector
from reinflect.report.model import model_page
from tests.inflector.test_inflector import copying

Reinflect = Callable[..., Result]
ITEMS = [Item("gen", Bundle(features), "gen") for features in ("V;PST;SG", "V;PST;PL", "V;PRS;SG", "N;SG", "SG;N")]
LABELS = Labels((("past", "V;PST;SG"), ("Plural", "PL"), ("ev", "N;SG")))
COMBINATION = "no training form has the combination 'N;Plural'; nearest: ev, V;PST;Plural"


@pytest.fixture(scope="module")
def inflector() -> Inflector:
    return copying(ITEMS, LABELS)


@pytest.fixture
def model(inflector: Inflector, tmp_path: Path) -> Path:
    inflector.save(tmp_path / "copies.reinflect")
    return tmp_path / "copies.reinflect"


def test_labels_are_understood_in_any_case_but_features_are_left_alone() -> None:
    assert LABELS.spelled("PAST") == "past"
    assert LABELS.spelled("N;plural") == "N;Plural"
    assert LABELS.spelled("EV", {"EV"}) == "EV", "a feature of the model"
    both = Labels((("past", "PST"), ("Past", "PRS")))
    assert [both.spelled(text) for text in ("past", "Past", "PAST")] == ["past", "Past", "past"]


def test_python_understands_labels_everywhere(inflector: Inflector) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert inflector.features_of("Past") == "V;PST;SG"
        assert inflector.inflect("gen", "Past") == "gen"
        assert inflector.nbest("gen", "past", 1)[0].form == "gen"
        assert inflector.paradigm("gen", ["past"])[0].features == "V;PST;SG"
        assert inflector.trace("gen", "PAST").features == "V;PST;SG"
        assert inflector.inflect_rows([{"lemma": "gen", "features": "Ev"}])[0]["form"] == "gen"


def test_python_warns_of_what_the_model_has_not_seen(inflector: Inflector) -> None:
    with pytest.warns(UnseenWarning, match=r"^the model has never seen the feature 'PSST'; did you mean PST"):
        inflector.inflect("gen", "V;PSST")
    with pytest.warns(UnseenWarning, match=f"^{COMBINATION}$"):
        inflector.trace("gen", "N;PL")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inflector.paradigm("gen")
        inflector.inflect("gen", "SG;PST;V")
        inflector.answers([Item("gen", Bundle("X"))])  # from a file, which commands have notes for
        replace(inflector, training=None).inflect("gen", "N;PL")  # it does not know what it was trained on


@pytest.mark.parametrize("ask", ["inflect", "nbest", "trace", "paradigm", "inflect_rows"])
def test_an_empty_lemma_is_an_error(ask: str, inflector: Inflector) -> None:
    asked = {"paradigm": ("", ["past"]), "inflect_rows": ([{"lemma": "", "features": "past"}],)}
    with pytest.raises(InputError, match=r"found an empty lemma|found no lemma"):
        getattr(inflector, ask)(*asked.get(ask, ("", "past")))


def test_many_combinations_are_not_all_named(inflector: Inflector) -> None:
    known = ["N", "PL", "PRS", "PST", "V"]
    said = inflector.doubts(Bundle(f"{one};{other}") for one in known for other in known if one < other)
    assert len(said) == 6
    assert said[-1] == "5 more combinations are in no training form"


def test_a_report_names_them(inflector: Inflector, model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    dev = tmp_path / "dev.tsv"
    dev.write_text("gen\tgen\tN;PL\ngen\tgin\tV;PSST\ngen\tgen\tpast\n", encoding="utf-8")
    result = reinflect("report", model, "--dev", dev, "--out", tmp_path / "report.html")
    assert f"note: {COMBINATION}" in result.stderr
    assert "the feature 'PSST'" in result.stderr
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Not seen in training" in page
    assert ">past<" in page, "labels of the model"
    assert "Not seen in training" not in model_page("x", inflector, [], ITEMS)


def test_the_voted_form_has_the_highest_confidence(inflector: Inflector) -> None:
    for weight in (-9.0, -3.0, 0.0):
        fitted = replace(inflector, confidences={"vote": Confidence((weight, *USUAL[1:]), 30)})
        first, *others = fitted.nbest("gen", "past", 5)
        assert first == fitted.answers([("gen", "past")])[0]
        assert first.confidence is not None
        assert others
        assert all(own.confidence is not None and own.confidence <= first.confidence for own in others)
