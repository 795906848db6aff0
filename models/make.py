"""Make the pocket models of tables of words: `python -m models.make --tables TABLES --out OUT --into FOLDER`.

TABLES is what `python -m models.sources` wrote. For each language one small model learns from cells of its table, and
then inflects all of them: what it gets wrong, or right by a hair, are the exceptions of the dictionary in its file. OUT
keeps what is chosen (its folder `items` is all that the stage `train` needs, on another machine) and what is trained:
the same command resumes.
"""

import argparse
import hashlib
import math
import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench.common import run
from models.choose import Choice, choose
from models.exceptions import confidence, exceptions

from reinflect.align.pairs import default_folder
from reinflect.assemble import Keep, assemble
from reinflect.cli.train import SECONDS_BETWEEN, checkpoint_seconds, cores, device_for
from reinflect.data.items import COLUMNS_2017, Item, read_items, write_items
from reinflect.decode.search import greedy, shared_out
from reinflect.ensemble.strategies import NOTHING_PREDICTED, Member, Trained
from reinflect.errors import InputError, ReinflectError, StoppedError
from reinflect.files import make_folder
from reinflect.inflector.dictionary import Dictionary
from reinflect.inflector.file import Numbers, rounded
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import ENDING, add_model
from reinflect.learn.lesson import Lesson, ModelSpec, specs
from reinflect.run.driver import train_specs
from reinflect.run.packs import by_key
from reinflect.run.store import Store
from reinflect.run.watch import Resources, display
from reinflect.run.work import map_in_processes
from reinflect.systems.kind import Wish, make_plan

STAGES = ("choose", "train", "pack")
MOST_ITEMS, MANY = 60_000, 40_000
"""Cells that a model learns from, at most; those with more than `MANY` learn from batches of 32 instead of 16."""
SMALL = ("embedding=100", "hidden=100", "history_hidden=100", "smart.sweeps=20")
"""What differs from the preset `high`."""
UPDATES, MOST_EPOCHS = 25_000, 60
"""A model has about so many updates; twice as many, or 120,000 cells, are no better on lemmas it has not seen."""
PACK_MEMORY, TRAINERS = 2 << 30, 8
"""On a GPU: bytes of a pack, which has some eight models, and how many packs train at the same time."""
NUMBERS: Numbers = "eighth"
LARGEST = 1_200_000
"""Bytes of a file."""
LICENCE = [
    "CC BY-SA 4.0. Its sources, with their licences, are named above, with its dictionary.",
    "Cite the sources that matter to you, and UniMorph: Batsuren et al. (2022), UniMorph 4.0: Universal Morphology.",
]


def lesson(folder: Path, language: str) -> Lesson:
    """What was chosen of a table, as a model learns from it."""
    learnt, dev = (tuple(read_items(folder / f"{language}-{part}", COLUMNS_2017)) for part in ("train", "dev"))
    return Lesson(learnt, dev, language=language)


def spec_of(corpus: Lesson, changes: Sequence[str] = ()) -> ModelSpec:
    items = len(corpus.train)
    batch = 32 if items > MANY else 16
    epochs = min(MOST_EPOCHS, max(1, round(UPDATES * batch / items)))
    length = (f"batch={batch}", f"epochs={epochs}", f"patience={max(2, epochs // 3)}")
    wish = Wish(systems=["haem"], alignments=["smart"], preset="high", changes=(*SMALL, *length, *changes), seeds=1)
    [spec] = specs(make_plan(wish, items), [corpus])
    return spec


def train(languages: Sequence[str], arguments: argparse.Namespace) -> None:
    """Train the models, and write each into OUT/models as a file without a dictionary."""
    end = math.inf if arguments.time_limit is None else time.monotonic() + arguments.time_limit
    wanted = [spec_of(lesson(arguments.out / "items", language), arguments.set) for language in languages]
    store, device = Store.inside(arguments.out / "training", numbers=True), device_for(arguments.device)
    with store.held(), display() as watcher:
        resources = Resources(
            device=device,
            workers=cores(),
            trainers=arguments.workers or (TRAINERS if device == "cuda" else None),
            pack_memory=PACK_MEMORY,
            checkpoint_seconds=checkpoint_seconds(SECONDS_BETWEEN),
            alignment_cache=default_folder(),
            watcher=watcher,
            enough=lambda: time.monotonic() >= end,
        )
        execution = train_specs(wanted, store, resources)
        trained = by_key(store.finished)
        ready = [spec for spec in wanted if spec.digest in trained and trained[spec.digest].usable]
        folder = make_folder(arguments.out / "models")
        for spec in ready:
            path = folder / f"{spec.lesson.language}{ENDING}"
            write_alone(spec.lesson, store.member(spec, trained[spec.digest]), trained[spec.digest], path)
    if execution.failed:
        raise ReinflectError(execution.failed)
    if len(ready) < len(wanted):
        raise StoppedError(f"{len(wanted) - len(ready)} of {len(wanted)} models are not trained yet, or diverged")


