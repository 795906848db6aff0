"""`reinflect report DIR`: a benchmark as one web page, with its tables, charts, and each language."""

import random
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import msgspec

from reinflect.assemble import known_runs
from reinflect.data.items import grouped, read_items
from reinflect.decode.forms import Predictions
from reinflect.ensemble.confidence import calibration_error, fit, judged_cells, seen_cells
from reinflect.ensemble.member import Trained
from reinflect.ensemble.strategies import DEFAULT, Voter, choices, find_strategy
from reinflect.files import read_text
from reinflect.learn.lesson import Lesson
from reinflect.paper import published
from reinflect.paper.claims import Claim, title
from reinflect.paper.corpora import SETTINGS, read_corpus
from reinflect.paper.figures import Figures, Scores, read_json, read_scores, settings_in
from reinflect.paper.tables import claims_table, language_table, languages_note, main_table
from reinflect.report.curves import ModelLog, learning_curves, read_log
from reinflect.report.drawing import dot_chart
from reinflect.report.evaluations import bins_of, breakdown_table, calibration, mistakes_list
from reinflect.report.html import Html, Section, element, folded, page, paragraph, table
from reinflect.run.pack_files import by_key, read_results
from reinflect.score.scores import Evaluation, Judged, evaluate

COMMANDS, DETAILS = "commands.jsonl", "details.json"
SHOWN = "run7"
MISTAKES = 5
FEW_LANGUAGES = 10
"""Languages whose single models have curves, at most: with more, the page would be too large."""
NO_DATA = "Single forms are not evaluated: the data folder of the benchmark was not found; name it with --dev."
NO_LOGS = "There are no learning curves: the folder logs is missing or empty."
HELD = {"held": "held", "not held": "not-held", "not checked": "note"}
"""Classes of the style sheet."""
STYLES = ("next", "published", "ours")
"""Classes of the dots of the next best system, of the paper and of ours."""
INTRODUCTIONS = {
    "Learning curves": "The mean of the best dev accuracy so far, and of the loss, over all models of a kind.",
    "By part of speech": "Run 7 on dev items, the forms of all languages together.",
    "Confidence": "Run 7 on dev items: on one half of a language's dev items voters are chosen and confidence is "
    "fitted; on the other half confidence is measured. Then the halves are swapped.",
}
"""What the sections about all languages show."""


@dataclass(frozen=True)
class Language:
    """One language in one setting; without its data only the logs are known."""

    name: str
    setting: str
    logs: Sequence[ModelLog]
    evaluation: Evaluation | None = None
    """Of Run 7 on dev items."""
    confidences: Sequence[tuple[float, bool]] = ()
    """Confidence of each form, and whether it is right."""


class Details(msgspec.Struct, frozen=True):
    """The parts of `details.json` that are read again."""

    devices: list[str] = []
    claims: dict[str, list[Claim]] = {}
    models: frozenset[str] | None = None
    """Keys of the models in the figures; the folder may also have packs of other settings."""

    @classmethod
    def read(cls, folder: Path) -> "Details":
        path = folder / DETAILS
        return read_json(path, cls, "details") if path.is_file() else cls()

    def has(self, model: Trained) -> bool:
        return self.models is None or model.key in self.models


class _Command(msgspec.Struct, frozen=True):
    """The part of a line of `commands.jsonl` that is read again."""

    command: str


def data_of(folder: Path) -> Path | None:
    """The data folder of the last benchmark in a folder, if it still exists."""
    path = folder / COMMANDS
    for line in reversed(read_text(path).split("\n") if path.is_file() else []):
        try:
            words = shlex.split(msgspec.json.decode(line, type=_Command).command)
        except (ValueError, RecursionError):  # a truncated line
            continue
        folders = [after for word, after in pairwise(words) if word == "--data"]
        folders += [word.partition("=")[2] for word in words if word.startswith("--data=")]
        if folders and Path(folders[-1]).is_dir():
            return Path(folders[-1])
    return None


