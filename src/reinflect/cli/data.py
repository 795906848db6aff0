"""`reinflect data`: list, show and download data sets."""

import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from reinflect.cli.options import output_option, wide_option
from reinflect.data import catalog
from reinflect.data.catalog import DataFile, DataSet, Fetched, Way
from reinflect.data.items import Item, format_items, write_items
from reinflect.errors import InputError
from reinflect.files import STANDARD

SAMPLE = 5
WIDTH = 100


@click.group(
    "data",
    epilog="\b\nExample:\n  reinflect data list",
)
def command() -> None:
    """List, show and download data sets."""


@command.command("list", short_help="List the data sets we know", epilog="\b\nExample:\n  reinflect data list")
def list_data_sets() -> None:
    """List the data sets we know: size, languages, licence, citation, where they come from."""
    click.echo("\n\n".join(_entry(data_set) for data_set in catalog.catalog().values()))


@command.command(
    "show",
    short_help="Say what a data set is, or print its items",
    epilog="\b\nExample:\n  reinflect data show german-verbs --split train-low --output german-train-low.tsv",
)
@click.argument("name")
@click.option(
    "--split",
    metavar="SPLIT",
    help="All items of one split of bundled data, as tab-separated lines or, by the name of FILE, as a spreadsheet.",
)
@output_option("--split writes")
@wide_option
def show(name: str, split: str | None, output: str, wide: bool) -> None:
    """Say what a data set is; with --split, give the items of a bundled one."""
    data_set = catalog.find(name)
    if split is not None:
        write_items(output, _items_of(data_set, split), wide=wide)
    elif output != STANDARD:
        raise InputError("found --output without --split", "say which split to write, such as --split train-low")
    else:
        click.echo(_entry(data_set))
        click.echo("\n" + (_sample(data_set) if data_set.bundled else _wrapped("languages", data_set.languages)))


@command.command(
    "fetch",
    short_help="Download a data set",
    epilog=f"""
    A file of the same name that is already in DIR is left alone when it is the right one; when it is another, nothing
    is fetched unless --force is given.

    {catalog.CACHE_VARIABLE} names another folder for the cache. {catalog.URL_VARIABLE} names the address of another
    folder on the web that holds the same files (a mirror); they are checked all the same. Without a network, copy the
    files into a folder by hand: every command that wants data takes a plain folder.

    \b
    Example:
      reinflect data fetch conll2017 --languages german,finnish --into conll2017
    """,
)
@click.argument("name")
@click.option(
    "--languages",
    metavar="NAMES",
    default=catalog.EVERY_LANGUAGE,
    show_default=True,
    help="Languages to fetch, with commas between them.",
)
@click.option(
    "--into",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder to put the files into; made if it is not there.  [default: the cache]",
)
@click.option("--force", is_flag=True, help="Replace files in DIR that are not the data set's.")
def fetch(name: str, languages: str, into: Path | None, force: bool) -> None:
    """Download a data set, check it, and keep it: a second run downloads nothing."""
    data_set = catalog.find(name)
    with _progress(data_set, languages) as arrived:
        fetched = catalog.fetch(data_set, languages, into, force=force, arrived=arrived)
    click.echo(_summary(data_set, fetched))


def _entry(data_set: DataSet) -> str:
    lines = {
        "what": data_set.description,
        "size": _bundled_size() if data_set.bundled else _size(data_set),
        "licence": data_set.licence,
        "from": data_set.source,
        "cite": data_set.citation,
        "get it": "" if data_set.bundled else f"reinflect data fetch {data_set.name}",
        "see it": f"reinflect data show {data_set.name} --split train-low" if data_set.bundled else "",
    }
    described = (_wrapped(label, text.split()) for label, text in lines.items() if text)
    return "\n".join([f"{data_set.name}: {data_set.title}", *described])


def _wrapped(label: str, words: list[str]) -> str:
    separator = ", " if label == "languages" else " "
    return textwrap.fill(
        separator.join(words),
        WIDTH,
        initial_indent=f"  {label:<10}",
        subsequent_indent=" " * 12,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _size(data_set: DataSet) -> str:
    return f"{len(data_set.languages)} languages, {len(data_set.files)} files, {_bytes(data_set.size)}"


def _bundled_size() -> str:
    from reinflect.data.german import SPLITS, read_split

    return "1 language; items: " + ", ".join(f"{split} {len(read_split(split))}" for split in SPLITS)


def _items_of(data_set: DataSet, split: str) -> list[Item]:
    from reinflect.data.german import SPLITS, read_split

    if not data_set.bundled:
        raise InputError(
            f"{data_set.name} does not come with reinflect",
            f"download it (reinflect data fetch {data_set.name}) and look at its files",
        )
    if split not in SPLITS:
        raise catalog.unknown_name("split", split, SPLITS, f"the splits are {', '.join(SPLITS)}")
    return read_split(split)


def _sample(data_set: DataSet) -> str:
    from reinflect.data.german import SPLITS

    items = _items_of(data_set, SPLITS[0])[:SAMPLE]
    shown = format_items(items, STANDARD).replace("\t", "  ").splitlines()
    return "\n".join([f"  the first of {SPLITS[0]} (lemma, form, features):", *(f"    {line}" for line in shown)])


@contextmanager
def _progress(data_set: DataSet, languages: str) -> Iterator[Callable[[DataFile, Way], None]]:
    """What to tell of each file: a bar on a terminal, elsewhere a line for each that was downloaded."""
    if not sys.stderr.isatty():
        yield _say
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(data_set.name, total=sum(file.size for file in data_set.files_of(languages)))
        yield lambda file, _way: progress.update(task, advance=file.size, description=file.name)


def _say(file: DataFile, way: Way) -> None:
    if way == "downloaded":
        click.echo(f"downloaded {file.name} ({_bytes(file.size)})", err=True)


def _summary(data_set: DataSet, fetched: Fetched) -> str:
    languages = len({file.language for file in fetched.files})
    counts = {"downloaded": "downloaded", "cached": "from the cache", "kept": "there already"}
    ways = ", ".join(f"{fetched.ways.count(way)} {said}" for way, said in counts.items() if way in fetched.ways)
    return "\n".join(
        [
            f"{data_set.name}: {_count(len(fetched.files), 'file')} of {_count(languages, 'language')} "
            f"({_bytes(fetched.size)}; {ways}), in {fetched.folder}",
            f"licence: {data_set.licence}",
            *([f"please cite: {data_set.citation}"] if data_set.citation else []),
        ]
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _bytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
