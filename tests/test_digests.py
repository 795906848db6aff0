"""What commands train has the digests it had before: packs and unfinished trainings of earlier versions go on."""

import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reinflect.cli import main
from reinflect.errors import StoppedError
from reinflect.learn.lesson import ModelSpec

GOLDEN = Path(__file__).parent / "golden"
DIGESTS: dict[str, dict[str, list[str]]] = json.loads((GOLDEN / "digests.json").read_text(encoding="utf-8"))
"""By command and options (of train, after the number of items): name and digest of each model."""
TRAINERS = {
    "train": "reinflect.run.driver.train_specs",
    "benchmark": "reinflect.paper.benchmark.train_specs",
    "forecast": "reinflect.run.driver.train_specs",
}


def digests(command: str, *arguments: str) -> list[str]:
    """Name and digest of each model that a command would train."""
    captured: list[ModelSpec] = []

    def capture(specs: list[ModelSpec], *_: Any, **__: Any) -> None:
        captured.extend(specs)
        raise StoppedError("captured")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TRAINERS[command], capture)
        result = CliRunner().invoke(main, [command, *arguments, "--device", "cpu"])
    assert captured, result.output
    return sorted(f"{spec.name} {spec.digest}" for spec in captured)


def verbs(first: int, last: int) -> str:
    stems = map("".join, product("bdfgklmnprst", "aeiou", "bdfgklmnprst"))
    endings = {"V;PRS;1;SG": "e", "V;PRS;2;SG": "st", "V;PRS;3;SG": "t"}
    endings |= {bundle.replace("PRS", "PST"): f"t{ending}" for bundle, ending in endings.items()}
    forms = [f"{stem}en\t{stem}{ending}\t{bundle}\n" for stem in stems for bundle, ending in endings.items()]
    return "".join(forms[first:last])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("digests")
    files = {"dev": verbs(4300, 4320)} | {f"train-{number}": verbs(0, number) for number in (50, 400, 4000)}
    for start, language in ((0, "german"), (1000, "turkish")):
        sizes = {"low": 20, "medium": 30, "high": 40}
        files |= {f"data/{language}-train-{size}": verbs(start, start + number) for size, number in sizes.items()}
        files[f"data/{language}-dev"] = verbs(4300, 4310)
        covered = (line.split("\t") for line in verbs(4310, 4320).splitlines(keepends=True))
        files[f"data/{language}-covered-test"] = "".join(f"{lemma}\t{bundle}" for lemma, _, bundle in covered)
    files["mine.toml"] = "[haem]\nhidden = 7\nembedding = 3\nepochs = 4\n[hacm]\nhidden = 8\n"
    (folder / "data").mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    for path in GOLDEN.glob("*.reinflect"):
        shutil.copy(path, folder)
    return folder


@pytest.mark.parametrize(("command", "options"), [(name, options) for name in DIGESTS for options in DIGESTS[name]])
def test_models_keep_their_digests(command: str, options: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    words = options.replace("--dev", "--dev dev").split()
    if command == "benchmark":
        files = ["--data", "data", "--out", "results"]
    else:
        files = ["--train", f"train-{words.pop(0) if command == 'train' else 50}", "--out", "model"]
    assert digests(command, *files, *words) == DIGESTS[command][options]
