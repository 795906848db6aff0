"""How often the truth is in the interval of `reinflect forecast`.

    python -m bench.forecast --data ../shared/data/conll2017 --out FOLDER

A linguist has the first 100 (or 300) forms of a medium training file, and asks what to expect with 250, 500 and 1,000.
The truth is the accuracy, on dev items, of a model that learnt from the first 250, 500 and 1,000 of the file. All
models are HAEM with smart alignments, scored at their end only: a quarter of what the command trains, with its small
settings; the truth of 500 and 1,000 items is by the settings of QUICK. FOLDER keeps what was trained: a second call
only fits and counts.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from bench.common import run
from reinflect.assemble import Keep
from reinflect.data.items import Item, read_items
from reinflect.forecast import SMALL, Outcomes, outcomes, share_specs
from reinflect.run.watch import Resources
from reinflect.settings import preset_for
from reinflect.systems.kind import Wish, make_plan
from reinflect.text import table
from reinflect.train import train_model

TEN = "german finnish spanish polish turkish hungarian arabic hindi latin welsh"
SIZES = (250, 500, 1000)
QUICK = ("hidden=100", "batch=8", "epochs=14", "dropout=0.2", "score_from=4000")
"""Changes to the preset medium: those of *time to accuracy* in BENCHMARKS.md."""


def wish_for(items: int, seeds: int) -> Wish:
    changes = QUICK if preset_for(items) != "low" else (*SMALL["low"], "score_from=4000")
    return Wish(["haem-smart"], changes=changes, seeds=seeds)


def first_items(data: Path, language: str, many: int) -> list[Item]:
    return read_items(data / f"{language}-train-medium")[:many]


def truth(data: Path, language: str, size: int, dev: Sequence[Item], folder: Path) -> float:
    path = folder / f"{language}-truth-{size}.json"
    if not path.exists():
        items = first_items(data, language, size)
        record = train_model(items, dev, wish_for(size, 1), Keep(), Resources()).training
        path.write_text(json.dumps(record.accuracy))
    return float(json.loads(path.read_text()))


def measured(data: Path, language: str, start: int, folder: Path) -> Outcomes:
    path = folder / f"{language}-{start}.json"
    if not path.exists():
        items = first_items(data, language, start)
        plan = make_plan(wish_for(start, 5), start)
        shares = outcomes(items, share_specs(items, plan, language), plan.strategy, path, Resources())
        path.write_text(json.dumps([list(shares.sizes), shares.right.tolist(), shares.folds.tolist()]))
    sizes, right, folds = json.loads(path.read_text())
    return Outcomes(sizes, np.array(right), np.array(folds))


def count_intervals(arguments: argparse.Namespace) -> None:
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows, inside, widths, away = [], [], list[float](), list[float]()
    for start in arguments.start:
        for language in arguments.languages:
            dev = read_items(arguments.data / f"{language}-dev")[: arguments.dev]
            sizes = [size for size in SIZES if size > start]
            expected = measured(arguments.data, language, start, arguments.out).expected(sizes)
            row = [f"{language}, {start}"]
            for point in expected:
                accuracy = truth(arguments.data, language, point.items, dev, arguments.out)
                inside.append(point.low <= accuracy <= point.high)
                widths.append(point.high - point.low)
                away.append(accuracy - point.accuracy)
                row.append(f"{point.low:.0f} to {point.high:.0f}: {accuracy:.1f}{'' if inside[-1] else ' *'}")
            rows.append([*row, *[""] * (len(SIZES) - len(sizes))])
            print(" | ".join(row), flush=True)
    header = ("language, start", *(f"{size} items" for size in SIZES))
    print(table(header, rows, sides=["left"] * len(header)))
    print(
        f"{sum(inside)} of {len(inside)} truths within their interval; mean width {fmean(widths):.1f} points; "
        f"truth minus expectation: mean {fmean(away):+.1f}, mean distance {fmean(map(abs, away)):.1f} points"
    )
    print(f"{time.process_time():.0f} CPU seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="a folder for what was trained")
    parser.add_argument("--languages", nargs="+", default=TEN.split())
    parser.add_argument("--start", type=int, nargs="+", default=[100], help="numbers of forms to forecast from")
    parser.add_argument("--dev", type=int, default=500, help="dev items to ask for")
    run(parser, count_intervals)


if __name__ == "__main__":
    main()
