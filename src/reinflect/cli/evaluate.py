"""`reinflect evaluate`: score predictions against the right forms."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reinflect.cli.options import columns_option, example, option, say, source, source_option
from reinflect.cli.output import Output, output_options
from reinflect.data.form_cells import AS_WRITTEN
from reinflect.data.items import Columns, Forms, Item, read_items, swapped_columns_note, variants_note
from reinflect.data.sheet_files import Note, kind_of_sheet
from reinflect.errors import InputError, printable, quoted, source_name
from reinflect.files import STANDARD

if TYPE_CHECKING:
    from reinflect.score.cells import Variants
    from reinflect.score.folders import FilePair
    from reinflect.score.scores import Evaluated, Evaluation, Grouping

EXAMPLE = example(
    "printf 'gehen\\tging\\tV;PST\\nsehen\\tsah\\tV;PST\\n' > gold.tsv",
    "printf 'gehen\\tgehte\\tV;PST\\nsehen\\tsah\\tV;PST\\n' > predicted.tsv",
    "reinflect evaluate gold.tsv predicted.tsv --errors 5",
)


@click.command("evaluate", epilog=EXAMPLE)
@click.argument("gold", type=source)
@click.argument("predicted", type=source)
@columns_option
@option("--by", "Also score each feature bundle or part of speech.", type=click.Choice(["features", "pos"]))
@option("--any-variant", "Accept any of several gold forms of a cell, not only the last.")
@source_option("--against OTHER", "Other predictions: test whether the difference is more than chance.")
@option("--errors N", "Show the N commonest wrong edits.", type=click.IntRange(min=1))
@option("--languages A,B,…", "Score only these languages of two folders.")
@output_options(json="Print one JSON object.")
def command(
    gold: str,
    predicted: str,
    columns: Columns,
    by: "Grouping | None",
    any_variant: bool,
    against: str | None,
    errors: int | None,
    languages: str | None,
    output: Output,
) -> None:
    """Score PREDICTED against GOLD: two files, or two folders with a file for each language.

    Accuracy is the per cent of forms that are right to the character; Levenshtein is the mean number of characters to
    insert, delete or replace. A cell (a lemma with its features) without a prediction counts as an empty form; if a
    cell has several lines, the last counts. Files of two folders are paired by name, or else by language (german-dev
    with german-low-out), and each language has the same weight in the macro average. One of the files may be -
    (standard input).
    """
    from reinflect.score.report import Report

    scorer = Scorer(columns, "any" if any_variant else "last")
    ours, *others = scorer.evaluate(gold, [predicted] if against is None else [predicted, against], languages)
    rival = None if against is None else (source_name(against), others[0])
    report = Report(source_name(predicted), ours, by, rival, errors or 0)
    say(*scorer.notes())
    output.write(report.text, lambda: [report.json()], indent=2)


class Scorer:
    """Scores files, and collects notes about them: one of each kind for all files together."""

    def __init__(self, columns: Columns, variants: "Variants") -> None:
        self.columns, self.variants = columns, variants
        self._notes: dict[str, dict[Path, str]] = {}

    def evaluate(self, gold: str, rivals: Sequence[str], languages: str | None) -> "list[Evaluated]":
        """One evaluation for each of the rivals."""
        from reinflect.score.folders import FilePair
        from reinflect.score.scores import MacroEvaluation

        if folders := _are_folders([gold, *rivals]):
            paired = [self._pair(Path(gold), Path(folder), languages) for folder in rivals]
            _check_same_gold(paired, rivals)
        elif languages is not None:
            raise InputError("found --languages with two files", "leave it out; it is for folders")
        else:
            paired = [[FilePair("", Path(gold), Path(path))] for path in rivals]
        right = {pair.gold: self._read_gold(pair.gold) for pair in paired[0]}
        scored = [{pair.language: self._score(pair, right[pair.gold]) for pair in pairs} for pairs in paired]
        if folders:
            return [MacroEvaluation(Path(gold).resolve().name, evaluations) for evaluations in scored]
        return [evaluation for evaluations in scored for evaluation in evaluations.values()]

    def notes(self) -> list[str]:
        """One of each kind, with the number of other files that it is true of."""
        notes = []
        for files in self._notes.values():
            note, more = next(iter(files.values())), len(files) - 1
            notes.append(note + (f" (and {more} more file{'s'[: more > 1]} like this)" if more else ""))
        return notes

    def _note(self, kind: str, path: Path, note: str | None) -> None:
        if note:
            self._notes.setdefault(kind, {}).setdefault(path, note)

    def _noting(self, path: Path) -> Note:
        """Notes that are the same for several files are of one kind."""
        return lambda note: self._note(note.replace(source_name(path), "…"), path, note)

    def _pair(self, gold: Path, predicted: Path, languages: str | None) -> "list[FilePair]":
        from reinflect.score.folders import pair_folders

        wanted = None if languages is None else [language.strip() for language in languages.split(",")]
        pairs, unknown = pair_folders(gold, predicted, wanted)
        if unknown:
            note = f"note: {predicted}: languages without gold are not scored: {', '.join(unknown)}"
            self._note("unknown", predicted, note)
        return pairs

    def _score(self, pair: "FilePair", right: list[Item]) -> "Evaluation":
        from reinflect.score.scores import evaluate

        path = pair.predicted
        as_written = replace(self.columns, rules=AS_WRITTEN)  # a model's forms have no remarks
        predicted = read_items(path, as_written, forms="optional", note=self._noting(path))
        self._note("predicted variants", path, variants_note(predicted, path, "the last counts"))
        name = "stdin" if str(pair.gold) == STANDARD else pair.gold.name
        evaluation = evaluate(right, predicted, name=name, variants=self.variants)
        without = {
            "not predicted": [cell for cell in evaluation.cells if cell.missing],
            "predicted without a form": [cell for cell in evaluation.cells if not (cell.missing or cell.predicted)],
        }
        for kind, cells in without.items():
            if cells:
                such = f"such as {quoted(cells[0].lemma)} {printable(cells[0].features.spelling)}"
                counts = f"{len(cells)} of {evaluation.items} cells are {kind} ({such})"
                self._note(kind, path, f"note: {source_name(path)}: {counts}; each counts as an empty form")
        return evaluation

    def _read_gold(self, path: Path) -> list[Item]:
        # Gaps in a wide sheet are not scored.
        forms: Forms = "required" if kind_of_sheet(path) else "optional"
        items = read_items(path, self.columns, forms=forms, note=self._noting(path))
        covered = [item for item in items if item.covered]
        if len(covered) == len(items):
            remedy = "give the file with the right forms as GOLD (GOLD comes first, then PREDICTED)"
            raise InputError("this file is covered: it has no forms to score against", remedy, path=path)
        if covered:
            finding = f"found no form for {quoted(covered[0].lemma)}"
            raise InputError(finding, "give every line of GOLD a form", path=path, line=covered[0].line)
        rule = "any of them is right" if self.variants == "any" else "the last is right (--any-variant accepts any)"
        self._note("variants", path, variants_note(items, path, rule))
        self._note("columns", path, swapped_columns_note(items, path, self.columns))
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


def _check_same_gold(paired: "Sequence[Sequence[FilePair]]", rivals: Sequence[str]) -> None:
    for pairs in zip(*paired, strict=True):
        if len({pair.gold for pair in pairs}) > 1:
            golds = " and ".join(pair.gold.name for pair in pairs)
            different = f"{pairs[0].language} paired with different gold ({golds}) in {rivals[0]} and {rivals[-1]}"
            raise InputError(f"found {different}", "give predictions for the same gold files in both")
