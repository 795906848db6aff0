"""`reinflect evaluate`: score predictions against the right forms."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reinflect.cli.files import check_stdin_once, json_text
from reinflect.cli.options import columns_option, option, say
from reinflect.data.form_cells import AS_WRITTEN
from reinflect.data.items import Columns, Forms, Item, read_items, swapped_columns_note, variants_note
from reinflect.data.sheet_file import Note, kind_of_sheet
from reinflect.errors import InputError, printable, quoted, source_name
from reinflect.files import STANDARD

if TYPE_CHECKING:
    from reinflect.data.layouts import FilePair
    from reinflect.score.scores import Evaluated, Evaluation, Grouping, Variants

EXAMPLE = """\b
Example:
  printf 'gehen\\tging\\tV;PST\\nsehen\\tsah\\tV;PST\\n' > gold.tsv
  printf 'gehen\\tgehte\\tV;PST\\nsehen\\tsah\\tV;PST\\n' > predicted.tsv
  reinflect evaluate gold.tsv predicted.tsv --errors 5
"""


@click.command("evaluate", epilog=EXAMPLE)
@click.argument("gold")
@click.argument("predicted")
@columns_option
@option("--by", "Also score each feature bundle or part of speech.", type=click.Choice(["features", "pos"]))
@option("--any-variant", "Accept any of several gold forms of a cell, not only the last.")
@option("--against OTHER", "Other predictions: test whether the difference is more than chance.")
@option("--errors N", "Show the N commonest wrong edits.", type=click.IntRange(min=1))
@option("--languages A,B,…", "Score only these languages of two folders.")
@option("--json as_json", "Print one JSON object.")
def command(
    gold: str,
    predicted: str,
    columns: Columns,
    by: "Grouping | None",
    any_variant: bool,
    against: str | None,
    errors: int | None,
    languages: str | None,
    as_json: bool,
) -> None:
    """Score PREDICTED against GOLD: two files, or two folders with a file for each language.

    Accuracy is the per cent of forms that are right to the character; Levenshtein is the mean number of characters to
    insert, delete or replace. A cell (a lemma with its features) without a prediction counts as an empty form; if a
    cell has several lines, the last counts. Files of two folders are paired by name, or else by language (german-dev
    with german-low-out), and each language has the same weight in the macro average. One of the files may be -
    (standard input).
    """
    from reinflect.score.report import EvaluationReport

    scorer = Scorer(columns, "any" if any_variant else "last")
    ours, *others = scorer.evaluate(gold, [predicted] if against is None else [predicted, against], languages)
    rival = None if against is None else (source_name(against), others[0])
    report = EvaluationReport(source_name(predicted), ours, by, rival, errors or 0)
    scorer.print_notes()
    click.echo(json_text(report.json(), indent=2) if as_json else report.text(), nl=False)


class Scorer:
    """Scores files, and collects notes about them, to print one of each kind for all files together."""

    def __init__(self, columns: Columns, variants: "Variants") -> None:
        self.columns, self.variants = columns, variants
        self._notes: dict[str, dict[str, str]] = {}

    def evaluate(self, gold: str, rivals: Sequence[str], languages: str | None) -> "list[Evaluated]":
        """One evaluation for each of the rivals."""
        from reinflect.data.layouts import FilePair, pair_folders
        from reinflect.score.scores import MacroEvaluation

        if folders := _are_folders([gold, *rivals]):
            wanted = None if languages is None else [language.strip() for language in languages.split(",")]
            paired = []
            for folder in map(Path, rivals):
                pairs, unknown = pair_folders(Path(gold), folder, wanted)
                note = f"note: {folder}: languages without gold are not scored: {', '.join(unknown)}"
                self._note("unknown", folder, note if unknown else None)
                paired.append(pairs)
            _check_same_gold(paired, rivals)
        elif languages is not None:
            raise InputError("found --languages with two files", "leave it out; it is for folders")
        else:
            check_stdin_once(gold, *rivals)
            paired = [[FilePair("", Path(gold), Path(path))] for path in rivals]
        right = {pair.gold: self._read_gold(pair.gold) for pair in paired[0]}
        scored = [{pair.language: self._evaluate_pair(pair, right[pair.gold]) for pair in pairs} for pairs in paired]
        if folders:
            return [MacroEvaluation(Path(gold).resolve().name, own) for own in scored]
        return [evaluation for own in scored for evaluation in own.values()]

    def print_notes(self) -> None:
        for files in self._notes.values():
            note, more = next(iter(files.values())), len(files) - 1
            say(note + (f" (and {more} more file{'s'[: more > 1]} like this)" if more else ""))

    def _note(self, kind: str, path: Path, note: str | None) -> None:
        if note:
            self._notes.setdefault(kind, {}).setdefault(str(path), note)

    def _noting(self, path: Path) -> Note:
        """Notes that are the same for several files are of one kind."""
        return lambda note: self._note(note.replace(source_name(path), "…"), path, note)

    def _evaluate_pair(self, pair: "FilePair", right: list[Item]) -> "Evaluation":
        from reinflect.score.scores import evaluate

        path = pair.predicted
        as_written = replace(self.columns, rules=AS_WRITTEN)  # a model's forms have no remarks
        predicted = read_items(path, as_written, forms="optional", note=self._noting(path))
        self._note("predicted variants", path, variants_note(predicted, path, "the last counts"))
        name = "stdin" if str(pair.gold) == STANDARD else pair.gold.name
        scored = evaluate(right, predicted, name=name, variants=self.variants)
        if missing := next((cell for cell in scored.cells if cell.missing), None):
            example = f"such as {quoted(missing.lemma)} {printable(missing.features.spelling)}"
            counts = f"{scored.missing} of {scored.items} cells are not predicted ({example})"
            self._note("missing", path, f"note: {source_name(path)}: {counts}; each counts as an empty form")
        return scored

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
            found = f"{pairs[0].language} paired with different gold ({golds}) in {rivals[0]} and {rivals[-1]}"
            raise InputError(f"found {found}", "give predictions for the same gold files in both")
