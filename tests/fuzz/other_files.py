"""What else is read: settings and options, presets, packs and folders of a benchmark, checkpoints, logs."""

import json
import lzma
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch
from safetensors.torch import load

from reinflect.cli.train import names
from reinflect.data.items import Columns
from reinflect.ensemble.strategies import find_strategy
from reinflect.errors import ReinflectError
from reinflect.learn.fleet import Fleet
from reinflect.learn.loop import Checkpoint, fingerprint_of
from reinflect.paper.page import benchmark_page, data_of
from reinflect.run.packs import ENDING, by_key, read_results, write_result
from reinflect.settings import known_keys
from reinflect.systems import SYSTEMS
from reinflect.systems.kind import Wish, make_plan
from tests.fuzz import json_values, model_files, texts
from tests.fuzz.campaign import Kind, trial
from tests.learn.tiny import fleet_of, pack, updated
from tests.paper import made_up

KEYS = list(dict.fromkeys(key for system in SYSTEMS.values() for key in known_keys(system.settings)))
VALUES = ("1", "100", "0", "-1", "0.5", "1e3", "true", '"lstm"', "lstm", "adam", "encoder,state", "[]", "nan", "inf")


class Option(NamedTuple):
    """A text after an option on the command line, or a preset file."""

    what: str
    text: str | bytes


def option(rng: Random) -> Option:
    what = rng.choice(["set", "set", "set", "preset", "preset", "columns", "strategy", "systems"])
    key, value = rng.choice([*KEYS, "haem.hidden", "soft.dropout", "x.hidden"]), rng.choice(VALUES)
    if what == "preset":
        lines = [f"[{rng.choice(['hacm', 'haem', 'soft'])}]", f"{key} = {value}", f"{rng.choice(KEYS)} = 3"]
        return Option(what, texts.spoilt(rng, "\n".join(lines[rng.randrange(2) :])))
    good = {
        "set": f"{key}={value}",
        "columns": rng.choice(["lemma,form,features", "lemma=Wort,form=Form,features=Tags", "lemma=a"]),
        "strategy": rng.choice(["run7", "vote", "ensemble-3", "average"]),
        "systems": "hacm,haem",
    }
    text = good[what]
    if what == "set" and rng.random() < 0.1:
        odd = ["[" * 3000, "9" * 5000, "{a=" * 3000, "1979-05-27", "'''", '"\\u0000"', "1\nx=2"]
        text = f"{key}={rng.choice(odd)}"
    for _ in range(rng.choice([0, 1, 2])):
        text = rng.choice(texts.OF_TEXT)(rng, text)
    return Option(what, text)


def _systems_in(preset: bytes) -> list[str]:
    """The systems that a preset has a table of, for all of them to be read."""
    return [system for system in SYSTEMS if f"[{system}]".encode() in preset] or ["haem"]


READERS: dict[str, Callable[[str], object]] = {
    "set": lambda text: make_plan(Wish(systems=list(SYSTEMS), preset="low", changes=[text]), 1),
    "preset": lambda name: make_plan(Wish(systems=_systems_in(Path(name).read_bytes()), preset=name), 1),
    "columns": Columns.parse,
    "strategy": find_strategy,
    "systems": lambda text: make_plan(Wish(systems=names(text), preset="low"), 1),
}


def _choose(folder: Path, made: Option) -> None:
    text = made.text
    if isinstance(text, bytes):
        (folder / "preset.toml").write_bytes(text)
        text = str(folder / "preset.toml")
    READERS[made.what](text)


CORPUS = made_up.corpus()


@cache
def _pack() -> Any:
    models = [made_up.result(CORPUS, kind, seed) for kind in ("hacm-naive", "haem-smart") for seed in (1, 2)]
    with TemporaryDirectory() as folder:
        path = Path(folder, f"one{ENDING}")
        write_result(path, made_up.pack(*models))
        return json.loads(lzma.decompress(path.read_bytes()))


def pack_file(rng: Random) -> bytes:
    if rng.random() < 0.2:
        return rng.choice(texts.OF_BYTES[:3])(rng, lzma.compress(json.dumps(_pack()).encode(), preset=0))
    return lzma.compress(json_values.document(rng, _pack()), preset=0)


def _unpack(folder: Path, made: bytes) -> None:
    """A pack that cannot be used is passed over, and the user is told."""
    (folder / f"one{ENDING}").write_bytes(made)
    notes: list[str] = []
    by_key(read_results(folder, notes.append))
    if notes:
        raise ReinflectError("".join(notes))


