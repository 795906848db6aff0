"""A mistake character by character: lemma, right form and prediction, aligned below one another."""

from collections.abc import Sequence
from itertools import zip_longest

from rapidfuzz.distance.Levenshtein import opcodes

from reinflect.align import align
from reinflect.align.pairs import Alignment, StringPair
from reinflect.report.html import Html, element, joined
from reinflect.score.scores import Judged
from reinflect.text import runs_right_to_left, visible

SWEEPS = 20
"""Sweeps of the smart aligner: fewer than for training, because these alignments are only displayed."""
MOST_PAIRS = 300
"""Pairs of a file that the aligner learns from, at most."""
Column = tuple[str, str, str]


def alignments_of(cells: Sequence[Judged], shown: Sequence[Judged]) -> list[list[Column]]:
    """The columns of each shown cell, aligned together with the other cells of the file."""
    own: list[StringPair] = [pair for cell in shown for pair in ((cell.lemma, cell.gold), (cell.lemma, cell.predicted))]
    others = [(cell.lemma, cell.gold) for cell in cells[:MOST_PAIRS]]
    found = align([*own, *others], "smart", sweeps=SWEEPS)[: len(own)] if own else []
    return [three_rows(right, predicted) for right, predicted in zip(found[::2], found[1::2], strict=True)]


def three_rows(right: Alignment, predicted: Alignment) -> list[Column]:
    """Two alignments of one lemma merged: columns of lemma, right and predicted character."""
    columns: list[Column] = []
    for (lemma, own, inserted), (_, other, others) in zip(_by_lemma(right), _by_lemma(predicted), strict=True):
        if lemma:
            columns.append((lemma, own, other))
        for change in opcodes(inserted, others):
            first, second = inserted[change.src_start : change.src_end], others[change.dest_start : change.dest_end]
            columns += [("", a, b) for a, b in zip_longest(first, second, fillvalue="")]
    return columns


def _by_lemma(alignment: Alignment) -> list[tuple[str, str, list[str]]]:
    """Each lemma character with its counterpart and the characters inserted after it; the first entry is empty."""
    found: list[tuple[str, str, list[str]]] = [("", "", [])]
    for lemma, written in alignment:
        if lemma:
            found.append((lemma, written, []))
        else:
            found[-1][2].append(written)
    return found


def alignment_table(columns: Sequence[Column]) -> Html:
    """A small table; characters that differ from the right ones are marked."""
    rows = []
    for number, name in enumerate(("lemma", "right", "predicted")):
        cells = [
            element("td", element("bdi", visible(column[number])), class_=_style(column, number)) for column in columns
        ]
        rows.append(element("tr", element("th", name, scope="row"), *cells))
    direction = "rtl" if runs_right_to_left("".join(map("".join, columns))) else None
    return element("div", element("table", joined(rows), class_="letters", dir=direction), class_="scroll")


def _style(column: Column, number: int) -> str | None:
    lemma, right, predicted = column
    if number and right != predicted:
        return "wrong" if number == 2 else "missed"
    if not column[number]:
        return "nothing"
    return "changed" if number == 1 and right != lemma else None
