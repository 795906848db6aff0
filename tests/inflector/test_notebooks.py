"""What notebooks and scripts see: short descriptions, tables, rows in and out."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from reinflect.data.features import Bundle, Labels
from reinflect.data.items import Item, as_items
from reinflect.ensemble.confidence import Answer
from reinflect.errors import InputError
from reinflect.inflector.inflector import Cell, Inflector, Paradigm
from tests.inflector.test_inflector import copying

pytestmark = pytest.mark.filterwarnings("ignore::reinflect.errors.UnseenWarning")
ITEMS = [Item("gen", Bundle("V;SG"), "gen"), Item("gen", Bundle("V;PL"), "gan")]


@pytest.fixture(scope="module")
def inflector() -> Inflector:
    return copying(ITEMS, Labels((("we <now>", "V;PL"),)), accuracy=61.25)


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
    assert repr(inflector) == "<Inflector from x.tsv: 2 forms, 1 of 1 members vote (vote), 61.2 % right>"
    assert len(repr(inflector.members[0])) < 2000, "without its parameters"
    bare = Inflector(inflector.members, {}, "vote", inflector.choices)
    assert repr(bare) == "<Inflector: 1 of 1 members vote (vote)>"


def test_a_paradigm_is_a_list_that_notebooks_show_as_tables(inflector: Inflector) -> None:
    paradigm = inflector.paradigm("gen")
    assert isinstance(paradigm, list)
    assert [cell.features for cell in paradigm] == ["V;SG", "V;PL"]
    shown = paradigm._repr_html_()
    assert shown.startswith("<p><b>gen</b></p><table>")
    assert shown.count("<td>gen</td>") == 2
    assert "we &lt;now&gt;" in shown
    answer = Answer("<i>x</i>", 0.254, 1, 1, None)
    assert "<td>&lt;i&gt;x&lt;/i&gt; <small>25 %</small></td>" in Paradigm("a&b", [Cell("V;SG", answer)])._repr_html_()


def test_rows_are_completed_and_keep_what_else_they_have(inflector: Inflector) -> None:
    rows: list[dict[str, Any]] = [
        {"lemma": "gen", "features": "V;SG", "page": 7},
        {"lemma": "neg", "features": "we <now>"},
    ]
    made = inflector.inflect_rows(rows)
    assert made == [
        {"lemma": "gen", "features": "V;SG", "page": 7, "form": "gen", "confidence": None},
        {"lemma": "neg", "features": "we <now>", "form": "neg", "confidence": None},
    ]
    frame = inflector.inflect_rows(Frame(rows))
    assert isinstance(frame, Frame)
    assert frame.rows == made
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
    with pytest.raises(InputError) as error:
        as_items(rows)
    assert message in str(error.value)


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every code cell of docs/notebook.ipynb, in order; the last line of a cell is what a notebook would show."""
    book = json.loads((Path(__file__).parents[2] / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    assert len(cells) == len({cell["id"] for cell in book["cells"] if cell["cell_type"] == "code"}) >= 5
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    shown = []
    for cell in cells:
        *before, last = ast.parse(cell).body
        exec(compile(ast.Module(before, []), "notebook", "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), "notebook", "eval"), names))
        else:
            exec(compile(ast.Module([last], []), "notebook", "exec"), names)
    assert "zeigtest" in shown
    assert any(hasattr(own, "_repr_html_") for own in shown)