def benchmark_page(path: Path, data: Path | None) -> str:
    """The page of a benchmark's folder. `data` is the folder of the languages' files, which single forms are from."""
    scores, details = read_scores(path), Details.read(path)
    languages = list(read_languages(path, data, scores, details))
    sections = []
    for split, by_setting in scores.items():
        note = paragraph(languages_note(by_setting).strip(), class_="note")
        sections.append(Section(f"Table of runs, {split}", [table(main_table(by_setting, split), words=2), note]))
    if details.claims.get("dev"):
        header, *rows = claims_table(details.claims["dev"])
        lines = [[text, element("span", held, class_=HELD[held]), evidence] for text, held, evidence in rows]
        sections.append(Section("Claims of the paper", [table([header, *lines], words=3, class_="wrap")]))
    for split, by_setting in scores.items():
        if chart := languages_chart(by_setting, split):
            sections.append(Section(f"Accuracy by language, {split}", [element("figure", chart)]))
    sections += _all_languages(languages)
    few = len(languages) <= FEW_LANGUAGES
    for setting in settings_in(scores.get("dev", {})):
        parts = [table(language_table(scores["dev"][setting], setting), words=1)]
        parts += [_language(language, single=few) for language in languages if language.setting == setting]
        sections.append(Section(f"Languages at {setting}", parts))
    lead = [
        *([f"Trained on: {', '.join(details.devices)}."] if details.devices else []),
        "Accuracy is the per cent of predictions that equal the right form exactly.",
        *([NO_DATA] if data is None else []),
        *([] if any(language.logs for language in languages) else [NO_LOGS]),
    ]
    facts = [
        (f"Run 7 at {setting}, {split}", f"{by_setting[setting][SHOWN].accuracy:.2f}")
        for split, by_setting in scores.items()
        for setting in SETTINGS
        if SHOWN in by_setting.get(setting, {})
    ]
    facts.append(("languages", str(len({language.name for language in languages}))))
    facts += [("models", f"{len(details.models):,}")] if details.models else []
    return page(f"Benchmark {path.resolve().name}", " ".join(lead), facts, sections)


def read_languages(path: Path, data: Path | None, scores: Scores, details: Details) -> Iterator[Language]:
    """The languages of a benchmark's folder in every setting."""
    packs = read_results(path / "packs")
    models = grouped(filter(details.has, by_key(packs).values()), lambda model: (model.language, model.setting))
    other = {f"{pack.stem}.jsonl" for pack in packs if not any(map(details.has, pack.models))}
    files = [file for file in sorted((path / "logs").glob("*.jsonl")) if file.name not in other]
    logs = grouped((log for file in files for log in read_log(file)), lambda log: log.dataset)
    for setting in settings_in(scores.get("dev", {})):
        for name in sorted({name for average in scores["dev"][setting].values() for name in average.languages}):
            language = Language(name, setting, logs.get(f"{name}-{setting}", []))
            if data is not None and (corpus := read_corpus(data, name, setting)):
                trained = models.get((name, setting), [])
                usable = [model for model in trained if model.usable and len(model.dev.forms) == len(corpus.dev)]
                evaluation, confidences = _evaluation(path, corpus), measured(corpus, usable) if usable else []
                language = replace(language, evaluation=evaluation, confidences=confidences)
            yield language


def _evaluation(folder: Path, corpus: Lesson) -> Evaluation | None:
    predictions = folder / "predictions" / corpus.setting / SHOWN / f"{corpus.language}-dev"
    if not predictions.is_file():
        return None
    return evaluate(corpus.dev, read_items(predictions, forms="optional"), name=corpus.language)


