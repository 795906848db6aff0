"""How large and how fast a model file is: `python -m bench.pocket MODEL ITEMS [MODEL ITEMS …]`.

ITEMS is a file of lemma, form and features, such as `../shared/data/conll2017/german-dev`. *Cold* is the CPU time of a
whole `reinflect inflect MODEL LEMMA FEATURES`, from the start of the process to its end; *one word* that of a word when
the model is loaded; *words/s* are all items at once, per CPU second, with one thread. Each is a median over the rounds.
*Memory* is what a loaded model keeps, the same model loaded ten times over.
"""

import argparse
import os
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.measuring import figures, measured
from reinflect.data.items import Item, read_items
from reinflect.errors import UnseenWarning
from reinflect.inflector.inflector import Inflector

HEADER = ("model", "KB", "right, %", "cold, CPU s", "one word, ms", "words/s", "memory, MB")
COPIES = 10


def cpu_seconds(do: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        do()
        times.append(time.process_time() - start)
    return median(times)


def cold_seconds(model: Path, item: Item, rounds: int) -> float:
    call = [sys.executable, "-m", "reinflect", "inflect", model, item.lemma, item.features.spelling]
    # Python keeps what it compiled of modules: the first run, which writes it, does not count.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return median([measured(call, environment).cpu for _ in range(rounds + 1)][1:])


def kept_bytes(model: Path) -> float:
    tracemalloc.start()
    kept = [Inflector.load(model) for _ in range(COPIES)]
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / len(kept)


def row(model: Path, items: list[Item], rounds: int) -> list[str]:
    inflector, single = Inflector.load(model), items[len(items) // 2]
    forms = inflector.inflect_many(items)  # the first call compiles
    right = sum(form == item.form for form, item in zip(forms, items, strict=True))
    return [
        model.name,
        f"{model.stat().st_size / 1000:,.0f}",
        f"{100 * right / len(items):.1f}",
        f"{cold_seconds(model, single, rounds):.2f}",
        f"{1000 * cpu_seconds(lambda: inflector.answers([single]), 20 * rounds):.1f}",
        f"{len(items) / cpu_seconds(lambda: inflector.inflect_many(items), rounds):,.0f}",
        f"{kept_bytes(model) / 1e6:.2f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="MODEL ITEMS", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each figure (%(default)s)")
    arguments = parser.parse_args()
    files = arguments.files
    if len(files) % 2:
        parser.error("give each model with a file of items")
    warnings.simplefilter("ignore", UnseenWarning)
    rows = [
        row(model, read_items(items), arguments.rounds) for model, items in zip(files[::2], files[1::2], strict=True)
    ]
    print(figures(HEADER, rows))


if __name__ == "__main__":
    main()
