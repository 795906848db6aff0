"""`reinflect models`, `info` and `report`: about models; also what all commands that use a trained model share."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reinflect.cli.options import (
    Gathered,
    Output,
    argument,
    columns_option,
    command,
    option,
    say,
    source,
    strategy_option,
)
from reinflect.data.features import Bundle
from reinflect.data.items import COLUMNS_AUTO, Columns, Forms, Item, check_lengths, normalised, read_items
from reinflect.data.lexicon import Lexicon, WordList, read_lemmas
from reinflect.errors import InputError, UnseenWarning, printable, quoted
from reinflect.files import lines_of, read_text
from reinflect.text import table

if TYPE_CHECKING:
    from reinflect.ensemble.confidence import Answer
    from reinflect.inflector.inflector import Inflector

ATTESTED = "✓"
TRAINING = (
    "reinflect data show german-verbs --split train-low > verbs.tsv",
    "reinflect train --train verbs.tsv --out verbs.reinflect --seeds 1 --systems haem --alignments naive",
)
model_command = partial(command, *TRAINING, about="two lines train a model; MODEL may be a language: reinflect models")
"""A command whose example needs a model."""
EXPLAINED = """\
words, forms: those of the dictionary in the model, whose forms are exact
guesses right: of forms of words that the model did not learn from (without a dictionary: of dev items)
text right: of the nouns, verbs and adjectives of running text whose features the model has
"""
PAGES = (".html", ".htm")


def model_file(name: str) -> str:
    """The type of arguments and options that are models: the file of each, where a language is named too."""
    from reinflect.inflector.pocket import find_model

    return name and source(str(find_model(name, lambda note: say(f"note: {note}"))))


def load_inflector(path: str) -> "Inflector":
    from reinflect.inflector.pocket import load

    warnings.simplefilter("ignore", UnseenWarning)  # the notes of `doubts` say it
    return load(Path(path))


def read_for_models(path: str, columns: Columns, forms: Forms = "required") -> list[Item]:
    """The items of a file, none longer than models take."""
    items = read_items(path, columns, forms=forms, note=say)
    check_lengths(items, path, "models take", "shorten or remove it")
    return items


@dataclass(frozen=True)
class ModelArgument:
    """A model, and how it is used: its voters, its word list, and the columns and labels of the files that it reads."""

    model: str
    strategy: str | None = None
    words: WordList | None = None
    columns: Columns = COLUMNS_AUTO
    marks: bool = False

    @cached_property
    def inflector(self) -> "Inflector":
        """The inflector; the user's labels, if there are any, take the place of its own."""
        inflector = load_inflector(self.model)
        inflector = inflector if self.strategy is None else inflector.using(self.strategy)
        if self.words:
            inflector = inflector.with_words(self.words)
            if (trained := inflector.words) and trained.digest != self.words.digest:
                say(f"note: MODEL was trained with another word list: {trained.name}, {trained.words:,} words")
        return replace(inflector, labels=self.columns.labels or inflector.labels, keeps_marks=self.marks)

    def read_lemmas(self, path: str | None) -> Lexicon:
        if path is None:
            raise InputError("found no lemmas to choose from", "name a file of them with --lemmas")
        lexicon = read_lemmas(path, self.columns, note=say)
        check_lengths([Item(lemma, Bundle("")) for lemma in lexicon.lemmas], path, "models take", "remove it")
        return lexicon

    def bundles(self, path: str | None) -> list[str]:
        """The bundles of a file that has one on each line, or those of the training items or of the dictionary."""
        return self.inflector.usual_bundles() if path is None else read_bundles(path, self.to_features)

    def to_features(self, text: str) -> str:
        """The features of a label or bundle, with a note if a label is spelled in another case."""
        labels = self.inflector.labels
        if (spelled := labels.spelled(text, self.inflector.atoms)) != text:
            say(f"note: {quoted(text)} is read as {quoted(spelled)}, as your label is spelled")
        return labels.to_features(spelled)

    def doubts(self, bundles: Iterable[Bundle]) -> list[str]:
        """Notes about features, and combinations of them, that the model has not seen."""
        return [f"note: {doubt}" for doubt in self.inflector.doubts(bundles)]


def model_argument(**uses: Any) -> Any:
    """MODEL, with options that say how it is used: a `ModelArgument`."""
    return Gathered(ModelArgument, model=argument(model_file), **uses)


members_option = strategy_option("Which members of MODEL vote, instead of those chosen in training")
marks = option("--marks", "Keep the marks of MODEL's dictionary, such as the macrons of Latin.")
bundles_option = option(
    "--features FILE",
    "The forms you want: the features of one on each line, such as V;IND;PST;3;SG (default: those MODEL learnt from).",
    source,
)


def read_bundles(path: str, to_features: Callable[[str], str]) -> list[str]:
    lines, remedy = list(lines_of(read_text(path), path)), "write only the features of one form on each line"
    for number, line in lines:
        if "\t" in line:
            raise InputError(f"found several columns in {quoted(line)}", remedy, path=path, line=number)
    bundles = list(dict.fromkeys(to_features(line) for _, line in lines if line.strip(" ")))
    if not bundles:
        raise InputError("found no features", remedy, path=path)
    return bundles


