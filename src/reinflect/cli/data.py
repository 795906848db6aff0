"""`reinflect data`: list, show and download data sets."""

import textwrap
from collections.abc import Iterable
from pathlib import Path

import click

from reinflect.cli.options import argument, columns_option, command, example, option, say, source
from reinflect.cli.output import Output, output_options, progress_bar
from reinflect.data import catalog
from reinflect.data.catalog import DataFile, DataSet, Way
from reinflect.data.german import SPLITS, read_split
from reinflect.data.items import Columns, Item, format_items, read_items
from reinflect.data.layouts import BYS, By, split_items
from reinflect.errors import InputError, quoted
from reinflect.files import CACHE_VARIABLE, STANDARD, make_folder
from reinflect.text import counted, nearest

SAMPLE = 5
WIDTH = 100
PHRASES = {"downloaded": "downloaded", "cached": "from the cache", "kept": "there already"}


@click.group("data", epilog=example("reinflect data list"))
def data() -> None:
    """List, show and download data sets."""


@command("list", example("reinflect data list"), data, short_help="List all data sets")
def list_data_sets() -> None:
    """List all data sets with their size, languages, licence, source and citation."""
    click.echo("\n\n".join(map(_entry, catalog.catalog().values())))


SHOW = example("reinflect data show german-verbs --split train-low --output german-train-low.tsv")


@command("show", SHOW, data, short_help="Describe a data set, or print its items")
def show(
    name: str = argument(),
    split: str | None = option("--split SPLIT", "Print all items of one split of a bundled data set."),
    output: Output = output_options("the items of --split go", wide=True),
) -> None:
    """Describe a data set; with --split, print its items: tab-separated, or as a spreadsheet (.csv, .xlsx)."""
    data_set = catalog.find(name)
    if split is not None:
        if not data_set.bundled:
            remedy = f"get it from {data_set.source}" if data_set.described else f"reinflect data fetch {name}"
            raise InputError(f"{name} is not bundled with reinflect", f"{remedy}, and look at its files")
        if split not in SPLITS:
            remedy = nearest(split, SPLITS, f"the splits are {', '.join(SPLITS)}")
            raise InputError(f"there is no split {quoted(split)}", remedy)
        output.check()
        output.write_items(read_split(split))
        return
    if output.path != STANDARD:
        raise InputError("found --output without --split", "name the split to write, such as --split train-low")
    more = f"\n\n{_wrapped('languages', ', '.join(data_set.languages))}" * (not data_set.described)
    if data_set.bundled:
        lines = format_items(read_split(SPLITS[0])[:SAMPLE], STANDARD).replace("\t", "  ").splitlines()
        more = "\n    ".join([f"\n\n  first items of {SPLITS[0]} (lemma, form, features):", *lines])
    click.echo(f"{_entry(data_set)}{more}")


FETCH = f"""
{CACHE_VARIABLE} names another folder for the cache; {catalog.URL_VARIABLE} the web address of a folder with the
same files, which are checked as well. Without a network, copy the files into a folder by hand: every command that reads
data takes a plain folder.

{example("reinflect data fetch conll2017 --languages german,finnish --into conll2017")}
"""


@command("fetch", FETCH, data, short_help="Download a data set")
def fetch(
    name: str = argument(),
    languages: str = option("--languages A,B,…", "Languages to fetch.", default=catalog.EVERY_LANGUAGE),
    into: Path | None = option("--into DIR", "Folder for the files.  [default: the cache]", click.Path(path_type=Path)),
    force: bool = option(
        "--force", "Replace files in DIR that have other content; without it, one such file ends the command."
    ),
) -> None:
    """Download a data set and check it; files that are there already are not downloaded again."""
    data_set = catalog.find(name)
    total, sizes = sum(file.size for file in data_set.files_of(languages)), list[int]()
    with progress_bar(name) as move:

        def arrived(file: DataFile, way: Way) -> None:
            sizes.append(file.size)
            if move:
                move(sum(sizes), total)
            elif way == "downloaded":
                say(f"downloaded {file.name} ({_bytes([file])})")

        fetched = catalog.fetch(data_set, languages, into, force=force, arrived=arrived)
    files = f"{counted(len(sizes), 'file')} of {counted(len({file.language for file in fetched.files}), 'language')}"
    ways = ", ".join(f"{fetched.ways.count(way)} {PHRASES[way]}" for way in PHRASES if way in fetched.ways)
    click.echo(f"{name}: {files} ({_bytes(fetched.files)}; {ways}), in {fetched.folder}\nlicence: {data_set.licence}")
    if data_set.citation:
        click.echo(f"please cite: {data_set.citation}")


