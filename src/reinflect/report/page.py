"""The page around it all: one file that needs no other."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from reinflect import __version__
from reinflect.report.html import Html, element

LOCKED = "default-src 'none'; style-src 'unsafe-inline'"
"""Nothing is fetched and nothing runs, whatever the words in it are."""


@dataclass(frozen=True)
class Section:
    """A part of the page, with its place in the list of contents."""

    title: str
    parts: Sequence[str]

    @property
    def anchor(self) -> str:
        return "-".join(re.findall(r"\w+", self.title.lower()))


def page(title: str, lead: str, facts: Sequence[tuple[str, str]], sections: Sequence[Section]) -> str:
    """A whole HTML file. `facts` are the few figures to be seen first: what they are, and the figure."""
    style = files("reinflect").joinpath("report", "style.css").read_text(encoding="utf-8")
    head = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=LOCKED),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Html(style)),
    ]
    contents = element("ul", *(element("li", element("a", one.title, href=f"#{one.anchor}")) for one in sections))
    figures = element(
        "dl", *(element("div", element("dt", name), element("dd", figure)) for name, figure in facts), class_="facts"
    )
    body = [
        element(
            "header", element("h1", title), element("p", lead), figures, element("nav", contents, aria_label="contents")
        ),
        element("main", *(element("section", element("h2", one.title), *one.parts, id=one.anchor) for one in sections)),
        element("footer", f"Made by reinflect {__version__}."),
    ]
    whole = element("html", element("head", *head), "\n", element("body", *body), lang="en")
    return f"<!doctype html>\n{whole}\n"
