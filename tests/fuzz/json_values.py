"""JSON values that are nearly what they should be."""

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tests.fuzz import texts

DEEP = 100_000
"""Levels of brackets: no reader that calls itself gets to the end of them."""


def odd_value(rng: Random) -> Any:
    """Something that is no good in most places."""
    return rng.choice(_ODD)(rng)


_ODD: list[Callable[[Random], Any]] = [
    lambda _: None,
    lambda rng: rng.random() < 0.5,
    lambda rng: rng.choice([0, 1, -1, 2, 3, 7, 255, 2**31, 2**63, -(2**63) - 1, 2**64, 10**30, 10**400]),
    lambda rng: rng.choice([0.0, -0.0, 0.5, -1.5, 1e-320, 1e308, float("nan"), float("inf"), float("-inf")]),
    lambda rng: rng.choice(["", " ", "a", "V", "\0", "\ud800", "\udfff", "\x1b[31m", "\n", "\u2028", "𝄞", "e\u0301"]),
    lambda rng: "".join(chr(rng.randrange(0xD800)) for _ in range(rng.randrange(1, 30))),
    lambda rng: rng.choice("aä漢\0;") * rng.choice([300, 2000, 40_000]),
    lambda rng: rng.choice(["1", "-1", "nan", "1e5", "true", "null", "__proto__", "../../x", "%s%n", "{0}", "<b>"]),
    lambda _: [],
    lambda _: {},
    lambda _: [[]],
    lambda rng: {rng.choice(["", "a", "\0", "\ud800", "1"]): odd_value(rng)},
    lambda rng: [odd_value(rng) for _ in range(rng.randrange(1, 4))],
    lambda rng: nested(rng.choice([10, 50])),
]


def nested(levels: int) -> Any:
    value: Any = 0
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def changed(rng: Random, value: Any, times: int | None = None) -> Any:
    """A copy with a few of its parts changed, wherever they are."""
    value = copy.deepcopy(value)
    for _ in range(times or rng.choice([1, 1, 1, 2, 3])):
        value = _change(rng, value)
    return value


def as_text(rng: Random, value: Any) -> str:
    """The value as JSON, in one of the ways in which programs write it."""
    return json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, None, 1]))


def document(rng: Random, value: Any, *, lines: bool = False) -> bytes:
    """A file of JSON, or of JSON lines: brackets without end, spoilt text, the value with changes or as it is."""
    how = rng.randrange(10)
    if how == 0:
        return rng.choice([b"[", b'{"a":', b" "]) * DEEP
    value = value if how == 1 else changed(rng, value)
    text = "\n".join(as_text(rng, part) for part in value) if lines and isinstance(value, list) else as_text(rng, value)
    spoil = how in (2, 3) and not any(0xD800 <= ord(character) < 0xE000 for character in text)
    return texts.spoilt(rng, text) if spoil else text.encode("utf-8", "surrogatepass")


def _change(rng: Random, value: Any) -> Any:
    places = list(_places(value))
    if not places or rng.random() < 0.01:
        return odd_value(rng)
    parent, key = rng.choice(places)
    change = rng.randrange(9)
    if change == 0:
        del parent[key]
    elif change == 1:
        other, own = rng.choice(places)
        parent[key] = copy.deepcopy(other[own])
    elif change == 2:
        parent[key] = [parent[key]]
    elif change == 3 and isinstance(parent, dict):
        parent[rng.choice([f"{key}s", str(key).upper(), "", "\0", "model", "lemma"])] = parent.pop(key)
    elif change == 4 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]) if rng.random() < 0.5 else odd_value(rng))
    elif change == 5 and isinstance(parent[key], str):
        parent[key] = _changed_text(rng, parent[key])
    elif change == 6 and isinstance(parent[key], int | float):
        number = parent[key]
        parent[key] = rng.choice([-number, number + 1, number - 1, number * 1000, str(number), f"{number}.0"])
    elif change == 7 and isinstance(parent, list):
        rng.shuffle(parent)
    else:
        parent[key] = odd_value(rng)
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every part of a value: what it is in, and where."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _changed_text(rng: Random, text: str) -> str:
    place = rng.randrange(len(text) + 1)
    odd = rng.choice(["", "\0", "\t", "\n", "\ud800", "é", "e\u0301", " ", ";", '"', "\x1b", text, "x" * 1000])
    return text[:place] + odd + text[place + rng.randrange(2) :]