SPLIT = example(
    "reinflect data show german-verbs --split train-medium --output deu.tsv",
    "reinflect data split deu.tsv --into verbs",
)


@command("split", SPLIT, data, short_help="Divide a file of UniMorph into training, dev and test items")
def split(
    files: tuple[str, ...] = argument(source, nargs=-1, required=True),
    into: str = option("--into DIR", "Folder for CODE.trn, CODE.dev and CODE.tst of each file CODE.", required=True),
    by: By = option("--by", "What no two parts share: lemmas, or single forms.", click.Choice(BYS), default=BYS[0]),
    seed: int = option("--seed S", "Another seed draws other items.", click.IntRange(min=0), default=1),
    force: bool = option("--force", "Replace existing files of these names."),
    columns: Columns = columns_option,
) -> None:
    """Divide files with all forms of a language, as UniMorph releases them, into training, dev and test items.

    A tenth of the items becomes dev, a tenth test, at most 1,000 each; the others, at most 10,000, are for training.
    The same file, --by and --seed always give the same parts. DIR is then ready for `reinflect benchmark --data DIR`.
    """
    outputs: dict[str, list[Item]] = {}
    for file in files:
        parts = split_items(read_items(file, columns, note=say), by, seed)
        if not all(parts.values()):
            remedy = "give more items" + (", or --by form" if by == "lemma" else "")
            raise InputError(f"found too few {by}s for three parts", remedy, path=file)
        stems = {part: str(Path(into) / f"{Path(file).stem}.{part}") for part in parts}
        if not outputs.keys().isdisjoint(stems.values()):
            raise InputError(f"found two files named {Path(file).stem}", "give each file a name of its own", path=file)
        outputs |= {stem: parts[part] for part, stem in stems.items()}
    written = [Output(path, force=force, option="--into") for path in outputs]
    for output in written:
        if Path(output.path).exists():
            output.check()
    make_folder(Path(into))
    for output in written:
        items = outputs[output.path]
        output.write_items(items, about=f" ({len(items)} items)")


def _entry(data_set: DataSet) -> str:
    size = f"{len(data_set.languages)} languages, {len(data_set.files)} files, {_bytes(data_set.files)}"
    if data_set.bundled:
        size = "1 language; items: " + ", ".join(f"{split} {len(read_split(split))}" for split in SPLITS)
    lines = {
        "what": data_set.description,
        "size": "" if data_set.described else size,
        "licence": data_set.licence,
        "from": data_set.source,
        "cite": data_set.citation,
        "get it": f"reinflect data fetch {data_set.name}" if data_set.files else "",
        "see it": f"reinflect data show {data_set.name} --split train-low" if data_set.bundled else "",
    }
    described = (_wrapped(label, text) for label, text in lines.items() if text)
    return "\n".join([f"{data_set.name}: {data_set.title}", *described])


def _wrapped(label: str, text: str) -> str:
    wrapper = textwrap.TextWrapper(WIDTH, f"  {label:<10}", " " * 12, break_on_hyphens=False, break_long_words=False)
    return wrapper.fill(" ".join(text.split()))


def _bytes(files: Iterable[DataFile]) -> str:
    size = sum(file.size for file in files)
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
