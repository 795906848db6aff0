"""What a word list is worth: `python -m bench.words --data DIR --lists /usr/share/dict --folder DIR`.

For each language a few models learn from the 100 items of its `low` setting, as `reinflect train` does without dev
items. A word list is weighed by the items that they held out, and the forms for the dev items with and without it are
test. `--folder` keeps the models, so that the program goes on where it was stopped. The lists are Debian's
(wspanish, witalian, …); those that are not in UTF-8 are read as Latin-1.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.common import run
from bench.measuring import figures
from bench.pairs import holm
from reinflect.assemble import Keep, with_word_list
from reinflect.data.items import Item, read_items
from reinflect.data.lexicon import WordList
from reinflect.ensemble.confidence import bins, calibration_error
from reinflect.inflector.inflector import Inflector
from reinflect.run.watch import Resources
from reinflect.score.scores import Evaluation, evaluate
from reinflect.score.significance import compare
from reinflect.systems.kind import Wish
from reinflect.train import train_model

LISTS = {
    "spanish": "spanish",
    "italian": "italian",
    "norwegian-bokmal": "bokmaal",
    "catalan": "catalan",
    "dutch": "dutch",
    "danish": "danish",
    "polish": "polish",
    "ukrainian": "ukrainian",
    "english": "american-english",
    "irish": "irish",
}
CHANGES = ("epochs=30", "hidden=64")
SEEDS = 5
"""One for each fold: then every training item is held out by one model."""


def trained(language: str, items: Sequence[Item], folder: Path) -> Inflector:
    """The kept model of a language, or a new one."""
    out = folder / f"{language}.reinflect"
    if not out.exists():
        wish = Wish(["haem-naive"], preset="low", changes=CHANGES, seeds=SEEDS)
        train_model(items, None, wish, Keep(), Resources(workers=2), out=out, source=f"{language}-train-low")
    return Inflector.load(out)


def read_list(path: Path, folder: Path) -> WordList:
    raw = path.read_bytes()
    try:
        raw.decode()
    except UnicodeDecodeError:
        path = folder / f"{path.name}.txt"
        path.write_text(raw.decode("latin-1"), encoding="utf-8")
    return WordList.read(path)


def scored(inflector: Inflector, dev: Sequence[Item], name: str) -> tuple[Evaluation, float]:
    """The score for dev items, and the expected calibration error of the confidences in per cent."""
    answers = inflector.answers(dev)
    forms = [replace(item, form=answer.form) for item, answer in zip(dev, answers, strict=True)]
    pairs = [(answer.confidence or 0.0, answer.form == item.form) for item, answer in zip(dev, answers, strict=True)]
    error = calibration_error(bins(pairs))
    words = inflector.word_list
    return replace(evaluate(dev, forms, name=name), words=f"{words.name}-{words.digest}" if words else ""), 100 * error


def weigh_lists(arguments: argparse.Namespace) -> None:
    arguments.folder.mkdir(exist_ok=True)
    rows, p_values = [], []
    for language in arguments.languages:
        items, dev = (read_items(arguments.data / f"{language}-{split}") for split in ("train-low", "dev"))
        plain = trained(language, items, arguments.folder)
        words = read_list(arguments.lists / LISTS[language], arguments.folder)
        taught = with_word_list(plain, items, None, words)
        assert taught.words is not None
        before, sure_before = scored(plain, dev, f"{language}-dev")
        after, sure_after = scored(taught, dev, f"{language}-dev")
        test = compare(after, before)
        p_values.append(test.p_value)
        right, wrong = (f"{100 * share:.0f}" for share in taught.words.overall[0])
        scores = [f"{before.accuracy:.1f}", f"{after.accuracy:.1f}", f"{test.difference:+.1f}", test.won, test.lost]
        rows.append(
            [language, f"{words.size:,}", right, wrong, *map(str, scores), f"{sure_before:.1f} {sure_after:.1f}"]
        )
        print(after.signature, flush=True)
    header = ["language", "words", "% right in", "% wrong in", "without", "with", "", "won", "lost", "ECE", "p (Holm)"]
    rows = [[*row, f"{p_value:.4f}"] for row, p_value in zip(rows, holm(p_values), strict=True)]
    print(figures(header, rows), end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--lists", type=Path, default=Path("/usr/share/dict"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--languages", nargs="+", default=list(LISTS))
    run(parser, weigh_lists)


if __name__ == "__main__":
    main()
