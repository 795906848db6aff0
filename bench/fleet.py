"""Many languages at once: trains fleets on the shared task's data, and says how long it took and how good they are.

python -m bench.fleet --data ../shared/data/conll2017 --languages german,finnish --setting low --device cuda
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from statistics import mean

import torch

from reinflect.alignment import make_aligner
from reinflect.data.items import Item, read_items
from reinflect.decoding.greedy import inflect_all
from reinflect.decoding.repeats import filtered, longest_runs
from reinflect.ensembles import vote_all
from reinflect.evaluation import evaluate
from reinflect.models.examples import Examples, Stack
from reinflect.models.inventory import Inventory
from reinflect.models.parameters import Parameters
from reinflect.models.systems import SYSTEMS, System, allowed_outputs
from reinflect.settings import Settings, changed, load_preset
from reinflect.training.fleet import Task
from reinflect.training.loop import Report, Trained, train

TWELVE = "german finnish turkish arabic russian navajo quechua irish spanish hindi hungarian latvian".split()


@dataclass(frozen=True)
class Data:
    train: list[Item]
    dev: list[Item]

    @cached_property
    def runs(self) -> dict[str, int]:
        return longest_runs(word for item in self.train for word in (item.lemma, item.form))


@dataclass(frozen=True)
class Row:
    """One language under one system and alignment."""

    language: str
    system: str
    alignment: str
    vote: float
    single: float
    best_epoch: float


def main() -> None:
    arguments = _arguments()
    folder = Path(arguments.data)
    everyone = sorted(path.name.removesuffix("-dev") for path in folder.glob("*-dev"))
    languages = {"all": everyone, "twelve": TWELVE}.get(arguments.languages) or arguments.languages.split(",")
    languages = [name for name in languages if (folder / f"{name}-train-{arguments.setting}").is_file()]
    settings = changed(load_preset(arguments.preset or arguments.setting), arguments.set)
    start = time.monotonic()
    data = {
        name: Data(read_items(folder / f"{name}-train-{arguments.setting}"), read_items(folder / f"{name}-dev"))
        for name in languages
    }
    print(f"{len(languages)} languages, {arguments.setting}, {arguments.device}", flush=True)
    rows: list[Row] = []
    for system in arguments.systems.split(","):
        began = time.monotonic()
        work = _work(data, SYSTEMS[system], settings[system], arguments.alignments.split(","), arguments.seeds)
        print(f"{system}: {len(work)} models prepared in {time.monotonic() - began:.1f} s", flush=True)
        began = time.monotonic()
        trained = _train(work, arguments.device, arguments.every)
        seconds = time.monotonic() - began
        samples = sum(len(result.task.train) * result.epochs for result in trained)
        print(f"{system}: trained in {seconds:.1f} s, {samples / seconds:,.0f} samples/s, scoring included", flush=True)
        began = time.monotonic()
        rows += _scored(trained, data, arguments.device)
        print(f"{system}: decoded dev and voted in {time.monotonic() - began:.1f} s", flush=True)
    _print(rows)
    print(f"all: {time.monotonic() - start:.1f} s")
    if arguments.out:
        Path(arguments.out).write_text(json.dumps([asdict(row) for row in rows], indent=1))


def _work(
    data: Mapping[str, Data], system: System, settings: Settings, methods: Sequence[str], seeds: int
) -> list[tuple[Task, int]]:
    work = []
    for language, own in data.items():
        inventory = Inventory.of(own.train)
        for method in methods:
            alignments = make_aligner(method).align([(item.lemma, item.form) for item in own.train])
            task = Task(
                name=f"{language}/{system.name}-{method}",
                system=system,
                settings=settings,
                alignment=method,
                inventory=inventory,
                train=Examples.to_learn(system, own.train, alignments, inventory, settings),
                dev=Examples.to_inflect(system, own.dev, inventory, settings),
            )
            work += [(task, seed) for seed in range(1, seeds + 1)]
    return work


def _train(work: Sequence[tuple[Task, int]], device: str, every: int) -> list[Trained]:
    def report(now: Report) -> None:
        epoch = max(model.epoch for model in now.models)
        if epoch % every == 0:
            line = f"  epoch {epoch}: {now.running} running, mean best {now.mean_best:.2f}, {now.seconds:.1f} s"
            print(line, flush=True)

    return train(work, device=device, report=report)[0]


def _forms(trained: Sequence[Trained], device: str) -> list[list[str | None]]:
    """What every model says of its own dev items, all models at once."""
    system, settings = trained[0].task.system, trained[0].task.settings
    tasks = list(dict.fromkeys(result.task for result in trained))
    sizes = [result.task.sizes for result in trained]
    joined = Parameters.join(system.shapes(settings), sizes, [result.parameters for result in trained])
    parameters = Parameters(joined.shapes, joined.sizes, joined.flat.to(device))
    allowed = allowed_outputs(system, sizes, parameters.sizes[system.outputs]).to(device)
    stack = Stack([task.dev for task in tasks], device)
    return inflect_all(
        system.decoder(parameters, settings, allowed), stack, [tasks.index(result.task) for result in trained]
    )


def _scored(trained: Sequence[Trained], data: Mapping[str, Data], device: str) -> list[Row]:
    """The vote of each language's and alignment's seeds."""
    answers: dict[tuple[str, str], list[tuple[Trained, list[str]]]] = {}
    for result, raw in zip(trained, _forms(trained, device), strict=True):
        language = result.task.name.split("/")[0]
        dev, runs = data[language].dev, data[language].runs
        forms = [
            item.lemma if form is None else filtered(form, item.lemma, runs)
            for item, form in zip(dev, raw, strict=True)
        ]
        answers.setdefault((language, result.task.alignment), []).append((result, forms))
    rows = []
    for (language, method), own in answers.items():
        ordered = sorted(own, key=lambda pair: (-pair[0].dev_accuracy, pair[0].seed))
        voted = vote_all([forms for _, forms in ordered])
        dev = data[language].dev
        predicted = [Item(item.lemma, item.features, form) for item, form in zip(dev, voted, strict=True)]
        rows.append(
            Row(
                language=language,
                system=own[0][0].task.system.name,
                alignment=method,
                vote=evaluate(dev, predicted).accuracy,
                single=mean(result.dev_accuracy for result, _ in own),
                best_epoch=mean(result.best_epoch for result, _ in own),
            )
        )
    return rows


def _print(rows: Sequence[Row]) -> None:
    for system in dict.fromkeys(row.system for row in rows):
        own = [row for row in rows if row.system == system]
        best: dict[str, float] = {}
        for row in own:
            best[row.language] = max(row.vote, best.get(row.language, 0.0))
        for name, languages in (("", list(best)), (" of the twelve", [one for one in TWELVE if one in best])):
            if not languages:
                continue
            parts = []
            for method in dict.fromkeys(row.alignment for row in own):
                these = [row for row in own if row.alignment == method and row.language in languages]
                parts.append(
                    f"{method}: vote {mean(r.vote for r in these):.2f}, single {mean(r.single for r in these):.2f}, "
                    f"best epoch {mean(r.best_epoch for r in these):.0f}"
                )
            print(f"{system}{name}: MAX {mean(best[one] for one in languages):.2f}; " + "; ".join(parts))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--languages", default="twelve", help="all, twelve, or names joined by commas")
    parser.add_argument("--setting", default="low")
    parser.add_argument("--preset", help="the setting's by default")
    parser.add_argument("--systems", default="hacm,haem")
    parser.add_argument("--alignments", default="naive,smart")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--every", type=int, default=10, help="epochs between two lines")
    parser.add_argument("--out", help="a JSON file of the rows")
    return parser.parse_args()


if __name__ == "__main__":
    main()
