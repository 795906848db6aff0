"""Model files that somebody made by hand: their checksum is right, and what they say is not."""

import json
import math
import os
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import EntryPoint
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, get_args

import hypothesis.extra.numpy
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.torch import load, save

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.errors import InputError, quoted
from reinflect.inflector import file as model_file
from reinflect.inflector.card import card_text
from reinflect.inflector.dictionary import Dictionary
from reinflect.inflector.file import FORMAT, Numbers
from reinflect.inflector.inflector import STORED, Inflector
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import Inventory
from reinflect.tensors import Array, Header, digest, read_tensors
from tests.fuzz import tiny_models
from tests.fuzz.model_files import signed
from tests.inflector.test_inflector import a_member

pytestmark = pytest.mark.filterwarnings("ignore::reinflect.errors.UnseenWarning")
FINGERPRINTS = [member.fingerprint for member in tiny_models.inflector().members]
TEXTS = ("", "[]", "3", "{}", "null", "[" * 100_000, '{"format": 1}')
Said = dict[str, Any]
Tensors = dict[str, torch.Tensor]


def parts(numbers: Numbers = "single") -> tuple[Said, Tensors]:
    """What a small model says, and its numbers."""
    raw = tiny_models.model_file(numbers)
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    return json.loads(header["__metadata__"]["reinflect"]), load(raw)


def made(path: Path, change: Callable[[Said, Tensors], object], numbers: Numbers = "single") -> Path:
    """A small model with something changed before it was signed."""
    said, tensors = parts(numbers)
    change(said, tensors)
    path.write_bytes(signed(said, tensors))
    return path


def refused(path: Path) -> str:
    """Why a file is refused, in one line that names it."""
    with pytest.raises(InputError) as raised:
        Inflector.load(path)
    message = str(raised.value)
    assert message.startswith(f"{path}: ")
    assert message.isprintable()
    assert len(message) < 500
    return message


def test_a_file_with_nothing_changed_is_used(tmp_path: Path) -> None:
    inflector = Inflector.load(made(tmp_path / "model", lambda _said, _tensors: None))
    assert inflector.answers([("gehen", "V;PST")]) == tiny_models.inflector().answers([("gehen", "V;PST")])


NOT_USED: dict[str, Callable[[Said, Tensors], object]] = {
    "a character of three letters": lambda said, _: said["inventories"][0]["characters"].__setitem__(0, "abc"),
    "a character twice": lambda said, _: said["inventories"][0]["characters"].__setitem__(0, "e"),
    "half a character": lambda said, _: said["inventories"][0]["characters"].__setitem__(0, "\ud800"),
    "an inventory before the first": lambda said, _: said["members"][0].update(inventory=-1),
    "a seed without end": lambda said, _: said["members"][0].update(seed=math.inf),
    "a large seed": lambda said, _: said["members"][0].update(seed=10**400),
    "an accuracy that is none": lambda said, _: said["members"][0].update(dev_accuracy=math.nan),
    "a vote's accuracy that is none": lambda said, _: said["training"].update(accuracy=math.nan),
    "a run without end": lambda said, _: said.update(known_runs={"ä": math.inf}),
    "a fold before the first": lambda said, _: said["members"][0].update(fold=-1),
    "restarts without end": lambda said, _: said["members"][0].update(restarts=10**9),
    "a member with something else": lambda said, _: said["members"][0].update(colour="red"),
    "something that no version knows": lambda said, _: said.update(colour="red"),
    "an unknown normalisation": lambda said, _: said.update(normalisation="nfkc"),
    "cells that are numbers": lambda said, _: said.update(cells=[1]),
    "no members": lambda said, _: said.update(members=[]),
    "half a character of a name": lambda said, _: said["training"].update(source="\udfff.tsv"),
    "a long name for a setting": lambda said, _: said["members"][0]["settings"].update({"x" * 100_000: 1}),
    "whole numbers": lambda _, tensors: tensors.update({"0.output.bias": tensors["0.output.bias"].to(torch.int32)}),
    "a number that is none": lambda _, tensors: tensors["0.output.bias"].__setitem__(0, math.nan),
    "a voter twice": lambda said, _: said.update(choices={name: own * 2 for name, own in said["choices"].items()}),
    "a large weight": lambda said, _: said.update(confidences={"vote": {"weights": [1e308] * 5, "items": 100}}),
    "an inventory that is not there": lambda said, _: said.update(inventories=[]),
    "a training without items": lambda said, _: said.update(training={"source": "x"}),
    "too few weights": lambda said, _: said.update(confidences={"vote": {"weights": [1.0], "items": 3}}),
    "a strategy without voters": lambda said, _: said.update(strategy="run1"),
    "a strategy that there is not": lambda said, _: said.update(strategy="none at all"),
    "a voter that is not there": lambda said, _: said.update(choices={"vote": ["haem-naive-99"]}),
    "a number no training gives": lambda _, tensors: tensors["0.output.bias"].__setitem__(0, 3e38),
}
SCALES = "0.embedding.scales"
NOT_USED_IN_8_BITS: dict[str, Callable[[Said, Tensors], object]] = {
    "no scales": lambda _, tensors: tensors.pop(SCALES),
    "scales of another shape": lambda _, tensors: tensors.update({SCALES: tensors[SCALES][None]}),
    "scales of another kind": lambda _, tensors: tensors.update({SCALES: tensors[SCALES].double()}),
    "a scale that is no number": lambda _, tensors: tensors[SCALES].__setitem__(0, math.nan),
    "a scale too large": lambda _, tensors: tensors[SCALES].__setitem__(0, 1e38),
}


