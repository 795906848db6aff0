"""`reinflect evaluate`: score predictions against the right forms; `reinflect baseline`: make some to compare with."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reinflect.cli.options import POSITIVE, Output, argument, columns_option, command, option, say, source
from reinflect.data.corrections import swapped_columns_note, variants_note
from reinflect.data.form_cells import AS_WRITTEN
from reinflect.data.items import Columns, Forms, Item, grouped, read_items
from reinflect.errors import InputError, counted, printable, quoted, source_name
from reinflect.files import STANDARD, kind_of_sheet

if TYPE_CHECKING:
    from reinflect.data.layouts import FilePair
    from reinflect.score.scores import Evaluated, Evaluation, Grouping, Variants


@command(
    "printf 'gehen\\tging\\tV;PST\\nsehen\\tsah\\tV;PST\\n' > gold.tsv",
    "printf 'gehen\\tgehte\\tV;PST\\nsehen\\tsah\\tV;PST\\n' > predicted.tsv",
    "reinflect evaluate gold.tsv predicted.tsv --errors 5",
)
def evaluate(
    gold: str = argument(source),
    predicted: str = argument(source),
    by: "Grouping | None" = option("--by", "Also score bundles or parts of speech.", click.Choice(["features", "pos"])),
    any_variant: bool = option("--any-variant", "Accept any of several gold forms of a cell, not only the last."),
    against: str | None = option("--against OTHER", "Other predictions: is the difference more than chance?", source),
    errors: int | None = option("--errors N", "Show the N commonest wrong edits.", POSITIVE),
    languages: str | None = option("--languages A,B,…", "Score only these languages of two folders."),
    output: Output = Output.options(json="Print one JSON object."),
    columns: Columns = columns_option,
) -> None:
    """Score PREDICTED against GOLD: two files, or two folders with a file for each language.

    Accuracy is the per cent of forms that are right to the character; Levenshtein is the mean number of characters to
    insert, delete or replace. A cell (a lemma with its features) without a prediction counts as an empty form; of
    several lines for a cell the last counts. Files of two folders are paired by name, or else by language (german-dev
    with german-low-out), and each language has the same weight. One of the files may be - (standard input).
    """
    from reinflect.score.report import EvaluationReport

    scorer = Scorer(columns, "any" if any_variant else "last")
    ours, *others = scorer.evaluate(gold, [predicted, *([against] if against else ())], languages)
    rival = (source_name(against), others[0]) if against else None
    report = EvaluationReport(source_name(predicted), ours, by, rival, errors or 0)
    say(*_summaries(scorer.notes))
    output.write(report.text, lambda: [report.json()], indent=2)


def _summaries(notes: Iterable[str]) -> Iterator[str]:
    """One line for all notes that differ only in names and numbers."""

    def pattern(note: str) -> str:
        return re.sub(r"^note: .*?: |\d+", "", re.sub(r"\(.*\)", "", note))

    for first, *more in grouped(dict.fromkeys(notes), pattern).values():
        yield first + (f" (and {counted(len(more), 'more file')} like this)" if more else "")


@dataclass(frozen=True)
class Scorer:
    """Scores files, and collects notes about them."""

    columns: Columns
    variants: "Variants"
    notes: list[str] = field(default_factory=list)

    def evaluate(self, gold: str, rivals: Sequence[str], languages: str | None) -> "list[Evaluated]":
        """One evaluation for each of the rivals."""
        from reinflect.data.layouts import FilePair, pair_folders
        from reinflect.score.scores import MacroEvaluation

        folders = _are_folders([gold, *rivals])
        if languages is not None and not folders:
            raise InputError("found --languages with two files", "leave it out; it is for folders")
        names = None if languages is None else [language.strip() for language in languages.split(",")]
        paired = []
        for rival in rivals:
            pairs, unknown = [FilePair("", Path(gold), Path(rival))], list[str]()
            if folders:
                pairs, unknown = pair_folders(Path(gold), Path(rival), names)
            if unknown:
                self.notes.append(f"note: {rival}: languages without gold are not scored: {', '.join(unknown)}")
            paired.append(pairs)
        for pair, other in zip(paired[0], paired[-1], strict=True):
            if pair.gold != other.gold:
                golds = f"({pair.gold.name} and {other.gold.name}) in {rivals[0]} and {rivals[-1]}"
                finding = f"found {pair.language} paired with different gold {golds}"
                raise InputError(finding, "give predictions for the same gold files in both")
        right = {pair.gold: self._read_gold(pair.gold) for pair in paired[0]}
        scored = [{pair.language: self._score(pair, right[pair.gold]) for pair in pairs} for pairs in paired]
        name = Path(gold).resolve().name
        return [MacroEvaluation(name, scores) if folders else scores[""] for scores in scored]

    def _score(self, pair: "FilePair", right: list[Item]) -> "Evaluation":
        from reinflect.score.scores import evaluate

        path, as_written = pair.predicted, replace(self.columns, rules=AS_WRITTEN)  # a model's forms have no remarks
        predicted = read_items(path, as_written, forms="optional", note=self.notes.append)
        name = "stdin" if str(pair.gold) == STANDARD else pair.gold.name
        evaluation = evaluate(right, predicted, name=name, variants=self.variants)
        missing = [cell for cell in evaluation.cells if cell.missing]
        empty = [cell for cell in evaluation.cells if not (cell.missing or cell.predicted)]
        notes = [variants_note(predicted, path, "the last counts")]
        for what, cells in {"not predicted": missing, "predicted without a form": empty}.items():
            if cells:
                such = f"such as {quoted(cells[0].lemma)} {printable(cells[0].features.spelling)}"
                counts = f"{len(cells)} of {evaluation.items} cells are {what} ({such})"
                notes.append(f"note: {source_name(path)}: {counts}; each counts as an empty form")
        if len(empty) == evaluation.items:
            notes.append(f"note: {source_name(path)}: no prediction has a form; was this file inflected?")
        self.notes.extend(filter(None, notes))
        return evaluation

    def _read_gold(self, path: Path) -> list[Item]:
        forms: Forms = "required" if kind_of_sheet(path) else "optional"  # gaps in a wide sheet are not scored
        items = read_items(path, self.columns, forms=forms, note=self.notes.append)
        covered = [item for item in items if item.covered]
        if len(covered) == len(items):
            remedy = "give the file with the right forms as GOLD (GOLD comes first, then PREDICTED)"
            raise InputError("this file is covered: it has no forms to score against", remedy, path=path)
        if covered:
            finding = f"found no form for {quoted(covered[0].lemma)}"
            raise InputError(finding, "give every line of GOLD a form", path=path, line=covered[0].line)
        rule = "any of them is right" if self.variants == "any" else "the last is right (--any-variant accepts any)"
        notes = variants_note(items, path, rule), swapped_columns_note(items, path, self.columns)
        self.notes.extend(filter(None, notes))
        return items


def _are_folders(paths: Sequence[str]) -> bool:
    """Whether the paths are all folders; some folders and some files are an error, as is a path that does not exist."""
    for path in paths:
        if path != STANDARD and not Path(path).exists():
            raise InputError("there is no such file or folder", "check the name", path=path)
    folders = [path for path in paths if Path(path).is_dir()]
    if folders and len(folders) < len(paths):
        file = next(path for path in paths if path not in folders)
        raise InputError(f"found a folder ({folders[0]}) and a file ({file})", "give files only, or folders only")
    return bool(folders)


@command(
    "printf 'lachen\\tlachte\\tV;PST\\nsagen\\tsagte\\tV;PST\\n' > train.tsv",
    "printf 'fragen\\t\\tV;PST\\n' | reinflect baseline --train train.tsv --input -",
)
def baseline(
    train: str = option("--train FILE", "Items with their forms, to learn from.", source, required=True),
    file: str = option("--input FILE", "Items to inflect; their forms are ignored.", source, required=True),
    output: Output = Output.options("the inflected items go", wide=True),
    columns: Columns = columns_option,
) -> None:
    """Learn rules for prefixes and suffixes from one file, and inflect the lemmas of another with them.

    This is the rule system of the CoNLL–SIGMORPHON 2017 shared task. It takes seconds and has no settings: compare
    other models with it. Files are tab-separated or spreadsheets; - is standard input. The output has the items in
    their order. A lemma stays uninflected if its features, in the same spelling, are not in the training file.
    """
    from reinflect.score.baseline import Baseline

    output.check(replaces="table")
    examples = read_items(train, columns, note=say)
    items = read_items(file, columns, forms="ignored", note=say)
    rules = Baseline.learn(examples, path=train)
    inflected = [Item(item.lemma, item.features, rules.inflect(item.lemma, item.features)) for item in items]
    notes = [swapped_columns_note(examples, train, columns), variants_note(examples, train)]
    if unknown := sum(not rules.knows(item.features) for item in items):
        counts = f"the features of {unknown} of {len(items)} items are not in the training file"
        notes.append(f"note: {source_name(file)}: {counts}; their lemmas stay uninflected")
    output.write_items(inflected, columns, notes)
