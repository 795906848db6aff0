"""The page of a whole benchmark: its tables and its figure, and every language by itself."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import msgspec

from reinflect.data.items import read_items
from reinflect.ensembles.confidence import bins, calibration_error
from reinflect.errors import InputError
from reinflect.evaluation.cells import Judged
from reinflect.evaluation.scores import Evaluation, evaluate
from reinflect.execution.corpora import Corpus, read_corpus
from reinflect.execution.results import ModelResult, by_key, log_name, read_results
from reinflect.experiments.calibration import Measured, measured
from reinflect.experiments.figures import Read, ReadAverage, read_figures
from reinflect.files import read_bytes, read_text
from reinflect.paper import published
from reinflect.paper.claims import SETTINGS, Claim, title
from reinflect.paper.plots import ordered
from reinflect.paper.tables import language_rows, languages_note, main_rows
from reinflect.report.curves import Learning, read_log
from reinflect.report.drawing import dot_chart, key
from reinflect.report.html import Html, element, joined, paragraph, table
from reinflect.report.judged import breakdown_table, calibration, folded, mistakes_list
from reinflect.report.learning import learning_curves
from reinflect.report.page import Section, page
from reinflect.text import Side

BEST = "run7"
MISTAKES = 5
FEW_LANGUAGES = 10
HELD = {True: "held", False: "not held", None: "not checked"}


@dataclass(frozen=True)
class Language:
    """What is known of one language in one setting, as far as its data was found."""

    name: str
    setting: str
    evaluation: Evaluation | None = None
    """Of Run 7 on dev items."""
    sure: Measured = field(default_factory=list)
    models: Sequence[Learning] = ()

    @property
    def title(self) -> str:
        return title(self.name)


@dataclass(frozen=True)
class Folder:
    """What `reinflect benchmark` left, read again."""

    path: Path
    figures: Read
    details: "_Details"
    languages: Sequence[Language]
    notes: Sequence[str]

    def of(self, setting: str) -> list[Language]:
        return [one for one in self.languages if one.setting == setting]


class _Command(msgspec.Struct, frozen=True):
    """A line of `commands.jsonl`, as far as it matters here."""

    command: str


class _Pack(msgspec.Struct, frozen=True):
    models: int


class _Details(msgspec.Struct, frozen=True):
    """What `details.json` says, as far as it is shown."""

    devices: list[str] = []
    claims: dict[str, list[Claim]] = {}
    packs: list[_Pack] = []
    models: frozenset[str] | None = None
    """The keys of those that the figures are of; packs of other settings may be in the same folder."""

    def shows(self, model: ModelResult) -> bool:
        return self.models is None or model.key in self.models


def data_of(folder: Path) -> Path | None:
    """Where the last benchmark in a folder had its data from, if that is still there."""
    path = folder / "commands.jsonl"
    lines = read_text(path).split("\n") if path.is_file() else []
    for line in reversed(lines):
        try:
            words = shlex.split(msgspec.json.decode(line, type=_Command).command)
        except (ValueError, RecursionError):  # a line that was cut short
            continue
        given = [after for word, after in pairwise(words) if word == "--data"]
        given += [word.partition("=")[2] for word in words if word.startswith("--data=")]
        if given and Path(given[-1]).is_dir():
            return Path(given[-1])
    return None


def read_folder(path: Path, data: Path | None) -> Folder:
    """All there is to show. `data` is the folder of the languages' files, for what is said of single forms."""
    figures = read_figures(path)
    details = _details(path / "details.json")
    models: dict[tuple[str, str], list[ModelResult]] = {}
    notes = []
    if data is None:
        notes.append(
            "What single forms are like cannot be said here, as the languages' files are not where the benchmark had "
            "them from; name their folder with --dev."
        )
    packs = read_results(path / "packs")
    for model in by_key(packs).values() if data is not None else ():
        if details.shows(model):
            models.setdefault((model.language, model.setting), []).append(model)
    logs: dict[str, list[Learning]] = {}
    others = {log_name(one) for one in packs if not any(map(details.shows, one.models))}
    for log in sorted((path / "logs").glob("*.jsonl")):
        for learning in read_log(log) if log.name not in others else ():
            logs.setdefault(learning.before_kind, []).append(learning)
    if not logs:
        notes.append("How the models learnt cannot be shown: there is nothing in the folder logs.")
    languages = []
    for setting in (setting for setting in SETTINGS if setting in figures.get("dev", {})):
        for name in sorted({name for one in figures["dev"][setting].values() for name in one.languages}):
            own = logs.get(f"{name}-{setting}", [])
            corpus = None if data is None else read_corpus(data, name, setting)
            if corpus is None:
                languages.append(Language(name, setting, models=own))
                continue
            sure = _sure(corpus, models.get((name, setting), ()))
            languages.append(Language(name, setting, _evaluation(path, corpus), sure, own))
    return Folder(path, figures, details, languages, notes)


