"""`reinflect check`: what a file of items has in it, before a model learns from it."""

from collections import Counter
from collections.abc import Iterator, Sequence

import click

from reinflect.cli.options import argument, columns_option, command, example, option, source
from reinflect.cli.output import Output, output_options
from reinflect.data.form_cells import USUAL_RULES
from reinflect.data.items import Columns, Item, check_lengths, place_of, read_items, swapped_columns_note, variants_note
from reinflect.data.sheet_file import Finding, kind_of_sheet
from reinflect.data.sheets import parse_sheet
from reinflect.data.words import two_ways
from reinflect.errors import InputError, printable, source_name
from reinflect.text import counted, visible

RARE = 2
"""Occurrences of a rare character, at most."""
SWEEPS = 30
MOST_WITHOUT_NUMBA = 1000
"""Items that plain Python aligns in a few seconds."""


EXAMPLE = example(
    "printf 'lemma,V;PST,V;PRS\\ndive,dived / dove,dives\\ngo,went,-\\n' > verbs.csv", "reinflect check verbs.csv"
)


@command("check", EXAMPLE)
def check(
    file: str = argument(source),
    most: int = option("--places N", "Show up to N places of each kind.", click.IntRange(min=0), default=5),
    output: Output = output_options(json="Print one JSON object, with all places."),
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
        lambda: _text(file, sizes, findings, most),
        lambda: [{"file": source_name(file), **sizes, "findings": [finding._asdict() for finding in findings]}],
        indent=2,
    )


def _text(file: str, sizes: dict[str, int], findings: Sequence[Finding], most: int) -> str:
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
