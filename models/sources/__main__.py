"""Make the tables of the pocket languages: `python -m models.sources --wide FOLDER --out TABLES`.

`--write-mapping` compares the forms of all sources anew and writes what their bundles mean, for review, to `meanings`.
"""

import argparse
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from models.sources.bundles import FOLDER, write_meanings
from models.sources.tables import DICTIONARIES, Report, Table, build
from models.sources.wide import credit, languages

MOST_CELLS = 300_000
VARIANTS = " / "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wide", type=Path, required=True, help="the folder that wide.tar.xz unpacks to")
    parser.add_argument("--out", type=Path, help="a folder for the tables, LANGUAGE.tsv and LANGUAGE.json")
    parser.add_argument("--write-mapping", action="store_true", help=f"write {FOLDER.name}/LANGUAGE.tsv")
    parser.add_argument("--languages", default="", help="such as german,finnish (all)")
    parser.add_argument(
        "--cache", type=Path, default=Path("models/cache"), help="a folder for downloaded packages (%(default)s)"
    )
    arguments = parser.parse_args()
    for language in arguments.languages.split(",") if arguments.languages else languages(arguments.wide):
        table, report = build(language, arguments.wide, arguments.cache, learn=arguments.write_mapping)
        if arguments.write_mapping:
            write_meanings(language, table.paradigms.meanings)
        for line in described(language, report):
            print(line)
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
            print(f"{language}: {write_table(arguments.out, language, table)}", flush=True)


def described(language: str, report: list[Report]) -> Iterator[str]:
    """A line for each source."""
    for source, rows, mapped, both, agree in report:
        share = f"the same form in {agree / both:.1%} of {both} cells of others" if both else "no cell of others"
        yield f"{language}: {source}: {rows} rows, {mapped} with a bundle of ours, {share}"


def write_table(folder: Path, language: str, table: Table) -> str:
    """Write the cells that may be shipped, those of the most used lemmas first, and what is known of them.

    Each line has a lemma, a bundle, its forms (the usual one first), how often running text has one of them, and the
    sources that have one. `LANGUAGE.rare.tsv` has what running text has once: confidences are fitted on it.
    """
    shipped = table.shipped()
    cells = list(islice(shipped, MOST_CELLS))
    left_out = sum(1 for _ in shipped)
    with (folder / f"{language}.tsv").open("w", encoding="utf-8") as file:
        for lemma, bundle, forms, sources, uses in cells:
            print(lemma, bundle, VARIANTS.join(forms), uses, ",".join(sorted(sources)), sep="\t", file=file)
    with (folder / f"{language}.rare.tsv").open("w", encoding="utf-8") as file:
        for lemma, form, bundle, uses in table.rare():
            print(lemma, bundle, form, uses, sep="\t", file=file)
    names = set().union(*(cell.sources for cell in cells))
    credits = {name: credit(name, language) for name in sorted(names - set(DICTIONARIES))}
    credits |= {name: [(source.credit, source.licence)] for name, (source, _) in DICTIONARIES.items() if name in names}
    used = {cell.lemma: table.uses[table.paradigms.recipe.plain(cell.lemma)] for cell in cells}
    content = {
        "language": language,
        "cells": len(cells),
        "left_out": left_out,
        "credits": credits,
        "bundles": table.paradigms.bundles,
        "marks": [f"U+{ord(mark):04X}" for mark in table.paradigms.recipe.marks],
        "letters_with_marks": table.paradigms.recipe.letters,
        "uses": {lemma: uses for lemma, uses in sorted(used.items(), key=lambda item: (-item[1], item[0])) if uses},
    }
    (folder / f"{language}.json").write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return f"{len(cells)} cells, {left_out} left out"


if __name__ == "__main__":
    main()