def _details(path: Path) -> _Details:
    if not path.is_file():
        return _Details()
    try:
        return msgspec.json.decode(read_bytes(path), type=_Details)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"these are no details of a benchmark ({error})", "run the same reinflect benchmark again", path=path
        ) from None


def _evaluation(folder: Path, corpus: Corpus) -> Evaluation | None:
    said = folder / "predictions" / corpus.setting / BEST / f"{corpus.language}-dev"
    if not said.is_file():
        return None
    return evaluate(corpus.split.dev, read_items(said, forms="optional"), name=corpus.language)


def _sure(corpus: Corpus, models: Sequence[ModelResult]) -> Measured:
    usable = [model for model in models if model.usable and len(model.dev.forms) == len(corpus.split.dev)]
    return measured(corpus, usable) if usable else []


def folder_page(folder: Folder) -> str:
    """The page."""
    sections = []
    for split, by_setting in folder.figures.items():
        note = languages_note(by_setting).strip()
        header, *rows = main_rows(by_setting, split)
        sections.append(
            Section(
                f"The table of runs, {split}", [table(header, rows, _sides(2, header)), paragraph(note, class_="note")]
            )
        )
    if folder.details.claims.get("dev"):
        sections.append(_claims(folder.details.claims["dev"]))
    for split, by_setting in folder.figures.items():
        if any(BEST in by_system for by_system in by_setting.values()):
            sections.append(Section(f"Every language, {split}", _language_figures(by_setting, split)))
    sections += _over_all(folder)
    for setting in SETTINGS:
        if setting in folder.figures.get("dev", {}):
            sections.append(_languages(folder, setting))
    return page(f"Benchmark {folder.path.resolve().name}", _lead(folder), _facts(folder), sections)


def _lead(folder: Folder) -> Html:
    devices = ", ".join(folder.details.devices)
    told = f"Trained on: {devices}. " if devices else ""
    return joined(
        [
            told,
            "Accuracies are per cents of forms that are right to the letter. ",
            *(f"{note} " for note in folder.notes),
        ]
    )


def _facts(folder: Folder) -> list[tuple[str, str]]:
    facts = []
    for split, by_setting in folder.figures.items():
        for setting in (setting for setting in SETTINGS if BEST in by_setting.get(setting, {})):
            facts.append((f"Run 7 at {setting}, {split}", f"{by_setting[setting][BEST].accuracy:.2f}"))
    packs = folder.details.packs
    facts.append(("languages", str(len({language.name for language in folder.languages}))))
    if packs:
        facts.append(("models", f"{sum(pack.models for pack in packs):,}"))
    return facts


def _claims(claims: Sequence[Claim]) -> Section:
    rows = []
    for claim in claims:
        style = {True: "held", False: "not-held", None: "note"}[claim.held]
        rows.append([claim.text, element("span", HELD[claim.held], class_=style), claim.evidence])
    header = ("claim of the paper's §6", "here", "accuracies")
    return Section("Claims of the paper", [table(header, rows, ("left", "left", "left"), class_="wrap")])


