"""How fast scoring is: `python -m bench.scoring [GOLD]`.

Items are those of a gold file, repeated under new lemmas until there are enough; a share of the predictions is
altered, as a system would get them wrong. Commands are measured as processes of their own, in CPU seconds
(user + system, so that other work on the machine matters little), as the median of several runs.
"""

import argparse
import itertools
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.measuring import figures, measured
from reinflect.data.german import read_split
from reinflect.data.items import Item, read_items, write_items
from reinflect.errors import ReinflectError
from reinflect.score import evaluate

GERMAN = Path(__file__).parents[2] / "shared" / "data" / "conll2017" / "german-dev"
LETTERS = "abcdefghijklmnopqrstuvwxyzäöüß"


def gold_items(path: Path | None) -> list[Item]:
    """The file asked for, or the shared task's German where it is at hand, or the German verbs of the package."""
    if path is not None or GERMAN.exists():
        return read_items(path or GERMAN)
    return read_split("dev")


def repeated(gold: Sequence[Item], count: int) -> list[Item]:
    """`count` items with no cell twice: every round through the gold has its own number in lemma and form."""
    rounds = itertools.chain.from_iterable(
        (Item(f"{item.lemma}{number}", item.features, f"{item.form}{number}") for item in gold)
        for number in itertools.count()
    )
    return list(itertools.islice(rounds, count))


def predictions(gold: Sequence[Item], share_wrong: float, seed: int = 1) -> list[Item]:
    """The gold with some letters replaced, left out or added in a share of the forms."""
    chance = random.Random(seed)
    return [
        Item(item.lemma, item.features, _altered(item.form, chance)) if chance.random() < share_wrong else item
        for item in gold
    ]


def _altered(form: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(form) + 1)
        form = form[:place] + chance.choice(["", *LETTERS]) + form[place + chance.randint(0, 1) :]
    return form


def cpu_seconds(call: Sequence[str], runs: int) -> float:
    """Median user + system time of a command."""
    return median(measured(call).cpu for _ in range(runs))


def judging_seconds(gold: Sequence[Item], predicted: Sequence[Item], runs: int) -> float:
    times = []
    for _ in range(runs):
        start = time.process_time()
        evaluate(gold, predicted)
        times.append(time.process_time() - start)
    return median(times)


def cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "CPU unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "CPU unknown")


def measure(originals: Sequence[Item], count: int, share_wrong: float, runs: int) -> str:
    gold = repeated(originals, count)
    predicted = predictions(gold, share_wrong)
    program = [sys.executable, "-m", "reinflect"]
    rows: list[tuple[str, str, str]] = []

    def add(what: str, seconds: float, items: int | None) -> None:
        rows.append((what, f"{seconds:.3f}", f"{items / seconds:,.0f}" if items else ""))

    with tempfile.TemporaryDirectory() as folder:
        right, guessed, small = (str(Path(folder) / name) for name in ("gold.tsv", "predicted.tsv", "small.tsv"))
        write_items(right, gold)
        write_items(guessed, predicted)
        write_items(small, originals)
        add(f"judging {count:,} items in memory", judging_seconds(gold, predicted, runs), count)
        add("reinflect --help", cpu_seconds([*program, "--help"], runs), None)
        add(
            f"reinflect evaluate, {len(originals):,} items",
            cpu_seconds([*program, "evaluate", small, small], runs),
            None,
        )
        everything = [*program, "evaluate", right, guessed]
        add(f"reinflect evaluate, {count:,} items", cpu_seconds(everything, runs), count)
        add(
            "the same with --by pos --errors 10 --against",
            cpu_seconds([*everything, "--by", "pos", "--errors", "10", "--against", right], runs),
            count,
        )
    shown = figures(("what", "CPU s", "items/s"), rows)
    return (
        f"{shown}{cpu_model()}; Python {sys.version.split()[0]}; median of {runs}; {share_wrong:.0%} of forms altered\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scoring", description="Measure how fast scoring is.")
    parser.add_argument("gold", nargs="?", type=Path, help="a file of lemma, form, features (German otherwise)")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--wrong", type=float, default=0.3, help="share of the forms that are altered")
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    try:
        print(measure(gold_items(asked.gold), asked.items, asked.wrong, asked.runs), end="")
    except ReinflectError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