@pytest.mark.parametrize("change", [*NOT_USED, *NOT_USED_IN_8_BITS])
def test_what_does_not_fit_is_refused_in_one_line(tmp_path: Path, change: str) -> None:
    numbers: Numbers = "eighth" if change in NOT_USED_IN_8_BITS else "single"
    message = refused(made(tmp_path / "model", (NOT_USED | NOT_USED_IN_8_BITS)[change], numbers))
    assert message.startswith(f"{tmp_path / 'model'}: not a valid reinflect model (")


def test_a_card_does_without_a_version_and_is_safe_to_print(tmp_path: Path) -> None:
    def change(said: Said, _tensors: Tensors) -> None:
        said["training"].update(versions={}, source="\x1b[31mwords\n.tsv", date="\x07")
        said["inventories"][0]["atoms"][0] = "\x1b]0;title\x07"

    text = card_text(Inflector.load(made(tmp_path / "model", change)).card)
    assert text.startswith("A model of \\x07, by reinflect ?\n")
    assert text.replace("\n", "").isprintable()


ASKED = [("gehen", "V;PST"), ("hand", "N;PL"), ("漢", "X")]


def test_what_is_known_of_members_and_data_survives(tmp_path: Path) -> None:
    inflector = tiny_models.inflector()
    diverged = tuple(replace(one, restarts=2, fold=7) if one.system == "hacm" else one for one in inflector.members)
    inflector = replace(inflector, members=(*diverged, replace(diverged[0], seed=900, fold=None)))
    inflector.save(tmp_path / "model")
    back = Inflector.load(tmp_path / "model")
    assert [member.facts for member in back.members] == [member.facts for member in inflector.members]
    assert [member.fingerprint for member in back.members] == [member.fingerprint for member in inflector.members]
    for name in (*STORED, "attested"):
        assert getattr(back, name) == getattr(inflector, name), name
    assert back.attested == (Item("gehen", Bundle("V;PST"), "ging"),)
    assert parts()[0]["card"] == card_text(tiny_models.inflector().card)
    assert back.answers(ASKED) == inflector.answers(ASKED)
    card = {member["name"]: (member["fold"], member["restarts"]) for member in back.card["members"]}
    assert card["hacm-naive-1"] == (7, 2)
    back.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "model"]


