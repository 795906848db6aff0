"""An evaluation as parts of a page: accuracy by part of speech and by features, mistakes, and calibration."""

from collections.abc import Sequence
from itertools import zip_longest

from rapidfuzz.distance.Levenshtein import opcodes

from reinflect.align import align
from reinflect.align.pairs import Alignment
from reinflect.data.features import NO_LABELS, Labels
from reinflect.ensemble.confidence import bins, calibration_error
from reinflect.report.drawing import bar, reliability
from reinflect.report.html import Html, element, folded, joined, paragraph, table, word
from reinflect.score.mistakes import MISSING, commonest_mistakes
from reinflect.score.scores import GROUPINGS, Grouping, Judged, Score, breakdown
from reinflect.text import runs_right_to_left, visible, visible_piece

SHOWN_GROUPS = 20
PLACES = {"begin": "at the beginning", "middle": "in the middle", "end": "at the end", "whole": "the whole form"}
SWEEPS = 20
"""Sweeps of the smart aligner: fewer than for training, because these alignments are only displayed."""
MOST_PAIRS = 300
"""Pairs of a file that the aligner learns from, at most."""
Column = tuple[str, str, str]
"""Characters of the lemma, the right form and the prediction that are below one another."""


def breakdown_table(cells: Sequence[Judged], by: Grouping, labels: Labels = NO_LABELS) -> Html:
    """Accuracy of each group, the largest group first; groups after the first `SHOWN_GROUPS` are folded."""
    header = GROUPINGS[by], "accuracy", "%", "edit distance", "forms"
    rows = [
        [element("bdi", labels.to_label(name)), *score_cells(score), str(score.items)]
        for name, score in breakdown(cells, by).items()
    ]
    rest = rows[SHOWN_GROUPS:]
    more = [folded(f"{len(rest)} less frequent", table([header, *rest], words=2))] if rest else []
    return joined([table([header, *rows[:SHOWN_GROUPS]], words=2), *more])


def score_cells(score: Score) -> list[str]:
    """Accuracy, as a bar and in per cent, and edit distance."""
    return [bar(score.accuracy), f"{score.accuracy:.1f}", f"{score.levenshtein:.2f}"]


def mistakes_list(cells: Sequence[Judged], limit: int, labels: Labels = NO_LABELS) -> Html:
    """The commonest mistakes, each with an example that is aligned character by character."""
    mistakes, entries = commonest_mistakes(cells, limit), []
    for mistake, columns in zip(mistakes, aligned(cells, [mistake.example for mistake in mistakes]), strict=True):
        cell, change = mistake.example, mistake.change
        what = Html("no prediction")
        if change != MISSING:
            right, predicted = (word(visible_piece(piece)) for piece in (change.gold, change.predicted))
            what = joined([right, " predicted as ", predicted, f", {PLACES[change.position]}"])
        times = "once" if mistake.count == 1 else f"{mistake.count} times"
        bundle = element("code", labels.to_label(str(cell.features)))
        heading = paragraph(element("b", what), f" ({times}), as in ", word(cell.lemma), " ", bundle)
        entries.append(element("li", heading, alignment_table(columns)))
    return element("ol", *entries, class_="mistakes") if entries else paragraph("All forms are right.")


def aligned(cells: Sequence[Judged], examples: Sequence[Judged]) -> list[list[Column]]:
    """The columns of each example, aligned together with the other cells of the file."""
    pairs = [pair for cell in examples for pair in ((cell.lemma, cell.gold), (cell.lemma, cell.predicted))]
    others = [(cell.lemma, cell.gold) for cell in cells[:MOST_PAIRS]]
    alignments = align([*pairs, *others], "smart", sweeps=SWEEPS) if pairs else []
    return [columns_of(*alignments[number : number + 2]) for number in range(0, len(pairs), 2)]


def columns_of(right: Alignment, predicted: Alignment) -> list[Column]:
    """Two alignments of one lemma merged."""
    columns: list[Column] = []
    for (lemma, a, after_a), (_, b, after_b) in zip(_by_lemma(right), _by_lemma(predicted), strict=True):
        columns += [(lemma, a, b)] if lemma else []
        for edit in opcodes(after_a, after_b):
            spans = after_a[edit.src_start : edit.src_end], after_b[edit.dest_start : edit.dest_end]
            columns += [("", *pair) for pair in zip_longest(*spans, fillvalue="")]
    return columns


def _by_lemma(alignment: Alignment) -> list[tuple[str, str, list[str]]]:
    """Each lemma character with its counterpart and the characters inserted after it; the first entry is empty."""
    entries: list[tuple[str, str, list[str]]] = [("", "", [])]
    for lemma, written in alignment:
        if lemma:
            entries.append((lemma, written, []))
        else:
            entries[-1][2].append(written)
    return entries


def alignment_table(columns: Sequence[Column]) -> Html:
    """A small table; characters that differ from the right ones are marked."""
    rows = [[element("th", name, scope="row")] for name in ("lemma", "right", "predicted")]
    for column in columns:
        lemma, right, predicted = column
        styles: list[str | None] = [None if letter else "nothing" for letter in column]
        if right != predicted:
            styles[1:] = "missed", "wrong"
        elif right and right != lemma:
            styles[1] = "changed"
        for row, letter, style in zip(rows, column, styles, strict=True):
            row.append(element("td", element("bdi", visible(letter)), class_=style))
    direction = "rtl" if runs_right_to_left("".join(map("".join, columns))) else None
    lines = (element("tr", *row) for row in rows)
    return element("div", element("table", *lines, class_="letters", dir=direction), class_="scroll")


def calibration(forms: Sequence[tuple[float, bool]]) -> Html:
    """The reliability diagram of forms, and their expected calibration error."""
    error = calibration_error(binned := bins(forms))
    words = (
        f"{len(forms)} forms in bins of 10 points of confidence. On the dashed line, confidence equals accuracy. "
        f"Mean difference: {100 * error:.1f} points (expected calibration error {error:.3f})."
    )
    return element("figure", reliability("accuracy of forms by confidence", binned), element("figcaption", words))