def write_alone(corpus: Lesson, member: Member, trained: Trained, path: Path) -> None:
    """Write a model file without a dictionary; its accuracy is that of the numbers in the file, on unseen lemmas."""
    small = rounded(member, NUMBERS)
    [dev] = shared_out(lambda each: greedy(each.words, corpus.dev), [small], len(corpus.dev))
    voter, keep = replace(trained, dev=dev, asked=NOTHING_PREDICTED), Keep(attested=False, normalisation="nfc")
    source = f"the table of {corpus.language}"
    inflector = assemble([(voter, small)], corpus.train, corpus.dev, keep, strategy="vote", source=source)
    inflector.save(path, numbers=NUMBERS)


def complete(model: Inflector, choice: Choice) -> Inflector:
    """The model with its dictionary, and a confidence for words that are not in it."""
    fitted = confidence(model, choice.rare, choice.dev)
    model = replace(model, confidences={"vote": fitted} if fitted else {})
    cells, about = exceptions(model, choice.table), choice.about
    marks = "".join(chr(int(mark.removeprefix("U+"), 16)) for mark in about["marks"])
    credit = "; ".join(f"{name} ({licence})" for several in about["credits"].values() for name, licence in several)
    texts = {"marks": marks, "letters": about["letters_with_marks"], "credit": credit}
    return replace(model, dictionary=Dictionary.of(cells, about["bundles"], **texts))


def write_complete(language: str, tables: Path, out: Path, items: int) -> tuple[Choice, int]:
    """Write a trained model with its dictionary; lemmas that are used least are left out if the file is too large."""
    choice = choose(tables, language, items)
    alone = Inflector.load(out / "models" / f"{language}{ENDING}")
    path, words = complete_file(out, language), len(choice.table)
    while True:
        complete(alone, choice._replace(table=choice.table[:words])).save(path, numbers=NUMBERS)
        if path.stat().st_size <= LARGEST:
            return choice._replace(table=[], learnt=[]), choice.about["left_out"] + len(choice.table) - words
        words = int(0.97 * words * LARGEST / path.stat().st_size)


def complete_file(out: Path, language: str) -> Path:
    return out / "models" / f"{language}.complete"


def pack(languages: Sequence[str], arguments: argparse.Namespace) -> None:
    """Put the models with their dictionaries into FOLDER, with their cards."""
    out, into = arguments.out, arguments.into
    command = shlex.join(["runs/pocket.sh", "WIDE", "OUT", *(["--set", *arguments.set] if arguments.set else [])])
    write = partial(write_complete, tables=arguments.tables, out=out, items=arguments.items)
    for language, (choice, left_out) in zip(
        languages, map_in_processes(write, languages, workers=arguments.workers or cores()), strict=True
    ):
        sha = hashlib.sha256((arguments.tables / f"{language}.tsv").read_bytes()).hexdigest()
        about = {"Licence and citation": LICENCE, "Origin": [f"Command: {command}", f"Table: SHA-256 {sha}"]}
        about |= {"Left out": [f"{left_out:,} cells, of lemmas that are used least"]} if left_out else {}
        model = add_model(into, complete_file(out, language), language, choice.dev, command=command, about=about)
        size = f"{model.lemmas:,} words, {model.cells:,} forms, {model.size:,} bytes"
        print(f"{language}: {size}; of other words {model.accuracy:.2f} % right", flush=True)
    print(f"{sum(path.stat().st_size for path in into.glob(f'*{ENDING}')) / 1e6:.1f} MB in {into}")


def make(arguments: argparse.Namespace) -> None:
    items = make_folder(arguments.out / "items")
    languages = arguments.languages or sorted(path.stem for path in arguments.tables.glob("*.json"))
    if not languages:
        raise InputError("found no tables", "make them: python -m models.sources", path=arguments.tables)
    if "choose" in arguments.stages:
        for language in languages:
            choice = choose(arguments.tables, language, arguments.items)
            parts: dict[str, list[Item]] = {"train": choice.learnt, "dev": choice.dev}
            for part, chosen in parts.items():
                write_items(items / f"{language}-{part}", chosen)
    if "train" in arguments.stages:
        train(languages, arguments)
    if "pack" in arguments.stages:
        pack(languages, arguments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True, help="the folder of `python -m models.sources`")
    parser.add_argument("--out", type=Path, required=True, help="a folder for what is trained")
    parser.add_argument("--into", type=Path, required=True, help="a folder of pocket models")
    parser.add_argument("--languages", nargs="+", help="all of the tables by default")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES, help="all by default")
    parser.add_argument("--items", type=int, default=MOST_ITEMS, help="cells that a model learns from, at most")
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="preset changes")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--workers", type=int, default=None, help="processes that train")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="stop training after this time")
    run(parser, make)


if __name__ == "__main__":
    main()
