"""What a benchmark leaves behind: predictions, figures, tables, models."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load

from reinflect import __version__
from reinflect.decoding.repeats import longest_runs
from reinflect.ensembles.confidence import fit, judged_cells, seen_cells
from reinflect.ensembles.member import Member
from reinflect.ensembles.vote import DEFAULT, best_first, dev_accuracy, kind_of, strategy
from reinflect.errors import ReinflectError
from reinflect.evaluation.scores import MacroEvaluation
from reinflect.execution.packs import parameters_file
from reinflect.execution.results import ModelResult
from reinflect.experiments.calibration import dev_voters
from reinflect.experiments.combine import SPLITS
from reinflect.experiments.finish import Finished
from reinflect.experiments.run import PARAMETERS, Benchmark
from reinflect.files import read_bytes, write_text, writing
from reinflect.inflector.card import told
from reinflect.inflector.inflector import Inflector
from reinflect.paper import plots
from reinflect.paper.claims import claims
from reinflect.paper.tables import page
from reinflect.systems.layers.inventory import Inventory
from reinflect.systems.system import SYSTEMS


def write_all(benchmark: Benchmark, out: Path, *, about: Sequence[str], command: Mapping[str, Any]) -> list[str]:
    """Write everything but predictions, which are there, and models; notes of what could not be written."""
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
            setting: {
                corpus.language: one.chosen for corpus, one in benchmark.finished.items() if corpus.setting == setting
            }
            for setting in dict.fromkeys(corpus.setting for corpus in benchmark.finished)
        },
        "claims": {split: [asdict(claim) for claim in claims(benchmark.scores[split])] for split in benchmark.scores},
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
    before = path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []
    lines = [*before, json.dumps(command, ensure_ascii=False)]
    write_text(path, "".join(f"{line}\n" for line in lines))
    return [json.loads(line) for line in lines]


def _write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def write_models(benchmark: Benchmark, out: Path) -> list[str]:
    """An inflector for every language and setting whose models are all trained; notes of what could not be written."""
    notes, parts = [], out / PARAMETERS
    for corpus, finished in benchmark.finished.items():
        own = [one for one in benchmark.wanted if one.corpus is corpus]
        models = [benchmark.found[one.key] for one in own if one.key in benchmark.found]
        usable = [model for model in models if model.usable]
        path = out / "models" / corpus.setting / f"{corpus.language}.reinflect"
        files = {model.key: parameters_file(parts, model) for model in usable}
        if len(models) < len(own) or not usable:
            continue
        if not all(file.exists() for file in files.values()):
            if not path.exists():
                notes.append(f"note: there is no {path}: some of its models were trained without --save-models")
            elif not _has(path, usable, finished):
                notes.append(
                    f"note: {path} has models of other settings or data; some of those that belong there now were "
                    "trained without --save-models, or their parameters are gone"
                )
            else:  # of a run that was killed while it removed them
                for file in files.values():
                    file.unlink(missing_ok=True)
            continue
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        inventory = Inventory.of(corpus.split.train)
        members = [_member(model, inventory, finished, files[model.key]) for model in usable]
        known = longest_runs(word for item in corpus.split.train for word in (item.lemma, item.form))
        way = DEFAULT if DEFAULT in finished.chosen else "vote"
        voters = dev_voters(corpus, usable)
        chosen = {name: [voters[member] for member in some] for name, some in finished.chosen.items()}
        accuracy = dev_accuracy(strategy(way), chosen.get(way) or best_first(voters.values()))
        seen = seen_cells(corpus.split.train, corpus.split.dev)
        fitted = {name: fit(*judged_cells(strategy(name), some, seen)) for name, some in chosen.items()}
        Inflector(
            tuple(members),
            known,
            way,
            {name: tuple(some) for name, some in finished.chosen.items()},
            confidences={name: confidence for name, confidence in fitted.items() if confidence},
            training=told(
                corpus.split.train,
                corpus.split.dev,
                source=f"{corpus.language}-train-{corpus.setting}",
                accuracy=accuracy,
                scored=len({cell for voter in voters.values() for cell in voter.gold}),
                interrupted=False,
            ),
        ).save(path)
        for file in files.values():
            file.unlink()
    if parts.is_dir() and not any(parts.iterdir()):
        parts.rmdir()
    return notes


def _has(path: Path, models: Sequence[ModelResult], finished: Finished) -> bool:
    """Whether a file is of these models, as far as can be told without their parameters."""
    try:
        there = Inflector.load(path).members
    except ReinflectError:
        return False
    found = {(one.name, one.settings, one.dev_accuracy) for one in there}
    return found == {(_name(model), model.settings, finished.accuracies[_name(model)]) for model in models}


def _name(model: ModelResult) -> str:
    return f"{kind_of(model.system, model.alignment)}-{model.seed}"


def _member(model: ModelResult, inventory: Inventory, finished: Finished, file: Path) -> Member:
    return Member(
        system=SYSTEMS[model.system],
        alignment=model.alignment,
        seed=model.seed,
        settings=model.settings,
        inventory=inventory,
        dev_accuracy=finished.accuracies[_name(model)],
        parameters={name: tensor.to(torch.float32) for name, tensor in load(read_bytes(file)).items()},
    )
