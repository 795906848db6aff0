"""`reinflect evaluate`: score predictions against the right forms."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reinflect.cli.options import columns_option, say
from reinflect.data.items import Columns, Item, read_items, swapped_columns_note, variants_note
from reinflect.data.sheet_files import kind_of_sheet
from reinflect.errors import InputError, printable, quoted, source_name
from reinflect.files import STANDARD

if TYPE_CHECKING:
    from reinflect.evaluation.cells import Variants
    from reinflect.evaluation.folders import FilePair
    from reinflect.evaluation.report import Rival
    from reinflect.evaluation.scores import Evaluation, Grouping, MacroEvaluation

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
@click.option("--by", type=click.Choice(["features", "pos"]), help="Score each feature bundle or part of speech too.")
@click.option("--any-variant", is_flag=True, help="Accept any of several gold forms of a cell, not only the last.")
@click.option("--against", metavar="OTHER", help="Other predictions: is the difference between the two real?")
@click.option("--errors", metavar="N", type=click.IntRange(min=1), help="Show the N commonest wrong edits.")
@click.option("--languages", metavar="A,B,…", help="Of two folders, score only these languages.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
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

    Accuracy is the per cent of forms that are right to the letter; Levenshtein is the mean number of letters to
    insert, delete or replace. A cell (a lemma with its features) that is not predicted counts as an empty form; of
    several lines for one cell the last counts. Folders are paired by file name, or else by language
    (german-dev with german-low-out), and each language counts the same in the macro average. One of the files
    may be - (standard input).
    """
    from reinflect.evaluation.report import Report

    rivals = [predicted] if against is None else [predicted, against]
    notes = Notes()
    systems = _evaluate_all(gold, rivals, columns, "any" if any_variant else "last", languages, notes)
    rival = _rival(systems, against)
    report = Report(source_name(predicted), systems[0], by, rival, errors or 0)
    notes.print()
    if as_json:
        import json

        click.echo(json.dumps(report.json(), ensure_ascii=False, indent=2))
    else:
        click.echo(report.text(), nl=False)


