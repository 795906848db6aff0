"""`reinflect report`: a model or a benchmark as one web page."""

from dataclasses import replace
from pathlib import Path

import click

from reinflect.cli import models
from reinflect.cli.options import columns_option, say, source_option
from reinflect.cli.output import Output, output_options
from reinflect.data.items import Columns, normalised
from reinflect.errors import InputError

EXAMPLE = models.model_example(
    "reinflect data show german-verbs --split dev > dev.tsv",
    "reinflect report verbs.reinflect --dev dev.tsv --out report.html",
)
PAGES = (".html", ".htm")


@click.command("report", epilog=EXAMPLE)
@click.argument("subject", metavar="MODEL|DIR", type=models.model_file)
@source_option("--dev FILE|DIR", "Items to score a model on; the data of a benchmark, if it has moved.")
@source_option("--forecast FILE.json", "For a model: a file of reinflect forecast, to draw as a curve.")
@output_options("to write the page (- is the screen)", names="--out path FILE.html", default="report.html", force=False)
@columns_option
def command(subject: str, dev: str | None, forecast: str | None, output: Output, columns: Columns) -> None:
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
        page = _model_page(subject, dev, forecast, columns)
    output.write(lambda: page, about=" (open it in a browser)")


def _folder_page(folder: Path, dev: str | None, output: Output) -> str:
    from reinflect.paper.page import benchmark_page, data_of

    data = data_of(folder) if dev is None else Path(dev)
    inputs = [*folder.rglob("*"), *(data.glob("*") if data else ())]
    output.check(*(path for path in inputs if path.suffix.lower() not in PAGES), replaces="page")
    if data is not None and not data.is_dir():
        raise InputError("this is not a folder", "for a benchmark, name the folder with its data", path=data)
    return benchmark_page(folder, data)


def _model_page(path: str, dev: str | None, forecast: str | None, columns: Columns) -> str:
    from reinflect.forecast import Forecast
    from reinflect.report.curves import read_log
    from reinflect.report.model import model_page

    model = models.ModelArgument(path, columns=columns)
    inflector, log = model.inflector, Path(f"{path}.log.jsonl")
    columns = replace(columns, labels=inflector.labels)
    items = [] if dev is None else normalised(models.read_for_models(dev, columns), inflector.normalisation)
    say(*model.doubts(item.features for item in items))
    curves = read_log(log) if log.is_file() else []
    expected = None if forecast is None else Forecast.read(forecast)
    return model_page(Path(path).name, inflector, curves, items, expected)
