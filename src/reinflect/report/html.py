"""Pieces of a page. Whatever is not `Html` yet is escaped, so that no word of anybody's language becomes a tag."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from reinflect.errors import escaped
from reinflect.text import NOTHING, Side

_NEVER = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that no page may hold."""
_EMPTY = frozenset({"meta", "br"})

Value = str | int | float | None


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape_text(text: str) -> Html:
    return text if isinstance(text, Html) else Html(escape(_NEVER.sub(lambda found: escaped(found[0]), text)))


def element(tag: str, *children: str, **attributes: Value) -> Html:
    """`<tag>…</tag>`. An attribute's `_` is a `-`, but for one at its end (`class_`); None leaves it out."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape_text(_plain(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in _EMPTY:
        return Html(f"<{tag}{given}>")
    return Html(f"<{tag}{given}>{joined(children)}</{tag}>")


def joined(parts: Iterable[str]) -> Html:
    return Html("".join(map(escape_text, parts)))


def word(text: str) -> Html:
    """Somebody's word among our own: in its own direction, with all its blanks."""
    return element("bdi", text, class_="word") if text else element("span", NOTHING, class_="nothing")


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], sides: Sequence[Side], class_: str | None = None
) -> Html:
    """Numbers go to the right. A table that is too wide for its page scrolls by itself."""
    places = ["number" if side == "right" else None for side in sides]
    head = joined(element("th", cell, class_=place) for cell, place in zip(header, places, strict=True))
    body = joined(
        element("tr", *(element("td", cell, class_=place) for cell, place in zip(row, places, strict=True)))
        for row in rows
    )
    made = element("table", element("thead", element("tr", head)), element("tbody", body), class_=class_)
    return element("div", made, class_="scroll")


def paragraph(*parts: str, class_: str | None = None) -> Html:
    return element("p", *parts, class_=class_)


def _plain(value: str | int | float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
