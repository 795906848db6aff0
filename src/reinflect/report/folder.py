"""The page of a whole benchmark: its tables and charts, and each language."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import msgspec

from reinflect.data.items import read_items
from reinflect.ensemble.confidence import calibration_error
from reinflect.ensemble.member import TrainedModel
from reinflect.files import read_text
from reinflect.learn.lesson import Lesson
from reinflect.paper import published
from reinflect.paper.calibration import measured
from reinflect.paper.claims import Claim, title
from reinflect.paper.corpora import SETTINGS, read_corpus
from reinflect.paper.figures import Figures, Scores, read_figures, read_json
from reinflect.paper.plots import ordered
from reinflect.paper.tables import claims_table, language_table, languages_note, main_table
from reinflect.report.curves import ModelLog, learning_curves, read_log
from reinflect.report.drawing import dot_chart, key
from reinflect.report.evaluations import bins_of, breakdown_table, calibration, mistakes_list
from reinflect.report.html import Html, element, folded, paragraph, table
from reinflect.report.page import Section, page
from reinflect.run.packs import by_key, read_results
from reinflect.score.scores import Evaluation, Judged, evaluate

BEST = "run7"
MISTAKES = 5
FEW_LANGUAGES = 10
"""Languages whose single models have curves, at most: with more, the page would be too large."""
NO_DATA = "Single forms are not evaluated: the data folder of the benchmark was not found; name it with --dev."
HELD = {"held": "held", "not held": "not-held", "not checked": "note"}
"""Classes of the style sheet."""
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


@dataclass(frozen=True)
class Folder:
    """The output folder of `reinflect benchmark`."""

    path: Path
    figures: Scores
    details: "_Details"
    languages: Sequence[Language]
    notes: Sequence[str]


class _Command(msgspec.Struct, frozen=True):
    """The part of a line of `commands.jsonl` that is needed here."""

    command: str


class _Details(msgspec.Struct, frozen=True):
    """The parts of `details.json` that are shown."""

    devices: list[str] = []
    claims: dict[str, list[Claim]] = {}
    models: frozenset[str] | None = None
    """Keys of the models in the figures; the folder may also have packs of other settings."""

    def shows(self, model: TrainedModel) -> bool:
        return self.models is None or model.key in self.models


def data_of(folder: Path) -> Path | None:
    """The data folder of the last benchmark in a folder, if it still exists."""
    path = folder / "commands.jsonl"
    lines = read_text(path).split("\n") if path.is_file() else []
    for line in reversed(lines):
        try:
            words = shlex.split(msgspec.json.decode(line, type=_Command).command)
        except (ValueError, RecursionError):  # a truncated line
            continue
        given = [after for word, after in pairwise(words) if word == "--data"]
        given += [word.partition("=")[2] for word in words if word.startswith("--data=")]
        if given and Path(given[-1]).is_dir():
            return Path(given[-1])
    return None


def read_folder(path: Path, data: Path | None) -> Folder:
    """Read a benchmark. `data` is the folder of the languages' files, which single forms are taken from."""
    figures, written = read_figures(path), path / "details.json"
    details = read_json(written, _Details, "details") if written.is_file() else _Details()
    packs = read_results(path / "packs")
    models: dict[tuple[str, str], list[TrainedModel]] = {}
    for model in filter(details.shows, by_key(packs).values()):
        models.setdefault((model.language, model.setting), []).append(model)
    hidden = {f"{one.stem}.jsonl" for one in packs if not any(map(details.shows, one.models))}
    logs: dict[str, list[ModelLog]] = {}
    for file in sorted((path / "logs").glob("*.jsonl")):
        for log in read_log(file) if file.name not in hidden else ():
            logs.setdefault(log.dataset, []).append(log)
    languages = []
    for setting in (setting for setting in SETTINGS if setting in figures.get("dev", {})):
        for name in sorted({name for one in figures["dev"][setting].values() for name in one.languages}):
            own = logs.get(f"{name}-{setting}", [])
            corpus = None if data is None else read_corpus(data, name, setting)
            trained = models.get((name, setting), ())
            evaluated = () if corpus is None else (_evaluation(path, corpus), _confidences(corpus, trained))
            languages.append(Language(name, setting, own, *evaluated))
    notes = [NO_DATA] if data is None else []
    notes += [] if logs else ["There are no learning curves: the folder logs is missing or empty."]
    return Folder(path, figures, details, languages, notes)


def _evaluation(folder: Path, corpus: Lesson) -> Evaluation | None:
    predictions = folder / "predictions" / corpus.setting / BEST / f"{corpus.language}-dev"
    if not predictions.is_file():
        return None
    return evaluate(corpus.dev, read_items(predictions, forms="optional"), name=corpus.language)


def _confidences(corpus: Lesson, models: Sequence[TrainedModel]) -> Sequence[tuple[float, bool]]:
    usable = [model for model in models if model.usable and len(model.dev.forms) == len(corpus.dev)]
    return measured(corpus, usable) if usable else []


