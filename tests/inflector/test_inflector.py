"""The inflector: whose vote counts first, what it answers, and what it knows."""

import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest

from reinflect.data.features import NO_LABELS, Bundle, Labels
from reinflect.data.items import Item
from reinflect.decode.search import Predictions
from reinflect.ensemble.confidence import Answer, Confidence, Evidence
from reinflect.ensemble.strategies import Member, vote_all
from reinflect.errors import InputError
from reinflect.inflector.card import card_text, describe_training
from reinflect.inflector.inflector import Inflector
from reinflect.layers.parameters import Parameters
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.hacm import HacmSettings
from reinflect.systems.haem import HaemSettings
from reinflect.systems.soft import SoftSettings
from reinflect.systems.symbols import Inventory
from tests.data.test_corrections import items_of

pytestmark = pytest.mark.filterwarnings("ignore::reinflect.errors.UnseenWarning")
SMALL: dict[str, Settings] = {
    "hacm": HacmSettings(embedding=3, hidden=4, feature_scale=1.0),
    "soft": SoftSettings(embedding=3, hidden=4, feature_scale=1.0),
    "haem": HaemSettings(embedding=3, hidden=4, history_hidden=3, feature_scale=1.0),
}
KNOWN = Inventory(tuple("aeghns"), ("PST", "V"))
WORDS = {"gehen": "V;PST", "sagen": "V", "": "", "漢字": "?", "e\u0301gen": "V;V", "a": "PST"}
ITEMS = [Item(lemma, Bundle(features)) for lemma, features in WORDS.items()]


def a_member(
    system: str = "haem",
    alignment: str = "naive",
    seed: int = 1,
    accuracy: float = 50.0,
    inventory: Inventory = KNOWN,
    **changes: object,
) -> Member:
    own, chosen = SYSTEMS[system], msgspec.structs.replace(SMALL[system], **changes)
    sizes = own.sizes(inventory, chosen)
    drawn = Parameters.initial(own.shapes(chosen), [sizes], [seed]).one(0, sizes)
    parameters = {name: tensor.numpy() for name, tensor in drawn.items()}
    if system == "haem":
        parameters["output.bias"][:3] += 2.0
    facts: dict[str, Any] = {"system": system, "alignment": alignment, "seed": seed, "dev_accuracy": accuracy}
    return Member(settings=chosen, inventory=inventory, parameters=parameters, **facts)


def an_inflector() -> Inflector:
    """Members that differ in everything they can differ in."""
    other = Inventory(tuple("abcdefg漢"), ("V",))
    members = [a_member("haem", seed=1), a_member("haem", seed=2, accuracy=60.5), a_member("hacm", seed=5)]
    members.append(a_member("haem", "smart", seed=3, inventory=other))
    members.append(a_member("haem", seed=4, hidden=5, features="embedded"))
    members.append(a_member("hacm", seed=6, copy_mixture=False, cell="coupled"))
    return Inflector(tuple(members), {"ä": 4})


def copying(items: Sequence[Item], labels: Labels = NO_LABELS) -> Inflector:
    """HAEM that copies the lemma and stops, whatever the features."""
    member = a_member("haem", "naive", inventory=Inventory.of(items))
    for array in member.parameters.values():
        array[:] = 0
    member.parameters["output.bias"][:5] = [3.0, 1.0, 30.0, 0.5, 0.2]
    training = describe_training(items, None, source="x.tsv", accuracy=60.0, scored=3, interrupted=False)
    return Inflector((member,), {}, "vote", {"vote": ("haem-naive-1",)}, training=training, labels=labels)


def test_members_are_in_the_order_their_votes_count() -> None:
    kinds = [*(("hacm", "naive", seed) for seed in (1, 2, 10)), ("hacm", "smart", 1), ("haem", "naive", 1)]
    ordered = [a_member("haem", "smart", 9, 70.0), *(a_member(*kind, accuracy=60.0) for kind in kinds)]
    ordered.append(a_member("hacm", "naive", 1, 59.9))
    for shuffle in range(5):
        members = Inflector(tuple(Random(shuffle).sample(ordered, len(ordered))), {}).members
        assert [id(member) for member in members] == [id(member) for member in ordered]


