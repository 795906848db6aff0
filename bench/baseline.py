"""How good and how fast the rule baseline is: `python -m bench.baseline --data ../shared/data/conll2017`.

For each setting, every language of the folder is learnt from its training file and inflects its dev file, one after
the other on one core. The seconds include reading the files and scoring.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

from bench.common import run
from bench.measuring import figures
from reinflect.errors import InputError
from reinflect.paper.corpora import SETTINGS, languages_in, read_corpora
from reinflect.score import MacroEvaluation, evaluate
from reinflect.score.baseline import Baseline


def measure(data: Path, setting: str) -> MacroEvaluation:
    scored = {}
    for name in languages_in(data):
        for lesson in read_corpora(data, [name], [setting])[0]:
            rules = Baseline.learn(lesson.train)
            predicted = [replace(item, form=rules.inflect(item.lemma, item.features)) for item in lesson.dev]
            scored[name] = evaluate(lesson.dev, predicted, name=name)
    if not scored:
        raise InputError(f"found no training files for {setting}", f"the settings are {', '.join(SETTINGS)}", path=data)
    return MacroEvaluation(f"{data.resolve().name}-{setting}-dev", scored)


def baseline(arguments: argparse.Namespace) -> None:
    rows, languages = [], []
    for setting in arguments.settings:
        start = time.perf_counter()
        scored = measure(arguments.data, setting)
        numbers = f"{scored.accuracy:.2f}", f"{scored.levenshtein:.2f}", f"{time.perf_counter() - start:.1f}"
        rows.append((setting, str(len(scored.languages)), *numbers))
        languages += [(setting, name, f"{each.accuracy:.2f}") for name, each in scored.languages.items()]
    print(figures(("setting", "languages", "accuracy", "Levenshtein", "seconds"), rows), end="")
    if arguments.by_language:
        print(figures(("setting", "language", "accuracy"), languages, words=2), end="")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.baseline", description="Measure the rule baseline.")
    parser.add_argument("--data", type=Path, required=True, help="folder with LANGUAGE-train-SETTING and LANGUAGE-dev")
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=SETTINGS)
    parser.add_argument("--by-language", action="store_true", help="print the accuracy of every language too")
    run(parser, baseline)


if __name__ == "__main__":
    main()
