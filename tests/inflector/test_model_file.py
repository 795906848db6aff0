"""Model files that somebody made by hand: their checksum is right, and what they say is not."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load, save

from reinflect.errors import InputError
from reinflect.inflector.card import card_text
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.model_file import digest
from tests.fuzz import tiny_models

Said = dict[str, Any]
Tensors = dict[str, torch.Tensor]


def made(path: Path, change: Callable[[Said, Tensors], object]) -> Path:
    """A small model with something changed before it was signed."""
    raw = tiny_models.model_file()
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    said, tensors = json.loads(header["__metadata__"]["reinflect"]), load(raw)
    change(said, tensors)
    del said["sha256"]
    said["sha256"] = digest(said, tensors)
    path.write_bytes(save(tensors, metadata={"reinflect": json.dumps(said)}))
    return path


def test_a_file_with_nothing_changed_is_used(tmp_path: Path) -> None:
    inflector = Inflector.load(made(tmp_path / "model", lambda _said, _tensors: None))
    assert inflector.answers([("gehen", "V;PST")]) == tiny_models.inflector().answers([("gehen", "V;PST")])


NOT_USED: dict[str, Callable[[Said, Tensors], object]] = {
    "a character of three letters": lambda said, _: said["inventories"][0]["characters"].__setitem__(0, "abc"),
    "a character that is a number": lambda said, _: said["inventories"][0]["characters"].__setitem__(0, 1),
    "a character twice": lambda said, _: said["inventories"][0]["characters"].__setitem__(0, "e"),
    "half a character": lambda said, _: said["inventories"][0]["characters"].__setitem__(0, "\ud800"),
    "an atom that is a list": lambda said, _: said["inventories"][0]["atoms"].__setitem__(0, ["V"]),
    "an inventory before the first": lambda said, _: said["members"][0].update(inventory=-1),
    "a seed without end": lambda said, _: said["members"][0].update(seed=math.inf),
    "a large seed": lambda said, _: said["members"][0].update(seed=10**400),
    "an accuracy without end": lambda said, _: said["members"][0].update(dev_accuracy=10**400),
    "an accuracy that is none": lambda said, _: said["members"][0].update(dev_accuracy=math.nan),
    "a vote's accuracy that is none": lambda said, _: said["training"].update(accuracy=math.nan),
    "a run without end": lambda said, _: said.update(known_runs={"ä": math.inf}),
    "no members": lambda said, _: said.update(members=[]),
    "half a character of a name": lambda said, _: said["training"].update(source="\udfff.tsv"),
    "a long name for a setting": lambda said, _: said["members"][0]["settings"].update({"x" * 100_000: 1}),
    "another kind of numbers": lambda _, tensors: tensors.update(
        {"0.output.bias": tensors["0.output.bias"].to(torch.complex64)}
    ),
    "whole numbers": lambda _, tensors: tensors.update({"0.output.bias": tensors["0.output.bias"].to(torch.int32)}),
    "a number that is none": lambda _, tensors: tensors["0.output.bias"].__setitem__(0, math.nan),
    "a number without end": lambda _, tensors: tensors["0.output.bias"].__setitem__(0, math.inf),
    "a number no training gives": lambda _, tensors: tensors["0.output.bias"].__setitem__(0, 3e38),
}


@pytest.mark.parametrize("change", NOT_USED)
def test_what_does_not_fit_is_refused_in_one_line(tmp_path: Path, change: str) -> None:
    with pytest.raises(InputError) as raised:
        Inflector.load(made(tmp_path / "model", NOT_USED[change]))
    message = str(raised.value)
    assert message.startswith(f"{tmp_path / 'model'}: this is no whole reinflect model (")
    assert message.isprintable()
    assert len(message) < 500


def test_a_newer_version_with_an_odd_name_is_named_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a newer version; update reinflect") as raised:
        Inflector.load(made(tmp_path / "model", lambda said, _: said.update(format=99, version="\n" * 5000)))
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 500


def test_a_card_does_without_a_version_and_is_safe_to_print(tmp_path: Path) -> None:
    def change(said: Said, _tensors: Tensors) -> None:
        said["training"].update(versions={}, source="\x1b[31mwords\n.tsv", date="\x07")
        said["inventories"][0]["atoms"][0] = "\x1b]0;title\x07"

    text = card_text(Inflector.load(made(tmp_path / "model", change)).card)
    assert text.startswith("A model of \\x07, by reinflect ?\n")
    assert text.replace("\n", "").isprintable()
