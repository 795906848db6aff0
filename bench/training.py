"""How fast models train and inflect: `python -m bench.training --data ../shared/data/conll2017`.

The workload is German and Turkish medium with embeddings and hidden layers of 100, batches of 32, the standard cell and
no dropout; every measurement is a process of its own with one thread. Speeds are per CPU second, of the best epoch.
`--what` chooses: speed (that workload), presets (ours, each at its size), accuracy (whole `reinflect train`s of one
model, see `RUNS`), ensemble (the same with five seeds on two cores, against one) and usual (`reinflect train` of 100
German forms as users call it, on two cores, and how fast its voters inflect there).
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from bench.measuring import figures, measured, most_memory

WHAT = ("speed", "presets", "accuracy", "ensemble", "usual")
SYSTEMS = ("hacm", "haem")
WORKLOAD = ("embedding=100", "hidden=100", "history_hidden=100", "batch=32", "cell=lstm", "dropout=0.0")
PRESETS = ("low", "medium", "high")
EPOCHS_BEFORE_DECODING = 12
RUNS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "low": ("haem", "naive", ()),
    "medium": ("haem", "smart", ("hidden=100", "batch=8", "epochs=14", "score_from=9", "dropout=0.2")),
}
"""What is trained on each size: system, alignment, and what is changed of the size's preset.

The medium preset is made to be accurate, and takes minutes; this is how to be good in seconds."""
UPDATES = 120
"""An epoch is cut short after so many, so that the large data takes no longer than the small."""


def measure(
    data: Path, preset: str, size: str, system: str, changes: Sequence[str], language: str = "german"
) -> dict[str, float]:
    """Samples and words per CPU second, and this process's memory."""
    import torch

    from reinflect.data.items import read_items
    from reinflect.decode.search import greedy, one_blas_thread
    from reinflect.ensemble.strategies import Member
    from reinflect.learn.fleet import Fleet
    from reinflect.learn.lesson import Lesson, specs
    from reinflect.systems.kind import Wish, make_plan

    torch.set_num_threads(1)
    dev = read_items(data / f"{language}-dev")
    plain = Lesson(tuple(read_items(data / f"{language}-train-{size}")), tuple(dev))
    wish = Wish(systems=[system], alignments=["smart"], preset=preset, changes=changes, seeds=1)
    [spec] = specs(make_plan(wish, len(plain.train)), [plain])
    fleet = Fleet([replace(spec, lesson=spec.lesson.prepared())])
    best = 0.0
    for _ in range(EPOCHS_BEFORE_DECODING):
        start, epoch = time.process_time(), fleet.prepare()
        updates = min(len(epoch), UPDATES)
        for number in range(updates):
            fleet.update(epoch, number)
        samples = int((epoch.items[:updates] >= 0).sum())
        best = max(best, samples / (time.process_time() - start))
        fleet.runs[0].epoch += 1
    fleet.snapshot([0])
    parameters = {name: tensor.numpy() for name, tensor in fleet.trained(0).items()}
    facts: dict[str, Any] = {"system": system, "alignment": spec.kind.alignment, "seed": 1, "dev_accuracy": 0.0}
    model = Member(settings=spec.settings, inventory=spec.lesson.inventory, parameters=parameters, **facts)
    words = 0.0
    for _ in range(3):
        start = time.process_time()
        with one_blas_thread():
            greedy(model.words, dev)
        words = max(words, len(dev) / (time.process_time() - start))
    return {"samples": best, "words": words, "memory": most_memory()}


def in_a_process(
    data: Path, preset: str, size: str, system: str, changes: Sequence[str], language: str = "german"
) -> list[str]:
    workload = json.dumps([str(data), preset, size, system, list(changes), language])
    speeds = json.loads(measured([sys.executable, "-m", "bench.training", "--measure", workload]).output)
    return [f"{speeds['samples']:,.0f}", f"{speeds['words']:,.0f}", f"{speeds['memory'] / 1e6:,.0f}"]


def whole_run(data: Path, size: str, arguments: Sequence[str]) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and dev accuracy of a `reinflect train`, aligning and all."""
    with tempfile.TemporaryDirectory() as folder:
        call = [sys.executable, "-m", "reinflect", "train", "--device", "cpu", "--out", f"{folder}/model", *arguments]
        call += ["--verbose", "--train", str(data / f"german-train-{size}"), "--dev", str(data / "german-dev")]
        # A cache of its own, so that alignments are made, not found.
        output, cpu, wall = measured(call, os.environ | {"REINFLECT_CACHE": folder})
    (vote,) = (line for line in output.splitlines() if line.startswith("vote"))
    accuracy = float(vote.split()[-1])
    print(f"{' '.join(arguments)}: {cpu:.1f} CPU s, {wall:.1f} s, dev {accuracy:.1f}", file=sys.stderr, flush=True)
    return cpu, wall, accuracy


def one_model(size: str, more: Sequence[str]) -> tuple[str, list[str]]:
    """A run's name, and the arguments that make it."""
    system, alignment, changes = RUNS[size]
    chosen = ["--preset", size, "--systems", system, "--alignments", alignment]
    name = f"German {size}, {system.upper()} {alignment}"
    return name, chosen + [argument for change in (*changes, *more) for argument in ("--set", change)]