class Notes:
    """Remarks for the user, one line for each kind however many files it is about."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._files: dict[str, set[str]] = {}

    def add(self, kind: str, path: Path | str, note: str | None) -> None:
        if note:
            self._first.setdefault(kind, note)
            self._files.setdefault(kind, set()).add(str(path))

    def print(self) -> None:
        for kind, note in self._first.items():
            more = len(self._files[kind]) - 1
            click.echo(note + (f" (and so in {more} more file{'s'[: more > 1]})" if more else ""), err=True)


def _rival(systems: "Sequence[Evaluation | MacroEvaluation]", against: str | None) -> "Rival | None":
    if against is None:
        return None
    from reinflect.evaluation.report import Rival
    from reinflect.evaluation.significance import compare

    ours, others = systems
    return Rival(source_name(against), others, compare(ours, others))


def _evaluate_all(
    gold: str, rivals: Sequence[str], columns: Columns, variants: "Variants", languages: str | None, notes: Notes
) -> "list[Evaluation | MacroEvaluation]":
    """One evaluation for each of the rivals."""
    if _are_folders([gold, *rivals]):
        return _evaluate_folders(Path(gold), [Path(path) for path in rivals], columns, variants, languages, notes)
    if languages is not None:
        raise InputError("found --languages with two files", "leave it out; it is for folders")
    if [gold, *rivals].count(STANDARD) > 1:
        raise InputError("found - (standard input) more than once", "give - for one of the files at most")
    from reinflect.evaluation.scores import evaluate

    right = _read_gold(gold, columns, variants, notes)
    name = "stdin" if gold == STANDARD else Path(gold).name
    return [
        _noting_missing(
            evaluate(right, _read_predicted(path, columns, notes), name=name, variants=variants), path, notes
        )
        for path in rivals
    ]


def _are_folders(paths: Sequence[str]) -> bool:
    """Whether the paths are all folders; files among them, or what is not there, cannot go with a folder."""
    for path in paths:
        if path != STANDARD and not Path(path).exists():
            raise InputError("there is no such file or folder", "check the name", path=path)
    folders = [path for path in paths if Path(path).is_dir()]
    if folders and len(folders) < len(paths):
        other = next(path for path in paths if path not in folders)
        raise InputError(
            f"found a folder ({folders[0]}) together with a file ({other})", "give files only, or folders only"
        )
    return bool(folders)


def _evaluate_folders(
    gold: Path, rivals: Sequence[Path], columns: Columns, variants: "Variants", languages: str | None, notes: Notes
) -> "list[Evaluation | MacroEvaluation]":
    from reinflect.evaluation.folders import pair_folders
    from reinflect.evaluation.scores import MacroEvaluation

    wanted = None if languages is None else [language.strip() for language in languages.split(",")]
    paired = []
    for folder in rivals:
        pairs, unknown = pair_folders(gold, folder, wanted)
        paired.append(pairs)
        if unknown:
            notes.add("unknown", folder, f"note: {folder}: not scored, for want of gold: {', '.join(unknown)}")
    _check_same_gold(paired, rivals)
    right = {pair.gold: _read_gold(pair.gold, columns, variants, notes) for pair in paired[0]}
    return [
        MacroEvaluation(
            gold.resolve().name,
            {pair.language: _evaluate_pair(pair, right[pair.gold], columns, variants, notes) for pair in pairs},
        )
        for pairs in paired
    ]


def _check_same_gold(paired: "Sequence[Sequence[FilePair]]", rivals: Sequence[Path]) -> None:
    """Two systems can be compared only where they answer the same questions."""
    for pairs in zip(*paired, strict=True):
        if len({pair.gold for pair in pairs}) > 1:
            golds = " and ".join(pair.gold.name for pair in pairs)
            raise InputError(
                f"found {pairs[0].language} paired with different gold ({golds}) in {rivals[0]} and {rivals[-1]}",
                "give predictions for the same gold files in both",
            )


def _evaluate_pair(
    pair: "FilePair", right: list[Item], columns: Columns, variants: "Variants", notes: Notes
) -> "Evaluation":
    from reinflect.evaluation.scores import evaluate

    predictions = _read_predicted(pair.predicted, columns, notes)
    scored = evaluate(right, predictions, name=pair.gold.name, variants=variants)
    return _noting_missing(scored, pair.predicted, notes)


def _read_gold(path: Path | str, columns: Columns, variants: "Variants", notes: Notes) -> list[Item]:
    # A wide sheet may have gaps, which are not asked for.
    items = read_items(path, columns, forms="required" if kind_of_sheet(path) else "optional", note=say)
    covered = [item for item in items if item.covered]
    if len(covered) == len(items):
        raise InputError(
            "this file is covered: it has no forms to score against",
            "give the file with the right forms as GOLD (GOLD comes first, then PREDICTED)",
            path=path,
        )
    if covered:
        raise InputError(
            f"found no form for {quoted(covered[0].lemma)}",
            "give every line of GOLD a form",
            path=path,
            line=covered[0].line,
        )
    rule = "any of them is right" if variants == "any" else "the last is right (--any-variant accepts any)"
    notes.add("variants", path, variants_note(items, path, rule))
    notes.add("columns", path, swapped_columns_note(items, path, columns))
    return items


def _read_predicted(path: Path | str, columns: Columns, notes: Notes) -> list[Item]:
    items = read_items(path, columns, forms="optional", note=say)
    notes.add("predicted variants", path, variants_note(items, path, "the last counts"))
    return items


def _noting_missing(scored: "Evaluation", path: Path | str, notes: Notes) -> "Evaluation":
    missing = next((cell for cell in scored.cells if cell.missing), None)
    if missing:
        what = (
            "no cell of the gold is"
            if scored.missing == scored.items
            else f"{scored.missing} of {scored.items} cells are not"
        )
        such = f"such as {quoted(missing.lemma)} {printable(missing.features.spelling)}"
        notes.add(
            "missing", path, f"note: {source_name(path)}: {what} predicted ({such}); each counts as an empty form"
        )
    return scored
