"""Make the tables of the pocket languages: `python -m models.sources --wide FOLDER --out TABLES`."""

import argparse
from pathlib import Path

from models.sources.tables import build
from models.sources.wide import languages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wide", type=Path, required=True, help="the folder that wide.tar.xz unpacks to")
    parser.add_argument("--out", type=Path, required=True, help="a folder for the tables, LANGUAGE.tsv")
    parser.add_argument("--languages", default="", help="such as german,finnish (all)")
    parser.add_argument(
        "--cache", type=Path, default=Path("models/cache"), help="a folder for downloaded packages (%(default)s)"
    )
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for language in arguments.languages.split(",") if arguments.languages else languages(arguments.wide):
        table, report = build(language, arguments.wide, arguments.cache)
        for source, rows, mapped, both, agree in report:
            share = f"the same form in {agree / both:.1%} of {both} cells of others" if both else "no cell of others"
            print(f"{language}: {source}: {rows} rows, {mapped} with a bundle of ours, {share}")
        with (arguments.out / f"{language}.tsv").open("w", encoding="utf-8") as file:
            for lemma, bundle, forms, sources, uses in table.shipped():
                print(lemma, bundle, ",".join(sorted(sources)), uses, *forms, sep="\t", file=file)


if __name__ == "__main__":
    main()
