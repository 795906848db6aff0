"""Our tensor files and the safetensors library read each other; damaged ones are refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors import safe_open
from safetensors.numpy import load, save

from reinflect.tensors import MISFITS, TYPES, Array, decode, digest, encode, signed

TENSORS: dict[str, Array] = {
    "bias": np.array([1.5, -2.0], np.float32),
    "ä 漢": np.arange(6, dtype=np.int8).reshape(2, 3),
    "empty": np.zeros((0, 4), np.float16),
    "transposed": np.arange(12, dtype=np.int64).reshape(3, 4).T,
    "number": np.array(2.5, np.float64),
}
TEXTS = {"about": 'ß "quoted"', "other": ""}
any_array = st.sampled_from(list(TYPES.values())).flatmap(
    lambda name: arrays(np.dtype(name), array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)


def bits(tensors: dict[str, Array]) -> dict[str, object]:
    """By name: type, shape and bits."""
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in tensors.items()}


@given(st.dictionaries(st.text(max_size=5).filter(lambda name: name != "__metadata__"), any_array, max_size=5))
def test_the_library_reads_ours_and_we_read_the_librarys(tensors: dict[str, Array]) -> None:
    raw = encode(tensors)
    assert bits(load(raw)) == bits(decode(raw)[0]) == bits(decode(save(tensors))[0]) == bits(tensors)


def test_the_library_reads_our_texts(tmp_path: Path) -> None:
    raw = encode(TENSORS, TEXTS)
    assert raw == encode(dict(reversed(TENSORS.items())), TEXTS)
    (tmp_path / "file").write_bytes(raw)
    with safe_open(tmp_path / "file", framework="np") as file:
        assert file.metadata() == TEXTS
    assert decode(raw)[1] == TEXTS


def test_tensors_are_aligned_and_can_be_written_to() -> None:
    tensors, _ = decode(encode(TENSORS))
    assert all(array.flags.aligned and array.flags.writeable for array in tensors.values())


def test_the_checksum_is_of_text_and_tensors() -> None:
    tensors, texts = decode(signed(TENSORS, "about", "text"))
    assert texts == {"about": "text", "sha256": digest("text", tensors)}
    assert digest("text ", tensors) != texts["sha256"]
    others = [{**tensors, name: tensors[name] + 1} for name in ("bias", "number", "ä 漢")]
    others += [{**tensors, "bias": tensors["bias"][None]}, {f"{name}x": array for name, array in tensors.items()}]
    assert texts["sha256"] not in [digest("text", other) for other in others]


def with_header(name: str = "bias", **changes: Any) -> bytes:
    """A file in whose header an entry is changed."""
    raw = encode(TENSORS, TEXTS)
    end = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:end])
    header[name].update(changes)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + raw[end:]


DAMAGED = {
    "nothing": b"",
    "a few bytes": b"\0" * 7,
    "no header": b"\0" * 8,
    "a list": (2).to_bytes(8, "little") + b"[]",
    "deep": (100_000).to_bytes(8, "little") + b"[" * 100_000,
    "cut": encode(TENSORS)[:-1],
    "too long": encode(TENSORS) + b"\0",
    "a large header": (2**64 - 1).to_bytes(8, "little") + b"{}",
    "a gap": with_header(data_offsets=[1, 9]),
    "an overlap": with_header(data_offsets=[0, 8]),
    "another type": with_header(dtype="BF16"),
    "another shape": with_header(shape=[3]),
    "a negative shape": with_header(shape=[-1, -2]),
    "many dimensions": with_header(shape=[2, *[1] * 1000]),
    "a further field": with_header(more=1),
    "a number as text": with_header("__metadata__", about=1),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_refused(name: str) -> None:
    with pytest.raises(MISFITS):
        decode(DAMAGED[name])
