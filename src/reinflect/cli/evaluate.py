"""`reinflect evaluate`: score predictions against the right forms."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reinflect.cli.options import columns_option, example, option, say, source, source_option
from reinflect.cli.output import Output, output_options
from reinflect.data.form_cells import AS_WRITTEN
from reinflect.data.items import Columns, Forms, Item, read_items, swapped_columns_note, variants_note
from reinflect.data.sheet_file import kind_of_sheet
from reinflect.errors import InputError, printable, quoted, source_name
from reinflect.files import STANDARD
from reinflect.text import counted

if TYPE_CHECKING:
    from reinflect.data.layouts import FilePair
    from reinflect.score.scores import Evaluated, Evaluation, Grouping, Variants

EXAMPLE = example(
    "printf 'gehen\\tging\\tV;PST\\nsehen\\tsah\\tV;PST\\n' > gold.tsv",
    "printf 'gehen\\tgehte\\tV;PST\\nsehen\\tsah\\tV;PST\\n' > predicted.tsv",
    "reinflect evaluate gold.tsv predicted.tsv --errors 5",
)


@click.command("evaluate", epilog=EXAMPLE)
@click.argument("gold", type=source)
@click.argument("predicted", type=source)
@option("--by", "Also score each feature bundle or part of speech.", type=click.Choice(["features", "pos"]))
@option("--any-variant", "Accept any of several gold forms of a cell, not only the last.")
@source_option("--against OTHER", "Other predictions: test whether the difference is more than chance.")
@option("--errors N", "Show the N commonest wrong edits.", type=click.IntRange(min=1))
@option("--languages A,B,…", "Score only these languages of two folders.")
@output_options(json="Print one JSON object.")
@columns_option
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
    insert, delete or replace. A cell (a lemma with its features) without a prediction counts as an empty form; of
    several lines for a cell the last counts. Files of two folders are paired by name, or else by language (german-dev
    with german-low-out), and each language has the same weight. One of the files may be - (standard input).
    """
    from reinflect.score.report import EvaluationReport

    scorer = Scorer(columns, "any" if any_variant else "last")
    rivals = [predicted] if against is None else [predicted, against]
    ours, *others = scorer.evaluate(gold, rivals, languages)
    rival = (source_name(against), others[0]) if against else None
    report = EvaluationReport(source_name(predicted), ours, by, rival, errors or 0)
    say(*(note + (f" (and {counted(more, 'more file')} like this)" if more else "") for note, more in scorer.notes()))
    output.write(report.text, lambda: [report.json()], indent=2)


class Scorer:
    """Scores files, and collects notes about them."""

    def __init__(self, columns: Columns, variants: "Variants") -> None:
        self.columns, self.variants = columns, variants
        self._notes: dict[str, dict[str, None]] = {}

    def notes(self) -> Iterator[tuple[str, int]]:
        """Of notes that differ only in names and numbers the first, with the number of the others."""
        for alike in self._notes.values():
            yield next(iter(alike)), len(alike) - 1

    def _note(self, path: Path | str, *notes: str | None) -> None:
        for note in filter(None, notes):
            kind = re.sub(r"\d+|\(.*\)", "", note.replace(source_name(path), ""))
            self._notes.setdefault(kind, {})[note] = None

    def evaluate(self, gold: str, rivals: Sequence[str], languages: str | None) -> "list[Evaluated]":
        """One evaluation for each of the rivals."""
        from reinflect.data.layouts import FilePair, pair_folders
        from reinflect.score.scores import MacroEvaluation

        if not _are_folders([gold, *rivals]):
            if languages is not None:
                raise InputError("found --languages with two files", "leave it out; it is for folders")
            right = self._read_gold(Path(gold))
            return [self._score(FilePair("", Path(gold), Path(path)), right) for path in rivals]
        wanted = None if languages is None else [language.strip() for language in languages.split(",")]
        paired = []
        for folder in rivals:
            pairs, unknown = pair_folders(Path(gold), Path(folder), wanted)
            paired.append(pairs)
            if unknown:
                self._note(folder, f"note: {folder}: languages without gold are not scored: {', '.join(unknown)}")
        for same in zip(*paired, strict=True):
            if len({pair.gold for pair in same}) > 1:
                golds = " and ".join(pair.gold.name for pair in same)
                different = f"{same[0].language} paired with different gold ({golds}) in {rivals[0]} and {rivals[-1]}"
                raise InputError(f"found {different}", "give predictions for the same gold files in both")
        right_forms = {pair.gold: self._read_gold(pair.gold) for pair in paired[0]}
        name = Path(gold).resolve().name
        return [
            MacroEvaluation(name, {pair.language: self._score(pair, right_forms[pair.gold]) for pair in pairs})
            for pairs in paired
        ]

    def _score(self, pair: "FilePair", right: list[Item]) -> "Evaluation":
        from reinflect.score.scores import evaluate

        path = pair.predicted
        as_written = replace(self.columns, rules=AS_WRITTEN)  # a model's forms have no remarks
        predicted = read_items(path, as_written, forms="optional", note=partial(self._note, path))
        self._note(path, variants_note(predicted, path, "the last counts"))
        name = "stdin" if str(pair.gold) == STANDARD else pair.gold.name
        evaluation = evaluate(right, predicted, name=name, variants=self.variants)
        missing = [cell for cell in evaluation.cells if cell.missing]
        empty = [cell for cell in evaluation.cells if not (cell.missing or cell.predicted)]
        for what, cells in {"not predicted": missing, "predicted without a form": empty}.items():
            if cells:
                such = f"such as {quoted(cells[0].lemma)} {printable(cells[0].features.spelling)}"
                counts = f"{len(cells)} of {evaluation.items} cells are {what} ({such})"
                self._note(path, f"note: {source_name(path)}: {counts}; each counts as an empty form")
        if len(empty) == evaluation.items:
            self._note(path, f"note: {source_name(path)}: no prediction has a form; was this file inflected?")
        return evaluation

    def _read_gold(self, path: Path) -> list[Item]:
        # Gaps in a wide sheet are not scored.
        forms: Forms = "required" if kind_of_sheet(path) else "optional"
        items = read_items(path, self.columns, forms=forms, note=partial(self._note, path))
        covered = [item for item in items if item.covered]
        if len(covered) == len(items):
            remedy = "give the file with the right forms as GOLD (GOLD comes first, then PREDICTED)"
            raise InputError("this file is covered: it has no forms to score against", remedy, path=path)
        if covered:
            finding = f"found no form for {quoted(covered[0].lemma)}"
            raise InputError(finding, "give every line of GOLD a form", path=path, line=covered[0].line)
        rule = "any of them is right" if self.variants == "any" else "the last is right (--any-variant accepts any)"
        self._note(path, variants_note(items, path, rule), swapped_columns_note(items, path, self.columns))
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
