"""The page of one model file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reinflect.data.corrections import question
from reinflect.data.items import Item
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.inflector.card import fingerprint
from reinflect.inflector.inflector import Answer, Inflector
from reinflect.report.curves import ModelLog, learning_curves, title_of
from reinflect.report.drawing import Curve, bar, line_chart
from reinflect.report.evaluations import breakdown_table, calibration, mistakes_list
from reinflect.report.html import element, joined, paragraph, table
from reinflect.report.page import Section, page
from reinflect.score.baseline import Baseline
from reinflect.score.scores import Evaluation, evaluate

if TYPE_CHECKING:
    from reinflect.forecast import Forecast

MISTAKES = 15
FORECAST = "#0b7d80"


def model_page(
    name: str,
    inflector: Inflector,
    logs: Sequence[ModelLog],
    dev: Sequence[Item] | None = None,
    labels: Labels = NO_LABELS,
    forecast: "Forecast | None" = None,
) -> str:
    """The page of a model: its members, their learning curves from `logs`, its evaluation on dev items, a forecast."""
    sections: list[Section] = []
    facts = [("models", str(len(inflector.members))), ("voters", str(len(inflector.voters)))]
    if inflector.training:
        facts.insert(0, ("training items", f"{inflector.training.items:,}"))
    if dev:
        answers = inflector.answers(dev)
        predicted = [Item(item.lemma, item.features, answer.form) for item, answer in zip(dev, answers, strict=True)]
        evaluation = evaluate(dev, predicted, name=name)
        rules = _rules(inflector, dev)
        facts = [
            ("accuracy", f"{evaluation.accuracy:.1f} %"),
            *([("accuracy of rules", f"{rules[0].accuracy:.1f} %")] if rules else ()),
            ("edit distance", f"{evaluation.levenshtein:.2f}"),
            ("forms tested", f"{evaluation.items:,}"),
            *facts,
        ]
        sections = [_comparison(evaluation, *rules)] if rules else []
        sections += _evaluation(dev, answers, evaluation, labels)
        if doubts := inflector.doubts((item.features for item in dev), labels):
            sections.append(Section("Not seen in training", [paragraph(f"{doubt}.") for doubt in doubts]))
    if forecast:
        sections.append(_forecast(forecast))
    sections.append(_members(inflector))
    if logs:
        words = "Thin lines: single models. Thick lines: means of a kind, of the best accuracy so far and of the loss."
        sections.append(Section("Learning curves", [paragraph(words), learning_curves(logs)]))
    return page(f"Report on {name}", _lead(inflector, dev), facts, sections)


def _rules(inflector: Inflector, dev: Sequence[Item]) -> tuple[Evaluation, int] | None:
    """The rule baseline on the forms tested, and how many other attested forms it learnt from, if there are any."""
    tested = set(map(question, dev))
    others = [item for item in inflector.attested if question(item) not in tested]
    if not others:
        return None
    baseline = Baseline.learn(others)
    predicted = [Item(item.lemma, item.features, baseline.inflect(item.lemma, item.features)) for item in dev]
    return evaluate(dev, predicted, name="rules"), len(others)


def _comparison(model: Evaluation, rules: Evaluation, items: int) -> Section:
    rows = [
        [name, bar(own.accuracy), f"{own.accuracy:.1f}", f"{own.levenshtein:.2f}"]
        for name, own in (("this model", model), ("rules", rules))
    ]
    words = f"The rule system of the shared task, which learnt from {items:,} attested forms that are not tested here."
    return Section("Beside rules", [paragraph(words), table([("", "accuracy", "%", "edit distance"), *rows], words=2)])


def _lead(inflector: Inflector, dev: Sequence[Item] | None) -> str:
    training = inflector.training
    trained = (
        f"Trained on {training.items:,} forms of {training.lemmas:,} lemmas ({training.source})." if training else ""
    )
    if not dev:
        words = f"{trained} Accuracy by features, mistakes and calibration need forms to test the model on: "
        return joined([words, element("code", "reinflect report MODEL --dev FILE"), "."])
    if training and training.fingerprint == fingerprint(dev):
        return f"{trained} The forms tested are the training items: the figures say nothing about other forms."
    if training and training.dev_fingerprint == fingerprint(dev):
        return (
            f"{trained} The forms tested are the dev items that were used to pick the best version of each model, to "
            "choose the voters and to fit the confidence: accuracy on other forms may be a little lower."
        )
    return trained


def _evaluation(
    dev: Sequence[Item], answers: Sequence[Answer], evaluation: Evaluation, labels: Labels
) -> list[Section]:
    cells = evaluation.cells
    confidences = {(item.lemma, item.features.spelling): one.confidence for item, one in zip(dev, answers, strict=True)}
    forms = [
        (confidence, cell.correct)
        for cell in cells
        if (confidence := confidences[cell.lemma, cell.features.spelling]) is not None
    ]
    missing = "This model has no confidence: there were too few forms to fit it when the model was trained."
    signature = paragraph(element("code", evaluation.signature), class_="note")
    colours = paragraph("Green: characters of the right form that were not predicted. Red: what was predicted instead.")
    return [
        Section("By part of speech", [breakdown_table(cells, "pos"), signature]),
        Section("By features", [breakdown_table(cells, "features", labels)]),
        Section("Commonest mistakes", [colours, mistakes_list(cells, MISTAKES, labels)]),
        Section("Confidence", [calibration(forms) if len(forms) == len(cells) else paragraph(missing)]),
    ]


def _forecast(forecast: "Forecast") -> Section:
    words = (
        f"By small models ({', '.join(forecast.models)}) that learnt from parts of the {forecast.items:,} forms of "
        f"{forecast.source}. Thick: the fitted curve. Thin: what was measured, and the interval, which is meant to "
        "have the truth in it four times out of five. Larger models, which vote, get some more right."
    )
    curves = [Curve("measured", [(one.items, one.accuracy) for one in forecast.measured], "faint", FORECAST)]
    for name, style in (("low", "faint"), ("high", "faint"), ("accuracy", "")):
        curves.append(Curve(name, [(one.items, getattr(one, name)) for one in forecast.curve], style, FORECAST))
    chart = line_chart("accuracy with more forms", curves, "forms learnt from", "accuracy, %", top=100.0)
    said = [element("li", f"{one}.") for one in forecast.expected]
    return Section("With more forms", [element("ul", *said), chart, paragraph(words)])


def _members(inflector: Inflector) -> Section:
    voters = {member.name for member in inflector.voters}
    rows = []
    for member in inflector.members:
        votes, accuracy = "yes" if member.name in voters else "", member.dev_accuracy
        rows.append([member.name, title_of(member.kind), votes, bar(accuracy), f"{accuracy:.2f}"])
    held_out = inflector.training is None or inflector.training.held_out
    source = "the items it held out, or on the dev file" if held_out else "the dev file"
    words = f"Accuracy of each model alone, on {source}. Strategy of the vote: {inflector.strategy}."
    return Section("Models", [paragraph(words), table([("model", "kind", "votes", "accuracy", "%"), *rows], words=4)])
