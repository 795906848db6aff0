"""`reinflect report DIR`: a benchmark as one web page, with its tables, charts, and each language."""

import random
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import msgspec

from reinflect.assemble import voters_of
from reinflect.data.items import grouped, read_items
from reinflect.decode.search import Predictions
from reinflect.ensemble.confidence import bins, calibration_error, fit, judged_cells, seen_cells
from reinflect.ensemble.strategies import DEFAULT, Trained, choices, find_strategy
from reinflect.errors import InputError
from reinflect.files import read_bytes, read_text
from reinflect.learn.lesson import Lesson
from reinflect.paper import published
from reinflect.paper.combine import Figures, Scores, accuracies
from reinflect.paper.corpora import SETTINGS, read_corpora, settings_in, title
from reinflect.paper.tables import claims_table, language_table, languages_note, main_table
from reinflect.report.drawing import ModelLog, dot_chart, learning_curves, read_log
from reinflect.report.html import Html, Section, element, folded, page, paragraph, table
from reinflect.report.model import breakdown_table, calibration, mistakes_list
from reinflect.run.packs import by_key, read_results
from reinflect.score.scores import Judged, Score, evaluate

COMMANDS, DETAILS, RESULTS = "commands.jsonl", "details.json", "results.json"
SHOWN = "run7"
MISTAKES = 5
FEW_LANGUAGES = 10
"""Languages whose single models have curves, at most: with more, the page would be too large."""
NO_DATA = "Single forms are not evaluated: the data folder of the benchmark was not found; name it with --dev."
NO_LOGS = "There are no learning curves: the folder logs is missing or empty."
HELD = {"held": "held", "not held": "not-held", "not checked": "note"}
Content = TypeVar("Content")
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
    cells: Sequence[Judged] = ()
    """The forms of Run 7 for dev items."""
    confidences: Sequence[tuple[float, bool]] = ()
    """Confidence of each form, and whether it is right."""


class Details(msgspec.Struct, frozen=True):
    """The parts of `details.json` that are read again."""

    devices: list[str] = []
    claims: dict[str, list[published.Claim]] = {}
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


def read_scores(folder: Path) -> Scores:
    """The figures in the output folder of a benchmark."""
    path = folder / RESULTS
    if not path.exists():
        raise InputError(f"there is no {RESULTS} in it", "name a folder that reinflect benchmark wrote", path=folder)
    return read_json(path, Scores, "results")


