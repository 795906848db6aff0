"""The card: what a model file says of itself."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from reinflect.data.items import Item, read_items, write_items
from reinflect.inflector.card import Training, card_text, describe_training, fingerprint
from tests.data.test_corrections import items_of
from tests.fuzz import tiny_models

ITEMS = items_of("gehen V;PST ging, sehen V;PST sah, gehen V;INF gehen")


def record(dev: list[Item] | None = None) -> Training:
    return describe_training(ITEMS, dev, source="verbs.tsv", accuracy=61.25, scored=80, interrupted=False)


def card(**training: Any) -> dict[str, Any]:
    described = tiny_models.inflector().card
    return described | {"strategy": "run3", "training": described["training"] | training}


def test_what_is_told_of_items() -> None:
    training, with_dev = record(), record(ITEMS[:1])
    assert (training.items, training.lemmas, training.dev_items, training.dev_fingerprint) == (3, 2, 0, None)
    assert list(training.bundles.items()) == [("V;PST", 2), ("V;INF", 1)]
    assert (with_dev.dev_items, with_dev.dev_fingerprint) == (1, fingerprint(ITEMS[:1]))
    assert (training.held_out, with_dev.held_out) == (True, False)


def test_the_fingerprint_is_that_of_a_file(tmp_path: Path) -> None:
    write_items(tmp_path / "items", ITEMS)
    assert fingerprint(ITEMS) == hashlib.sha256((tmp_path / "items").read_bytes()).hexdigest()
    assert fingerprint(read_items(tmp_path / "items")) == fingerprint(ITEMS)
    assert len({fingerprint(ITEMS), fingerprint(ITEMS[::-1]), fingerprint(ITEMS[:2])}) == 3


def test_the_date_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert record().date == "1970-01-02"
    for nonsense in ("", "soon"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", nonsense)
        assert record().date > "2020"


def test_a_card_for_people() -> None:
    text = card_text(card(accuracy=61.25, items=1234) | {"parameters": 12345, "characters": ["a", "e", "\u0301", " "]})
    for words in (
        "3 models, of which 2 vote (run3)",
        "12,345 numbers; 1 attested form.",
        "1,234 forms of 3 lemmas, from words.tsv",
        "61.2 % of 30 held-out forms (an estimate)",
        "fitted on 30 forms",
        "haem-smart-2 52.00 (votes)",
        "soft-3 53.00\n",
        "N, PL, PST, V",
        "a e ◌\u0301 ␣",
        "V;PST (2), N;PL (1), PL;N (1)",
    ):
        assert words in text, text


def test_the_card_of_a_model_assembled_in_memory() -> None:
    text = card_text(card() | {"training": None, "confidence": None})
    assert "cannot say how likely" in text
    assert "Training data" not in text
    assert "no confidences" in card_text(card() | {"confidence": None})


def test_long_lists_are_cut_and_wrapped() -> None:
    text = card_text(card(bundles={f"V;X{n}": n for n in range(1, 30)}, interrupted=True, dev_items=5))
    assert all(words in text for words in ("29 bundles", "V;X29 (29), V;X28 (28)", "interrupted", "5 dev items"))
    assert "V;X3 (3)" not in text
    assert all(len(line) <= 100 for line in text.splitlines())
