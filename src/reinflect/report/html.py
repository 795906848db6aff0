"""Parts of an HTML page. All text that is not `Html` yet is escaped, so that no word of the data becomes a tag."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from reinflect.errors import escaped
from reinflect.text import NOTHING

_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that HTML does not allow."""
_EMPTY = frozenset({"meta", "br"})

Value = str | int | float | None


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape_text(text: str) -> Html:
    return text if isinstance(text, Html) else Html(escape(_FORBIDDEN.sub(lambda found: escaped(found[0]), text)))


def element(tag: str, *children: str, **attributes: Value) -> Html:
    """`<tag>…</tag>`. In names of attributes `_` stands for `-`, except at the end (`class_`); None omits one."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape_text(_text(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Html(f"<{tag}{given}>" if tag in _EMPTY else f"<{tag}{given}>{joined(children)}</{tag}>")


def joined(parts: Iterable[str]) -> Html:
    return Html("".join(map(escape_text, parts)))


def word(text: str) -> Html:
    """A word of the data: in its own direction, with all its blanks."""
    return element("bdi", text, class_="word") if text else element("span", NOTHING, class_="nothing")


def table(rows: Sequence[Sequence[str]], words: int, class_: str | None = None) -> Html:
    """Rows, the header first; the first `words` columns are text, the others numbers. A wide table scrolls."""

    def line(tag: str, row: Sequence[str]) -> Html:
        fields = enumerate(row)
        return element("tr", *(element(tag, text, class_="number" if n >= words else None) for n, text in fields))

    body = element("tbody", *(line("td", row) for row in rows[1:]))
    made = element("table", element("thead", line("th", rows[0])), body, class_=class_)
    return element("div", made, class_="scroll")


def paragraph(*parts: str, class_: str | None = None) -> Html:
    return element("p", *parts, class_=class_)


def folded(summary: str, *parts: str, class_: str | None = None) -> Html:
    """Parts that are shown when the reader opens them."""
    return element("details", element("summary", summary), *parts, class_=class_)


def _text(value: str | int | float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
