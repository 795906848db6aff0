"""`reinflect data`: list, show and download data sets; `reinflect check`: what a file of items has in it."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from reinflect.cli.options import Output, argument, columns_option, command, option, progress_bar, say, source
from reinflect.data import catalog
from reinflect.data.catalog import DataFile, DataSet, Way
from reinflect.data.corrections import swapped_columns_note, two_ways, variants_note
from reinflect.data.form_cells import USUAL_RULES
from reinflect.data.german import SPLITS, read_split
from reinflect.data.items import Columns, Item, check_lengths, format_items, place_of, read_items
from reinflect.data.layouts import BYS, By, split_items
from reinflect.data.sheet_file import Finding
from reinflect.data.sheets import parse_sheet
from reinflect.errors import InputError, counted, nearest, printable, quoted, source_name
from reinflect.files import STANDARD, kind_of_sheet, make_folder
from reinflect.text import visible

SAMPLE = 5
WIDTH = 100
RARE = 2
"""Occurrences of a rare character, at most."""
SWEEPS = 30
MOST_WITHOUT_NUMBA = 1000
"""Items that plain Python aligns in a few seconds."""
PHRASES = {"downloaded": "downloaded", "cached": "from the cache", "kept": "there already"}


@click.group("data", epilog="\b\nExample:\n  reinflect data list")
def data() -> None:
    """List, show and download data sets."""


@command("reinflect data list", group=data, name="list", short_help="List all data sets")
def list_data_sets() -> None:
    """List all data sets with their size, languages, licence, source and citation."""
    click.echo("\n\n".join(map(_entry, catalog.catalog().values())))


@command(
    "reinflect data show german-verbs --split train-low --output german-train-low.tsv",
    group=data,
    short_help="Describe a data set, or print its items",
)
def show(
    name: str = argument(),
    split: str | None = option("--split SPLIT", "Print all items of one split of a bundled data set."),
    output: Output = Output.options("the items of --split go", wide=True),
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


@command(
    "reinflect data fetch conll2017 --languages german,finnish --into conll2017",
    group=data,
    short_help="Download a data set",
)
def fetch(
    name: str = argument(),
    languages: str = option("--languages A,B,…", "Languages to fetch.", default=catalog.EVERY_LANGUAGE),
    into: Path | None = option("--into DIR", "Folder for the files.  [default: the cache]", click.Path(path_type=Path)),
    force: bool = option("--force", "Replace files in DIR that have other content; otherwise one ends the command."),
) -> None:
    """Download a data set and check it; files that are there already are not downloaded again.

    REINFLECT_CACHE names another folder for the cache; REINFLECT_DATA_URL the web address of a folder with the same
    files, which are checked as well. Without a network, copy the files into a folder by hand: every command that reads
    data takes a plain folder.
    """
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


@command(
    "reinflect data show german-verbs --split train-medium --output deu.tsv",
    "reinflect data split deu.tsv --into verbs",
    group=data,
    short_help="Divide a file of UniMorph into training, dev and test items",
)
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
    outputs: dict[Output, list[Item]] = {}
    for file in files:
        parts, stem = split_items(read_items(file, columns, note=say), by, seed), Path(file).stem
        if not all(parts.values()):
            remedy = "give more items" + (", or --by form" if by == "lemma" else "")
            raise InputError(f"found too few {by}s for three parts", remedy, path=file)
        written = {part: Output(str(Path(into) / f"{stem}.{part}"), force=force, option="--into") for part in parts}
        if not outputs.keys().isdisjoint(written.values()):
            raise InputError(f"found two files named {stem}", "give each file a name of its own", path=file)
        outputs |= {written[part]: items for part, items in parts.items()}
    for output in outputs:
        if Path(output.path).exists():
            output.check()
    make_folder(Path(into))
    for output, items in outputs.items():
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


@command(
    "printf 'lemma,V;PST,V;PRS\\ndive,dived / dove,dives\\ngo,went,-\\n' > verbs.csv",
    "reinflect check verbs.csv",
)
def check(
    file: str = argument(source),
    most: int = option("--places N", "Show up to N places of each kind.", click.IntRange(min=0), default=5),
    output: Output = Output.options(json="Print one JSON object, with all places."),
    columns: Columns = columns_option,
) -> None:
    """Say what train would learn from FILE, and what you may want to correct first; FILE is not changed.

    Counts items, cells and gaps. Lists fields that are not plain forms, duplicates, suspicious forms (those that align
    unusually with their lemmas: typing errors, but also irregular words), letters encoded in two ways, and rare
    characters.
    """
    findings: list[Finding] = []
    if kind_of_sheet(file):
        items = parse_sheet(file, columns, forms="optional", record=findings.append)
    else:
        items = read_items(file, columns, forms="optional", note=lambda note: findings.append(Finding(note)))
    examples = [item for item in items if not item.covered]
    if not examples:
        raise InputError("found no item with a form", "give some forms: a model learns from them", path=file)
    check_lengths(items, file, "models take", "shorten it or take it out")
    findings += _findings(file, items, examples, columns)
    findings = [finding._replace(note=finding.note.removeprefix("note: ")) for finding in findings]
    sizes = _sizes(items, examples)
    output.write(
        lambda: _findings_text(file, sizes, findings, most),
        lambda: [{"file": source_name(file), **sizes, "findings": [finding._asdict() for finding in findings]}],
        indent=2,
    )


def _findings_text(file: str, sizes: dict[str, int], findings: Sequence[Finding], most: int) -> str:
    lemmas, bundles = counted(sizes["lemmas"], "lemma"), counted(sizes["bundles"], "bundle")
    cells = f"{sizes['filled']} of {sizes['cells']} cells filled, gaps: {sizes['cells'] - sizes['filled']}"
    lines = [f"{source_name(file)}: {counted(sizes['items'], 'item')} with a form; {lemmas}, {bundles}; {cells}"]
    for finding in findings:
        lines += [finding.note, *(f"  {line}" for line in finding.places[:most])]
        if 0 < most < len(finding.places):
            lines.append(f"  … and {len(finding.places) - most} more (--places N shows more)")
    return "\n".join(lines) + "\n"


def _sizes(items: Sequence[Item], examples: Sequence[Item]) -> dict[str, int]:
    """Gaps are the cells of the file's lemmas and bundles without a form; lemmas differ in their parts of speech."""
    lemmas, bundles = {item.lemma for item in items}, {item.features.cell: item.features for item in items}
    filled = {(item.lemma, item.features.cell) for item in examples}
    bundles_of = Counter(bundle.word_class for bundle in bundles.values())
    cells = sum(bundles_of[part] for _, part in {(item.lemma, item.features.word_class) for item in items})
    counts = {"items": examples, "lemmas": lemmas, "bundles": bundles, "filled": filled}
    return {**{name: len(things) for name, things in counts.items()}, "cells": cells}


