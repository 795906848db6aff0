"""How good and how fast the rule baseline is: `python -m bench.baseline --data ../shared/data/conll2017`.

For each setting, every language of the folder is learnt from its training file and inflects its dev file, one after
the other on one core. The seconds include reading the files and scoring.
"""

import argparse
import time
from pathlib import Path

from reinflect.data.items import Item, read_items
from reinflect.errors import InputError, ReinflectError
from reinflect.score import MacroEvaluation, evaluate
from reinflect.score.baseline import Baseline
from reinflect.text import table

SETTINGS = "low,medium,high"


def languages(data: Path, setting: str) -> list[str]:
    ending = f"-train-{setting}"
    found = sorted(path.name.removesuffix(ending) for path in data.glob(f"*{ending}"))
    if not found:
        raise InputError(f"found no files *{ending}", "name a folder of the shared task's data", path=data)
    return found


def predictions(train: Path, dev: list[Item]) -> list[Item]:
    baseline = Baseline.learn(read_items(train))
    return [Item(item.lemma, item.features, baseline.inflect(item.lemma, item.features)) for item in dev]


def measure(data: Path, setting: str) -> MacroEvaluation:
    scored = {}
    for language in languages(data, setting):
        dev = read_items(data / f"{language}-dev")
        predicted = predictions(data / f"{language}-train-{setting}", dev)
        scored[language] = evaluate(dev, predicted, name=language)
    return MacroEvaluation(f"{data.resolve().name}-{setting}-dev", scored)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.baseline", description="Measure the rule baseline.")
    parser.add_argument("--data", type=Path, required=True, help="folder with LANGUAGE-train-SETTING and LANGUAGE-dev")
    parser.add_argument("--settings", default=SETTINGS, help="which of %(default)s, joined by commas")
    parser.add_argument("--by-language", action="store_true", help="print the accuracy of every language too")
    asked = parser.parse_args()
    rows, details = [], []
    try:
        for setting in asked.settings.split(","):
            start = time.perf_counter()
            scored = measure(asked.data, setting)
            seconds = time.perf_counter() - start
            rows.append(
                (
                    setting,
                    str(len(scored.languages)),
                    f"{scored.accuracy:.2f}",
                    f"{scored.levenshtein:.2f}",
                    f"{seconds:.1f}",
                )
            )
            details += [(setting, name, f"{one.accuracy:.2f}") for name, one in scored.languages.items()]
    except ReinflectError as error:
        parser.error(str(error))
    header = ("setting", "languages", "accuracy", "Levenshtein", "seconds")
    print(table(header, rows, sides=("left", "right", "right", "right", "right")), end="")
    if asked.by_language:
        print(table(("setting", "language", "accuracy"), details, sides=("left", "left", "right")), end="")


if __name__ == "__main__":
    main()
