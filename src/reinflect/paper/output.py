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
from reinflect.data.items import grouped
from reinflect.ensemble.member import Trained
from reinflect.errors import ReinflectError
from reinflect.files import make_folder, write_text
from reinflect.inflector.inflector import Inflector
from reinflect.learn.lesson import Lesson, ModelSpec
from reinflect.paper.benchmark import Benchmark
from reinflect.paper.claims import claims
from reinflect.paper.figures import RESULTS
from reinflect.paper.page import COMMANDS, DETAILS, languages_chart
from reinflect.paper.tables import page
from reinflect.report.drawing import svg_file
from reinflect.systems.kind import default_strategy
from reinflect.text import counted


def write_all(benchmark: Benchmark, out: Path, *, about: Sequence[str], command: Mapping[str, Any]) -> None:
    """Write everything but predictions, which are written already, and models."""
    scores, results = benchmark.scores, benchmark.results
    _write_json(out / RESULTS, {split: figures for split, figures in scores.items() if figures})
    commands = out / COMMANDS
    lines = commands.read_text(encoding="utf-8").split("\n")[:-1] if commands.exists() else []
    lines.append(json.dumps({**command, **asdict(benchmark.account)}, ensure_ascii=False))
    write_text(commands, "".join(f"{line}\n" for line in lines))
    devices, versions = (sorted({getattr(result, name) for result in results}) for name in ("device", "version"))
    seconds: Counter[str] = Counter()
    for line in lines:
        seconds.update(json.loads(line)["seconds"])
    models, times = benchmark.models.values(), ", ".join(f"{name} {number:.0f} s" for name, number in seconds.items())
    restarted, diverged = sum(model.restarts > 0 for model in models), sum(not model.usable for model in models)
    about = [
        *about,
        f"{len(models)} of {len(benchmark.specs)} models trained; {restarted} were restarted, {diverged} diverged and "
        "take no part",
        f"trained on: {', '.join(devices) or 'nothing'}; reinflect {', '.join(versions or [__version__])}",
        *([f"no training items: {', '.join(benchmark.absent)}"] if benchmark.absent else []),
        f"{counted(len(lines), 'command')} in this folder, {sum(seconds.values()):.0f} s: {times}",
    ]
    write_text(out / "results.md", page(scores, about=about, changes=benchmark.changes, results=results))
    voters: dict[str, dict[str, Mapping[str, Sequence[str]]]] = {}
    for corpus, combined in benchmark.finished.items():
        voters.setdefault(corpus.setting, {})[corpus.language] = combined.chosen
    details = {
        "version": __version__,
        "versions": versions,
        "devices": devices,
        "absent": list(benchmark.absent),
        "voters": voters,
        "claims": {split: claims(figures) for split, figures in scores.items()},
        "models": sorted(benchmark.models),
        "packs": [
            {"pack": result.pack, "models": len(result.models), "seconds": result.seconds, "device": result.device}
            for result in results
        ],
    }
    _write_json(out / DETAILS, details)
    for split, figures in scores.items():
        if chart := languages_chart(figures, split):
            write_text(out / f"languages-{split}.svg", svg_file(chart))


def _write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(to_builtins(value), ensure_ascii=False, indent=1) + "\n")


def write_models(benchmark: Benchmark, out: Path) -> list[str]:
    """Write an inflector for every language and setting whose models are all trained; returns notes for the user."""
    notes, store = [], benchmark.store
    assert store.kept_numbers is not None
    of_corpus = grouped(benchmark.specs, lambda spec: spec.lesson.label)
    for corpus in benchmark.finished:
        specs = [spec for spec in of_corpus[corpus.label] if spec.digest in benchmark.models]
        usable = {spec: model for spec in specs if (model := benchmark.models[spec.digest]).usable}
        if len(specs) < len(of_corpus[corpus.label]) or not usable:
            continue
        path = out / "models" / corpus.setting / f"{corpus.language}.reinflect"
        files = [store.numbers_file(model) for model in usable.values()]
        if all(file.exists() for file in files):
            members = [(model, store.member(spec, model)) for spec, model in usable.items()]
            strategy, keep = default_strategy({spec.system for spec in usable}), Keep(attested=False)
            source = f"{corpus.language}-train-{corpus.setting}"
            make_folder(path.parent)
            assemble(members, corpus.train, corpus.dev, keep, strategy=strategy, source=source).save(path)
        elif not path.exists():
            notes.append(f"note: not written: {path} (some of its models were trained without --save-models)")
            continue
        elif not _has(path, usable, corpus):
            notes.append(
                f"note: {path} has models of other settings or data; some of its models were now trained without "
                "--save-models, or their parameters are missing"
            )
            continue
        for file in files:  # also those left by a command that was killed while it removed them
            file.unlink(missing_ok=True)
    if store.kept_numbers.is_dir() and not any(store.kept_numbers.iterdir()):
        store.kept_numbers.rmdir()
    return notes


def _has(path: Path, models: Mapping[ModelSpec, Trained], corpus: Lesson) -> bool:
    """Whether a file has these models, as far as that shows without their parameters."""
    try:
        members = Inflector.load(path).members
    except ReinflectError:
        return False
    settings = {model.name: spec.settings for spec, model in models.items()}
    voters = voters_of([*models.values()], corpus.train, corpus.dev)
    wanted = {(voter.name, settings[voter.name], voter.dev_accuracy) for voter in voters}
    return {(member.name, member.settings, member.dev_accuracy) for member in members} == wanted
