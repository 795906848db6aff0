"""`reinflect report`: a model or a benchmark as one web page."""

from dataclasses import replace
from pathlib import Path

import click

from reinflect.cli.files import check_output, read_for_model, say_written
from reinflect.cli.models import load_inflector, model_example, model_file, say_doubts
from reinflect.cli.options import columns_option, option
from reinflect.data.items import Columns, normalised
from reinflect.errors import InputError
from reinflect.files import write_text

EXAMPLE = model_example(
    "reinflect data show german-verbs --split dev > dev.tsv",
    "reinflect report verbs.reinflect --dev dev.tsv --out report.html",
)
PAGES = (".html", ".htm")


@click.command("report", epilog=EXAMPLE)
@click.argument("source", metavar="MODEL|DIR", type=model_file)
@option(
    "--dev FILE|DIR",
    "For a model: items with their right forms, to score it on. For a benchmark: the folder with its data, if "
    "that has moved.",
)
@option("--forecast FILE.json", "For a model: a file of reinflect forecast, to be drawn as a curve.")
@option("--out FILE.html", "The page to write (- is the screen).", default="report.html")
@columns_option
def command(source: str, dev: str | None, forecast: str | None, out: str, columns: Columns) -> None:
    """Write a page about MODEL, or about the folder DIR that reinflect benchmark wrote.

    The page is one HTML file, which any browser shows without a network: learning curves, accuracy by part of speech
    and features, the commonest mistakes character by character, and how reliable the model's confidence is; for a
    benchmark also the table of runs, the paper's claims, and every language.
    """
    path = Path(source)
    if Path(out).suffix.lower() not in ("", *PAGES):
        raise InputError("a report is an HTML page", "give it a name that ends in .html", path=out)
    if path.is_dir():
        if forecast is not None:
            raise InputError("found --forecast for a benchmark", "give it with a model", path=source)
        from reinflect.paper.page import benchmark_page, data_of

        data = data_of(path) if dev is None else Path(dev)
        inputs = [*path.rglob("*"), *(data.glob("*") if data else ())]
        check_output(out, [own for own in inputs if own.suffix.lower() not in PAGES], "--out", again="page")
        if data is not None and not data.is_dir():
            raise InputError("this is not a folder", "for a benchmark, name the folder with its data", path=data)
        page = benchmark_page(path, data)
    else:
        check_output(out, [source, dev, forecast], "--out", again="page")
        page = _model_page(source, dev, forecast, columns)
    write_text(out, page)
    say_written(out, " (open it in a browser)")


def _model_page(source: str, dev: str | None, forecast: str | None, columns: Columns) -> str:
    from reinflect.forecast import Forecast
    from reinflect.report.curves import read_log
    from reinflect.report.model import model_page

    inflector = load_inflector(source)
    columns = replace(columns, labels=columns.labels or inflector.labels)
    items = None if dev is None else normalised(read_for_model(dev, columns), inflector.normalisation)
    say_doubts(inflector, [item.features for item in items or ()], columns.labels)
    log = Path(f"{source}.log.jsonl")
    curves = read_log(log) if log.is_file() else []
    expected = None if forecast is None else Forecast.read(forecast)
    return model_page(Path(source).name, inflector, curves, items, columns.labels, expected)
