"""How many words of running text the pocket models inflect: `python -m models.text --wide FOLDER`.

FOLDER is what ../shared/data/wide.tar.xz unpacks to. Its LANGUAGE.text.tsv has nouns, verbs and adjectives of
treebanks, each with its lemma, its features and how often it occurs; nothing was learnt from them or chosen by them. A
token *fits* if its features are one of the model's bundles; it is *right* if the model's first form is the token. Forms
of the model's dictionary are *attested*, all others are *guesses* with a confidence. *Unseen* is the accuracy of the
model alone on those cells of its dictionary whose lemmas it did not learn from.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from pathlib import Path
from statistics import fmean

from bench.common import run
from bench.measuring import figures
from models.choose import is_unseen
from models.sources import Row
from models.sources.tables import meanings_of_text
from models.sources.wide import treebanks

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.ensemble.confidence import bins, calibration_error
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import load, pocket_models

APART = ("arabic", "basque", "dutch", "hindi", "kurmanji", "persian")
"""Languages whose treebanks have another spelling, or other features: they are reported, but not in the mean."""
SURE, FEWEST = 0.9, 300
"""The accuracy of guesses with such a confidence is shown where there are so many."""


@dataclass
class Text:
    """What a model makes of the tokens of a text."""

    tokens: int = 0
    fit: int = 0
    attested: int = 0
    right: int = 0
    attested_right: int = 0
    guesses: list[tuple[float, bool]] = field(default_factory=list)
    """Of each token that is a guess, the confidence and whether it is right."""

    def figures(self) -> dict[str, float]:
        """Shares in per cent; nan where nothing is counted."""
        sure = [right for confidence, right in self.guesses if confidence >= SURE]
        return {
            "fit": _share(self.fit, self.tokens),
            "right of fit": _share(self.right, self.fit),
            "right of all": _share(self.right, self.tokens),
            "attested": _share(self.attested, self.fit),
            "right of attested": _share(self.attested_right, self.attested),
            "right of guesses": _share(self.right - self.attested_right, len(self.guesses)),
            "right of sure": _share(sum(sure), len(sure)) if len(sure) >= FEWEST else nan,
            "error": calibration_error(bins(self.guesses)) if self.guesses else nan,
        }


def _share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else nan


def measure(inflector: Inflector, tokens: Sequence[Row], ours: Sequence[Row | None]) -> Text:
    """Ask a model for the tokens of a text; `ours` has them with the model's bundles, where one fits."""
    fitting = [(row, token.form) for row, token in zip(ours, tokens, strict=True) if row]
    answers = inflector.answers([Item(row.lemma, Bundle(row.bundle)) for row, _ in fitting])
    text = Text(sum(row.uses for row in tokens), sum(row.uses for row, _ in fitting))
    for (row, form), answer in zip(fitting, answers, strict=True):
        right = answer.form == form
        text.right += right * row.uses
        if answer.attested:
            text.attested += row.uses
            text.attested_right += right * row.uses
        else:
            text.guesses += [(answer.confidence or 0.0, right)] * row.uses
    return text


def unseen(inflector: Inflector, most: int = 5000) -> float:
    """The share of the dictionary's cells that the model alone gets right, of lemmas that it did not learn from."""
    dictionary = inflector.dictionary
    if dictionary is None:
        return nan
    items = dictionary.items(lemma for lemma in dictionary.lemmas if is_unseen(lemma))[:most]
    stored = [dictionary.forms(item.lemma, item.features) for item in items]
    answers = inflector.with_marks().answers(items, attested=False)
    right = [not forms or answer.form in forms for answer, forms in zip(answers, stored, strict=True)]
    return _share(sum(right), len(right))


def report(arguments: argparse.Namespace) -> None:
    languages = arguments.languages or sorted(pocket_models())
    results: dict[str, dict[str, float]] = {}
    for language in languages:
        inflector, tokens = load(language), treebanks(arguments.wide, language, "text")
        text = measure(inflector, tokens, meanings_of_text(language, arguments.wide, tokens)) if tokens else Text()
        results[language] = {**text.figures(), "unseen": unseen(inflector)}
        print(f"{language}: {text.tokens} tokens, {len(text.guesses)} guesses", flush=True)
    measured = [values for language, values in results.items() if not isnan(values["fit"]) and language not in APART]
    columns = list(next(iter(results.values())))
    means = {name: _mean([values[name] for values in measured]) for name in columns}
    rows = [[name, *(_number(values[column], column) for column in columns)] for name, values in results.items()]
    rows.append([f"mean of {len(measured)}", *(_number(means[column], column) for column in columns)])
    print(figures(("language", *columns), rows))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


def _mean(numbers: Sequence[float]) -> float:
    known = [number for number in numbers if not isnan(number)]
    return fmean(known) if known else nan


def _number(number: float, column: str) -> str:
    return "–" if isnan(number) else f"{number:.3f}" if column == "error" else f"{number:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wide", type=Path, required=True, help="the folder that wide.tar.xz unpacks to")
    parser.add_argument("--languages", nargs="+", help="all pocket languages by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures of each language, too")
    run(parser, report)


if __name__ == "__main__":
    main()
