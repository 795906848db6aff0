"""A page of HTML and its parts. All text that is not `Html` yet is escaped: no word of the data becomes a tag."""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from importlib.resources import files
from typing import NamedTuple

from reinflect import __version__
from reinflect.errors import escaped
from reinflect.text import NOTHING

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The browser loads nothing and runs nothing, whatever words the page contains."""
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that HTML does not allow."""
_EMPTY = frozenset({"meta", "br"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def style_sheets() -> list[str]:
    """The colours, and the rules that use them."""
    folder = files("reinflect").joinpath("report")
    return [folder.joinpath(name).read_text(encoding="utf-8") for name in ("palette.css", "style.css")]


def escape_text(text: str) -> Html:
    return text if isinstance(text, Html) else Html(escape(_FORBIDDEN.sub(lambda match: escaped(match[0]), text)))


def element(tag: str, *children: str, **attributes: str | float | None) -> Html:
    """`<tag>…</tag>`. In names of attributes `_` stands for `-`, except at the end (`class_`); None omits one."""
    start = tag
    for name, value in attributes.items():
        if value is not None:
            text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
            start += f' {name.rstrip("_").replace("_", "-")}="{escape_text(text)}"'
    return Html(f"<{start}>" if tag in _EMPTY else f"<{start}>{joined(children)}</{tag}>")


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
    """A whole HTML file, which needs no other; `facts` are the names and values of the main figures."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Html("".join(style_sheets()))),
    )
    anchors = {title: "-".join(re.findall(r"\w+", title.lower())) for title, _ in sections}
    links = (element("li", element("a", title, href=f"#{anchor}")) for title, anchor in anchors.items())
    contents = element("nav", element("ul", *links), aria_label="contents")
    figures = (element("div", element("dt", name), element("dd", value)) for name, value in facts)
    top = element("header", element("h1", title), element("p", lead), element("dl", *figures, class_="facts"), contents)
    main = (element("section", element("h2", title), *parts, id=anchors[title]) for title, parts in sections)
    body = element("body", top, element("main", *main), element("footer", f"Made by reinflect {__version__}."))
    whole = element("html", head, "\n", body, lang="en")
    return f"<!doctype html>\n{whole}\n"
