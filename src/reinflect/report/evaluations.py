"""An evaluation as parts of a page: accuracy by part of speech and by features, mistakes, and calibration."""

from collections.abc import Sequence

from reinflect.data.labels import NO_LABELS, Labels
from reinflect.ensemble.confidence import Bin, bins, calibration_error
from reinflect.report.alignments import alignment_table, alignments_of
from reinflect.report.drawing import bar, reliability
from reinflect.report.html import Html, element, folded, joined, paragraph, table, word
from reinflect.score.mistakes import MISSING, commonest_mistakes
from reinflect.score.scores import GROUPINGS, Grouping, Judged, Score, breakdown
from reinflect.text import visible_piece

SHOWN_GROUPS = 20
PLACES = {"begin": "at the beginning", "middle": "in the middle", "end": "at the end", "whole": "the whole form"}


def breakdown_table(cells: Sequence[Judged], by: Grouping, labels: Labels = NO_LABELS) -> Html:
    """Accuracy of each group, the largest group first; groups after the first `SHOWN_GROUPS` are folded."""
    groups = [(labels.to_label(name), score) for name, score in breakdown(cells, by).items()]
    shown, rest = _groups_table(groups[:SHOWN_GROUPS], by), groups[SHOWN_GROUPS:]
    return joined([shown, folded(f"{len(rest)} less frequent", _groups_table(rest, by))]) if rest else shown


def _groups_table(groups: Sequence[tuple[str, Score]], by: Grouping) -> Html:
    rows = [
        [element("bdi", name), bar(one.accuracy), f"{one.accuracy:.1f}", f"{one.levenshtein:.2f}", str(one.items)]
        for name, one in groups
    ]
    return table([(GROUPINGS[by], "accuracy", "%", "edit distance", "forms"), *rows], words=2)


def mistakes_list(cells: Sequence[Judged], limit: int, labels: Labels = NO_LABELS) -> Html:
    """The commonest mistakes, each with an example that is aligned character by character."""
    found = commonest_mistakes(cells, limit)
    if not found:
        return paragraph("All forms are right.")
    alignments = alignments_of(cells, [mistake.example for mistake in found])
    entries = []
    for mistake, columns in zip(found, alignments, strict=True):
        cell, change = mistake.example, mistake.change
        if change == MISSING:
            what = Html("no prediction")
        else:
            right, predicted = (word(visible_piece(piece)) for piece in (change.gold, change.predicted))
            what = joined([right, " predicted as ", predicted, f", {PLACES[change.position]}"])
        times = "once" if mistake.count == 1 else f"{mistake.count} times"
        bundle = element("code", labels.to_label(str(cell.features)))
        heading = paragraph(element("b", what), f" ({times}), as in ", word(cell.lemma), " ", bundle)
        entries.append(element("li", heading, alignment_table(columns)))
    return element("ol", *entries, class_="mistakes")


def bins_of(forms: Sequence[tuple[float, bool]]) -> list[Bin]:
    """Bins of forms that are given as their confidence and whether they are right."""
    return bins([confidence for confidence, _ in forms], [right for _, right in forms])


def calibration(forms: Sequence[tuple[float, bool]]) -> Html:
    """The reliability diagram of forms, and its expected calibration error."""
    found = bins_of(forms)
    error = calibration_error(found)
    words = (
        f"{len(forms)} forms in bins of 10 points of confidence. On the dashed line, confidence equals accuracy. "
        f"Mean difference: {100 * error:.1f} points (expected calibration error {error:.3f})."
    )
    return element("figure", reliability("accuracy of forms by confidence", found), element("figcaption", words))
