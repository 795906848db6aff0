"""Whether confidences can be trusted: `python -m bench.calibration --data ../shared/data/conll2017 RESULTS`.

RESULTS is a folder of `reinflect benchmark`; nothing is trained. Each language's dev items are cut in two by chance.
On one half the voters are chosen and the confidence is fitted, on the other it is measured, then the other way round:
what is shown is of all items, none of which had a part in its own confidence. (Each model's best state was chosen on
all of them.) The expected calibration error is of ten bins of equal width, and of ten with equally many items; beside
it is what a perfect confidence would have by chance, which for some hundred items is much.
"""

import argparse
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from bench.common import run
from bench.measuring import figures
from reinflect.ensemble.confidence import Bin, bins, calibration_error
from reinflect.ensemble.strategies import DEFAULT
from reinflect.errors import InputError
from reinflect.paper.corpora import SETTINGS, languages_in, read_corpora
from reinflect.paper.page import measured
from reinflect.run.packs import by_key, read_results
from reinflect.run.store import Store

TEN = "arabic finnish german hindi hungarian irish navajo quechua russian turkish"
DRAWS = 20
HEADER = ("language", "items", "accuracy", "confidence", "ECE width", "ECE mass", "by chance", "Brier")
Forms = Sequence[tuple[float, bool]]
"""Confidences, and whether the forms were right."""


def equal_bins(forms: Forms, count: int = 10) -> list[Bin]:
    """A reliability diagram with the same number of forms in each bin."""
    table = np.array(forms, dtype=np.float64).reshape(-1, 2)
    order = np.argsort(table[:, 0], kind="stable")
    return [Bin.of(table[part]) for part in np.array_split(order, count) if len(part)]


def by_chance(confidences: Sequence[float]) -> float:
    """The calibration error that the same confidences would have if they were perfect."""
    chance = random.Random(1)
    draws = [[(confidence, chance.random() < confidence) for confidence in confidences] for _ in range(DRAWS)]
    return fmean(calibration_error(bins(drawn)) for drawn in draws)


def row(name: str, forms: Forms) -> list[str]:
    confidences, right = [confidence for confidence, _ in forms], [correct for _, correct in forms]
    errors = calibration_error(bins(forms)), calibration_error(equal_bins(forms))
    squared = fmean((confidence - correct) ** 2 for confidence, correct in forms)
    numbers = [f"{number:.4f}" for number in (*errors, by_chance(confidences), squared)]
    return [name, str(len(forms)), f"{fmean(right):.3f}", f"{fmean(confidences):.3f}", *numbers]


def report(languages: Mapping[str, Forms]) -> str:
    together = [form for forms in languages.values() for form in forms]
    rows = [row(language, forms) for language, forms in languages.items()]
    means = ["mean", "", *(f"{fmean(float(row[column]) for row in rows):.4f}" for column in range(2, len(HEADER)))]
    diagram = [(str(part.items), f"{part.confidence:.3f}", f"{part.accuracy:.3f}") for part in bins(together)]
    text = figures(HEADER, [*rows, means, row("together", together)])
    return f"{text}\n{figures(('items', 'confidence', 'accuracy'), diagram, words=0)}"


def calibrate(arguments: argparse.Namespace) -> None:
    wanted = None if arguments.languages == ["all"] else arguments.languages
    corpora, _ = read_corpora(arguments.data, languages_in(arguments.data, wanted), [arguments.setting])
    models = by_key(read_results(Store.inside(arguments.results).packs)).values()
    languages = {}
    for corpus in corpora:
        trained = [m for m in models if (m.language, m.setting) == (corpus.language, corpus.setting)]
        if forms := measured(corpus, trained, arguments.strategy):
            languages[corpus.language] = forms
    if not languages:
        what = f"found no models of these languages at {arguments.setting}"
        raise InputError(what, "train some", path=arguments.results)
    print(report(languages), end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", type=Path, help="a folder of `reinflect benchmark`")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--setting", choices=SETTINGS, default="low")
    parser.add_argument("--languages", nargs=1, default=TEN.split(), help="names joined by commas, or all")
    parser.add_argument("--strategy", default=DEFAULT)
    run(parser, calibrate)


if __name__ == "__main__":
    main()