def _language_figures(by_setting: Mapping[str, Mapping[str, ReadAverage]], split: str) -> list[str]:
    parts: list[str] = []
    for setting in (setting for setting in SETTINGS if BEST in by_setting.get(setting, {})):
        ours = {title(name): one.accuracy for name, one in by_setting[setting][BEST].languages.items()}
        names = ordered({setting: by_setting[setting]})
        pairs = {title(name): pair for name in names if (pair := published.of_language(name, setting))}
        next_best = f"next best, {published.NEXT_BEST[setting]} (test, published)"
        paper = "Run 7 of the paper (test, published)"
        dots = {
            next_best: ("next", {name: pair[1] for name, pair in pairs.items()}),
            paper: ("published", {name: pair[0] for name, pair in pairs.items()}),
            f"Run 7, ours ({split})": ("ours", ours),
        }
        entries = [
            (style, f"{told}, mean {fmean(own.values()):.1f}") for told, (style, own) in reversed(dots.items()) if own
        ]
        rows = [title(name) for name in names]
        picture = dot_chart(f"accuracy of every language at {setting}", rows, dots, x_label="per cent right")
        parts += [element("h3", f"At {setting}"), key(entries, dots=True), element("figure", picture)]
    return parts


def _over_all(folder: Folder) -> list[Section]:
    """What is said of all languages together: learning curves, parts of speech, features, confidence."""
    curves: list[str] = []
    groups: list[str] = []
    sure: list[str] = []
    for setting in SETTINGS:
        own = folder.of(setting)
        heading = element("h3", f"At {setting}")
        models = [model for language in own for model in language.models]
        if models:
            curves += [heading, learning_curves(models)]
        cells: list[Judged] = [cell for one in own if one.evaluation for cell in one.evaluation.cells]
        if cells:
            groups += [
                heading,
                breakdown_table(cells, "pos"),
                folded("by features", breakdown_table(cells, "features")),
            ]
        pairs = [pair for language in own for pair in language.sure]
        if pairs:
            found = bins([confidence for confidence, _ in pairs], [right for _, right in pairs])
            sure += [heading, calibration(found), _calibration_by_language(own)]
    sections = []
    if curves:
        told = "The mean of the best dev accuracy so far, and of the loss, over all models of a kind."
        sections.append(Section("How they learnt", [paragraph(told), *curves]))
    if groups:
        told = "Run 7 on dev items, the forms of all languages together."
        sections.append(Section("By part of speech", [paragraph(told), *groups]))
    if sure:
        told = (
            "Run 7 on dev items: voters were chosen, and their votes and probabilities weighed, as half of their "
            "language's dev items suggest; then they were looked at on the other half, and the other way round."
        )
        sections.append(Section("How sure they may be", [paragraph(told), *sure]))
    return sections


def _calibration_by_language(languages: Sequence[Language]) -> Html:
    rows = []
    for one in languages:
        if one.sure:
            found = bins([confidence for confidence, _ in one.sure], [right for _, right in one.sure])
            rows.append([one.title, f"{calibration_error(found):.3f}", str(len(one.sure))])
    header = ("language", "expected calibration error", "forms")
    return folded("by language", table(header, rows, ("left", "right", "right")))


def _languages(folder: Folder, setting: str) -> Section:
    header, *rows = language_rows(folder.figures["dev"][setting], setting)
    parts: list[str] = [table(header, rows, _sides(1, header))]
    few = len(folder.languages) <= FEW_LANGUAGES
    parts += [_one_language(one, single=few) for one in folder.of(setting) if one.evaluation or one.models]
    return Section(f"Languages at {setting}", parts)


def _one_language(one: Language, *, single: bool) -> Html:
    """With the curves of single models where the page does not become too large."""
    parts: list[str] = []
    summary = one.title
    if one.evaluation:
        cells = one.evaluation.cells
        summary = f"{one.title}: {one.evaluation.accuracy:.1f}"
        parts += [
            element("h3", "Commonest mistakes"),
            mistakes_list(cells, MISTAKES),
            element("h3", "By part of speech"),
            breakdown_table(cells, "pos"),
            folded("by features", breakdown_table(cells, "features")),
        ]
    if one.models:
        parts += [element("h3", "How its models learnt"), learning_curves(one.models, single=single)]
    return folded(summary, *parts, class_="language")


def _sides(words: int, header: Sequence[str]) -> list[Side]:
    """Columns of words first, then numbers."""
    return ["left" if place < words else "right" for place in range(len(header))]
