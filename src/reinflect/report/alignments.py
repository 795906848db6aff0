"""A mistake letter by letter: the lemma, the right form and the predicted one, each letter below its own."""

from collections.abc import Sequence
from itertools import zip_longest

from rapidfuzz.distance.Levenshtein import opcodes

from reinflect.alignment import align
from reinflect.alignment.pairs import Alignment, StringPair
from reinflect.evaluation.cells import Judged
from reinflect.report.html import Html, element, joined
from reinflect.text import runs_right_to_left, visible

SWEEPS = 20
"""Of the smart aligner: fewer than for training, as these are only looked at."""
MOST_PAIRS = 300
"""Of a file that the aligner learns from."""
Column = tuple[str, str, str]


def alignments_of(cells: Sequence[Judged], shown: Sequence[Judged]) -> list[list[Column]]:
    """The columns of each cell to be shown, aligned by what the cells of a file have in common."""
    own: list[StringPair] = [pair for cell in shown for pair in ((cell.lemma, cell.gold), (cell.lemma, cell.predicted))]
    others = [(cell.lemma, cell.gold) for cell in cells[:MOST_PAIRS]]
    found = align([*own, *others], "smart", sweeps=SWEEPS)[: len(own)] if own else []
    return [three_rows(right, predicted) for right, predicted in zip(found[::2], found[1::2], strict=True)]


def three_rows(right: Alignment, predicted: Alignment) -> list[Column]:
    """Two alignments of one lemma as one: its letter, that of the right form, that of the predicted one."""
    columns: list[Column] = []
    for (letter, own, inserted), (_, other, others) in zip(_letters(right), _letters(predicted), strict=True):
        if letter:
            columns.append((letter, own, other))
        columns += [("", a, b) for a, b in _beside(inserted, others)]
    return columns


def _beside(first: Sequence[str], second: Sequence[str]) -> list[tuple[str, str]]:
    """Two runs of letters with as many as can be beside their equals."""
    pairs: list[tuple[str, str]] = []
    for change in opcodes(first, second):
        own = first[change.src_start : change.src_end], second[change.dest_start : change.dest_end]
        pairs += zip_longest(*own, fillvalue="")
    return pairs


def _letters(alignment: Alignment) -> list[tuple[str, str, list[str]]]:
    """Every lemma letter with what became of it, and what was inserted after it; before them all, nothing."""
    found: list[tuple[str, str, list[str]]] = [("", "", [])]
    for letter, written in alignment:
        if letter:
            found.append((letter, written, []))
        else:
            found[-1][2].append(written)
    return found


def drawn(columns: Sequence[Column]) -> Html:
    """A small table; letters that differ from the right ones are marked."""
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
