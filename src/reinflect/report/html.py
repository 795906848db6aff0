"""A page of HTML and its parts. All text that is not `Html` yet is escaped: no word of the data becomes a tag."""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from importlib.resources import files
from string import Template
from typing import NamedTuple

from reinflect import __version__
from reinflect.errors import escaped
from reinflect.text import NOTHING

STYLES = ("palette.css", "style.css")
"""The colours, and the rules that use them."""
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that HTML does not allow."""


class Html(str):
    """Text that is HTML already."""


def resource(name: str) -> str:
    return files("reinflect").joinpath("report", name).read_text(encoding="utf-8")


def escape_text(text: str) -> Html:
    return text if isinstance(text, Html) else Html(escape(_FORBIDDEN.sub(lambda match: escaped(match[0]), text)))


def element(tag: str, *children: str, **attributes: str | float | None) -> Html:
    """`<tag>…</tag>`. In names of attributes `_` stands for `-`, except at the end (`class_`); None omits one."""
    start = tag
    for name, value in attributes.items():
        if value is not None:
            text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
            start += f' {name.rstrip("_").replace("_", "-")}="{escape_text(text)}"'
    return Html(f"<{start}>{joined(children)}</{tag}>")


def joined(parts: Iterable[str]) -> Html:
    return Html("".join(map(escape_text, parts)))


def word(text: str) -> Html:
    """A word of the data: in its own direction, with all its blanks."""
    return element("bdi", text, class_="word") if text else element("span", NOTHING, class_="nothing")


def table(rows: Sequence[Sequence[str]], words: int, class_: str | None = None) -> Html:
    """Rows, the header first; the first `words` columns are text, the others numbers. A wide table scrolls."""
    header, *lines = (
        element("tr", *(element(tag, text, class_="number" if n >= words else None) for n, text in enumerate(row)))
        for tag, row in zip(["th"] + ["td"] * (len(rows) - 1), rows, strict=True)
    )
    whole = element("table", element("thead", header), element("tbody", *lines), class_=class_)
    return element("div", whole, class_="scroll")


paragraph = partial(element, "p")


def folded(summary: str, *parts: str, class_: str | None = None) -> Html:
    """Parts that are shown when the reader opens them."""
    return element("details", element("summary", summary), *parts, class_=class_)


class Section(NamedTuple):
    """A part of the page, with an entry in the table of contents."""

    title: str
    parts: Sequence[str]


def page(title: str, lead: str, facts: Sequence[tuple[str, str]], sections: Sequence[Section]) -> str:
    """A whole HTML file, which needs no other; `facts` are the names and values of the main figures.

    Its policy lets the browser load nothing and run nothing, whatever words the page contains.
    """
    anchors = {name: "-".join(re.findall(r"\w+", name.lower())) for name, _ in sections}
    return Template(resource("page.html")).substitute(
        title=escape_text(title),
        style="".join(map(resource, STYLES)),
        lead=escape_text(lead),
        facts=joined(element("div", element("dt", name), element("dd", value)) for name, value in facts),
        contents=joined(element("li", element("a", name, href=f"#{anchor}")) for name, anchor in anchors.items()),
        sections=joined(element("section", element("h2", n), *parts, id=anchors[n]) for n, parts in sections),
        version=__version__,
    )
