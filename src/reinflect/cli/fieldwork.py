"""`reinflect fill`, `suggest` and `analyse`: for collecting forms, in your own spreadsheet or from a speaker."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from reinflect.cli import models
from reinflect.cli.models import ModelArgument, confidence_cell, confidence_text, model_argument, model_command
from reinflect.cli.options import POSITIVE, Output, argument, columns_option, option, say, source, word
from reinflect.data.corrections import read_further
from reinflect.data.features import Bundle
from reinflect.data.form_cells import UNCONFIRMED
from reinflect.data.items import Item, check_lengths
from reinflect.data.lexicon import Lexicon
from reinflect.data.sheet_file import Entry, letters_of, listed, write_entries
from reinflect.data.sheet_layout import CONFIDENCE, GUESS, Layout
from reinflect.data.sheets import Gap, read_gaps
from reinflect.errors import InputError, OutputError, printable, quoted, source_name
from reinflect.files import STANDARD, kind_of_sheet
from reinflect.text import table

if TYPE_CHECKING:
    from reinflect.ensemble.confidence import Answer

COLOURS = ("FFE699", "C6E0B4")
"""Of guesses, yellow, and of attested forms, green."""
Filled: TypeAlias = "Sequence[tuple[Gap, Answer]]"


@model_command(
    "printf 'lemma,gloss,V;IND;PRS;3;SG,V;IND;PST;3;SG\\nsagen,say,sagt,\\nlachen,laugh,,\\n' > mine.csv",
    "reinflect fill verbs.reinflect mine.csv --output filled.csv",
)
def fill(
    model: ModelArgument = model_argument(strategy=models.members_option, columns=columns_option, marks=models.marks),
    sheet: str = argument(source),
    output: Output = Output.options("the filled sheet goes: a file of the same kind", default=""),
    beside: bool = option("--beside", "Put guesses and confidences into new columns after the last; leave gaps empty."),
) -> None:
    """Fill the empty fields of SHEET, a .csv or .xlsx file of your own, with the predictions of MODEL.

    All else stays as it is: columns and their order, colours, widths, and every field with anything in it, even if
    that says that there is no form. After each guess stands a question mark, so that training on the filled sheet
    leaves it out; delete the mark when you have confirmed the form. Attested forms, which a person gave or MODEL's
    dictionary has, have no mark. In an .xlsx file guesses are yellow, attested forms green, and a further sheet has
    the confidences.
    """
    output.check()
    if not (kind := kind_of_sheet(sheet)):
        remedy = "give a .csv or .xlsx file; reinflect inflect --input takes tab-separated items"
        raise InputError("only a spreadsheet can be filled", remedy, path=sheet)
    if kind_of_sheet(output.path) != kind:
        remedy = f"give --output a name that ends in {kind}"
        raise OutputError(output.path, f"a filled {kind} file is one as well", remedy)
    inflector, labels = model.inflector, model.inflector.labels
    layout, gaps = read_gaps(sheet, replace(model.columns, labels=labels), say)
    atoms = frozenset(inflector.atoms)
    bundles = [gap.item.features for gap in gaps]
    if unknown := {each.spelling for each in bundles if atoms.isdisjoint(each.atoms) or inflector.lacks(each)}:
        gaps = [gap for gap in gaps if gap.item.features.spelling not in unknown]
        say(f"note: not filled, as MODEL knows none of these features: {listed(sorted(unknown))}")
    if not gaps:
        raise InputError("found no gap to fill", "leave the fields of wanted forms empty", path=sheet)
    items = [gap.item for gap in gaps]
    check_lengths(items, sheet, "models take", "shorten or remove it")
    answers = zip(gaps, inflector.answers(items, attested=True), strict=True)
    # A form of no letters is no guess that a person could confirm.
    filled = [(gap, answer) for gap, answer in answers if answer.form]
    rows: list[Sequence[str | float]] = [("row", "column", "lemma", "features", "form", "confidence")]
    for (row, column, item), answer in filled:
        features = labels.to_label(item.features.spelling)
        rows.append([row, letters_of(column), item.lemma, features, answer.text, confidence_cell(answer)])
    entries = _beside(layout, filled) if beside else map(_in_gap, filled)
    write_entries(output.path, layout.sheet, list(entries), rows, say)
    attested = sum(answer.attested for _, answer in filled)
    guesses = f"{len(filled) - attested}, {'beside the gaps' if beside else f'marked by{UNCONFIRMED}'}"
    notes = model.doubts(item.features for item in items)
    output.written(notes, f" (guesses: {guesses}; attested forms: {attested})")


def _in_gap(filled: "tuple[Gap, Answer]") -> Entry:
    gap, answer = filled
    text = answer.text if answer.attested else answer.form + UNCONFIRMED
    return Entry(gap.row, gap.column, text, COLOURS[answer.attested])


def _beside(layout: Layout, filled: Filled) -> Iterator[Entry]:
    """Two columns for each column of forms with gaps, after the last column."""
    sheet = layout.sheet
    if not layout.headed:
        raise sheet.error("found no headings", "name the columns lemma, form and features, or leave --beside out")
    width = max(row.width for row in sheet.rows)
    new_columns: dict[int, int] = {}
    for gap, answer in filled:
        if gap.column not in new_columns:
            new_columns[gap.column] = width + 2 * len(new_columns)
            heading = "" if "features" in layout.places else f": {sheet.header[gap.column]}"
            for offset, title in enumerate((GUESS, CONFIDENCE)):
                yield Entry(sheet.rows[0].number, new_columns[gap.column] + offset, title + heading)
        column = new_columns[gap.column]
        yield Entry(gap.row, column, answer.text, COLOURS[answer.attested])
        yield Entry(gap.row, column + 1, confidence_cell(answer))


@model_command(
    "printf 'fliegen\\nlachen\\nsehen\\n' > lemmas.txt",
    "reinflect suggest verbs.reinflect --lemmas lemmas.txt --n 5",
)
def suggest(
    model: ModelArgument = model_argument(columns=columns_option),
    lemmas: str | None = option(
        "--lemmas FILE",
        "Lemmas, one per line, or items with known forms (default: some of MODEL's dictionary).",
        source,
    ),
    most: int = option("--n N", "Number of suggestions.", POSITIVE, default=20),
    bundles: str | None = models.bundles_option,
    files: tuple[str, ...] = option("--known FILE", "Further items whose forms you have.", source, multiple=True),
    spread: bool = option("--spread/--no-spread", "Spread over lemmas and bundles: models learn more.", default=True),
    output: Output = Output.options(
        "the suggestions go: a table on the screen; in a file (tab-separated, .csv or .xlsx), items to fill in"
    ),
) -> None:
    """Suggest which forms to ask a speaker for: those with the lowest confidence of MODEL come first.

    The table on the screen has the model's prediction and its confidence. In a file the forms are empty: fill in what
    the speaker says, and give the file to reinflect train --add, which ignores lines without a form.
    """
    from reinflect.inflector.analyse import CELLS, open_cells, ranked

    output.check()
    inflector, dictionary, columns = model.inflector, model.inflector.dictionary, model.columns
    lexicon = Lexicon(tuple(dictionary.sample(CELLS))) if dictionary and not lemmas else model.read_lemmas(lemmas)
    in_dictionary = dictionary.items(lexicon.lemmas, models.ATTESTED) if dictionary else []
    lexicon = lexicon.knowing([*inflector.attested, *in_dictionary])
    for path in files:
        lexicon = lexicon.knowing(read_further(path, columns, inflector.bundles, forms="optional", note=say))
    wanted = model.bundles(bundles)
    parts = sorted({Bundle(bundle).word_class for bundle in wanted} - {""})
    if lemmas and len(parts) > 1 and not lexicon.items:
        say(
            f"note: {source_name(lemmas)}: the part of speech of the lemmas ({', '.join(parts)}) is not known, so "
            "forms of all are suggested; choose some with --features, or name a file of items with --known"
        )
    cells = open_cells(lexicon, wanted, None if lemmas else CELLS)
    suggestions = ranked(inflector, cells, most, spread=spread, progress=_say_progress)
    if not suggestions:
        raise InputError("found no unknown forms to suggest", "give other lemmas, or more --features", path=lemmas)
    if output.path != STANDARD and not kind_of_sheet(output.path):
        output.write_items((Item(cell.lemma, Bundle(cell.features)) for cell in suggestions), columns)
        return
    label, sheet_label = inflector.labels.to_label, columns.labels.to_label
    lines, rows = [], []
    for lemma, features, answer in ((cell.lemma, cell.features, cell.answer) for cell in suggestions):
        lines.append((*map(printable, (lemma, label(features), answer.form)), confidence_text(answer)))
        rows.append((lemma, "", sheet_label(features), answer.form, confidence_cell(answer)))
    header = ("lemma", "features", "prediction", "confidence")
    output.write(
        lambda: table(header, lines, sides=("left", "left", "left", "right")),
        rows=lambda: (("lemma", "form", "features", "guess", "confidence"), rows),
    )


def _say_progress(done: int, cells: int) -> None:
    if done < cells:
        say(f"predicted {done} of {cells} forms")


@model_command("reinflect analyse verbs.reinflect flogst --lemmas verbs.tsv")
def analyse(
    model: ModelArgument = model_argument(strategy=models.members_option, columns=columns_option),
    form: str = argument(lambda form: word(form, "form")),
    lemmas: str | None = option(
        "--lemmas FILE", "Further lemmas to choose from: one on each line, or items, whose forms are attested.", source
    ),
    most: int = option("--n N", "Number of answers.", POSITIVE, default=5),
    output: Output = Output.options(json="Print a JSON object."),
) -> None:
    """Say which lemma and features FORM could have, by the predictions of MODEL for known lemmas.

    MODEL was not trained to analyse: it inflects the lemmas that look most like FORM, and the answers are the cells for
    which it predicts FORM, each with the confidence of that prediction. Forms of other lemmas are not found.
    """
    from reinflect.inflector.analyse import analyse

    lexicon, inflector = model.read_lemmas(lemmas) if lemmas else Lexicon(()), model.inflector
    dictionary = inflector.dictionary.lemmas if inflector.dictionary else ()
    names = {*lexicon.lemmas, *(item.lemma for item in inflector.attested), *dictionary}
    if not names:
        raise InputError("found no lemmas to choose from", "name a file of them with --lemmas")
    analyses, label = analyse(inflector, form, lexicon, most), inflector.labels.to_label
    rows = [
        (
            printable(each.lemma),
            printable(label(each.features)),
            confidence_text(each.answer) if each.answer else "attested",
        )
        for each in analyses
    ]
    nothing = f"note: the model predicts {quoted(form)} for no cell of the {len(names)} known lemmas"
    output.write(
        lambda: table(("lemma", "features", "confidence"), rows, sides=("left", "left", "right")) if rows else "",
        lambda: [{"form": form, "analyses": analyses}],
        indent=2,
        notes=[None if rows else nothing],
    )
