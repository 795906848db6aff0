"""Whether confidences can be trusted: `python -m bench.calibration --data ../shared/data/conll2017 RESULTS`.

RESULTS is a folder of `reinflect benchmark`; nothing is trained. Each language's dev items are cut in two by chance.
On one half the voters are chosen and the confidence is fitted, on the other it is measured, then the other way round:
what is shown is of all items, none of which had a part in its own confidence. (Each model's best state was chosen on
all of them.) The expected calibration error is of ten bins of equal width, and of ten with equally many items; beside
it is what a perfect confidence would have by chance, which for some hundred items is much.
"""

import argparse
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from reinflect.ensemble.confidence import Bin, bins, calibration_error
from reinflect.ensemble.strategies import DEFAULT
from reinflect.errors import InputError, ReinflectError
from reinflect.paper.corpora import SETTINGS, languages_in, read_corpora
from reinflect.paper.page import measured
from reinflect.run.pack_files import by_key, read_results
from reinflect.run.store import Store
from reinflect.text import table

TEN = "arabic finnish german hindi hungarian irish navajo quechua russian turkish"
DRAWS = 20


def equal_bins(confidences: Sequence[float], right: Sequence[bool], count: int = 10) -> list[Bin]:
    """A reliability diagram with the same number of forms in each bin."""
    sure, good = np.array(confidences, dtype=np.float64), np.array(right, dtype=np.float64)
    order = np.argsort(sure, kind="stable")
    return [Bin.of(sure[own], good[own]) for own in np.array_split(order, count) if len(own)]


@dataclass(frozen=True)
class Measured:
    """Confidences, and whether the forms were right."""

    confidences: Sequence[float]
    right: Sequence[bool]

    @classmethod
    def joined(cls, parts: Iterable["Measured"]) -> "Measured":
        kept = list(parts)
        return cls([one for part in kept for one in part.confidences], [one for part in kept for one in part.right])

    def by_chance(self) -> float:
        """The calibration error that the same confidences would have if they were perfect."""
        chance = random.Random(1)
        draws = [[chance.random() < one for one in self.confidences] for _ in range(DRAWS)]
        return fmean(calibration_error(bins(self.confidences, drawn)) for drawn in draws)

    def row(self, name: str) -> list[str]:
        squared = fmean((one - right) ** 2 for one, right in zip(self.confidences, self.right, strict=True))
        return [
            name,
            str(len(self.right)),
            f"{fmean(self.right):.3f}",
            f"{fmean(self.confidences):.3f}",
            f"{calibration_error(bins(self.confidences, self.right)):.4f}",
            f"{calibration_error(equal_bins(self.confidences, self.right)):.4f}",
            f"{self.by_chance():.4f}",
            f"{squared:.4f}",
        ]


def report(found: Mapping[str, Measured]) -> str:
    header = ("language", "items", "accuracy", "confidence", "ECE width", "ECE mass", "by chance", "Brier")
    together = Measured.joined(found.values())
    rows = [one.row(language) for language, one in found.items()]
    means = ["mean", "", *(f"{fmean(float(row[column]) for row in rows):.4f}" for column in range(2, len(header)))]
    rows += [means, together.row("together")]
    text = table(header, rows, sides=["left" if column == "language" else "right" for column in header])
    diagram = [
        (str(one.items), f"{one.confidence:.3f}", f"{one.accuracy:.3f}")
        for one in bins(together.confidences, together.right)
    ]
    return f"{text}\n{table(('items', 'confidence', 'accuracy'), diagram, sides=('right', 'right', 'right'))}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", type=Path, help="a folder of `reinflect benchmark`")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--setting", choices=SETTINGS, default="low")
    parser.add_argument("--languages", default=",".join(TEN.split()), help="a list with commas, or all")
    parser.add_argument("--strategy", default=DEFAULT)
    asked = parser.parse_args()
    wanted = None if asked.languages == "all" else asked.languages.split(",")
    corpora, _ = read_corpora(asked.data, languages_in(asked.data, wanted), [asked.setting])
    models = [model for model in by_key(read_results(Store.inside(asked.results).packs)).values() if model.usable]
    found = {}
    for corpus in corpora:
        own = [model for model in models if (model.language, model.setting) == (corpus.language, corpus.setting)]
        if pairs := measured(corpus, own, asked.strategy) if own else []:
            found[corpus.language] = Measured([one for one, _ in pairs], [right for _, right in pairs])
    if not found:
        raise InputError(f"found no models of these languages at {asked.setting}", "train some", path=asked.results)
    print(report(found), end="")


if __name__ == "__main__":
    try:
        main()
    except ReinflectError as error:
        raise SystemExit(str(error)) from None
