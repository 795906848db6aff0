"""Do two versions of the program compute the same? Records what commands give, bit for bit, and compares two records.

    python -m bench.golden record OLD/src old.json --data ../shared/data/conll2017
    python -m bench.golden record src new.json --data ../shared/data/conll2017
    python -m bench.golden compare old.json new.json
    python -m bench.golden tables OLD NEW

Both records must be made on one machine: the last bits of a product depend on the processor. Only commands are used,
so versions need not agree on anything else. About ten minutes on two cores. `tables` compares figures and predictions
of two folders of `reinflect benchmark`, with those of `bench.best`, where NEW was made of OLD's packs.
"""

import argparse
import hashlib
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

LANGUAGES = ("german", "finnish", "navajo")
SYSTEMS = "hacm,haem,soft"
CELLS = ("lstm", "coupled")
DEMO = "--seeds 2 --preset low --set epochs=30 --set score_every=5 --strategy vote"
BRIEF = "--seeds 1 --preset low --set epochs=6 --set score_from=0"
FOLDS = "--seeds 2 --preset low --set epochs=4 --set score_from=0"
GRID = "--settings low --grid paper --device cpu --set epochs=8 --set score_from=0"

Run = Callable[..., str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("code", type=Path, help="the folder src of a version")
    recording.add_argument("record", type=Path)
    recording.add_argument("--data", type=Path, required=True)
    for name in ("compare", "tables"):
        commands.add_parser(name).add_argument("records", type=Path, nargs=2)
    arguments = parser.parse_args()
    if arguments.command == "record":
        found = dict(_record(arguments.code.resolve(), arguments.data.resolve()))
        arguments.record.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"{len(found)} digests written to {arguments.record}")
        return
    read = _figures if arguments.command == "tables" else lambda path: json.loads(path.read_text(encoding="utf-8"))
    one, two = map(read, arguments.records)
    other = sorted(name for name in one.keys() | two.keys() if one.get(name) != two.get(name))
    print(f"{len(one.keys() | two.keys()) - len(other)} of {len(one.keys() | two.keys())} are the same")
    for name in other:
        print(f"  not the same: {name}")
    sys.exit(bool(other))


def _figures(folder: Path) -> dict[str, Any]:
    """The figures of a benchmark's folder by split, setting and system, and digests of its predictions."""
    result: dict[str, Any] = {}
    for name in ("best.json", "results.json"):
        path = folder / name
        for split, settings in json.loads(path.read_text(encoding="utf-8")).items() if path.exists() else ():
            for setting, systems in settings.items():
                result |= {f"{split}/{setting}/{system}": figures for system, figures in systems.items()}
    paths = [path for path in (folder / "predictions").rglob("*") if path.is_file()]
    return result | {str(path.relative_to(folder)): _digest(path.read_bytes()) for path in paths}


def _record(code: Path, data: Path) -> Iterator[tuple[str, str]]:
    """Digests by what they are of."""
    with TemporaryDirectory() as folder:
        place = Path(folder)

        def run(*words: str) -> str:
            environment = {**os.environ, "PYTHONPATH": str(code), "SOURCE_DATE_EPOCH": "1500000000"}
            command = [sys.executable, "-m", "reinflect", *words]
            return subprocess.run(
                command, cwd=place, env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ).stdout.decode()

        for split in ("train-low", "dev", "test"):
            run("data", "show", "german-verbs", "--split", split, "--output", f"{split}.tsv")
        yield from _trained(run, place, "demo", "train-low.tsv", "test.tsv", ["--dev", "dev.tsv", *DEMO.split()])
        yield from _trained(run, place, "folds", "train-low.tsv", "test.tsv", FOLDS.split())
        for language in LANGUAGES:
            for cell in CELLS:
                more = [*BRIEF.split(), "--systems", SYSTEMS, "--set", f"cell={cell}"]
                dev = str(data / f"{language}-dev")
                train = str(data / f"{language}-train-low")
                yield from _trained(run, place, f"{language}-{cell}", train, dev, ["--dev", dev, *more])
        run("benchmark", "--data", str(data), "--languages", ",".join(LANGUAGES), "--out", "grid", *GRID.split())
        for path in sorted((place / "grid" / "predictions").rglob("*")):
            if path.is_file():
                yield f"grid/{path.relative_to(place / 'grid')}", _digest(path.read_bytes())
        results = json.loads((place / "grid" / "results.json").read_text(encoding="utf-8"))
        for split, settings in results.items():
            for setting, systems in settings.items():
                for system, figures in systems.items():
                    plain = {name: figures[name] for name in ("accuracy", "levenshtein", "languages")}
                    yield f"grid/{split}/{setting}/{system}", _digest(json.dumps(plain, sort_keys=True).encode())


def _trained(run: Run, place: Path, name: str, train: str, asked: str, options: list[str]) -> Iterator[tuple[str, str]]:
    """Train, and digest parameters, log and answers."""
    model = place / f"{name}.reinflect"
    run("train", "--train", train, "--out", model.name, "--device", "cpu", *options)
    for parameter, content in _parameters(model):
        yield f"{name}/parameters/{parameter}", _digest(content)
    log = (place / f"{model.name}.log.jsonl").read_text(encoding="utf-8")
    yield f"{name}/log", _digest(log.replace("soft-none-", "soft-").encode())  # its name in 0.1
    answers = run("inflect", model.name, "--input", asked, "--json", "--n-best", "3")
    yield f"{name}/answers", _digest(answers.encode())
    for line in run("inflect", model.name, "--input", asked, "--strategy", "average").splitlines()[:50]:
        yield f"{name}/average/{line.split(chr(9))[0]}/{_digest(line.encode())}", ""


def _parameters(model: Path) -> Iterator[tuple[str, bytes]]:
    """Every tensor by the name of its member, read without any code of ours."""
    raw = model.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + size])
    about = json.loads(header.pop("__metadata__")["reinflect"])
    for tensor, told in header.items():
        number, _, name = tensor.partition(".")
        member = about["members"][int(number)]
        start, end = told["data_offsets"]
        seed = f"{member['system']}-{member['alignment']}-{member['seed']}"
        yield f"{seed}/{name}", f"{told['dtype']} {told['shape']}".encode() + raw[8 + size + start : 8 + size + end]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    main()
