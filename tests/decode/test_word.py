"""One word by NumPy alone: the same forms, log-probabilities and confidences as by torch."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.ensemble.confidence import Confidence
from reinflect.ensemble.member import TrainedModel
from reinflect.inflector import inflector as module
from reinflect.inflector.inflector import Answer, Inflector
from reinflect.inflector.train import Plan, train_inflector
from reinflect.systems.symbols import Inventory
from tests.cli.test_main import run_python
from tests.inflector.test_inflector import a_member
from tests.learn.tiny import language, small

pytestmark = pytest.mark.filterwarnings("ignore::reinflect.errors.UnseenWarning")
ASKED = [
    Item(lemma, Bundle(features))
    for lemma, features in [
        ("gehen", "V;PST"),
        ("a", "V"),
        ("", "V;PST"),
        ("gehen", ""),
        ("gehen", "X;Y;V"),
        ("gehen", "V;V;PST"),
        ("xyz", "V"),
        ("gxhxn", "PST;V"),
        ("𝔤𝔢hen😀", "V;PST"),
        ("e\u0301\u0301a", "V"),
        ("<unknown>", "V"),
        ("aaaaaaaaaaaa", "V;PST"),
        ("shages" * 9, "V;PST"),
    ]
]
MODELS: dict[str, Callable[[], TrainedModel]] = {
    "the standard cell": lambda: a_haem(seed=1),
    "the coupled cell": lambda: a_haem(seed=2, cell="coupled"),
    "embedded features": lambda: a_haem(seed=3, features="embedded"),
    "counted features": lambda: a_haem(seed=4, features="counts", feature_scale=3.0),
    "tied embeddings": lambda: a_haem(seed=5, tied=True, cell="coupled"),
    "no history": lambda: a_haem(seed=6, history=False),
    "no deletions": lambda: a_haem(seed=7, deletions=False),
    "the basic system": lambda: a_haem(seed=8, history=False, deletions=False),
    "no characters and no features": lambda: a_haem(seed=9, inventory=Inventory((), ())),
    "a model that ends nothing": lambda: never_ending(a_haem(seed=10, inventory=Inventory(("g",), ("V",)))),
    "imitation": lambda: replace(a_haem(seed=11), system="imitation"),
}
WIDE = 12
"""With few hidden units all can be 0: then actions have equal probabilities, and lists any order."""
FIGURE = re.compile(r"-?[0-9]+\.[0-9]+")
FITTED = Confidence((-1.0, 0.5, 0.25, 0.125, 2.0), 30)


def a_haem(**changes: Any) -> TrainedModel:
    return a_member(**({"hidden": WIDE} | changes))


def never_ending(member: TrainedModel) -> TrainedModel:
    member.parameters["output.bias"][:3] -= 30.0
    return member


def asked_of(*members: TrainedModel) -> Inflector:
    return Inflector(members, {"h": 4}, confidences={"vote": FITTED})


def both_ways(ask: Callable[[], Any]) -> list[Any]:
    found = []
    for most in (0, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "FEW_WORDS", most)
            found.append(ask())
    return found


def check_alike(one: Answer, other: Answer) -> None:
    assert (one.form, one.votes, one.voters) == (other.form, other.votes, other.voters)
    assert other.confidence == pytest.approx(one.confidence, abs=1.01e-4)  # both are rounded
    assert other.log_probability == pytest.approx(one.log_probability, abs=2e-4, rel=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_says_the_same_either_way(name: str) -> None:
    inflector = asked_of(MODELS[name]())
    by_torch, by_numpy = both_ways(lambda: inflector.predictions(inflector.members, ASKED))
    (forms, scores), (own, probable) = by_torch[0], by_numpy[0]
    assert own == forms
    assert probable == pytest.approx(scores, abs=1e-5, rel=1e-6)
    for one, other in zip(*both_ways(lambda: inflector.answers(ASKED)), strict=True):
        check_alike(one, other)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n", [1, 7])
def test_n_best_lists_are_the_same_either_way(name: str, n: int) -> None:
    inflector = asked_of(MODELS[name]())
    lists = both_ways(lambda: inflector.nbest_many(ASKED, n))
    for by_torch, by_numpy in zip(*lists, strict=True):
        assert [answer.form for answer in by_numpy] == [answer.form for answer in by_torch]
        for one, other in zip(by_torch, by_numpy, strict=True):
            check_alike(one, other)


def test_a_model_that_ends_nothing_gives_up_either_way() -> None:
    inflector = asked_of(MODELS["a model that ends nothing"]())
    assert both_ways(lambda: inflector.inflect_many(ASKED)) == [[item.lemma for item in ASKED]] * 2


@settings(max_examples=60)
@given(
    st.text(st.sampled_from("aeghnsx漢😀\u0301"), max_size=12),
    st.lists(st.sampled_from(["V", "PST", "?"]), max_size=4).map(";".join),
    st.sampled_from(["lstm", "coupled"]),
)
def test_any_word_is_inflected_alike_either_way(lemma: str, features: str, cell: str) -> None:
    inflector, item = asked_of(a_haem(seed=20, cell=cell)), Item(lemma, Bundle(features))
    (one,), (other,) = both_ways(lambda: inflector.answers([item]))
    check_alike(one, other)


def test_several_members_vote_alike_and_other_systems_go_the_usual_way(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = asked_of(a_haem(seed=1), a_haem(seed=2, hidden=15), a_haem(seed=3, cell="coupled"))
    by_torch, by_numpy = both_ways(lambda: ours.answers(ASKED))
    for one, other in zip(by_torch, by_numpy, strict=True):
        check_alike(one, other)
    monkeypatch.setattr("reinflect.systems.haem.word.HaemWord.log_probabilities", lambda _: pytest.fail("by NumPy"))
    mixed = asked_of(a_member(seed=1), a_member("hacm", seed=2))
    assert mixed.answers(ASKED[:1])[0].voters == 2
    monkeypatch.setattr(module, "FEW_WORDS", 3)
    assert len(ours.answers(ASKED[:2])) == 2  # 3 members and 2 items are 6 words
    assert ours.nbest_many(ASKED[:2])


def test_a_word_changes_no_parameter() -> None:
    member = a_member()
    before = {name: array.copy() for name, array in member.parameters.items()}
    for array in member.parameters.values():
        array.flags.writeable = False
    asked_of(member).nbest_many(ASKED[:4])
    assert all(np.array_equal(before[name], array) for name, array in member.parameters.items())


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    items, out = language("german"), tmp_path_factory.mktemp("model") / "verbs.reinflect"
    plan = Plan(
        systems=["haem"], settings={"haem": small("haem", score_every=3, epochs=30)}, seeds=1, alignments=["naive"]
    )
    inflector = train_inflector(items[4:], items[:4], plan, attested=False).inflector
    replace(inflector, confidences={inflector.strategy: FITTED}).save(out, numbers="eighth")
    return out


@pytest.mark.parametrize("options", [(), ("--json",), ("--n-best", 4), ("--n-best", 4, "--json")])
def test_the_command_prints_the_same_either_way(
    model: Path, reinflect: Callable[..., Result], options: tuple[object, ...]
) -> None:
    for item in (*language("german")[:6], Item("𝔩eben漢", Bundle("V;PST")), Item("leben", Bundle("V;?"))):
        ask = partial(reinflect, "inflect", model, item.lemma, item.features.spelling, *options)
        one, other = both_ways(ask)
        assert (one.exit_code, one.stderr_bytes) == (other.exit_code, other.stderr_bytes)
        assert one.exit_code == 0
        if not options:
            assert one.stdout_bytes == other.stdout_bytes
        # The last of four decimals may be rounded up or down.
        assert FIGURE.sub("0.0", one.stdout) == FIGURE.sub("0.0", other.stdout)
        figures = [[float(own) for own in FIGURE.findall(result.stdout)] for result in (one, other)]
        assert figures[0] == pytest.approx(figures[1], abs=1.5e-4)
        assert bool(figures[0]) == bool(options)


@pytest.mark.parametrize("options", [[], ["--json"], ["--n-best", "3"]])
def test_a_single_word_needs_no_slow_library(model: Path, options: list[str]) -> None:
    call = f"main(['inflect', {str(model)!r}, 'leben', 'V;PST', *{options!r}], standalone_mode=False)"
    code = f"import sys; from reinflect.cli import main; {call}; print(*{{m.split('.')[0] for m in sys.modules}})"
    printed = run_python(code).splitlines()
    assert "numpy" in printed[-1].split()
    assert not {"torch", "numba", "scipy", "safetensors", "pandas"} & set(printed[-1].split())
    assert len(printed) > 1


def test_a_small_batch_needs_no_torch_and_a_large_one_does(model: Path) -> None:
    asked = "i = Inflector.load(sys.argv[1]); i.inflect_many([('leben', 'V;PST')] * {}); print('torch' in sys.modules)"
    code = f"import sys; from reinflect import Inflector; sys.argv[1:] = [{str(model)!r}]; "
    assert run_python(code + asked.format(100)) == "False\n"
    assert run_python(code + asked.format(101)) == "True\n"