def show_speed(data: Path) -> None:
    rows = [
        [f"{language} {system}", *in_a_process(data, "medium", "medium", system, WORKLOAD, language)]
        for language in ("german", "turkish")
        for system in SYSTEMS
    ]
    print(figures(("medium, E = H = 100, batch 32", "samples/s", "words/s", "MB"), rows))


def show_presets(data: Path, changes: Sequence[str]) -> None:
    rows = [
        [f"{preset} {system}", *in_a_process(data, preset, preset, system, changes)]
        for preset in PRESETS
        for system in SYSTEMS
    ]
    print(figures(("preset", "samples/s", "words/s", "MB"), rows))


def show_accuracy(data: Path, asked: argparse.Namespace) -> None:
    rows = []
    for size in asked.sizes.split(","):
        name, chosen = one_model(size, asked.set)
        runs = [
            whole_run(data, size, [*chosen, "--seeds", "1", "--first-seed", str(seed), "--workers", "1"])
            for seed in range(1, asked.seeds + 1)
        ]
        middle = [f"{median(own):.1f}" for own in zip(*runs, strict=True)]
        rows.append([name, *middle, " ".join(f"{accuracy:.1f}" for _, _, accuracy in runs)])
    header = ("one model", "CPU s", "wall s", "dev", "dev of each seed")
    print(f"medians of {asked.seeds} seeds\n" + figures(header, rows))


def show_ensemble(data: Path, asked: argparse.Namespace) -> None:
    rows = []
    for size in asked.sizes.split(","):
        name, chosen = one_model(size, asked.set)
        _, one, _ = whole_run(data, size, [*chosen, "--seeds", "1", "--workers", "1"])
        cpu, five, accuracy = whole_run(data, size, [*chosen, "--seeds", "5", "--workers", "2"])
        rows.append([name, f"{one:.1f}", f"{five:.1f}", f"{five / one:.2f}", f"{cpu:.1f}", f"{accuracy:.1f}"])
    print(figures(("wall seconds", "one", "five, two cores", "ratio", "CPU s of the five", "dev of the vote"), rows))


def show_usual(data: Path, seeds: int) -> None:
    """A training for each of the seeds, one after the other, and three times all dev words by the last one's voters."""
    from reinflect.data.items import read_items
    from reinflect.inflector.inflector import Inflector

    walls, rates = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, seeds + 1):
            call = [sys.executable, "-m", "reinflect", "train", "--device", "cpu", "--workers", "2", "--force"]
            call += ["--first-seed", str(seed), "--train", str(data / "german-train-low"), "--out", f"{folder}/model"]
            walls.append(measured(call, os.environ | {"REINFLECT_CACHE": folder}).wall)
        inflector, dev = Inflector.load(Path(folder) / "model"), read_items(data / "german-dev")
        for _ in range(4):  # the first loads the compiled loops
            start = time.perf_counter()
            inflector.inflect_many([(item.lemma, item.features.spelling) for item in dev])
            rates.append(len(dev) / (time.perf_counter() - start))
    seconds = " ".join(f"{wall:.1f}" for wall in walls)
    print(f"train, 100 German forms, two cores: {seconds} s by the clock, median {median(walls):.1f}")
    words = " ".join(f"{rate:.0f}" for rate in rates[1:])
    print(f"a vote of {len(inflector.voters)}: {words} words a second")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.training", description="Measure training and inflecting.")
    parser.add_argument("--data", type=Path, help="folder with german-train-SIZE and german-dev")
    parser.add_argument("--what", default="speed,presets", help=f"which of {','.join(WHAT)} (%(default)s)")
    parser.add_argument("--sizes", default="low,medium", help="for accuracy and ensemble (%(default)s)")
    parser.add_argument("--seeds", type=int, default=3, help="for accuracy (%(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a preset's setting")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        data, *rest = json.loads(asked.measure)
        print(json.dumps(measure(Path(data), *rest)))
        return
    if not asked.data or not (asked.data / "german-dev").is_file():
        parser.error("--data: name a folder of the shared task's data, with german-dev in it")
    chosen = asked.what.split(",")
    if unknown := set(chosen) - set(WHAT):
        parser.error(f"--what: found {min(unknown)}; choose from {','.join(WHAT)}")
    if unknown := set(asked.sizes.split(",")) - set(RUNS):
        parser.error(f"--sizes: found {min(unknown)}; choose from {','.join(RUNS)}")
    if "speed" in chosen:
        show_speed(asked.data)
    if "presets" in chosen:
        show_presets(asked.data, asked.set)
    if "accuracy" in chosen:
        show_accuracy(asked.data, asked)
    if "usual" in chosen:
        show_usual(asked.data, asked.seeds)
    if "ensemble" in chosen:
        show_ensemble(asked.data, asked)


if __name__ == "__main__":
    main()
