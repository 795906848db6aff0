"""What scripts and notebooks see: rows, tables, labels, and warnings of what the model has not seen; and reports."""

import ast
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from reinflect.data.features import Bundle, Labels
from reinflect.data.items import Item, as_items
from reinflect.ensemble.confidence import USUAL, Answer, Confidence
from reinflect.errors import InputError, UnseenWarning
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.paradigm import Cell, Paradigm
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


class Frame:
    """As much of a pandas frame as is used."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        assert orient == "records"
        return self.rows

    def assign(self, **columns: list[Any]) -> "Frame":
        return Frame([row | {name: own[k] for name, own in columns.items()} for k, row in enumerate(self.rows)])


def test_a_description_is_one_short_line(inflector: Inflector) -> None:
    assert repr(inflector) == "<Inflector from x.tsv: 5 forms, 1 of 1 members vote (vote), 60.0 % right>"
    assert len(repr(inflector.members[0])) < 2000, "without its parameters"
    bare = Inflector(inflector.members, {}, "vote", inflector.choices)
    assert repr(bare) == "<Inflector: 1 of 1 members vote (vote)>"


def test_a_paradigm_is_a_list_that_notebooks_show_as_tables(inflector: Inflector) -> None:
    labelled = replace(inflector, labels=Labels((("we <now>", "V;PST;PL"),)))
    paradigm = labelled.paradigm("gen", ["V;PST;SG", "V;PST;PL"])
    assert isinstance(paradigm, list)
    assert [cell.features for cell in paradigm] == ["V;PST;SG", "V;PST;PL"]
    shown = paradigm._repr_html_()
    assert shown.startswith("<p><b>gen</b></p><table>")
    assert shown.count("<td>gen</td>") == 2
    assert "we &lt;now&gt;" in shown
    answer = Answer("<i>x</i>", 0.254, 1, 1, None)
    assert "<td>&lt;i&gt;x&lt;/i&gt; <small>25 %</small></td>" in Paradigm("a&b", [Cell("V;SG", answer)])._repr_html_()


def test_rows_are_completed_and_keep_what_else_they_have(inflector: Inflector) -> None:
    rows: list[dict[str, Any]] = [{"lemma": "gen", "features": "V;PST;SG", "n": 7}]
    rows.append({"lemma": "neg", "features": "past"})
    completed = inflector.inflect_rows(rows)
    assert completed == [row | {"form": row["lemma"], "confidence": None} for row in rows]
    assert [*completed[0]] == ["lemma", "features", "n", "form", "confidence"]
    frame = inflector.inflect_rows(Frame(rows))
    assert isinstance(frame, Frame)
    assert frame.rows == completed
    assert inflector.inflect_rows([]) == []


def test_items_come_from_rows_frames_and_items() -> None:
    rows = [{"lemma": item.lemma, "features": item.features.spelling, "form": item.form, "n": 1} for item in ITEMS]
    assert as_items(rows) == as_items(Frame(rows)) == as_items(ITEMS) == as_items(tuple(ITEMS)) == ITEMS


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"lemma": "a", "features": "V"}], "found no form in row 1; give every row lemma, features, form as text"),
        ([{"lemma": "a", "features": "V", "form": 3}], "found no form in row 1"),
        ([{"lemma": "", "features": "V", "form": "a"}], "found no lemma in row 1"),
        ([ITEMS[0], {"lemma": "a"}], "found Item in row 1; give dicts with lemma, features, form"),
        (["gen"], "found str in row 1"),
    ],
)
def test_rows_that_are_none(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        as_items(rows)


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every code cell of docs/notebook.ipynb, in order; the last line of a cell is what a notebook would show."""
    book = json.loads((Path(__file__).parents[2] / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    assert len(cells) == len({cell["id"] for cell in book["cells"] if cell["cell_type"] == "code"}) >= 5
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    results = []
    for cell in cells:
        *before, last = ast.parse(cell).body
        assert isinstance(last, ast.Expr)
        exec(compile(ast.Module(before, []), "notebook", "exec"), names)
        results.append(eval(compile(ast.Expression(last.value), "notebook", "eval"), names))
    assert "zeigtest" in results
    assert any(hasattr(result, "_repr_html_") for result in results)
