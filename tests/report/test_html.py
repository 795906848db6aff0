"""Text is escaped: no data becomes a tag."""

from hypothesis import given
from hypothesis import strategies as st

from reinflect.report.html import Html, element, escape_text, joined, table, word
from tests.report.pages import Page

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


def test_html_is_not_escaped_twice() -> None:
    inner = element("b", "<")
    assert element("p", inner, " & ") == "<p><b>&lt;</b> &amp; </p>"
    assert joined([inner, "<"]) == "<b>&lt;</b>&lt;"
    assert isinstance(joined([]), Html)


def test_attributes() -> None:
    assert element("a", class_="x", stroke_width=1.5, r=2.0, id=None) == '<a class="x" stroke-width="1.5" r="2"></a>'


def test_a_word_keeps_its_direction_and_an_empty_word_is_visible() -> None:
    assert word("شم <") == '<bdi class="word">شم &lt;</bdi>'
    assert word("") == '<span class="nothing">∅</span>'


def test_numbers_are_set_to_the_right() -> None:
    page = Page(table([["what", "n"], ["a<b", "1"], ["c", "22"]], words=1))
    assert page.text == "whatna<b1c22"
    assert len(page.elements("td", "number")) == 2
    assert len(page.elements("th", "number")) == 1