def test_a_file_of_8_bit_numbers_is_near_the_original_and_inflects(tmp_path: Path) -> None:
    inflector = tiny_models.inflector()
    inflector.save(tmp_path / "eighth", numbers="eighth")
    back = Inflector.load(tmp_path / "eighth")
    for number, (member, other) in enumerate(zip(inflector.members, back.members, strict=True)):
        for name, array in member.parameters.items():
            stored = load((tmp_path / "eighth").read_bytes())[f"{number}.{name}"]
            assert stored.dtype == (torch.float32 if array.ndim == 1 else torch.int8)  # biases are few
            assert array.ndim > 1 or np.array_equal(other.parameters[name], array)
    for whole, rounded in zip(*(each.using("vote").answers(ASKED) for each in (inflector, back)), strict=True):
        assert rounded.form == whole.form
        assert rounded.log_probability == pytest.approx(whole.log_probability, abs=0.2)
    assert back.card == inflector.card
    back.save(tmp_path / "again", numbers="eighth")
    assert Inflector.load(tmp_path / "again").answers(ASKED) == back.answers(ASKED)


def test_smaller_numbers_make_smaller_files(tmp_path: Path) -> None:
    inflector = Inflector((a_member(hidden=60, embedding=40), a_member("hacm", hidden=60, embedding=40)), {})
    for numbers in get_args(Numbers):
        inflector.save(tmp_path / numbers, numbers=numbers)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sizes["eighth"] < 0.35 * sizes["single"] < sizes["half"] < 0.55 * sizes["single"]
    forms = [Inflector.load(tmp_path / name).member_forms(ASKED) for name in ("single", "eighth")]
    assert any(form for own in forms[1] for form in own)
    assert sum(one != other for one, other in zip(*map(chain.from_iterable, forms), strict=True)) <= 1
    inflector.save(tmp_path / "option", half=True)
    assert (tmp_path / "option").read_bytes() == (tmp_path / "half").read_bytes()


def test_numbers_too_large_for_half_precision_are_kept(tmp_path: Path) -> None:
    member = a_member()
    member.parameters["output.bias"][0] = 1e6
    Inflector((member,), {}).save(tmp_path / "model", half=True)
    (back,) = Inflector.load(tmp_path / "model").members
    assert np.array_equal(back.parameters["output.bias"], member.parameters["output.bias"])


@pytest.mark.parametrize("numbers", get_args(Numbers))
def test_a_rounded_inflector_is_what_its_file_gives_back(tmp_path: Path, numbers: Numbers) -> None:
    inflector = Inflector((a_member(seed=1, hidden=30), a_member("hacm", seed=2)), {})
    rounded = inflector.rounded(numbers)
    for number, saved in enumerate((inflector, rounded)):
        saved.save(tmp_path / str(number), numbers=numbers)
        back = Inflector.load(tmp_path / str(number))
        assert [member.fingerprint for member in back.members] == [member.fingerprint for member in rounded.members]
    digests = [member.fingerprint for member in inflector.members]
    assert (digests == [member.fingerprint for member in rounded.members]) == (numbers == "single")


FLOATS = st.floats(-1e8, 1e8, width=32) | st.floats(-(2**-10), 2**-10, width=32)


@given(hypothesis.extra.numpy.arrays(np.float32, (3, 5), elements=FLOATS))
@example(np.diag(np.array([1, 2, 0, 0, 0], np.float32))[:3])  # a row of zeros
def test_8_bit_numbers_are_at_most_half_a_step_off_and_stay_as_they_are(array: NDArray[np.float32]) -> None:
    stored = model_file._stored("x", array, "eighth")
    found = model_file._loaded("x", stored)
    steps = stored[f"x{model_file.SCALES}"][:, np.newaxis].astype(np.float64)
    assert (np.abs(found.astype(np.float64) - array) <= steps * (0.5 + 1e-5) + 1e-42).all()
    assert (steps <= np.abs(array).max(axis=1, keepdims=True) / 127 * (1 + 2e-5) + 1e-42).all()
    again = model_file._stored("x", found, "eighth")
    assert all(np.array_equal(stored[name], again[name]) for name in stored)


def memory_of_loading(path: Path) -> tuple[Inflector, int, int]:
    """The inflector of a file, and the bytes that it keeps in memory and takes at most while it is loaded."""
    Inflector.load(path).inflect_many(ASKED)  # what is imported the first time
    tracemalloc.start()
    try:
        inflector = Inflector.load(path)
        inflector.inflect_many(ASKED)
        return inflector, *tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()