def _findings(file: str, items: Sequence[Item], examples: Sequence[Item], columns: Columns) -> Iterator[Finding]:
    from reinflect.align.pairs import unusual
    from reinflect.align.smart import Smart
    from reinflect.compiled import compiles

    def line(item: Item) -> str:
        return printable(f"{place_of(item, file)}: {item.lemma} {item.form} {item.features.spelling}")

    if not kind_of_sheet(file):
        odd = [item for item in examples if USUAL_RULES.read(item.form, item.lemma).kind not in ("plain", "letters")]
        if odd:
            note = f"forms that look like several, a remark or none: {len(odd)}; taken as they are"
            yield Finding(note, [*map(line, odd)])
    yield from map(
        Finding, filter(None, (swapped_columns_note(examples, file, columns), variants_note(examples, file)))
    )
    if encoded := two_ways([(file, items)]):
        yield encoded
    first: dict[tuple[str, str, tuple[str, ...]], Item] = {}
    twice = [
        f"{line(item)} (also in {place_of(earlier, file)})"
        for item in examples
        if (earlier := first.setdefault((item.lemma, item.form, item.features.cell), item)) is not item
    ]
    if twice:
        yield Finding(f"duplicates: {counted(len(twice), 'item')} given again", twice)
    compared = examples if compiles() else examples[:MOST_WITHOUT_NUMBA]
    if len(compared) < len(examples):
        share = f"only the first {len(compared):,} of {len(examples):,}"
        yield Finding(f"forms compared with their lemmas: {share}; to compare all: pip install 'reinflect[train]'")
    if strange := unusual(Smart(sweeps=SWEEPS).align([(item.lemma, item.form) for item in compared])):
        note = f"suspicious forms: {len(strange)}, unlike their lemmas (errors, or irregular words)"
        yield Finding(note, [line(examples[index]) for index in strange])
    counts = Counter(character for item in examples for character in item.lemma + item.form)
    rare = sorted((count, character) for character, count in counts.items() if count <= RARE < len(examples))
    places = []
    for count, character in rare:
        item = next(item for item in examples if character in item.lemma + item.form)
        places.append(f"{visible(character)} (U+{ord(character):04X}), {counted(count, 'time')}, {line(item)}")
    if places:
        yield Finding(f"rare characters: {len(places)}, used once or twice", places)
