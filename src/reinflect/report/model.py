"""The page of one model file."""

from collections.abc import Sequence
from pathlib import Path

from reinflect.data.items import Item
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.ensembles.confidence import bins
from reinflect.evaluation.scores import Evaluation, evaluate
from reinflect.inflector.card import fingerprint
from reinflect.inflector.inflector import Answer, Inflector
from reinflect.report.curves import Learning
from reinflect.report.drawing import bar
from reinflect.report.html import element, joined, paragraph, table
from reinflect.report.judged import breakdown_table, calibration, mistakes_list
from reinflect.report.learning import learning_curves, title_of
from reinflect.report.page import Section, page

MISTAKES = 15


def model_page(
    name: str,
    inflector: Inflector,
    models: Sequence[Learning],
    dev: Sequence[Item] | None = None,
    labels: Labels = NO_LABELS,
) -> str:
    """All there is to see of a model: how it learnt and, where there are items with their right forms, how good it is.

    `models` are those of its log, if there is one.
    """
    sections = []
    facts = [("models", str(len(inflector.members))), ("of these vote", str(len(inflector.voters)))]
    if inflector.training:
        facts.insert(0, ("learnt from", f"{inflector.training.items:,} forms"))
    if dev:
        answers = inflector.answers(dev)
        said = [Item(item.lemma, item.features, answer.form) for item, answer in zip(dev, answers, strict=True)]
        evaluation = evaluate(dev, said, name=name)
        facts = [
            ("right", f"{evaluation.accuracy:.1f} %"),
            ("letters off", f"{evaluation.levenshtein:.2f}"),
            ("forms asked", f"{evaluation.items:,}"),
            *facts,
        ]
        sections += _judged(dev, answers, evaluation, labels)
    sections.append(_members(inflector))
    if models:
        told = (
            "Thin lines are single models, thick ones the mean of a kind: of the best accuracy so far, and of the loss."
        )
        sections.append(Section("How it learnt", [paragraph(told), learning_curves(models)]))
    return page(f"Report on {name}", _lead(inflector, dev), facts, sections)


def _lead(inflector: Inflector, dev: Sequence[Item] | None) -> str:
    training = inflector.training
    learnt = (
        f"Learnt from {training.items:,} forms of {training.lemmas:,} lemmas ({training.source})." if training else ""
    )
    if not dev:
        how = "How good it is by features, what it gets wrong and how sure it may be can be said if you give forms to "
        return joined([f"{learnt} {how}ask for: ", element("code", "reinflect report MODEL --dev FILE"), "."])
    if training and training.fingerprint == fingerprint(dev):
        return f"{learnt} The figures are of the very forms it has learnt from, and say nothing about others."
    if training and training.dev_fingerprint == fingerprint(dev):
        return (
            f"{learnt} The figures are of the dev items by which the best state of each model, its voters and its "
            "confidences were chosen: of other forms a little less may be right."
        )
    return learnt


def _judged(dev: Sequence[Item], answers: Sequence[Answer], evaluation: Evaluation, labels: Labels) -> list[Section]:
    signature = paragraph(element("code", evaluation.signature), class_="note")
    sections = [
        Section("By part of speech", [breakdown_table(evaluation.cells, "pos"), signature]),
        Section("By features", [breakdown_table(evaluation.cells, "features", labels)]),
        Section(
            "Commonest mistakes",
            [
                paragraph("Letters of the right form that did not come are green; what came instead is red."),
                mistakes_list(evaluation.cells, MISTAKES, labels),
            ],
        ),
    ]
    told = {(item.lemma, item.features.spelling): one.confidence for item, one in zip(dev, answers, strict=True)}
    sure = [told[cell.lemma, cell.features.spelling] for cell in evaluation.cells]
    known = [confidence for confidence in sure if confidence is not None]
    if len(known) == len(sure):
        parts: list[str] = [calibration(bins(known, [cell.correct for cell in evaluation.cells]))]
    else:
        parts = [
            paragraph("This model has no confidences: there were too few forms to fit them on when it was trained.")
        ]
    return [*sections, Section("How sure it may be", parts)]


def _members(inflector: Inflector) -> Section:
    voters = {member.name for member in inflector.voters}
    rows = [
        [
            member.name,
            title_of(member.kind),
            bar(member.dev_accuracy),
            f"{member.dev_accuracy:.2f}",
            "yes" if member.name in voters else "",
        ]
        for member in inflector.members
    ]
    header = ("model", "what it is", "right", "per cent", "votes")
    held_out = inflector.training is None or inflector.training.held_out
    whose = "the items it held out, or the dev file" if held_out else "the dev file"
    return Section(
        "Its models",
        [
            paragraph(f"Accuracy of each by itself, on {whose}. Who votes: {inflector.strategy}."),
            table(header, rows, ("left", "left", "left", "right", "left")),
        ],
    )


def log_beside(model: Path) -> Path:
    """Where training leaves the log of a model."""
    return model.with_name(f"{model.name}.log.jsonl")
