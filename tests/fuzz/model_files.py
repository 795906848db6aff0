"""Model files with something wrong in them: in their bytes, in what they claim, or in what they say of the members.

A model file is eight bytes that say how long its header is, the header, and numbers. The header, JSON, says where each
tensor's numbers are, and holds another JSON text, all that is not numbers. Most files here have a right checksum for
what they say, as a file made by hand would have: else the checksum would be all that was ever tried.
"""

import json
import struct
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save

from reinflect.errors import InputError, UnseenWarning
from reinflect.inflector.card import card_text
from reinflect.inflector.inflector import Inflector
from reinflect.tensors import digest
from reinflect.web.inventory import inventory
from tests.fuzz import json_values, texts, tiny_models
from tests.fuzz.campaign import Attempt, Kind, refusal

REFUSED_AT_ONCE = "refused by its header"
ASKED = [("gehen", "V;PST"), ("漢a", "X"), ("handhandhand", "N;PL;PL")]


def parts(whole: bytes | None = None) -> tuple[dict[str, Any], bytes]:
    """The header of a file, which is good if none is given, and the numbers behind it."""
    whole = whole or tiny_models.model_file()
    end = 8 + int.from_bytes(whole[:8], "little")
    return json.loads(whole[8:end]), whole[end:]


def joined(header: bytes, numbers: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header + numbers


def about() -> dict[str, Any]:
    """What a good file says besides its numbers."""
    said: dict[str, Any] = json.loads(parts()[0]["__metadata__"]["reinflect"])
    return said


def signed(said: Any, tensors: Mapping[str, torch.Tensor]) -> bytes:
    """A whole file with the checksum that is right for it."""
    text = said if isinstance(said, str) else json.dumps(said)
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    return saved(tensors, {"reinflect": text, "sha256": digest(text, arrays)})


def saved(tensors: Mapping[str, torch.Tensor], texts: dict[str, str]) -> bytes:
    """Tensors of any kind with texts, which the library itself would write in another order every time."""
    header, numbers = parts(save(dict(tensors)))
    return joined(json.dumps({"__metadata__": texts, **header}).encode(), numbers)


def changed_bytes(rng: Random) -> bytes:
    raw = tiny_models.model_file()
    end = 8 + int.from_bytes(raw[:8], "little")
    if rng.random() < 0.3:
        return texts.flip(rng, raw[:end]) + raw[end:]
    return rng.choice(texts.OF_BYTES[:3])(rng, raw)


def changed_header(rng: Random) -> bytes:
    """A header of the right length that says other things of its tensors."""
    header, numbers = parts()
    name = rng.choice(sorted(header))
    if rng.random() < 0.7 and name != "__metadata__":
        header[name] = json_values.changed(rng, header[name])
    else:
        header = json_values.changed(rng, header)
    text = json.dumps(header).encode("utf-8", "surrogatepass")
    return joined(text + b" " * rng.choice([0, 0, 1, 8]), numbers)


def changed_about(rng: Random) -> bytes:
    """All that is not numbers, with some of it changed."""
    said = about()
    part = rng.choice([None, *sorted(said)])
    said = said | {part: json_values.changed(rng, said[part])} if part else json_values.changed(rng, said)
    tensors = load(tiny_models.model_file())
    if rng.random() < 0.05:
        return signed("[" * rng.choice([10, json_values.DEEP]), tensors)
    return signed(said, tensors)


def many_of_it(rng: Random) -> bytes:
    """Voters that are named again and again, weights beyond all bounds, bundles without end."""
    said = about()
    how = rng.randrange(4)
    if how == 0:
        said["choices"][rng.choice(sorted(said["choices"]))] *= rng.choice([2, 1000, 100_000])
    elif how == 1:
        for confidence in said["confidences"].values():
            odd = rng.choice([1e308, -1e308, 1001.0, 1000.0, 1e400, "1", None])
            confidence["weights"][rng.randrange(len(confidence["weights"]))] = odd
    elif how == 2:
        said["training"]["bundles"] = {f"V;{number}": 1 for number in range(rng.choice([100, 5_000]))}
    else:
        said["labels"] = {"pairs": [[f"l{number}", f"V;{number}"] for number in range(rng.choice([10, 5_000]))]}
    return signed(json.dumps(said).replace("Infinity", "1e400"), load(tiny_models.model_file()))


def changed_tensors(rng: Random) -> bytes:
    """Tensors with other names, kinds, sizes or numbers, in a file of 32-bit or of 8-bit numbers."""
    tensors = load(tiny_models.model_file(rng.choice(["single", "eighth"])))
    for _ in range(rng.choice([1, 1, 2, 4])):
        rng.choice(OF_TENSORS)(rng, tensors, rng.choice(sorted(tensors)))
    try:
        return signed(about(), {name: tensor.contiguous() for name, tensor in tensors.items()})
    except TypeError:  # of a kind that has no bytes to be signed
        return saved(tensors, {"reinflect": json.dumps(about()), "sha256": "0" * 64})


Tensors = dict[str, torch.Tensor]
KINDS = (
    *(torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int8, torch.uint8, torch.bool),
    *(torch.complex64, torch.float8_e4m3fn),
)


def _other_kind(rng: Random, tensors: Tensors, name: str) -> None:
    tensors[name] = tensors[name].to(rng.choice(KINDS))


def _other_numbers(rng: Random, tensors: Tensors, name: str) -> None:
    odd = rng.choice([float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 1e-45, 0.0, 1e10])
    flat = tensors[name].clone().reshape(-1).to(torch.float32)
    if flat.numel():
        flat[rng.randrange(flat.numel()) if rng.random() < 0.5 else slice(None)] = odd
    tensors[name] = flat.reshape(tensors[name].shape)


def _other_shape(rng: Random, tensors: Tensors, name: str) -> None:
    tensor = tensors[name]
    shapes = [tensor.reshape(-1), tensor.unsqueeze(0), torch.zeros(0), torch.zeros(()), torch.zeros(1, 0, 3)]
    if tensor.ndim:
        shapes += [tensor[:-1], torch.cat([tensor, tensor]), tensor.mT if tensor.ndim == 2 else tensor]
    tensors[name] = rng.choice(shapes).clone().contiguous()


def _swapped(rng: Random, tensors: Tensors, name: str) -> None:
    other = rng.choice(sorted(tensors))
    tensors[name], tensors[other] = tensors[other], tensors[name]


def _renamed(rng: Random, tensors: Tensors, name: str) -> None:
    tensors[rng.choice([f"9.{name}", name.upper(), "", "x" * 1000, f"0{name}", "\0"])] = tensors.pop(name)


def _gone(_rng: Random, tensors: Tensors, name: str) -> None:
    if len(tensors) > 1:
        del tensors[name]


OF_TENSORS = (_other_kind, _other_numbers, _other_numbers, _other_shape, _swapped, _renamed, _gone)
WEIGHTS = {changed_about: 7, many_of_it: 1, changed_tensors: 4, changed_bytes: 5, changed_header: 3}


def altered_model(rng: Random) -> bytes:
    (how,) = rng.choices([*WEIGHTS], [*WEIGHTS.values()])
    return how(rng)


@contextmanager
def _loading(folder: Path) -> Iterator[Attempt]:
    path = folder / "altered.reinflect"

    def attempt(made: bytes) -> str:
        path.write_bytes(made)
        try:
            inflector = Inflector.load(path)
        except InputError as error:
            refusal(error)
            with suppress(SafetensorError, OSError), safe_open(path, framework="pt") as file:
                return "refused" if "reinflect" in (file.metadata() or {}) else REFUSED_AT_ONCE
            return REFUSED_AT_ONCE
        _use(inflector, folder / "again.reinflect")
        return "used"

    yield attempt


def _use(inflector: Inflector, again: Path) -> None:
    """Ask a model all that can be asked: what was let in must be good for all of it."""
    card_text(inflector.card).encode()
    json.dumps(inflector.card, ensure_ascii=False, allow_nan=False).encode()
    msgspec.json.encode(inventory("model", inflector))
    warnings.simplefilter("ignore", UnseenWarning)
    answers = inflector.answers(ASKED)
    msgspec.json.encode([answers, inflector.answers(ASKED, attested=True)])
    inflector.paradigm(ASKED[0][0], [ASKED[0][1]])._repr_html_()
    for answer in answers:
        answer.form.encode()
    inflector.nbest(*ASKED[0], n=2)
    for member in inflector.members[:4]:
        inflector.trace(*ASKED[0], member=member.name)
    inflector.save(again)
    assert Inflector.load(again).answers(ASKED) == answers


MODELS = (Kind("models", 20_000, altered_model, _loading),)