def test_a_pocket_model_has_less_than_700_kb_and_little_more_than_its_parameters_in_memory(tmp_path: Path) -> None:
    letters = tuple("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZäöüßéèàçñøåæœşğıőűžščřďťňůýáíóúćłńśźż")
    inventory = Inventory(tuple(sorted(letters)), tuple(f"F{number:02}" for number in range(60)))
    member = a_member(inventory=inventory, hidden=100, embedding=100, history_hidden=100)
    Inflector((member,), {}).save(tmp_path / "model", numbers="eighth")
    assert (tmp_path / "model").stat().st_size < 600_000
    back, kept, _ = memory_of_loading(tmp_path / "model")
    assert kept < 1.1 * sum(array.nbytes for array in back.members[0].parameters.values())


def test_a_file_is_in_memory_once(tmp_path: Path) -> None:
    inflector = Inflector(tuple(a_member(seed=seed, hidden=300, embedding=200) for seed in (1, 2)), {})
    inflector.save(tmp_path / "model")
    back, _, peak = memory_of_loading(tmp_path / "model")
    size = (tmp_path / "model").stat().st_size
    assert size > 3_000_000
    assert peak < 1.5 * size
    (tmp_path / "model").write_bytes(b"\xff" * size)
    assert back.answers(ASKED) == inflector.answers(ASKED)


@pytest.mark.parametrize("number", [True, False, float(FORMAT), str(FORMAT), None, [FORMAT], {}], ids=repr)
def test_the_format_is_a_whole_number(tmp_path: Path, number: object) -> None:
    path = made(tmp_path / "model", lambda said, _: said.update(format=number))
    assert "not a valid reinflect model (its format is not a number)" in refused(path)
    assert "not a valid reinflect model" in refused(made(tmp_path / "model", lambda said, _: said.pop("format")))


def test_the_format_is_the_fourth(tmp_path: Path) -> None:
    assert FORMAT == 4
    assert parts()[0]["format"] == 4
    newer = refused(made(tmp_path / "model", lambda said, _: said.update(format=6, version="9.9\n", members="other")))
    assert "made by reinflect '9.9\\n', a newer version; update reinflect" in newer


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda said, _: said.update(format=4), "only a part of a dictionary"),
        (lambda said, _: said.pop("dictionary"), "only a part of a dictionary"),
        (lambda _, tensors: tensors.pop("dictionary"), "only a part of a dictionary"),
        (lambda said, _: said.update(dictionary=[["V;A"], "", "", ""]), "the columns of its dictionary do not fit"),
        (lambda said, _: said.update(dictionary=[["V;A", "V;B"], 1, "", ""]), "not a valid reinflect model"),
        (lambda said, _: said.update(dictionary=[["V;A", "V;B"]]), "not a valid reinflect model"),
        (lambda _, tensors: tensors.update(dictionary=torch.zeros(9)), "its dictionary is damaged"),
        (lambda _, tensors: tensors.update(dictionary=tensors["dictionary"][:-1]), "truncated or too large"),
    ],
)
def test_a_dictionary_that_does_not_fit_is_refused(
    tmp_path: Path, change: Callable[[Said, Tensors], object], message: str
) -> None:
    whole = Dictionary.of({"a": {"V;A": (), "V;B": ["b"]}}, ("V;A", "V;B"))

    def add(said: Said, tensors: Tensors) -> None:
        said |= {"dictionary": [whole.bundles, "", "", ""], "format": 5}
        tensors["dictionary"] = torch.tensor(list(whole.packed), dtype=torch.uint8)

    def add_and_change(said: Said, tensors: Tensors) -> None:
        add(said, tensors)
        change(said, tensors)

    assert Inflector.load(made(tmp_path / "model", add)).dictionary == whole
    assert message in refused(made(tmp_path / "model", add_and_change))


def saved(path: Path, about: Said, **metadata: str) -> Path:
    path.write_bytes(save(parts()[1], metadata={"reinflect": json.dumps(about)} | metadata))
    return path


