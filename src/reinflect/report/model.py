"""The page of a model file, and its parts about an evaluation, which the page of a benchmark has too."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from rapidfuzz.distance.Levenshtein import opcodes

from reinflect.align import align
from reinflect.align.pairs import Alignment
from reinflect.data.corrections import question
from reinflect.data.features import NO_LABELS, Labels
from reinflect.data.items import Item
from reinflect.ensemble.confidence import bins, calibration_error
from reinflect.inflector.card import fingerprint
from reinflect.inflector.inflector import Inflector
from reinflect.report.drawing import Curve, ModelLog, bar, learning_curves, line_chart, reliability, title_of
from reinflect.report.html import Html, Section, element, folded, joined, page, paragraph, table, word
from reinflect.score.baseline import Baseline
from reinflect.score.mistakes import MISSING, commonest_mistakes
from reinflect.score.scores import GROUPINGS, Grouping, Judged, Score, breakdown, evaluate
from reinflect.text import runs_right_to_left, visible, visible_piece

if TYPE_CHECKING:
    from reinflect.forecast import Forecast

MISTAKES = 15
FORECAST = "#0b7d80"
COLOURS = "Green: characters of the right form that were not predicted. Red: what was predicted instead."
RULES = "The rule system of the shared task, which learnt from {:,} attested forms that are not tested here."
TAUGHT = "The forms tested are the training items: the figures say nothing about other forms."
PICKED = (
    "The forms tested are the dev items that were used to pick the best version of each model, to choose the voters "
    "and to fit the confidence: accuracy on other forms may be a little lower."
)
UNFITTED = "This model has no confidence: there were too few forms to fit it when the model was trained."
SHOWN_GROUPS = 20
PLACES = {"begin": "at the beginning", "middle": "in the middle", "end": "at the end", "whole": "the whole form"}
SWEEPS = 20
"""Sweeps of the smart aligner: fewer than for training, because these alignments are only displayed."""
MOST_PAIRS = 300
"""Pairs of a file that the aligner learns from, at most."""
Column = tuple[str, str, str]
"""Characters of the lemma, the right form and the prediction that are below one another."""


def model_page(
    name: str,
    inflector: Inflector,
    logs: Sequence[ModelLog],
    dev: Sequence[Item] = (),
    forecast: "Forecast | None" = None,
) -> str:
    """The page of a model: its members, their learning curves from `logs`, its evaluation on dev items, a forecast."""
    facts, sections = _evaluated(name, inflector, dev) if dev else ([], [])
    if inflector.training:
        facts.append(("training items", f"{inflector.training.items:,}"))
    facts += [("models", str(len(inflector.members))), ("voters", str(len(inflector.voters)))]
    if forecast:
        sections.append(_forecast(forecast))
    sections.append(_members(inflector))
    if logs:
        words = "Thin lines: single models. Thick lines: means of a kind, of the best accuracy so far and of the loss."
        sections.append(Section("Learning curves", [paragraph(words), learning_curves(logs)]))
    return page(f"Report on {name}", _lead(inflector, dev), facts, sections)


def _lead(inflector: Inflector, dev: Sequence[Item]) -> str:
    source, tested = "", fingerprint(dev)
    if training := inflector.training:
        source = f"Trained on {training.items:,} forms of {training.lemmas:,} lemmas ({training.source})."
    if not dev:
        words = f"{source} Accuracy by features, mistakes and calibration need forms to test the model on: "
        return joined([words, element("code", "reinflect report MODEL --dev FILE"), "."])
    if training and training.fingerprint == tested:
        return f"{source} {TAUGHT}"
    return f"{source} {PICKED}" if training and training.dev_fingerprint == tested else source


def _evaluated(name: str, inflector: Inflector, dev: Sequence[Item]) -> tuple[list[tuple[str, str]], list[Section]]:
    """The main figures, and the sections, of a model's answers to dev items."""
    answers, labels = inflector.answers(dev, attested=False), inflector.labels
    predicted = [replace(item, form=answer.form) for item, answer in zip(dev, answers, strict=True)]
    evaluation = evaluate(dev, predicted, name=name)
    facts, sections = [("accuracy", f"{evaluation.accuracy:.1f} %")], []
    tested = set(map(question, dev))
    if others := [item for item in inflector.attested if question(item) not in tested]:
        baseline = Baseline.learn(others)
        rules = evaluate(dev, [replace(item, form=baseline.inflect(item.lemma, item.features)) for item in dev])
        facts.append(("accuracy of rules", f"{rules.accuracy:.1f} %"))
        rows = [["this model", *score_cells(evaluation)], ["rules", *score_cells(rules)]]
        comparison = table([["", "accuracy", "%", "edit distance"], *rows], words=2)
        sections.append(Section("Beside rules", [paragraph(RULES.format(len(others))), comparison]))
    facts += [("edit distance", f"{evaluation.levenshtein:.2f}"), ("forms tested", f"{evaluation.items:,}")]
    cells, signature = evaluation.cells, paragraph(element("code", evaluation.signature), class_="note")
    sure = {(i.lemma, i.features): a.confidence for i, a in zip(dev, answers, strict=True) if a.confidence is not None}
    forms = [(sure[cell.lemma, cell.features], cell.correct) for cell in cells] if sure else []
    sections += [
        Section("By part of speech", [breakdown_table(cells, "pos"), signature]),
        Section("By features", [breakdown_table(cells, "features", labels)]),
        Section("Commonest mistakes", [paragraph(COLOURS), mistakes_list(cells, MISTAKES, labels)]),
        Section("Confidence", [calibration(forms) if forms else paragraph(UNFITTED)]),
    ]
    if doubts := inflector.doubts(item.features for item in dev):
        sections.append(Section("Not seen in training", [paragraph(f"{doubt}.") for doubt in doubts]))
    return facts, sections


def _forecast(forecast: "Forecast") -> Section:
    words = (
        f"By small models ({', '.join(forecast.models)}) that learnt from parts of the {forecast.items:,} forms of "
        f"{forecast.source}. Thick: the fitted curve. Thin: what was measured, and the interval, which is meant to "
        "have the truth in it four times out of five. Larger models, which vote, get some more right."
    )
    curves = [Curve("measured", [(point.items, point.accuracy) for point in forecast.measured], "faint", FORECAST)]
    for name, style in (("low", "faint"), ("high", "faint"), ("accuracy", "")):
        curves.append(Curve(name, [(point.items, getattr(point, name)) for point in forecast.curve], style, FORECAST))
    chart = line_chart("accuracy with more forms", curves, ("forms learnt from", "accuracy, %"), top=100.0)
    expected = element("ul", *(element("li", f"{sentence}.") for sentence in forecast.expected))
    return Section("With more forms", [expected, chart, paragraph(words)])


def _members(inflector: Inflector) -> Section:
    voters = {member.name for member in inflector.voters}
    rows = [("model", "kind", "votes", "accuracy", "%")]
    for member in inflector.members:
        accuracy = bar(member.dev_accuracy), f"{member.dev_accuracy:.2f}"
        rows.append((member.name, title_of(member.kind), "yes" if member.name in voters else "", *accuracy))
    held_out = inflector.training is None or inflector.training.held_out
    source = "the items it held out, or on the dev file" if held_out else "the dev file"
    words = f"Accuracy of each model alone, on {source}. Strategy of the vote: {inflector.strategy}."
    return Section("Models", [paragraph(words), table(rows, words=4)])


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
