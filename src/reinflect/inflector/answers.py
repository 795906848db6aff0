"""What an inflector answers: a form with its confidence, and all forms of a lemma."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from typing import NamedTuple

from reinflect.data.dimensions import Table, paradigms
from reinflect.data.features import Bundle
from reinflect.data.items import grouped
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.ensemble.confidence import Confidence, Evidence

DECIMALS = 4
"""Of confidences and log-probabilities; further digits depend on the other items of a batch."""


@dataclass(frozen=True)
class Answer:
    """A predicted form with its confidence."""

    form: str
    confidence: float | None
    """The probability that it is right; None if no confidence could be fitted (see `ensemble.confidence`)."""
    votes: int
    voters: int
    log_probability: float | None
    """The logarithm of the mean of the voters' probabilities; those that give another form count with 0."""
    attested: bool = False
    """Whether a person gave the form: then it is no prediction and has no confidence."""
    variants: tuple[str, ...] = ()
    """Further attested forms of the same cell."""

    @classmethod
    def of(cls, form: str, evidence: Evidence, confidence: float | None) -> "Answer":
        rounded = None if confidence is None else round(confidence, DECIMALS)
        mean = round(evidence.log_mean, DECIMALS) if math.isfinite(evidence.log_mean) else None
        return cls(form, rounded, evidence.votes, evidence.voters, mean)

    @property
    def text(self) -> str:
        """The form, and further attested ones as a field of a spreadsheet has them."""
        return " / ".join((self.form, *self.variants))


@dataclass(frozen=True)
class Cell:
    """A place in a paradigm."""

    features: str
    answer: Answer


class Paradigm(list[Cell]):
    """The cells of a lemma; notebooks show them as tables."""

    def __init__(self, lemma: str, cells: Iterable[Cell], labels: Labels = NO_LABELS, *, ordered: bool = False) -> None:
        super().__init__(cells)
        self.lemma, self.labels, self.ordered = lemma, labels, ordered

    def tables(self, labels: Labels | None = None) -> list[Table]:
        """The cells as tables: in their own order if they are `ordered`, or else by the order of the schema."""
        named = (self.labels if labels is None else labels).names
        return [*chain(*paradigms((cell.features for cell in self), named, ordered=self.ordered).values())]

    def _repr_html_(self) -> str:
        answers = {Bundle(cell.features).cell: cell.answer for cell in self}

        def form(features: str | None) -> str:
            if features is None:
                return "<td></td>"
            answer = answers[Bundle(features).cell]
            sure = "" if answer.confidence is None else f" <small>{100 * answer.confidence:.0f} %</small>"
            sure = " <small>attested</small>" if answer.attested else sure
            return f"<td>{escape(answer.text)}{sure}</td>"

        def headings(names: Iterable[str]) -> str:
            return "".join(f"<th>{escape(self.labels.to_label(name))}</th>" for name in names)

        html = [f"<p><b>{escape(self.lemma)}</b></p>"]
        for table in self.tables():
            body = [f"<tr>{headings([row.title])}{''.join(map(form, row.cells))}</tr>" for row in table.rows]
            html.append(f"<table><tr>{headings([table.title, *table.columns])}</tr>{''.join(body)}</table>")
        return "".join(html)


class Vote(NamedTuple):
    """The form of each voter for an item, its log-probability, and the form that the strategy makes of them."""

    form: str
    forms: Sequence[str]
    log_probabilities: Sequence[float]


def in_order(candidates: Mapping[str, Evidence], first: Evidence, fitted: Confidence | None) -> list[Answer]:
    """Ranked forms as answers: the first one, by evidence of its own, then the others by their confidence."""
    if fitted is None:
        return [Answer.of(form, evidence, None) for form, evidence in candidates.items()]
    sure = round(fitted.of(first), DECIMALS)
    shares = [min(sure, share) for share in fitted.of_alternatives(sure, list(candidates.values())[1:])]
    voted, *others = map(Answer.of, candidates, candidates.values(), [sure, *shares])
    return [voted, *sorted(others, key=lambda answer: -(answer.confidence or 0.0))]


def usual_bundles(counts: Mapping[str, int], cells: Sequence[str]) -> list[str]:
    """The bundles of training items by part of speech, those of `cells` first; see `Inflector.usual_bundles`."""
    best: dict[tuple[str, ...], str] = {}
    for spelling, count in counts.items():
        cell = Bundle(spelling).cell
        if cell not in best or count > counts[best[cell]]:
            best[cell] = spelling
    first = [cell for spelling in cells if (cell := Bundle(spelling).cell) in best]
    ordered = {cell: best[cell] for cell in (*first, *best)}.values()
    return [*chain(*grouped(ordered, lambda spelling: Bundle(spelling).part_of_speech).values())]
