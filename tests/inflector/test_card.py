"""The card: what a model file says of itself."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from reinflect.data.features import Bundle
from reinflect.data.items import Item, read_items, write_items
from reinflect.inflector.card import Training, card_text, describe_training, fingerprint

ITEMS = [
    Item("gehen", Bundle("V;PST"), "ging"),
    Item("sehen", Bundle("V;PST"), "sah"),
    Item("gehen", Bundle("V;INF"), "gehen"),
]


def training(dev: list[Item] | None = None, **changes: Any) -> Training:
    said: dict[str, Any] = {"source": "verbs.tsv", "accuracy": 61.25, "scored": 80, "interrupted": False}
    return describe_training(ITEMS, dev, **(said | changes))


def card(**changes: Any) -> dict[str, Any]:
    import msgspec

    members = [
        {"name": "haem-naive-1", "dev_accuracy": 60.0, "votes": True},
        {"name": "hacm-naive-1", "dev_accuracy": 7.5, "votes": False},
    ]
    return {
        "strategy": "run3",
        "voters": ["haem-naive-1"],
        "members": members,
        "parameters": 12345,
        "training": msgspec.to_builtins(training()),
        "confidence": {"weights": [], "items": 80},
        "atoms": ["INF", "PST", "V"],
        "characters": ["a", "e", "\u0301", " "],
    } | changes


def test_what_is_told_of_items() -> None:
    found = training()
    assert (found.items, found.lemmas, found.dev_items, found.dev_fingerprint) == (3, 2, 0, None)
    assert found.held_out
    assert list(found.bundles.items()) == [("V;PST", 2), ("V;INF", 1)]
    with_dev = training(ITEMS[:1])
    assert (with_dev.dev_items, with_dev.dev_fingerprint) == (1, fingerprint(ITEMS[:1]))
    assert not with_dev.held_out


def test_the_fingerprint_is_that_of_a_file(tmp_path: Path) -> None:
    write_items(tmp_path / "items", ITEMS)
    assert fingerprint(ITEMS) == hashlib.sha256((tmp_path / "items").read_bytes()).hexdigest()
    assert fingerprint(read_items(tmp_path / "items")) == fingerprint(ITEMS)
    assert len({fingerprint(ITEMS), fingerprint(ITEMS[::-1]), fingerprint(ITEMS[:2])}) == 3


def test_the_date_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert training().date == "1970-01-02"
    for nonsense in ("", "soon"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", nonsense)
        assert training().date > "2020"


def test_a_card_for_people() -> None:
    text = card_text(card())
    for said in (
        "2 models, of which 1 votes (run3)",
        "12,345 numbers",
        "3 forms of 2 lemmas, from verbs.tsv",
        "61.2 % of 80 held-out forms (an estimate)",
        "fitted on 80 forms",
        "haem-naive-1 60.00 (votes)",
        "hacm-naive-1 7.50\n",
        "INF, PST, V",
        "a e ◌\u0301 ␣",
        "V;PST (2), V;INF (1)",
    ):
        assert said in text, text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_the_card_of_a_model_assembled_in_memory() -> None:
    text = card_text(card(training=None, confidence=None))
    assert "Training data" not in text
    assert "cannot say how likely" in text
    assert "no confidences" in card_text(card(confidence=None))


def test_long_lists_are_cut_and_wrapped() -> None:
    many = {f"V;X{number}": number for number in range(1, 30)}
    own = card()
    text = card_text(card(training=own["training"] | {"bundles": many, "interrupted": True, "dev_items": 5}))
    assert "29 bundles" in text
    assert "V;X29 (29), V;X28 (28)" in text
    assert "V;X3 (3)" not in text
    assert "interrupted" in text
    assert "5 dev items" in text
    assert all(len(line) <= 100 for line in text.splitlines())