def test_a_file_of_version_0_1_says_to_train_again(tmp_path: Path) -> None:
    """The checksum was in the header, which had other fields."""
    about = {name: value for name, value in parts()[0].items() if name not in ("attested", "normalisation", "cells")}
    message = refused(saved(tmp_path / "model", about | {"format": 3, "version": "0.1.0", "sha256": "0" * 64}))
    assert "this model was made by reinflect '0.1.0', an older version" in message
    assert "train it again with the same data" in message


@pytest.mark.parametrize(
    "metadata",
    [{"format": "pt"}, {"": ""}, {"Reinflect": "{}"}, {"sha256": ""}, {"sha256": "0" * 64}, {"reinflect ": "{}"}],
    ids=str,
)
def test_metadata_that_the_checksum_does_not_cover_are_refused(tmp_path: Path, metadata: dict[str, str]) -> None:
    said, tensors = parts()
    sound = digest(json.dumps(said), {name: tensor.numpy() for name, tensor in tensors.items()})
    assert Inflector.load(saved(tmp_path / "whole", said, sha256=sound)).answers(ASKED)
    assert "(changed after it was written)" in refused(saved(tmp_path / "model", said, **{"sha256": sound} | metadata))
    assert "(it has no checksum)" in refused(saved(tmp_path / "unsigned", said))


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_changed_byte_or_a_missing_end_is_noticed(tmp_path: Path, data: st.DataObject) -> None:
    whole = tiny_models.model_file()
    header = int.from_bytes(whole[:8], "little") + 8
    changed, number = bytearray(whole), data.draw(st.integers(0, len(whole) - 1) | st.integers(0, header - 1))
    changed[number] ^= data.draw(st.integers(1, 255))
    (tmp_path / "changed").write_bytes(changed)
    with suppress(InputError):
        # Blanks in the header, or the order it gives its parts in, can change without the model changing.
        members = Inflector.load(tmp_path / "changed").members
        assert number < header
        assert [member.fingerprint for member in members] == FINGERPRINTS
    (tmp_path / "changed").write_bytes(whole[:number])
    refused(tmp_path / "changed")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "truncated or damaged"),
        (b"lemma\tform\tV\n", "reinflect train"),
        (save({"x": torch.zeros(2)}), "another program"),
        *((save({"x": torch.zeros(2)}, metadata={"reinflect": text}), "not a valid") for text in TEXTS),
    ],
)
def test_files_that_are_something_else(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "other").write_bytes(content)
    assert message in refused(tmp_path / "other")
    assert "no such file" in refused(tmp_path / "nothing")
    assert "folder" in refused(tmp_path)


def test_another_byte_in_the_header_is_refused(tmp_path: Path) -> None:
    """Any of the text that says what the model is, blanks included."""
    raw = tiny_models.model_file()
    start = raw.index(b'{\\"format\\"')
    end = raw.index(b'}"', start) + 1
    places = [*range(start, end, 97), raw.index(b", ", start) + 1]
    for place in places:
        for other in (raw[place] ^ 1, ord("\t")):
            (tmp_path / "model").write_bytes(raw[:place] + bytes([other]) + raw[place + 1 :])
            refused(tmp_path / "model")


@pytest.mark.parametrize("name", ["os", "tests.fuzz.campaign:refusal", "hacm ", "HACM", "", "../haem", "x" * 10_000])
def test_a_system_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """And nothing is imported."""
    path = made(tmp_path / "model", lambda said, _: said["members"][0].update(system=name))
    known = set(sys.modules)
    monkeypatch.setattr(EntryPoint, "load", lambda own: pytest.fail(f"loaded {own}"))
    monkeypatch.setattr(type(SYSTEMS), "__getitem__", lambda _, own: pytest.fail(f"looked for {own}"))
    message = refused(path)
    assert f"this model has members of the system {quoted(name)}, which is not installed" in message
    assert "install the package that brings it" in message
    assert set(sys.modules) == known


def test_a_file_that_is_cut_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory map would end the process."""
    path = made(tmp_path / "model", lambda _said, _tensors: None)

    def cut(file: BinaryIO, header: Header) -> dict[str, Array]:
        os.truncate(path, 5000)
        return read_tensors(file, header)

    monkeypatch.setattr(model_file, "read_tensors", cut)
    assert "truncated or damaged" in refused(path)
