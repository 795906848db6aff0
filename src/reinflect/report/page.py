"""The whole page: one HTML file that needs no other file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from reinflect import __version__
from reinflect.report.drawing import STYLES
from reinflect.report.html import Html, element

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The browser loads nothing and runs nothing, whatever words the page contains."""


@dataclass(frozen=True)
class Section:
    """A part of the page, with an entry in the table of contents."""

    title: str
    parts: Sequence[str]

    @property
    def anchor(self) -> str:
        return "-".join(re.findall(r"\w+", self.title.lower()))


def page(title: str, lead: str, facts: Sequence[tuple[str, str]], sections: Sequence[Section]) -> str:
    """A whole HTML file. `facts` are the names and values of the main figures."""
    styles = [files("reinflect").joinpath("report", name).read_text(encoding="utf-8") for name in STYLES]
    head = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Html("".join(styles))),
    ]
    links = (element("li", element("a", one.title, href=f"#{one.anchor}")) for one in sections)
    contents = element("nav", element("ul", *links), aria_label="contents")
    figures = (element("div", element("dt", name), element("dd", value)) for name, value in facts)
    body = [
        element("header", element("h1", title), element("p", lead), element("dl", *figures, class_="facts"), contents),
        element("main", *(element("section", element("h2", one.title), *one.parts, id=one.anchor) for one in sections)),
        element("footer", f"Made by reinflect {__version__}."),
    ]
    whole = element("html", element("head", *head), "\n", element("body", *body), lang="en")
    return f"<!doctype html>\n{whole}\n"