def folder_page(folder: Folder) -> str:
    """The page of a benchmark."""
    sections = []
    for split, by_setting in folder.figures.items():
        note = paragraph(languages_note(by_setting).strip(), class_="note")
        sections.append(Section(f"Table of runs, {split}", [table(main_table(by_setting, split), words=2), note]))
    if folder.details.claims.get("dev"):
        header, *rows = claims_table(folder.details.claims["dev"])
        shown = [[text, element("span", held, class_=HELD[held]), evidence] for text, held, evidence in rows]
        sections.append(Section("Claims of the paper", [table([header, *shown], words=3, class_="wrap")]))
    for split, by_setting in folder.figures.items():
        if any(BEST in by_system for by_system in by_setting.values()):
            sections.append(Section(f"Accuracy by language, {split}", _language_charts(by_setting, split)))
    sections += _all_languages(folder)
    sections += [_languages(folder, setting) for setting in SETTINGS if setting in folder.figures.get("dev", {})]
    devices = ", ".join(folder.details.devices)
    lead = [f"Trained on: {devices}."] if devices else []
    lead += ["Accuracy is the per cent of predictions that equal the right form exactly.", *folder.notes]
    return page(f"Benchmark {folder.path.resolve().name}", " ".join(lead), _facts(folder), sections)


def _facts(folder: Folder) -> list[tuple[str, str]]:
    facts = [
        (f"Run 7 at {setting}, {split}", f"{by_setting[setting][BEST].accuracy:.2f}")
        for split, by_setting in folder.figures.items()
        for setting in SETTINGS
        if BEST in by_setting.get(setting, {})
    ]
    facts.append(("languages", str(len({language.name for language in folder.languages}))))
    if folder.details.models:
        facts.append(("models", f"{len(folder.details.models):,}"))
    return facts


def _language_charts(by_setting: Figures, split: str) -> list[str]:
    parts: list[str] = []
    for setting in (setting for setting in SETTINGS if BEST in by_setting.get(setting, {})):
        ours = {name: one.accuracy for name, one in by_setting[setting][BEST].languages.items()}
        names = ordered({setting: by_setting[setting]})
        shown = published.beside(ours, setting, split)
        dots = {
            words: (style, {title(name): accuracy for name, accuracy in own.items()})
            for (words, own), style in zip(shown.items(), ("next", "published", "ours"), strict=True)
        }
        entries = [
            (f"{words}, mean {fmean(own.values()):.1f}", style, None)
            for words, (style, own) in reversed(dots.items())
            if own
        ]
        chart = dot_chart(f"accuracy of each language at {setting}", list(map(title, names)), dots, "accuracy, %")
        parts += [element("h3", f"At {setting}"), key(entries, dots=True), element("figure", chart)]
    return parts


def _all_languages(folder: Folder) -> list[Section]:
    """Sections about all languages together: learning curves, parts of speech, features, confidence."""
    parts: dict[str, list[str]] = {name: [] for name in INTRODUCTIONS}
    for setting in SETTINGS:
        own = [one for one in folder.languages if one.setting == setting]
        logs = [log for language in own for log in language.logs]
        cells: list[Judged] = [cell for one in own if one.evaluation for cell in one.evaluation.cells]
        confidences = [pair for language in own for pair in language.confidences]
        heading = element("h3", f"At {setting}")
        if logs:
            parts["Learning curves"] += [heading, learning_curves(logs)]
        if cells:
            parts["By part of speech"] += [heading, *_breakdowns(cells)]
        if confidences:
            parts["Confidence"] += [heading, calibration(confidences), _calibration_by_language(own)]
    return [Section(name, [paragraph(INTRODUCTIONS[name]), *own]) for name, own in parts.items() if own]


def _breakdowns(cells: Sequence[Judged]) -> list[Html]:
    return [breakdown_table(cells, "pos"), folded("by features", breakdown_table(cells, "features"))]


def _calibration_by_language(languages: Sequence[Language]) -> Html:
    rows = [
        [title(one.name), f"{calibration_error(bins_of(one.confidences)):.3f}", str(len(one.confidences))]
        for one in languages
        if one.confidences
    ]
    return folded("by language", table([("language", "expected calibration error", "forms"), *rows], words=1))


def _languages(folder: Folder, setting: str) -> Section:
    rows = language_table(folder.figures["dev"][setting], setting)
    single = len(folder.languages) <= FEW_LANGUAGES
    own = (one for one in folder.languages if one.setting == setting and (one.evaluation or one.logs))
    return Section(f"Languages at {setting}", [table(rows, words=1), *(_language(one, single) for one in own)])


def _language(one: Language, single: bool) -> Html:
    parts: list[str] = []
    summary = title(one.name)
    if one.evaluation:
        cells = one.evaluation.cells
        summary += f": {one.evaluation.accuracy:.1f}"
        parts += [element("h3", "Commonest mistakes"), mistakes_list(cells, MISTAKES)]
        parts += [element("h3", "By part of speech"), *_breakdowns(cells)]
    if one.logs:
        parts += [element("h3", "Learning curves"), learning_curves(one.logs, single=single)]
    return folded(summary, *parts, class_="language")
