"""Paradigms, which notebooks show as tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from itertools import chain

from reinflect.data.dimensions import Table, paradigms
from reinflect.data.features import NO_LABELS, Bundle, Labels
from reinflect.ensemble.confidence import Answer


@dataclass(frozen=True)
class Cell:
    """A cell of a paradigm."""

    features: str
    answer: Answer


class Paradigm(list[Cell]):
    """The cells of a lemma."""

    def __init__(self, lemma: str, cells: Iterable[Cell], labels: Labels = NO_LABELS, *, ordered: bool = False) -> None:
        super().__init__(cells)
        self.lemma, self.labels, self.ordered = lemma, labels, ordered

    def tables(self) -> list[Table]:
        """The cells as tables: in their own order if they are `ordered`, or else by the order of the schema."""
        parts = paradigms((cell.features for cell in self), self.labels.names, ordered=self.ordered)
        return [*chain(*parts.values())]

    def _repr_html_(self) -> str:
        answers = {Bundle(cell.features).cell: cell.answer for cell in self}

        def form(features: str | None) -> str:
            if features is None:
                return "<td></td>"
            answer = answers[Bundle(features).cell]
            confidence = "" if answer.confidence is None else f" <small>{100 * answer.confidence:.0f} %</small>"
            return f"<td>{escape(answer.text)}{' <small>attested</small>' if answer.attested else confidence}</td>"

        def row(headings: Iterable[str], cells: str = "") -> str:
            titles = "".join(f"<th>{escape(self.labels.to_label(heading))}</th>" for heading in headings)
            return f"<tr>{titles}{cells}</tr>"

        html = f"<p><b>{escape(self.lemma)}</b></p>"
        for table in self.tables():
            body = "".join(row([line.title], "".join(map(form, line.cells))) for line in table.rows)
            html += f"<table>{row([table.title, *table.columns])}{body}</table>"
        return html
