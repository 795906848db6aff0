"""A strict reader of HTML pages, for tests."""

from html.parser import HTMLParser

EMPTY = {"meta", "br"}


class Page(HTMLParser):
    """Parses a page; fails if an element is not closed, or closed by another tag."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def elements(self, tag: str, class_: str | None = None) -> list[dict[str, str | None]]:
        return [
            attributes
            for name, attributes in self.found
            if name == tag and (class_ is None or class_ in (attributes.get("class") or "").split())
        ]

    @property
    def titles(self) -> list[str]:
        """The ids of the sections."""
        return [attributes["id"] or "" for attributes in self.elements("section")]
