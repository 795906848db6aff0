"""What a benchmark leaves behind: predictions, figures, tables, models."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from reinflect import __version__
from reinflect.benchmark import plots
from reinflect.benchmark.claims import claims
from reinflect.benchmark.combine import COMPARED, SPLITS, Combined, predictions
from reinflect.benchmark.packs import parameters_file
from reinflect.benchmark.results import ModelResult
from reinflect.benchmark.run import PARAMETERS, Benchmark
from reinflect.benchmark.tables import page
from reinflect.data.items import write_items
from reinflect.decoding.repeats import longest_runs
from reinflect.ensembles import DEFAULT, kind_of
from reinflect.evaluation.scores import MacroEvaluation
from reinflect.files import write_text
from reinflect.inflector import Inflector, Member
from reinflect.models.inventory import Inventory
from reinflect.models.systems import SYSTEMS


def write_all(benchmark: Benchmark, out: Path, *, about: Sequence[str], command: Mapping[str, Any]) -> list[str]:
    """Write everything but models; notes of what could not be written."""
    for combined in benchmark.combined:
        write_predictions(combined, out / "predictions")
    _write_json(out / "results.json", results_json(benchmark))
    commands = _remember(out / "commands.jsonl", {**command, **asdict(benchmark.account)})
    text = page(
        benchmark.scores,
        about=[*about, *_about(benchmark), *_times(commands)],
        changes=benchmark.changes,
        results=benchmark.results,
    )
    write_text(out / "results.md", text)
    _write_json(out / "details.json", details_json(benchmark))
    try:
        for split in SPLITS:
            plots.draw(benchmark.scores[split], split, out / f"languages-{split}")
    except ImportError:
        return ["note: there is no figure, as that needs matplotlib (pip install 'reinflect[report]')"]
    return []


def write_predictions(combined: Combined, folder: Path) -> None:
    """`FOLDER/SETTING/SYSTEM/LANGUAGE-{dev,test}`, in the order and format of the data."""
    corpus = combined.corpus
    asked = {"dev": corpus.split.dev, "test": corpus.split.asked}
    for system, forms in combined.forms.items():
        if system in COMPARED:
            continue
        place = folder / corpus.setting / system
        place.mkdir(parents=True, exist_ok=True)
        for split, items in asked.items():
            if items:
                write_items(place / f"{corpus.language}-{split}", predictions(items, forms[split]))


def results_json(benchmark: Benchmark) -> dict[str, Any]:
    """Split → setting → system → accuracy, levenshtein, languages."""
    return {
        split: {
            setting: {system: _figures(one) for system, one in by_system.items()}
            for setting, by_system in by_setting.items()
        }
        for split, by_setting in benchmark.scores.items()
        if by_setting
    }


def _figures(score: MacroEvaluation) -> dict[str, Any]:
    languages = {
        name: {"accuracy": one.accuracy, "levenshtein": one.levenshtein} for name, one in score.languages.items()
    }
    return {
        "accuracy": score.accuracy,
        "levenshtein": score.levenshtein,
        "languages": languages,
        "signature": score.signature,
    }


def details_json(benchmark: Benchmark) -> dict[str, Any]:
    """What else there is to know: who voted where, single models, claims."""
    return {
        "version": __version__,
        "versions": sorted({result.version for result in benchmark.results}),
        "devices": sorted({result.device for result in benchmark.results}),
        "absent": list(benchmark.absent),
        "voters": {
            setting: {one.corpus.language: one.chosen for one in benchmark.combined if one.corpus.setting == setting}
            for setting in dict.fromkeys(one.corpus.setting for one in benchmark.combined)
        },
        "claims": {split: [asdict(claim) for claim in claims(benchmark.scores[split])] for split in benchmark.scores},
        "packs": [
            {"pack": result.pack, "models": len(result.models), "seconds": result.seconds, "device": result.device}
            for result in benchmark.results
        ],
    }


def _about(benchmark: Benchmark) -> list[str]:
    trained = benchmark.trained
    diverged = sum(not model.usable for model in trained)
    restarted = sum(model.restarts > 0 for model in trained)
    lines = [
        f"{len(trained)} of {len(benchmark.wanted)} models trained; {restarted} had to be started again, {diverged} "
        "diverged in the end and take no part",
        f"trained on: {', '.join(sorted({result.device for result in benchmark.results})) or 'nothing'}; reinflect "
        + ", ".join(sorted({result.version for result in benchmark.results}) or [__version__]),
    ]
    if benchmark.absent:
        lines.append(f"no training items: {', '.join(benchmark.absent)}")
    return lines


def _times(commands: Sequence[Mapping[str, Any]]) -> list[str]:
    parts: dict[str, float] = {}
    for command in commands:
        for name, seconds in command["seconds"].items():
            parts[name] = parts.get(name, 0.0) + seconds
    listed = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in parts.items())
    many = "one command" if len(commands) == 1 else f"{len(commands)} commands"
    return [f"{many} in this folder, {sum(parts.values()):.0f} s: {listed}"]


def _remember(path: Path, command: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Add a command to those that were run in this folder."""
    before = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    lines = [*before, json.dumps(command, ensure_ascii=False)]
    write_text(path, "".join(f"{line}\n" for line in lines))
    return [json.loads(line) for line in lines]


def _write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def write_models(benchmark: Benchmark, out: Path) -> list[str]:
    """An inflector for every language and setting whose models are all trained; notes of what could not be written."""
    notes, parts = [], out / PARAMETERS
    for combined in benchmark.combined:
        corpus = combined.corpus
        own = [one for one in benchmark.wanted if one.corpus is corpus]
        models = [benchmark.found[one.key] for one in own if one.key in benchmark.found]
        usable = [model for model in models if model.usable]
        path = out / "models" / corpus.setting / f"{corpus.language}.model"
        files = {id(model): _file(parts, corpus.label, model) for model in usable}
        if len(models) < len(own) or not usable:
            continue
        if not all(file.exists() for file in files.values()):
            if not path.exists():
                notes.append(f"note: there is no {path}: some of its models were trained without --save-models")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        inventory = Inventory.of(corpus.split.train)
        members = [_member(model, inventory, combined, files[id(model)]) for model in usable]
        known = longest_runs(word for item in corpus.split.train for word in (item.lemma, item.form))
        way = DEFAULT if DEFAULT in combined.chosen else "vote"
        Inflector(tuple(members), known, way, {name: tuple(some) for name, some in combined.chosen.items()}).save(path)
        for file in files.values():
            file.unlink()
    if parts.is_dir() and not any(parts.iterdir()):
        parts.rmdir()
    return notes


def _file(folder: Path, label: str, model: ModelResult) -> Path:
    return parameters_file(folder, label, kind_of(model.system, model.alignment), model.seed)


def _member(model: ModelResult, inventory: Inventory, combined: Combined, file: Path) -> Member:
    return Member(
        system=SYSTEMS[model.system],
        alignment=model.alignment,
        seed=model.seed,
        settings=model.settings,
        inventory=inventory,
        dev_accuracy=combined.accuracies[f"{kind_of(model.system, model.alignment)}-{model.seed}"],
        parameters={name: tensor.to(torch.float32) for name, tensor in load_file(file).items()},
    )
