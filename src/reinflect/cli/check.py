"""`reinflect check`: what a file of items has in it, before a model learns from it."""

from collections import Counter
from collections.abc import Iterator, Sequence

import click

from reinflect.cli.files import json_text
from reinflect.cli.options import columns_option, option
from reinflect.data.form_cells import USUAL_RULES
from reinflect.data.items import Columns, Item, check_lengths, place_of, read_items, swapped_columns_note, variants_note
from reinflect.data.sheet_file import Finding, kind_of_sheet
from reinflect.data.sheets import parse_sheet
from reinflect.data.words import two_ways
from reinflect.errors import InputError, printable, source_name
from reinflect.text import counted, visible

EXAMPLE = """\b
Example:
  printf 'lemma,V;PST,V;PRS\\ndive,dived / dove,dives\\ngo,went,-\\n' > verbs.csv
  reinflect check verbs.csv
"""
RARE = 2
"""Occurrences of a rare character, at most."""
SWEEPS = 30
MOST_WITHOUT_NUMBA = 1000
"""Items that plain Python aligns in a few seconds."""


@click.command("check", epilog=EXAMPLE)
@click.argument("file")
@option("--places most N", "Show up to N places of each kind.", type=click.IntRange(min=0), default=5)
@option("--json as_json", "Print one JSON object, with all places.")
@columns_option
def command(file: str, most: int, as_json: bool, columns: Columns) -> None:
    """Say what train would learn from FILE, and what you may want to correct first.

    Counts items, cells and gaps, and lists fields that are not plain forms, items given twice, forms that are unlike
    their lemmas in a way that others are not (by their alignment: typing errors, but also irregular words), letters
    that are encoded in two ways, and rare characters. FILE is not changed.
    """
    findings: list[Finding] = []
    if kind_of_sheet(file):
        items = parse_sheet(file, columns, forms="optional", record=findings.append)
    else:
        items = read_items(file, columns, forms="optional", note=lambda text: findings.append(Finding(text)))
    known = [item for item in items if not item.covered]
    if not known:
        raise InputError("found no item with a form", "give some forms: a model learns from them", path=file)
    check_lengths(items, file, "models take", "shorten it or take it out")
    findings += _about(file, items, known, columns)
    sizes = _sizes(items, known)
    if as_json:
        said = [{"note": one.note.removeprefix("note: "), "places": list(one.places)} for one in findings]
        click.echo(json_text({"file": source_name(file), **sizes, "findings": said}, indent=2), nl=False)
        return
    lemmas, bundles = counted(sizes["lemmas"], "lemma"), counted(sizes["bundles"], "bundle")
    click.echo(
        f"{source_name(file)}: {counted(sizes['items'], 'item')} with a form; {lemmas}, {bundles}; "
        f"{sizes['filled']} of {sizes['cells']} cells filled, gaps: {sizes['cells'] - sizes['filled']}"
    )
    for finding in findings:
        click.echo(finding.note.removeprefix("note: "))
        for place in finding.places[:most]:
            click.echo(f"  {place}")
        if 0 < most < len(finding.places):
            click.echo(f"  … and {len(finding.places) - most} more (--places N shows more)")


def _sizes(items: Sequence[Item], known: Sequence[Item]) -> dict[str, int]:
    """Gaps are the cells of the file's lemmas and bundles without a form; lemmas differ in their parts of speech."""
    lemmas, bundles = {item.lemma for item in items}, {item.features.cell for item in items}
    filled = {(item.lemma, item.features.cell) for item in known}
    parts = Counter(part for _, part in {(item.lemma, item.features.word_class) for item in items})
    own = Counter(bundle.word_class for bundle in {item.features.cell: item.features for item in items}.values())
    cells = sum(many * own[part] for part, many in parts.items())
    return {"items": len(known), "lemmas": len(lemmas), "bundles": len(bundles), "filled": len(filled), "cells": cells}


def _about(file: str, items: Sequence[Item], known: Sequence[Item], columns: Columns) -> Iterator[Finding]:
    def shown(item: Item) -> str:
        return printable(f"{place_of(item, file)}: {item.lemma} {item.form} {item.features.spelling}")

    if not kind_of_sheet(file):
        marked = [item for item in known if USUAL_RULES.read(item.form, item.lemma).kind not in ("plain", "letters")]
        if marked:
            text = f"forms that look like several, a remark or none: {len(marked)}; taken as they are"
            yield Finding(text, [*map(shown, marked)])
    for note in (swapped_columns_note(known, file, columns), variants_note(known, file)):
        if note:
            yield Finding(note)
    if found := two_ways([(file, items)]):
        yield found
    seen: dict[tuple[str, str, tuple[str, ...]], Item] = {}
    twice = []
    for item in known:
        first = seen.setdefault((item.lemma, item.form, item.features.cell), item)
        if first is not item:
            twice.append(f"{shown(item)} (also in {place_of(first, file)})")
    if twice:
        yield Finding(f"duplicates: {counted(len(twice), 'item')} given again", twice)
    from reinflect.align.smart import Smart
    from reinflect.align.unusual import unusual
    from reinflect.compiled import compiles

    compared = known if compiles() else known[:MOST_WITHOUT_NUMBA]
    if len(compared) < len(known):
        remedy = "to compare all: pip install 'reinflect[train]'"
        note = f"forms compared with their lemmas: only the first {len(compared):,} of {len(known):,}; {remedy}"
        yield Finding(note)
    if strange := unusual(Smart(sweeps=SWEEPS).align([(item.lemma, item.form) for item in compared])):
        note = f"suspicious forms: {len(strange)}, unlike their lemmas (errors, or irregular words)"
        yield Finding(note, [shown(known[place]) for place in strange])
    counts = Counter(character for item in known for character in item.lemma + item.form)
    if rare := sorted((many, character) for character, many in counts.items() if many <= RARE and len(known) > RARE):
        places = []
        for many, character in rare:
            item = next(item for item in known if character in item.lemma + item.form)
            places.append(f"{visible(character)} (U+{ord(character):04X}), {counted(many, 'time')}, {shown(item)}")
        yield Finding(f"rare characters: {len(rare)}, used once or twice", places)