def read_json(path: Path, content: type[Content], name: str) -> Content:
    """A JSON file of a benchmark; `name` is what it holds."""
    try:
        return msgspec.json.decode(read_bytes(path), type=content)
    except (ValueError, RecursionError) as error:
        what = f"not the {name} of a benchmark ({error})"
        raise InputError(what, "run the same reinflect benchmark again", path=path) from None


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
    sections, charts = [], []
    for split, figures in scores.items():
        note = paragraph(languages_note(figures).strip(), class_="note")
        sections.append(Section(f"Table of runs, {split}", [table(main_table(figures, split), words=2), note]))
        if chart := languages_chart(figures, split):
            charts.append(Section(f"Accuracy by language, {split}", [element("figure", chart)]))
    if details.claims.get("dev"):
        header, *rows = claims_table(details.claims["dev"])
        lines = [[text, element("span", held, class_=HELD[held]), evidence] for text, held, evidence in rows]
        sections.append(Section("Claims of the paper", [table([header, *lines], words=3, class_="wrap")]))
    sections += [*charts, *_all_languages(languages)]
    few = len(languages) <= FEW_LANGUAGES
    for setting in settings_in(scores.get("dev", {})):
        parts = [table(language_table(scores["dev"], setting), words=1)]
        parts += [_language(language, single=few) for language in languages if language.setting == setting]
        sections.append(Section(f"Languages at {setting}", parts))
    lead = [f"Trained on: {', '.join(details.devices)}."] if details.devices else []
    lead += ["Accuracy is the per cent of predictions that equal the right form exactly."]
    lead += [NO_DATA] if data is None else []
    lead += [] if any(language.logs for language in languages) else [NO_LOGS]
    facts = [
        (f"Run 7 at {setting}, {split}", f"{figures[setting][SHOWN].accuracy:.2f}")
        for split, figures in scores.items()
        for setting in settings_in(figures)
        if SHOWN in figures[setting]
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
            for corpus in read_corpora(data, [name], [setting])[0] if data else ():
                forms = path / "predictions" / setting / SHOWN / f"{name}-dev"
                predicted = read_items(forms, forms="optional") if forms.is_file() else None
                cells = () if predicted is None else evaluate(corpus.dev, predicted).cells
                trained = [m for m in models.get((name, setting), []) if len(m.dev.forms) == len(corpus.dev)]
                language = replace(language, cells=cells, confidences=measured(corpus, trained))
            yield language


def measured(corpus: Lesson, models: Sequence[Trained], strategy: str = DEFAULT) -> list[tuple[float, bool]]:
    """The confidence of a vote's form for each dev item, and whether the form is right.

    The dev items are divided at random. On one half the voters are chosen and the confidence is fitted; on the other
    half it is measured. Then the halves are swapped. (The best version of each model was picked on all dev items.)
    Empty if half of the dev items are too few to fit one.
    """
    seen, rule, numbers = seen_cells(corpus.train, corpus.dev), find_strategy(strategy), list(range(len(corpus.dev)))
    random.Random(1).shuffle(numbers)
    halves = []
    for half in map(sorted, (numbers[::2], numbers[1::2])):
        some = []
        for model in (model for model in models if model.usable):
            forms, scores = model.dev
            part = Predictions([forms[number] for number in half], [scores[number] for number in half])
            some.append(replace(model, dev=part))
        halves.append(voters_of(some, corpus.train, [corpus.dev[number] for number in half]))
    pairs: list[tuple[float, bool]] = []
    for here, there in (halves, halves[::-1]):
        chosen, others = choices(here, [strategy]).get(strategy, []), {voter.name: voter for voter in there}
        if (confidence := fit(*judged_cells(rule, chosen, seen))) is None:
            return []
        evidence, right = judged_cells(rule, [others[voter.name] for voter in chosen], seen)
        pairs += zip(map(confidence.of, evidence), right, strict=True)
    return pairs


def languages_chart(figures: Figures, split: str) -> Html | None:
    """The accuracies of each language in Run 7, ours and published, in the settings that have it."""
    panels = []
    for setting in settings_in(figures):
        ours = accuracies(figures, setting, SHOWN)
        pairs = {title(name): pair for name in ours if (pair := published.of_language(name, setting))}
        run7, next_best = ({name: pair[column] for name, pair in pairs.items()} for column in (0, 1))
        dots = {
            f"next best, {published.NEXT_BEST[setting]} (test, published)": ("next", next_best),
            "Run 7 of the paper (test, published)": ("published", run7),
            f"Run 7, ours ({split})": ("ours", {title(name): accuracy for name, accuracy in ours.items()}),
        }
        names = sorted(ours, key=lambda name: (-ours[name], name))
        if ours:
            panels.append((f"At {setting}", list(map(title, names)), dots))
    return dot_chart("accuracy of each language", panels, "accuracy, %") if panels else None


def _all_languages(languages: Sequence[Language]) -> list[Section]:
    """Sections about all languages together: learning curves, parts of speech, features, confidence."""
    parts: dict[str, list[str]] = {name: [] for name in INTRODUCTIONS}
    for setting in SETTINGS:
        group = [language for language in languages if language.setting == setting]
        heading = element("h3", f"At {setting}")
        if logs := [log for language in group for log in language.logs]:
            parts["Learning curves"] += [heading, learning_curves(logs)]
        if cells := [cell for language in group for cell in language.cells]:
            parts["By part of speech"] += [heading, *_breakdowns(cells)]
        if measured := {title(language.name): language.confidences for language in group if language.confidences}:
            errors = {name: f"{calibration_error(bins(forms)):.3f}" for name, forms in measured.items()}
            rows = [[name, errors[name], str(len(forms))] for name, forms in measured.items()]
            by_language = table([("language", "expected calibration error", "forms"), *rows], words=1)
            diagram = calibration([form for forms in measured.values() for form in forms])
            parts["Confidence"] += [heading, diagram, folded("by language", by_language)]
    return [Section(name, [paragraph(INTRODUCTIONS[name]), *content]) for name, content in parts.items() if content]


def _breakdowns(cells: Sequence[Judged]) -> list[Html]:
    return [breakdown_table(cells, "pos"), folded("by features", breakdown_table(cells, "features"))]


def _language(language: Language, *, single: bool) -> Html:
    parts: list[Html] = []
    summary = title(language.name)
    if cells := language.cells:
        summary += f": {Score.of(cells).accuracy:.1f}"
        parts += [element("h3", "Commonest mistakes"), mistakes_list(cells, MISTAKES)]
        parts += [element("h3", "By part of speech"), *_breakdowns(cells)]
    if language.logs:
        parts += [element("h3", "Learning curves"), learning_curves(language.logs, single=single)]
    return folded(summary, *parts, class_="language") if parts else Html()
