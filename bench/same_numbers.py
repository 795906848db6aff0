"""The same models trained in different ways must have the same numbers; says how far they are apart.

    python -m bench.same_numbers

Models of both systems and cells, on the bundled German verbs and on a made-up language with another alphabet, are
trained for a few updates in double precision, one at a time, by plain loops. The same in single precision, stacked
and alone, compiled on the CPU, and by the Triton kernels where there is a GPU, must give losses and gradients that are
no more than 1e-4 away. Exits with 1 if any is not.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from reinflect.data.features import Bundle
from reinflect.data.german import read_split
from reinflect.data.items import Item
from reinflect.layers.parameters import Parameters
from reinflect.learn.fleet import Fleet
from reinflect.learn.lesson import Lesson, ModelSpec, specs
from reinflect.run.driver import prepared
from reinflect.run.watch import Resources
from reinflect.systems import SYSTEMS
from reinflect.systems.kind import Wish, make_plan

CLOSE = 1e-4
EPOCHS = 2
"""In the second, updates on a GPU are replays of what was captured in the first."""


@dataclass(frozen=True)
class Numbers:
    """What a few updates leave of each model, without padding."""

    losses: list[Tensor]
    gradients: list[Tensor]
    parameters: list[Tensor]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=5, help="in each of two epochs; rounding grows with every one")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="separated by commas")
    arguments = parser.parse_args()
    updates = arguments.updates
    ways = [("single precision, stacked, CPU", "cpu", torch.float32, True)]
    ways.append(("single precision, alone, CPU", "cpu", torch.float32, False))
    ways.append(("double precision, stacked, CPU", "cpu", torch.float64, True))
    if torch.cuda.is_available():
        ways.append(("single precision, stacked, GPU", "cuda", torch.float32, True))
        ways.append(("single precision, alone, GPU", "cuda", torch.float32, False))
        ways.append(("double precision, stacked, GPU", "cuda", torch.float64, True))
    else:
        print("no GPU here: the CPU alone is compared")
    print(
        f"relative distances after {EPOCHS * updates} updates, at most over the models: losses, gradients, parameters"
    )
    good = True
    for name in arguments.systems.split(","):
        for cell in ("lstm", "coupled"):
            work = _specs(name, [f"cell={cell}", "precision=single"])
            exact = _train(work, "cpu", torch.float64, stacked=False, updates=updates)
            for title, device, dtype, stacked in ways:
                found = _train(work, device, dtype, stacked=stacked, updates=updates)
                distances = [
                    _distance(exact.losses, found.losses),
                    _distance(exact.gradients, found.gradients),
                    _distance(exact.parameters, found.parameters),
                ]
                close = max(distances) <= CLOSE
                good = good and close
                figures = "  ".join(f"{distance:.1e}" for distance in distances)
                print(f"{name} {cell:8} {title:32} {figures}{'' if close else '  TOO FAR'}", flush=True)
    sys.exit(0 if good else 1)


def _specs(system: str, changes: Sequence[str]) -> list[ModelSpec]:
    verbs = read_split("train-low")
    # The same words backwards in Greek letters, and shorter: other lengths, characters and features beside them.
    greek = str.maketrans("abcdefghijklmnopqrstuvwxyz", "αβγδεζηθικλμνξοπρστυφχψωϊϋ")
    other = [
        Item(item.lemma[::-1][:6].translate(greek), Bundle(f"X;{item.features}"), item.form[::-1][:7].translate(greek))
        for item in verbs[:40]
    ]
    plan = make_plan(Wish(systems=[system], alignments=["smart"], preset="low", changes=changes, seeds=2), 100)
    lessons = [
        Lesson(tuple(items), tuple(items[:5]), language=name) for name, items in (("german", verbs), ("other", other))
    ]
    return prepared([spec for lesson in lessons for spec in specs(plan, [lesson])], Resources())


def _train(work: Sequence[ModelSpec], device: str, dtype: torch.dtype, *, stacked: bool, updates: int) -> Numbers:
    numbers = Numbers([], [], [])
    for group in [work] if stacked else [[spec] for spec in work]:
        fleet = Fleet(group, device=device, dtype=dtype)
        losses = []
        for _ in range(EPOCHS):
            epoch = fleet.prepare()
            losses += [fleet.update(epoch, number) for number in range(min(updates, len(epoch.items)))]
            for model in fleet.runs:
                model.epoch += 1
        fleet._update(epoch.items[0], epoch.epochs, epoch.keys, epoch.longest[0])  # by no graph, which keeps its own
        parameters = fleet.parameters
        gradient = Parameters(parameters.shapes, parameters.sizes, parameters.flat_gradient())
        for column, run in enumerate(fleet.runs):
            numbers.losses.append(torch.stack(losses)[:, column].double().cpu())
            for kept, whole in ((numbers.gradients, gradient), (numbers.parameters, parameters)):
                own = whole.one(column, run.sizes)
                kept.append(torch.cat([own[name].double().cpu().flatten() for name in sorted(own)]))
    return numbers


def _distance(exact: Sequence[Tensor], found: Sequence[Tensor]) -> float:
    return max(float((one - other).norm() / one.norm()) for one, other in zip(exact, found, strict=True))


if __name__ == "__main__":
    main()
