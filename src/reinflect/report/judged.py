"""What there is to say of predictions that were judged: by part of speech and features, and what goes wrong."""

from collections.abc import Sequence

from reinflect.data.labels import NO_LABELS, Labels
from reinflect.ensembles.confidence import Bin, calibration_error
from reinflect.evaluation.cells import Judged
from reinflect.evaluation.mistakes import MISSING, commonest_mistakes
from reinflect.evaluation.scores import Grouping, Score, breakdown
from reinflect.evaluation.tables import visible_piece
from reinflect.report.alignments import alignments_of, drawn
from reinflect.report.drawing import bar, reliability
from reinflect.report.html import Html, element, joined, paragraph, table, word

SHOWN_GROUPS = 20
NAMES: dict[Grouping, str] = {"pos": "part of speech", "features": "features"}
PLACES = {"begin": "at the beginning", "middle": "in the middle", "end": "at the end", "whole": "the whole form"}


def breakdown_table(cells: Sequence[Judged], by: Grouping, labels: Labels = NO_LABELS) -> Html:
    """Accuracy of each group, the commonest first; of many groups, most are folded away."""
    groups = [(labels.to_label(name), score) for name, score in breakdown(cells, by).items()]
    shown = _groups_table(groups[:SHOWN_GROUPS], by)
    if len(groups) <= SHOWN_GROUPS:
        return shown
    rest = groups[SHOWN_GROUPS:]
    return joined([shown, folded(f"{len(rest)} others, less common", _groups_table(rest, by))])


def _groups_table(groups: Sequence[tuple[str, Score]], by: Grouping) -> Html:
    rows = [
        [
            element("bdi", name),
            bar(score.accuracy),
            f"{score.accuracy:.1f}",
            f"{score.levenshtein:.2f}",
            str(score.items),
        ]
        for name, score in groups
    ]
    header = (NAMES[by], "right", "per cent", "letters off", "forms")
    return table(header, rows, ("left", "left", "right", "right", "right"))


def mistakes_list(cells: Sequence[Judged], limit: int, labels: Labels = NO_LABELS) -> Html:
    """The commonest mistakes, each with an example, letter by letter."""
    found = commonest_mistakes(cells, limit)
    if not found:
        return paragraph("Every form is right.")
    columns = alignments_of(cells, [mistake.example for mistake in found])
    entries = []
    for mistake, letters in zip(found, columns, strict=True):
        cell, change = mistake.example, mistake.change
        times = "once" if mistake.count == 1 else f"{mistake.count} times"
        if change == MISSING:
            what = Html("nothing was predicted")
        else:
            pieces = [word(visible_piece(piece)) for piece in (change.gold, change.predicted)]
            what = joined([pieces[0], " came out as ", pieces[1], f", {PLACES[change.position]}"])
        heading = paragraph(
            element("b", what),
            f" ({times}), as in ",
            word(cell.lemma),
            " ",
            element("code", labels.to_label(str(cell.features))),
        )
        entries.append(element("li", heading, drawn(letters)))
    return element("ol", *entries, class_="mistakes")


def calibration(found: Sequence[Bin]) -> Html:
    """The reliability diagram, and its one figure."""
    forms = sum(one.items for one in found)
    error = calibration_error(found)
    return element(
        "figure",
        reliability("how often forms are right, by how sure the model is of them", found),
        element(
            "figcaption",
            f"{forms} forms in bins of ten points of confidence. On the dashed line, as many are right as it "
            f"says. On average the two are {100 * error:.1f} points apart (expected calibration error {error:.3f}).",
        ),
    )


def folded(summary: str, *parts: str, class_: str | None = None) -> Html:
    """What is shown when it is asked for."""
    return element("details", element("summary", summary), *parts, class_=class_)