def measured(corpus: Lesson, models: Sequence[Trained], strategy: str = DEFAULT) -> list[tuple[float, bool]]:
    """The confidence of a vote's form for each dev item, and whether the form is right.

    The dev items are divided at random. On one half the voters are chosen and the confidence is fitted; on the other
    half it is measured. Then the halves are swapped. (The best version of each model was picked on all dev items.)
    Empty if half of the dev items are too few to fit one.
    """
    runs, seen, rule = known_runs(corpus.train), seen_cells(corpus.train, corpus.dev), find_strategy(strategy)
    numbers = list(range(len(corpus.dev)))
    random.Random(1).shuffle(numbers)
    halves = []
    for half in map(sorted, (numbers[::2], numbers[1::2])):
        items, voters = [corpus.dev[number] for number in half], []
        for model in models:
            forms, scores = model.dev
            predictions = Predictions([forms[number] for number in half], [scores[number] for number in half])
            voters.append(Voter.of(replace(model, dev=predictions), items, runs))
        halves.append(voters)
    pairs: list[tuple[float, bool]] = []
    for here, there in (halves, halves[::-1]):
        chosen, others = choices(here, [strategy]).get(strategy, []), {voter.name: voter for voter in there}
        confidence = fit(*judged_cells(rule, chosen, seen))
        if confidence is None:
            return []
        evidence, right = judged_cells(rule, [others[voter.name] for voter in chosen], seen)
        pairs += zip(map(confidence.of, evidence), right, strict=True)
    return pairs


def languages_chart(figures: Figures, split: str) -> Html | None:
    """The accuracies of each language in Run 7, ours and published, in the settings that have it."""
    panels = []
    for setting in (setting for setting in SETTINGS if SHOWN in figures.get(setting, {})):
        ours = {name: figure.accuracy for name, figure in figures[setting][SHOWN].languages.items()}
        shown = zip(published.beside(ours, setting, split).items(), STYLES, strict=True)
        dots = {
            words: (style, {title(name): accuracy for name, accuracy in accuracies.items()})
            for (words, accuracies), style in shown
        }
        names = sorted(ours, key=lambda name: (-ours[name], name))
        panels.append((f"At {setting}", list(map(title, names)), dots))
    return dot_chart("accuracy of each language", panels, "accuracy, %") if panels else None


def _all_languages(languages: Sequence[Language]) -> list[Section]:
    """Sections about all languages together: learning curves, parts of speech, features, confidence."""
    parts: dict[str, list[str]] = {name: [] for name in INTRODUCTIONS}
    for setting in SETTINGS:
        group = [language for language in languages if language.setting == setting]
        logs = [log for language in group for log in language.logs]
        cells = [cell for language in group if language.evaluation for cell in language.evaluation.cells]
        confidences = [pair for language in group for pair in language.confidences]
        heading = element("h3", f"At {setting}")
        if logs:
            parts["Learning curves"] += [heading, learning_curves(logs)]
        if cells:
            parts["By part of speech"] += [heading, *_breakdowns(cells)]
        if confidences:
            rows = [
                [title(one.name), f"{calibration_error(bins_of(one.confidences)):.3f}", str(len(one.confidences))]
                for one in group
                if one.confidences
            ]
            by_language = table([("language", "expected calibration error", "forms"), *rows], words=1)
            parts["Confidence"] += [heading, calibration(confidences), folded("by language", by_language)]
    return [Section(name, [paragraph(INTRODUCTIONS[name]), *content]) for name, content in parts.items() if content]


def _breakdowns(cells: Sequence[Judged]) -> list[Html]:
    return [breakdown_table(cells, "pos"), folded("by features", breakdown_table(cells, "features"))]


def _language(language: Language, *, single: bool) -> Html:
    parts: list[Html] = []
    summary = title(language.name)
    if language.evaluation:
        cells = language.evaluation.cells
        summary += f": {language.evaluation.accuracy:.1f}"
        parts += [element("h3", "Commonest mistakes"), mistakes_list(cells, MISTAKES)]
        parts += [element("h3", "By part of speech"), *_breakdowns(cells)]
    if language.logs:
        parts += [element("h3", "Learning curves"), learning_curves(language.logs, single=single)]
    return folded(summary, *parts, class_="language") if parts else Html()
