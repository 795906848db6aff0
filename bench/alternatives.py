"""Whether the confidences of alternatives can be trusted: `python -m bench.alternatives MODEL ITEMS [MODEL ITEMS …]`.

ITEMS is a file of items with their right forms, which MODEL has not seen. For every item the five likeliest forms are
asked for, and the confidence of the second to fifth is compared with how often they are right: the expected calibration
error in ten bins of equal width, and both numbers for each rank.
"""

import argparse
from statistics import fmean

from reinflect.data.items import read_items
from reinflect.ensemble.confidence import bins, calibration_error
from reinflect.errors import ReinflectError
from reinflect.inflector.inflector import Inflector
from reinflect.text import table

SHOWN = 5
Judged = tuple[int, float, bool]
"""The rank of a form, how sure the model was of it, and whether it was right."""


def judged(model: str, path: str) -> list[Judged]:
    items = read_items(path)
    lists = Inflector.load(model).nbest_many(items, SHOWN)
    return [
        (rank, answer.confidence or 0.0, answer.form == item.form)
        for item, answers in zip(items, lists, strict=True)
        for rank, answer in enumerate(answers, start=1)
    ]


def row(name: str, found: list[Judged]) -> list[str]:
    others = [one for one in found if one[0] > 1]
    error = calibration_error(bins([sure for _, sure, _ in others], [right for *_, right in others]))
    ranks = []
    for rank in range(1, SHOWN + 1):
        own = [one for one in found if one[0] == rank]
        ranks.append(f"{fmean(sure for _, sure, _ in own):.3f} {fmean(right for *_, right in own):.3f}" if own else "")
    return [name, f"{error:.4f}", *ranks]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", metavar="MODEL ITEMS", nargs="+")
    files = parser.parse_args().files
    if len(files) % 2:
        parser.error("a file of items must follow each model")
    parts = {model: judged(model, path) for model, path in zip(files[::2], files[1::2], strict=True)}
    rows = [row(model, found) for model, found in parts.items()]
    rows.append(row("together", [one for found in parts.values() for one in found]))
    header = ["model", "ECE of 2–5", *(f"rank {rank}" for rank in range(1, SHOWN + 1))]
    print("Of each rank: mean confidence, share that was right\n")
    print(table(header, rows, sides=["left" if name == "model" else "right" for name in header]), end="")


if __name__ == "__main__":
    try:
        main()
    except ReinflectError as error:
        raise SystemExit(str(error)) from None