@cache
def _checkpoint() -> tuple[bytes, str]:
    """A good one, and the mark of its work."""
    mark = pack(seeds=(1, 2)).fingerprint
    with TemporaryDirectory() as folder:
        kept = Checkpoint(Path(folder) / "a.checkpoint", mark)
        kept.save(updated(_fleet(), 1), 1, torch.zeros(2), 5)
        return kept.path.read_bytes(), mark


def _fleet() -> Fleet:
    return fleet_of(pack(seeds=(1, 2)))


def checkpoint_file(rng: Random) -> bytes:
    raw, _ = _checkpoint()
    how = rng.randrange(10)
    if how < 3:
        return rng.choice(texts.OF_BYTES[:3])(rng, raw)
    tensors = load(raw)
    if how < 5:
        rng.choice(model_files.OF_TENSORS)(rng, tensors, rng.choice(sorted(tensors)))
        tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
    checksum, before = (model_files.parts(raw)[0]["__metadata__"][name] for name in ("sha256", "state"))
    text = json.dumps(json_values.changed(rng, json.loads(before))) if how != 9 else "[" * json_values.DEEP
    return model_files.saved(tensors, {"sha256": checksum, "state": text if how > 4 else before})


def _resume(folder: Path, made: bytes) -> None:
    """A checkpoint that cannot be used is none, and the fleet is as fresh as it was."""
    checkpoint, fleet = Checkpoint(folder / "a.checkpoint", _checkpoint()[1]), _fleet()
    checkpoint.path.write_bytes(made)
    begun, fresh = fingerprint_of(checkpoint.path) == checkpoint.fingerprint, fleet.parameters.flat.clone()
    if checkpoint.load(fleet) is None:
        assert torch.equal(fleet.parameters.flat, fresh)
        assert [model.epoch for model in fleet.runs] == [0, 0]
        raise ReinflectError("not a checkpoint")
    assert begun
    if fleet.running:
        fleet.update(fleet.prepare(), 0)


class Changed(NamedTuple):
    """A file of a benchmark's folder that is not what it should be."""

    name: str
    content: bytes


def _folder_files() -> dict[str, Any]:
    rng, languages = Random(1), ["german", "norwegian-nynorsk", "khaling"]
    systems = ["baseline", "hacm-naive", "haem-smart", "run1", "run7", "ensemble-7"]

    def average() -> dict[str, Any]:
        figures = {name: {"accuracy": rng.uniform(0, 100), "levenshtein": 1.0} for name in languages}
        return {"accuracy": 50.0, "levenshtein": 1.5, "languages": figures, "signature": "data:x|items:3"}

    settings = ("low", "high")
    figures = {split: {name: {s: average() for s in systems} for name in settings} for split in ("dev", "test")}
    claim = {"text": "HAEM is above HACM", "held": True, "evidence": "1 > 2"}
    details = {"devices": ["cpu"], "claims": {"dev": [claim]}, "packs": [{"models": 3}]}
    log = [
        {"model": f"german-low-haem-smart-{seed}", "epoch": epoch, "loss": 2.0, "dev_accuracy": 30.0, "best": 40.0}
        for seed in (1, 2)
        for epoch in (1, 2)
    ]
    command = {"command": "reinflect benchmark --data '/nowhere at all' --out out", "seconds": {}}
    return {"results.json": figures, "details.json": details, "logs/haem.jsonl": log, "commands.jsonl": [command]}


def folder_file(rng: Random) -> Changed:
    name, value = rng.choice(list(_folder_files().items()))
    return Changed(name, json_values.document(rng, value, lines=name.endswith("l")))


def _report(folder: Path, made: Changed) -> None:
    (folder / "logs").mkdir(exist_ok=True)
    for name, value in _folder_files().items():
        text = "\n".join(map(json.dumps, value)) if name.endswith("l") else json.dumps(value)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / made.name).write_bytes(made.content)
    benchmark_page(folder, data_of(folder)).encode()


OTHERS = (
    Kind("options", 10_000, option, trial(_choose)),
    Kind("packs", 2_000, pack_file, trial(_unpack)),
    Kind("checkpoints", 1_000, checkpoint_file, trial(_resume)),
    Kind("benchmark", 2_000, folder_file, trial(_report)),
)
