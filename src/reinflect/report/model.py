"""The page of one model file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from reinflect.data.corrections import question
from reinflect.data.features import NO_LABELS, Labels
from reinflect.data.items import Item
from reinflect.inflector.card import fingerprint
from reinflect.inflector.inflector import Inflector
from reinflect.report.curves import ModelLog, learning_curves, title_of
from reinflect.report.drawing import Curve, bar, line_chart
from reinflect.report.evaluations import breakdown_table, calibration, mistakes_list, score_cells
from reinflect.report.html import Section, element, joined, page, paragraph, table
from reinflect.score.baseline import Baseline
from reinflect.score.scores import evaluate

if TYPE_CHECKING:
    from reinflect.forecast import Forecast

MISTAKES = 15
FORECAST = "#0b7d80"
COLOURS = "Green: characters of the right form that were not predicted. Red: what was predicted instead."
RULES = "The rule system of the shared task, which learnt from {:,} attested forms that are not tested here."
UNFITTED = "This model has no confidence: there were too few forms to fit it when the model was trained."


def model_page(
    name: str,
    inflector: Inflector,
    logs: Sequence[ModelLog],
    dev: Sequence[Item] | None = None,
    labels: Labels = NO_LABELS,
    forecast: "Forecast | None" = None,
) -> str:
    """The page of a model: its members, their learning curves from `logs`, its evaluation on dev items, a forecast."""
    facts, sections = _evaluated(name, inflector, dev, labels) if dev else ([], [])
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


def _lead(inflector: Inflector, dev: Sequence[Item] | None) -> str:
    training, source = inflector.training, ""
    if training:
        source = f"Trained on {training.items:,} forms of {training.lemmas:,} lemmas ({training.source})."
    if not dev:
        words = f"{source} Accuracy by features, mistakes and calibration need forms to test the model on: "
        return joined([words, element("code", "reinflect report MODEL --dev FILE"), "."])
    if training and training.fingerprint == fingerprint(dev):
        return f"{source} The forms tested are the training items: the figures say nothing about other forms."
    if training and training.dev_fingerprint == fingerprint(dev):
        return (
            f"{source} The forms tested are the dev items that were used to pick the best version of each model, to "
            "choose the voters and to fit the confidence: accuracy on other forms may be a little lower."
        )
    return source


def _evaluated(
    name: str, inflector: Inflector, dev: Sequence[Item], labels: Labels
) -> tuple[list[tuple[str, str]], list[Section]]:
    """The main figures, and the sections, of a model's answers to dev items."""
    answers = inflector.answers(dev)
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
    confidences = {(item.lemma, item.features): answer.confidence for item, answer in zip(dev, answers, strict=True)}
    pairs = [(confidences[cell.lemma, cell.features], cell.correct) for cell in cells]
    forms = [(confidence, correct) for confidence, correct in pairs if confidence is not None]
    sections += [
        Section("By part of speech", [breakdown_table(cells, "pos"), signature]),
        Section("By features", [breakdown_table(cells, "features", labels)]),
        Section("Commonest mistakes", [paragraph(COLOURS), mistakes_list(cells, MISTAKES, labels)]),
        Section("Confidence", [calibration(forms) if len(forms) == len(cells) else paragraph(UNFITTED)]),
    ]
    if doubts := inflector.doubts((item.features for item in dev), labels):
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
