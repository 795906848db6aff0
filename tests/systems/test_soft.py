"""The soft-attention system: what it reads, what it does with letters it does not know, and that it learns.

That its losses and gradients are those of its equations is tested with the other systems', in `test_equations`.
"""

import random
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reinflect.assemble import Keep
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.inflector.inflector import Inflector
from reinflect.layers.examples import Examples
from reinflect.run.watch import Resources
from reinflect.systems.kind import Wish
from reinflect.systems.soft import SoftSettings
from reinflect.systems.symbols import Inventory
from reinflect.train import train_model
from tests.learn.tiny import as_changes
from tests.systems.small_fleets import SOFT

KNOWN = Inventory(tuple(";3NVab"), ("3", "N", "PL", "V"))


def read(item: Item, settings: SoftSettings) -> list[str]:
    """The symbols of the source, as the model's own vocabulary spells their numbers."""
    (row,) = Examples.to_inflect(SOFT, [item], KNOWN, settings).arrays["symbols"]
    return [SOFT.symbols(KNOWN).symbols[number] for number in row]


def test_the_source_is_the_lemma_and_then_the_features() -> None:
    item = Item("aNc3", Bundle("V;PL; 3;PL;NEW"))
    lemma = ["<s>", "a", "N", "<unknown>", "3", "</s>"]
    assert read(item, SoftSettings()) == [*lemma, ";3", ";PL", ";V"]
    assert read(item, SoftSettings(features="counts")) == [*lemma, ";3", ";PL", ";PL", ";V"]
    assert read(Item("", Bundle("")), SoftSettings()) == ["<s>", "</s>"]


@given(st.permutations(["V", "3", "PL", "PL", "NEW"]))
def test_the_order_of_features_does_not_matter(atoms: list[str]) -> None:
    for kind in ("set", "counts"):
        settings = SoftSettings(features=kind)
        spelled = Item("ab", Bundle(";".join(atoms)))
        assert read(spelled, settings) == read(Item("ab", Bundle("3;NEW;PL;PL;V")), settings)


ENDINGS = {"N;PL": "en", "N;SG": "a", "V;PST": "te"}
ADAM: dict[str, Any] = {"optimiser": "adam", "step": 0.01, "rho": 0.999, "epsilon": 1e-8}
QUICK = SoftSettings(embedding=20, hidden=32, attention=16, batch=8, epochs=12, score_every=4, **ADAM)


def suffixing(words: int) -> list[Item]:
    """Words of three to seven letters, each copied whole before one of three endings."""
    chance = random.Random(1)
    stems = dict.fromkeys("".join(chance.choices("abdegiklmnorstu", k=chance.randint(3, 7))) for _ in range(words))
    return [Item(stem, Bundle(features), stem + ending) for stem in stems for features, ending in ENDINGS.items()]


def test_it_learns_to_copy_and_to_add_an_ending(tmp_path: Path) -> None:
    items = suffixing(150)
    wish = Wish(systems=["soft"], alignments=["naive", "smart"], preset="low", changes=as_changes(QUICK), seeds=1)
    outcome = train_model(items[:400], items[400:], wish, Keep(), Resources())
    (member,) = outcome.inflector.members  # one model, whatever alignments there are
    assert (member.system, member.alignment, member.seed) == ("soft", "none", 1)
    assert outcome.training.accuracy >= 95
    outcome.inflector.save(tmp_path / "model")
    again = Inflector.load(tmp_path / "model")
    assert again.inflect_many(items[400:]) == outcome.inflector.inflect_many(items[400:])
    words = ("Ж漢", "N;PL"), ("gala", "NEW;?"), ("", ""), ("a" * 60, "N")
    strange = [Item(lemma, Bundle(features)) for lemma, features in words]
    assert len(again.inflect_many(strange)) == 4
