"""The cells that a pocket model learns from, and the exceptions that its file keeps."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.choose import Word, chosen, is_unseen, shares
from models.exceptions import Watched, exceptions

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decode.search import greedy, one_blas_thread
from reinflect.decode.trace import follow
from reinflect.inflector.inflector import Inflector
from reinflect.systems import SYSTEMS
from tests.fuzz import tiny_models

LIMITS = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(1, 50), min_size=1, max_size=8)


@given(LIMITS, st.integers(1, 200), st.randoms())
def test_shares_stay_within_their_limits_and_waste_little(limits: dict[str, int], most: int, chance: object) -> None:
    weights = {name: chance.uniform(0.1, 10) for name in limits}  # type: ignore[attr-defined]
    parts = shares(weights, Counter(limits), most)
    assert parts.keys() == limits.keys()
    assert all(0 <= parts[name] <= limits[name] for name in limits)
    total = min(most, sum(limits.values()))
    assert total - len(limits) <= sum(parts.values()) <= total


def cells(bundle: str, count: int, uses: int) -> list[Word]:
    return [Word(f"{bundle}{number}", bundle, ("x",), uses) for number in range(count)]


def test_a_large_part_of_speech_does_not_crowd_out_another() -> None:
    table = cells("V;PST", 900, 0) + cells("N;PL", 100, 5)
    counts = Counter(cell.bundle for cell in chosen(table, 200))
    assert counts["N;PL"] > 80
    assert 195 <= counts.total() <= 200


def test_half_of_the_cells_are_of_the_most_used_lemmas_and_half_are_spread_evenly() -> None:
    table = cells("N;PL", 100, 1)
    numbers = [table.index(cell) for cell in chosen(table, 20)]
    assert numbers[:10] == list(range(10))
    gaps = [after - before for before, after in pairwise(numbers[10:])]
    assert numbers == sorted(numbers)
    assert set(gaps) == {9}
    assert chosen(table, 101) == table


def test_a_twentieth_of_all_lemmas_is_unseen() -> None:
    share = sum(is_unseen(f"word{number}") for number in range(20_000)) / 20_000
    assert abs(share - 1 / 20) < 0.005


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Inflector:
    path = tmp_path_factory.mktemp("tiny") / "tiny.reinflect"
    path.write_bytes(tiny_models.model_file())
    return Inflector.load(path)


def test_margins_are_the_least_of_the_actions_one_by_one(model: Inflector) -> None:
    [member, *_] = model.voters
    system = SYSTEMS[member.system]
    items = [Item(lemma, Bundle("V;PST")) for lemma in ("loben", "a", "sagen", "übersetzen")]
    watched = Watched(member.words)
    with one_blas_thread():
        greedy(watched, items)
        for item in items:
            _, steps, _ = follow(member.words, item, system.choices(member.inventory), len(system.frame[0]))
            least = min(step.probability - step.alternatives[0][1] for step in steps if step.alternatives)
            assert watched.margins[id(item)] == pytest.approx(least, abs=1e-5)


def test_exceptions_are_the_cells_whose_only_form_the_model_does_not_give(model: Inflector) -> None:
    alone = replace(model, choices={"vote": (model.voters[0].name,)}, strategy="vote")
    form = alone.inflect("loben", "V;PST")
    table = [
        Word("loben", "V;PST", (form,)),
        Word("sagen", "V;PST", ("sagte",)),
        Word("a", "V;PST", (alone.inflect("a", "V;PST"), "another")),
    ]
    assert exceptions(alone, table) == {
        "loben": {"V;PST": ()},
        "sagen": {"V;PST": ("sagte",)},
        "a": {"V;PST": (alone.inflect("a", "V;PST"), "another")},
    }