def test_the_vote_is_that_of_its_members() -> None:
    inflector = an_inflector()
    forms = inflector.member_forms(ITEMS)
    assert len(forms) == len(inflector.members)
    assert inflector.inflect_many(ITEMS) == vote_all(forms)
    assert [inflector.inflect_many([item])[0] for item in ITEMS] == vote_all(forms)
    # Each member says alone what it says among the others.
    for member, own in zip(inflector.members, forms, strict=True):
        assert Inflector((member,), inflector.known_runs).member_forms(ITEMS) == [own]
    assert inflector.inflect_many([]) == []
    assert inflector.member_forms([]) == [[]] * len(inflector.members)


def test_only_those_vote_whom_the_strategy_chose() -> None:
    inflector = an_inflector()
    names = [member.name for member in inflector.members]
    forms = dict(zip(names, inflector.member_forms(ITEMS), strict=True))
    chosen = {"run7": (names[3], names[1], names[4]), "vote": tuple(reversed(names))}
    made = Inflector(inflector.members, inflector.known_runs, "run7", chosen)
    assert [member.name for member in made.voters] == list(chosen["run7"])
    assert made.inflect_many(ITEMS) == vote_all([forms[name] for name in chosen["run7"]])
    assert made.inflect_many([]) == []
    assert [member.name for member in made.using("ensemble-2").voters] == names[:-3:-1]
    assert [member.name for member in inflector.using("ensemble-2").voters] == names[:2]
    assert len(made.using("average").voters) == len(names)
    assert made.using("vote").using("run7").inflect_many(ITEMS) == made.inflect_many(ITEMS)


