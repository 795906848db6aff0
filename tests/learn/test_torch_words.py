"""Systems of other packages, which decode by torch alone, inflect as ours do."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decode.search import beam, greedy
from reinflect.decode.trace import follow
from reinflect.ensemble.member import Member
from reinflect.learn.torch_words import TorchWords
from reinflect.systems import SYSTEMS
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import System

PLUGINS = Path(__file__).parents[1] / "plugins"
INVENTORY = Inventory(("a", "k", "n"), ("GEN", "PL"))
ITEMS = [Item(lemma, Bundle(features)) for lemma, features in (("kala", "PL"), ("Ж😀", "GEN"), ("", "PL"), ("n", "X"))]
FORMS = ["kalaka", "Ж😀n", "ka", "n"]


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> System:
    """A system that copies the lemma and writes a suffix by bigrams and features."""
    monkeypatch.syspath_prepend(PLUGINS)
    vars(SYSTEMS).pop("_others", None)  # other tests may have looked for packages before
    system: System = SYSTEMS["toy"]
    return system


@pytest.fixture
def words(toy: System, monkeypatch: pytest.MonkeyPatch) -> TorchWords:
    numbers = toy.symbols(INVENTORY).numbers
    bigrams, weights = np.zeros((6, 6), np.float32), np.zeros((2, 6), np.float32)
    for before, after in ("<s>", "k"), ("k", "a"), ("a", "</s>"), ("<s>", "n"), ("n", "</s>"), ("<s>", "</s>"):
        bigrams[tuple(numbers([before, after]))] = 9.0 if (before, after) == ("<s>", "</s>") else 8.0
    for atom, letter in enumerate("nk"):  # GEN, PL
        weights[atom, numbers(letter)] = 2.0
    monkeypatch.setattr("reinflect.ensemble.member.SYSTEMS", {"toy": toy})
    settings, parameters = toy.settings(feature_scale=1.0), {"bigrams": bigrams, "weights": weights}
    options: dict[str, Any] = {"settings": settings, "inventory": INVENTORY, "parameters": parameters}
    model = Member(system="toy", alignment="none", seed=1, dev_accuracy=0.0, **options)
    assert isinstance(model.words, TorchWords)
    return model.words


def test_a_plugin_inflects(words: TorchWords) -> None:
    forms, scores = greedy(words, ITEMS)
    assert forms == FORMS
    lists = beam(words, ITEMS, 3, 3)
    assert [nbest[0].form for nbest in lists] == FORMS
    assert [len(nbest) for nbest in lists] == [3] * 4
    assert [nbest[0].log_probability for nbest in lists] == pytest.approx(scores, abs=1e-5)


def test_a_plugin_is_traced(toy: System, words: TorchWords) -> None:
    source, steps, ended = follow(words, ITEMS[0], toy.choices(INVENTORY), 0)
    assert (source, ended) == (tuple("kala"), True)
    assert [(step.action, step.kind, step.position) for step in steps[3:]] == [
        ("COPY", "copy", 3),
        ("k", "write", 4),
        ("a", "write", 4),
        ("</s>", "stop", 4),
    ]
    assert {(step.gate, step.attention) for step in steps} == {(None, None)}
    assert steps[-1].form_so_far == "kalaka"