def confidence_text(answer: "Answer") -> str:
    """The confidence in per cent; the share of votes where the model has no confidences; ✓ if it is attested."""
    if answer.attested:
        return ATTESTED
    return f"{answer.votes}/{answer.voters}" if answer.confidence is None else f"{100 * answer.confidence:.0f} %"


def confidence_cell(answer: "Answer", decimals: int = 3) -> str | float:
    """The confidence for a spreadsheet: a word if the form is attested, empty where the model has no confidence."""
    if answer.attested:
        return "attested"
    return "" if answer.confidence is None else round(answer.confidence, decimals)


@command("reinflect models")
def models() -> None:
    """List the pocket models: small models of many languages, with their dictionaries and their accuracy.

    Every command takes a language where it asks for MODEL: reinflect inflect finnish talo 'N;IN+ESS;PL'. A name with a
    slash or an ending is a file of your own (./finnish, finnish.reinflect). The models come with the package
    reinflect-models; the variable REINFLECT_MODELS may name another folder of models.
    """
    from reinflect.inflector.pocket import INSTALL, models_folder, read_index

    folder = models_folder()
    index = {} if folder is None else read_index(folder)
    if not index:
        raise InputError("no pocket models are installed", f"install them: {INSTALL}")
    header = ("language", "words", "forms", "guesses right", "text right", "size", "date")
    rows = [
        (
            name,
            f"{model.lemmas:,}" if model.lemmas else "–",
            f"{model.cells:,}" if model.cells else "–",
            f"{model.accuracy:.1f} %",
            "–" if model.text is None else f"{model.text:.1f} %",
            f"{model.size / 1e3:.0f} KB",
            model.date,
        )
        for name, model in index.items()
    ]
    click.echo(table(header, rows, sides=("left", "right", "right", "right", "right", "right", "left")))
    click.echo(EXPLAINED)
    size = sum(model.size for model in index.values()) / 1e6
    click.echo(f"{len(index)} pocket models, {size:.1f} MB, in {printable(str(folder))}")


@model_command("reinflect info verbs.reinflect")
def info(
    model: ModelArgument = model_argument(),
    output: Output = Output.options(json="Print one JSON object, with every setting and every count."),
) -> None:
    """Show the training data of MODEL, its accuracy, its members, and the features and characters it knows."""
    from reinflect.inflector.card import card_text

    card = model.inflector.card
    output.write(lambda: card_text(card), lambda: [card], indent=2)


@model_command(
    "reinflect data show german-verbs --split dev > dev.tsv",
    "reinflect report verbs.reinflect --dev dev.tsv --out report.html",
)
def report(
    subject: str = argument(model_file, metavar="MODEL|DIR"),
    dev: str | None = option("--dev FILE|DIR", "Items to score a model on, or a benchmark's data, if moved.", source),
    forecast: str | None = option("--forecast FILE.json", "To draw for a model: a file of reinflect forecast.", source),
    output: Output = Output.options("to write the page", names="--out FILE.html", default="report.html", force=False),
    columns: Columns = columns_option,
) -> None:
    """Write a page about MODEL, or about the folder DIR that reinflect benchmark wrote.

    The page is one HTML file that needs no network: learning curves, accuracy by part of speech and features, the
    commonest mistakes character by character, and how reliable the confidences are; for a benchmark also the table of
    runs, the paper's claims, and every language.
    """
    if Path(output.path).suffix.lower() not in ("", *PAGES):
        raise InputError("a report is an HTML page", "give it a name that ends in .html", path=output.path)
    if Path(subject).is_dir():
        if forecast is not None:
            raise InputError("found --forecast for a benchmark", "give it with a model", path=subject)
        page = _folder_page(Path(subject), dev, output)
    else:
        output.check(replaces="page")
        page = _model_page(ModelArgument(subject, columns=columns), dev, forecast)
    output.write(lambda: page, about=" (open it in a browser)")


def _folder_page(folder: Path, dev: str | None, output: Output) -> str:
    from reinflect.paper.page import benchmark_page, data_of

    data = data_of(folder) if dev is None else Path(dev)
    inputs = [*folder.rglob("*"), *(data.glob("*") if data else ())]
    output.check(*(path for path in inputs if path.suffix.lower() not in PAGES), replaces="page")
    if data is not None and not data.is_dir():
        raise InputError("this is not a folder", "for a benchmark, name the folder with its data", path=data)
    return benchmark_page(folder, data)


def _model_page(model: ModelArgument, dev: str | None, forecast: str | None) -> str:
    from reinflect.forecast import Forecast
    from reinflect.report.drawing import read_log
    from reinflect.report.model import model_page

    inflector, log = model.inflector, Path(f"{model.model}.log.jsonl")
    columns = replace(model.columns, labels=inflector.labels)
    items = [] if dev is None else normalised(read_for_models(dev, columns), inflector.normalisation)
    say(*model.doubts(item.features for item in items))
    curves = read_log(log) if log.is_file() else []
    expected = None if forecast is None else Forecast.read(forecast)
    return model_page(Path(model.model).name, inflector, curves, items, expected)
