"""`reinflect report`: a model or a benchmark as one page to look at."""

from pathlib import Path

import click

from reinflect.cli.options import check_output, columns_option, say
from reinflect.data.items import Columns, check_lengths, read_items
from reinflect.errors import InputError
from reinflect.files import write_text

EXAMPLE = """\b
Example (the first three lines make a model, in about a minute):
  reinflect data show german-verbs --split train-low > verbs.tsv
  reinflect data show german-verbs --split dev > dev.tsv
  reinflect train --train verbs.tsv --dev dev.tsv --out verbs.reinflect --seeds 1
  reinflect report verbs.reinflect --dev dev.tsv --out report.html
"""
PAGES = (".html", ".htm")


@click.command("report", epilog=EXAMPLE)
@click.argument("source", metavar="MODEL|DIR")
@click.option(
    "--dev",
    metavar="FILE|DIR",
    help="For a model: items with their right forms, to ask it for. For a benchmark: the folder with its languages' "
    "files, if it is no longer where it was.",
)
@click.option(
    "--out", metavar="FILE.html", default="report.html", show_default=True, help="The page to write (- is the screen)."
)
@columns_option
def command(source: str, dev: str | None, out: str, columns: Columns) -> None:
    """Write a page about MODEL, or about the folder DIR that reinflect benchmark wrote.

    The page is one HTML file that any browser shows, without a network: how the models learnt, how many forms are
    right by part of speech and features, the commonest mistakes letter by letter, and how far the model's confidence
    can be trusted; of a benchmark also the table of runs, the paper's claims and every language.
    """
    if Path(out).suffix.lower() not in ("", *PAGES):
        raise InputError("a report is a page for browsers", "give it a name that ends in .html", path=out)
    check_output(out, _read_from(Path(source), dev), "--out")
    write_text(out, _folder(Path(source), dev) if Path(source).is_dir() else _model(source, dev, columns))
    if out != "-":
        click.echo(f"written: {out} (open it in a browser)", err=True)


def _read_from(source: Path, dev: str | None) -> list[Path]:
    """The files that a page is made of, and might go by its name; other pages that lie among them are not."""
    if not source.is_dir():
        return [source, *([Path(dev)] if dev is not None else [])]
    from reinflect.report.folder import data_of

    data = Path(dev) if dev is not None else data_of(source)
    found = [*source.rglob("*"), *(data.glob("*") if data else ())]
    return [path for path in found if path.suffix.lower() not in PAGES]


def _folder(source: Path, dev: str | None) -> str:
    from reinflect.report.folder import data_of, folder_page, read_folder

    if dev is not None and not Path(dev).is_dir():
        raise InputError("this is not a folder", "for a benchmark, name the folder with its languages' files", path=dev)
    return folder_page(read_folder(source, Path(dev) if dev is not None else data_of(source)))


def _model(source: str, dev: str | None, columns: Columns) -> str:
    items = None if dev is None else read_items(dev, columns, note=say)
    if items is not None and dev is not None:
        check_lengths(items, dev, "models take", "shorten it or take it out")

    from reinflect.inflector.inflector import Inflector
    from reinflect.report.curves import read_log
    from reinflect.report.model import log_beside, model_page

    inflector = Inflector.load(source)
    log = log_beside(Path(source))
    return model_page(
        Path(source).name, inflector, read_log(log) if log.is_file() else [], items, columns.labels or inflector.labels
    )
