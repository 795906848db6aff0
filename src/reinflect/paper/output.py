"""The files of a benchmark: figures, tables, charts, models."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from reinflect import __version__
from reinflect.assemble import Keep, assemble, voters_of
from reinflect.ensemble.member import TrainedModel
from reinflect.errors import ReinflectError
from reinflect.files import make_folder, write_text
from reinflect.inflector.inflector import Inflector
from reinflect.learn.lesson import Lesson
from reinflect.paper import plots
from reinflect.paper.benchmark import Benchmark
from reinflect.paper.claims import claims
from reinflect.paper.combine import SPLITS
from reinflect.paper.figures import FILE
from reinflect.paper.tables import page
from reinflect.systems.kind import default_strategy
from reinflect.text import counted


def write_all(benchmark: Benchmark, out: Path, *, about: Sequence[str], command: Mapping[str, Any]) -> list[str]:
    """Write everything but predictions, which are written already, and models; returns notes for the user."""
    _write_json(out / FILE, {split: by_setting for split, by_setting in benchmark.scores.items() if by_setting})
    commands = _remember(out / "commands.jsonl", {**command, **asdict(benchmark.account)})
    lines = [*about, *_about(benchmark), _times(commands)]
    text = page(benchmark.scores, about=lines, changes=benchmark.changes, results=benchmark.results)
    write_text(out / "results.md", text)
    _write_json(out / "details.json", _details(benchmark))
    try:
        for split in SPLITS:
            plots.draw(benchmark.scores[split], split, out / f"languages-{split}")
    except ImportError:
        return ["note: no figure is drawn: matplotlib is not installed (pip install 'reinflect[report]')"]
    return []


def _details(benchmark: Benchmark) -> dict[str, Any]:
    """Voters of each language, claims, models and packs."""
    voters: dict[str, dict[str, Mapping[str, Sequence[str]]]] = {}
    for corpus, one in benchmark.finished.items():
        voters.setdefault(corpus.setting, {})[corpus.language] = one.chosen
    return {
        "version": __version__,
        "versions": sorted({result.version for result in benchmark.results}),
        "devices": sorted({result.device for result in benchmark.results}),
        "absent": list(benchmark.absent),
        "voters": voters,
        "claims": {split: claims(figures) for split, figures in benchmark.scores.items()},
        "models": sorted(model.key for model in benchmark.trained),
        "packs": [
            {"pack": result.pack, "models": len(result.models), "seconds": result.seconds, "device": result.device}
            for result in benchmark.results
        ],
    }


def _about(benchmark: Benchmark) -> list[str]:
    trained = benchmark.trained
    diverged = sum(not model.usable for model in trained)
    restarted = sum(model.restarts > 0 for model in trained)
    devices = sorted({result.device for result in benchmark.results})
    versions = sorted({result.version for result in benchmark.results}) or [__version__]
    lines = [
        f"{len(trained)} of {len(benchmark.specs)} models trained; {restarted} were restarted, {diverged} diverged and "
        "take no part",
        f"trained on: {', '.join(devices) or 'nothing'}; reinflect {', '.join(versions)}",
    ]
    if benchmark.absent:
        lines.append(f"no training items: {', '.join(benchmark.absent)}")
    return lines


def _times(commands: Sequence[Mapping[str, Any]]) -> str:
    parts: Counter[str] = Counter()
    for command in commands:
        parts.update(command["seconds"])
    listed = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in parts.items())
    return f"{counted(len(commands), 'command')} in this folder, {sum(parts.values()):.0f} s: {listed}"


def _remember(path: Path, command: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Add a command to the list of commands of this folder."""
    before = path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []
    lines = [*before, json.dumps(command, ensure_ascii=False)]
    write_text(path, "".join(f"{line}\n" for line in lines))
    return [json.loads(line) for line in lines]


def _write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(to_builtins(value), ensure_ascii=False, indent=1) + "\n")


def write_models(benchmark: Benchmark, out: Path) -> list[str]:
    """Write an inflector for every language and setting whose models are all trained; returns notes for the user."""
    notes, folder = [], benchmark.folder
    assert folder.parameters is not None
    for corpus in benchmark.finished:
        own = [spec for spec in benchmark.specs if spec.lesson.label == corpus.label]
        models = [benchmark.found[spec.digest] for spec in own if spec.digest in benchmark.found]
        usable = [model for model in models if model.usable]
        path = out / "models" / corpus.setting / f"{corpus.language}.reinflect"
        files = [folder.parameters_file(model) for model in usable]
        if len(models) < len(own) or not usable:
            continue
        if not all(file.exists() for file in files):
            if not path.exists():
                notes.append(f"note: not written: {path} (some of its models were trained without --save-models)")
            elif not _has(path, usable, corpus):
                notes.append(
                    f"note: {path} has models of other settings or data; some of its models were now trained without "
                    "--save-models, or their parameters are missing"
                )
            else:  # left by a command that was killed while it removed them
                for file in files:
                    file.unlink(missing_ok=True)
            continue
        make_folder(path.parent)
        members = [folder.with_parameters(model) for model in usable]
        strategy = default_strategy({model.system for model in usable})
        source = f"{corpus.language}-train-{corpus.setting}"
        keep = Keep(attested=False)
        assemble(members, corpus.train, corpus.dev, keep, strategy=strategy, source=source).save(path)
        for file in files:
            file.unlink()
    if folder.parameters.is_dir() and not any(folder.parameters.iterdir()):
        folder.parameters.rmdir()
    return notes


def _has(path: Path, models: Sequence[TrainedModel], corpus: Lesson) -> bool:
    """Whether a file has these models, as far as that shows without their parameters."""
    try:
        there = Inflector.load(path).members
    except ReinflectError:
        return False
    voters = voters_of(models, corpus.train, corpus.dev)
    wanted = {(voter.name, voter.model.settings, voter.dev_accuracy) for voter in voters}
    return {(one.name, one.settings, one.dev_accuracy) for one in there} == wanted
