"""Whether the confidences of alternatives can be trusted: `python -m bench.alternatives MODEL ITEMS [MODEL ITEMS …]`.

ITEMS is a file of items with their right forms, which MODEL has not seen. For every item the five likeliest forms are
asked for, and the confidence of the second to fifth is compared with how often they are right: the expected calibration
error in ten bins of equal width, and both numbers for each rank.
"""

import argparse
from statistics import fmean

from bench.common import run
from bench.measuring import figures
from reinflect.data.items import read_items
from reinflect.ensemble.confidence import bins, calibration_error
from reinflect.errors import InputError
from reinflect.inflector.inflector import Inflector

SHOWN = 5
Judged = tuple[int, float, bool]
"""The rank of a form, its confidence, and whether it was right."""


def judged(model: str, path: str) -> list[Judged]:
    items = read_items(path)
    lists = Inflector.load(model).nbest_many(items, SHOWN)
    return [
        (rank, answer.confidence or 0.0, answer.form == item.form)
        for item, answers in zip(items, lists, strict=True)
        for rank, answer in enumerate(answers, start=1)
    ]


def row(name: str, forms: list[Judged]) -> list[str]:
    error = calibration_error(bins([(sure, right) for rank, sure, right in forms if rank > 1]))
    ranks = []
    for rank in range(1, SHOWN + 1):
        some = [(sure, right) for number, sure, right in forms if number == rank]
        ranks.append(f"{fmean(sure for sure, _ in some):.3f} {fmean(right for _, right in some):.3f}" if some else "")
    return [name, f"{error:.4f}", *ranks]


def compare(arguments: argparse.Namespace) -> None:
    if len(arguments.files) % 2:
        raise InputError("found a model without items", "give each model with a file of items")
    pairs = zip(arguments.files[::2], arguments.files[1::2], strict=True)
    parts = {model: judged(model, path) for model, path in pairs}
    rows = [row(model, forms) for model, forms in parts.items()]
    rows.append(row("together", [form for forms in parts.values() for form in forms]))
    print("Of each rank: mean confidence, share that was right\n")
    print(figures(["model", "ECE of 2–5", *(f"rank {rank}" for rank in range(1, SHOWN + 1))], rows), end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", metavar="MODEL ITEMS", nargs="+")
    run(parser, compare)


if __name__ == "__main__":
    main()
