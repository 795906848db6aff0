"""Charts show their data, within their frame; text is escaped, so that no data becomes a tag."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.ensemble.confidence import Bin
from reinflect.report.drawing import HEIGHT, WIDTH, Axis, Curve, bar, dot_chart, key, line_chart, reliability, svg_file
from reinflect.report.html import Html, element, escape_text, joined, table, word
from tests.report.pages import Page

POSITIVE = st.floats(1e-6, 1e6)


@given(st.tuples(POSITIVE, POSITIVE).filter(lambda ends: ends[1] > 1.01 * ends[0]), st.booleans())
def test_ticks_are_few_round_numbers_within_the_axis(ends: tuple[float, float], logarithmic: bool) -> None:
    axis = Axis(*ends, 0, 100, logarithmic)
    assert len(axis.ticks) <= 13
    for tick in axis.ticks:
        assert -0.01 <= axis(tick) <= 100.01
        if logarithmic:
            digits = tick / 10 ** math.floor(math.log10(tick) + 1e-9)
            assert digits == pytest.approx(round(digits), abs=1e-6)


def test_ticks_of_per_cents() -> None:
    assert Axis(0, 100, 0, 1).ticks == [0, 20, 40, 60, 80, 100]
    assert Axis(0.01, 100, 0, 1, logarithmic=True).ticks == pytest.approx([0.01, 0.1, 1, 10, 100])
    assert Axis(3, 30, 0, 1, logarithmic=True).ticks == pytest.approx([5, 10, 20])


@given(st.lists(st.lists(st.tuples(st.integers(0, 60), st.floats(0, 90)), max_size=8), max_size=4), st.booleans())
def test_curves_stay_within_the_chart(curves: list[list[tuple[float, float]]], logarithmic: bool) -> None:
    chart = line_chart("it", [Curve("a", points) for points in curves], ("x", "y"), logarithmic=logarithmic)
    lines = Page(chart).elements("polyline")
    for line, points in zip(lines, curves, strict=True):
        places = [tuple(map(float, pair.split(","))) for pair in (line["points"] or "").split()]
        assert len(places) == sum(not logarithmic or y > 0 for _, y in points)
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)


def test_a_reliability_diagram_has_a_dot_and_a_bar_for_each_bin() -> None:
    page = Page(reliability("sure", [Bin(5, 0.15, 0.2), Bin(20, 0.95, 0.9)]))
    assert len(page.elements("circle")) == 2
    heights = [float(rect["height"] or 0) for rect in page.elements("rect")]
    assert heights[1] == pytest.approx(4 * heights[0], abs=0.02)
    assert "20 forms: confidence 95 %, accuracy 90 %" in page.text
    Page(reliability("nothing", []))


def test_dots_are_on_the_line_of_their_name() -> None:
    dots = {"ours": ("ours", {"B": 80.0, "A": 40.0}), "theirs": ("published", {"A": 60.0}), "no": ("next", {})}
    chart = dot_chart("all", [("at low", ["A", "B"], dots), ("at high", [], {})], "per cent")
    page = Page(chart)
    places = {(dot["class"], float(dot["cy"] or 0)): float(dot["cx"] or 0) for dot in page.elements("circle")}
    rows = sorted({row for _, row in places})[-2:]  # below the legend
    assert places["dot ours", rows[0]] < places["dot published", rows[0]] < places["dot ours", rows[1]]
    assert {"A, theirs: 60.0", "ours, mean 60.0", "at high"} <= set(page.words)
    file = svg_file(chart)
    assert file.startswith("<svg ")
    assert 'xmlns="http://www.w3.org/2000/svg"' in file
    assert ".dot.published" in file


def test_keys_and_bars() -> None:
    page = Page(key([Curve("HACM <naive>", (), "naive", "#123456")]))
    assert page.text == "HACM <naive>"
    assert page.elements("line", "naive")[0]["style"] == "--colour:#123456"
    assert "41%" in bar(41.2)


ANYTHING = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "Cf"]), max_size=20)


@given(ANYTHING)
def test_text_survives_escaping(text: str) -> None:
    page = Page(element("p", text, title=text))
    assert page.found == [("p", {"title": text})]
    assert page.text == text


@given(st.text(max_size=20))
def test_forbidden_characters_are_escaped(text: str) -> None:
    content = escape_text(text)
    content.encode("utf-8")
    assert "<" not in content
    assert not any(character < " " and character not in "\t\n" for character in content)


def test_html_is_not_escaped_twice_and_attributes_have_the_names_of_html() -> None:
    inner = element("b", "<")
    assert element("p", inner, " & ") == "<p><b>&lt;</b> &amp; </p>"
    assert joined([inner, "<"]) == "<b>&lt;</b>&lt;"
    assert isinstance(joined([]), Html)
    assert element("a", class_="x", stroke_width=1.5, r=2.0, id=None) == '<a class="x" stroke-width="1.5" r="2"></a>'


def test_a_word_keeps_its_direction_and_an_empty_word_is_visible() -> None:
    assert word("شم <") == '<bdi class="word">شم &lt;</bdi>'
    assert word("") == '<span class="nothing">∅</span>'


def test_numbers_are_set_to_the_right() -> None:
    page = Page(table([["what", "n"], ["a<b", "1"], ["c", "22"]], words=1))
    assert page.text == "whatna<b1c22"
    assert len(page.elements("td", "number")) == 2
    assert len(page.elements("th", "number")) == 1