@pytest.mark.parametrize(("name", "what"), [("run1", "votes in run1"), ("run9", "there is no strategy 'run9'")])
def test_a_strategy_without_voters_is_refused(name: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        an_inflector().using(name)


def test_a_sure_member_decides_an_average(monkeypatch: pytest.MonkeyPatch) -> None:
    inflector = Inflector(tuple(a_member(seed=seed) for seed in (1, 2, 3)), {})
    said = {1: ("a", -0.1), 2: ("b", -2.0), 3: ("b", -2.0)}

    def told(seed: int, items: Sequence[Item]) -> Predictions:
        form, score = said[seed]
        return Predictions([form] * len(items), [score] * len(items))

    monkeypatch.setattr(Member, "words", property(lambda member: member.seed))
    monkeypatch.setattr("reinflect.inflector.inflector.greedy", told)
    assert inflector.inflect("gehen", "V") == "b"
    assert inflector.using("average").inflect("gehen", "V") == "a"


def test_threads_change_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    members = [a_member(system, seed=seed) for system in ("hacm", "haem", "soft") for seed in (1, 2, 3)]
    inflector = Inflector(tuple(members), {})
    found = []
    for worth, threads in ((10**9, "1"), (1, "2"), (1, "9")):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        monkeypatch.setattr("reinflect.decode.search.WORTH_THREADS", worth)
        found.append((inflector.predictions(members, ITEMS), inflector.nbest_many(ITEMS, 3)))
    assert found[0] == found[1] == found[2]


def test_what_does_not_end_or_repeats_becomes_the_lemma(monkeypatch: pytest.MonkeyPatch) -> None:
    member = a_member("haem")
    parameters = {name: np.zeros_like(array) for name, array in member.parameters.items()}
    parameters["output.bias"][3] = 9.0  # a, for ever
    assert Inflector((replace(member, parameters=parameters),), {}).inflect("gehen", "V") == "gehen"

    predictions = {"geeeeehen": "geeeeehen", "h": "heeeee", "eeeeeh": "eeeeeheeeee"}

    def greedy(_: object, items: Sequence[Item]) -> Predictions:
        return Predictions([predictions[item.lemma] for item in items], [-1.0] * len(items))

    monkeypatch.setattr("reinflect.inflector.inflector.greedy", greedy)
    writes = Inflector((member,), {})
    assert writes.inflect("geeeeehen", "V") == "geeeeehen"
    assert writes.inflect("h", "V") == "h"
    assert replace(writes, known_runs={"e": 5}).inflect("h", "V") == "heeeee"
    assert replace(writes, known_runs={"e": 4}).inflect("h", "V") == "h"
    assert writes.inflect("eeeeeh", "V") == "eeeeeheeeee"


def told_of(items: Sequence[Item], *, confident: bool = True) -> Inflector:
    """An inflector that says where it comes from and how sure it is."""
    training = describe_training(items, None, source="words.tsv", accuracy=50.0, scored=30, interrupted=False)
    confidences = {"vote": Confidence((-1.0, 0.5, 0.25, 0.125, 2.0), 30)} if confident else {}
    return replace(an_inflector(), training=training, confidences=confidences)


SEEN = items_of("gehen V;PST ging, haus N;SG haus, sehen V sehen, hand SG;N hand, wand SG;N wand")


def test_answers_are_the_vote_with_its_evidence() -> None:
    inflector = told_of(SEEN)
    forms = inflector.member_forms(ITEMS)
    _, scores = zip(*inflector.predictions(inflector.members, ITEMS), strict=True)
    answers = inflector.answers(ITEMS)
    assert [answer.form for answer in answers] == inflector.inflect_many(ITEMS)
    for place, (item, answer) in enumerate(zip(ITEMS, answers, strict=True)):
        said, probable = [own[place] for own in forms], [own[place] for own in scores]
        assert (answer.votes, answer.voters) == (said.count(answer.form), len(said))
        seen = item.features.spelling in ("V;PST", "V")
        evidence = Evidence.of(answer.form, said, probable, seen=seen)
        assert answer.confidence == pytest.approx(inflector.confidences["vote"].of(evidence), abs=1e-4)
        assert answer.log_probability == pytest.approx(evidence.log_mean, abs=1e-4)
    assert inflector.answers([]) == []
    named = [item for item in ITEMS if item.lemma]
    pairs = [(item.lemma, item.features.spelling) for item in named]
    assert inflector.answers(pairs) == inflector.answers(named)
    assert inflector.inflect_many(pairs) == inflector.inflect_many(named)
    assert inflector.member_forms(pairs) == inflector.member_forms(named)
    assert msgspec.json.decode(msgspec.json.encode(answers), type=list[Answer]) == answers


def test_without_a_fit_for_the_strategy_there_is_no_confidence() -> None:
    asked = [("gehen", "V;PST")]
    assert told_of(SEEN).answers(asked)[0].confidence is not None
    assert told_of(SEEN, confident=False).answers(asked)[0].confidence is None
    assert told_of(SEEN).using("ensemble-2").answers(asked)[0].confidence is None
    assert an_inflector().answers(asked)[0].confidence is None


def test_the_order_of_features_does_not_make_them_unseen() -> None:
    inflector = told_of([Item("gehen", Bundle("V;PST"), "ging")])
    one, other, unseen = inflector.answers([("gehen", "V;PST"), ("gehen", "PST; V"), ("gehen", "V;PST;PST")])
    assert one.form == other.form
    assert one.confidence == pytest.approx(other.confidence, abs=1e-3)
    assert unseen.confidence is not None
    assert one.confidence is not None
    assert unseen.confidence < one.confidence - 0.1


def test_a_paradigm_has_each_cell_once_by_part_of_speech() -> None:
    inflector = told_of(SEEN)
    assert inflector.bundles == ("V;PST", "N;SG", "V", "SG;N")
    assert inflector.bundle_counts["SG;N"] == 2
    cells = inflector.paradigm("gehen")
    assert [cell.features for cell in cells] == ["V;PST", "V", "SG;N"]
    assert [cell.answer for cell in cells] == inflector.answers([("gehen", cell.features) for cell in cells])
    asked = ["?", "V", "V"]
    assert [cell.features for cell in inflector.paradigm("gehen", asked)] == asked
    assert inflector.paradigm("gehen", []) == []
    assert an_inflector().paradigm("gehen") == []
    assert an_inflector().bundles == ()


def test_what_it_knows_is_what_any_member_knows() -> None:
    inflector = an_inflector()
    assert inflector.atoms == ("PST", "V")
    assert inflector.characters == tuple("abcdefghns漢")
    assert inflector.unknown_features("V;pst;PST;Pst; XX ;XX") == [("pst", ["PST"]), ("Pst", ["PST"]), ("XX", [])]
    assert inflector.unknown_features("") == []


def test_the_card_is_plain_data() -> None:
    for inflector in (told_of(SEEN), an_inflector()):
        card = inflector.card
        assert json.loads(json.dumps(card)) == json.loads(msgspec.json.encode(card))
        assert [member["name"] for member in card["members"]] == [member.name for member in inflector.members]
        assert card["voters"] == [member.name for member in inflector.voters]
        assert card_text(card)
