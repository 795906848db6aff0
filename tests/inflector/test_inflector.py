"""The inflector: whose vote counts first, and that its file is whole or refused."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decode.forms import Predictions
from reinflect.ensemble.confidence import Confidence, Evidence
from reinflect.ensemble.member import Member
from reinflect.ensemble.strategies import vote_all
from reinflect.errors import InputError, ReinflectError
from reinflect.inflector.answers import Answer
from reinflect.inflector.card import card_text, describe_training
from reinflect.inflector.file import FORMAT
from reinflect.inflector.inflector import Inflector
from reinflect.layers.parameters import Parameters
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.hacm import HacmSettings
from reinflect.systems.haem import HaemSettings
from reinflect.systems.soft import SoftSettings
from reinflect.systems.symbols import Inventory
from reinflect.tensors import digest

pytestmark = pytest.mark.filterwarnings("ignore::reinflect.errors.UnseenWarning")
SMALL: dict[str, Settings] = {
    "hacm": HacmSettings(embedding=3, hidden=4, feature_scale=1.0),
    "soft": SoftSettings(embedding=3, hidden=4, feature_scale=1.0),
    "haem": HaemSettings(embedding=3, hidden=4, history_hidden=3, feature_scale=1.0),
}
KNOWN = Inventory(tuple("aeghns"), ("PST", "V"))
ITEMS = [
    Item(lemma, Bundle(features))
    for lemma, features in [
        ("gehen", "V;PST"),
        ("sagen", "V"),
        ("", ""),
        ("漢字", "?"),
        ("e\u0301gen", "V;V"),
        ("a", "PST"),
    ]
]


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
    members = [
        a_member("haem", seed=1),
        a_member("haem", seed=2, accuracy=60.5),
        a_member("haem", "smart", seed=3, inventory=other),
        a_member("haem", seed=4, hidden=5, features="embedded"),
        a_member("hacm", seed=5),
        a_member("hacm", seed=6, copy_mixture=False, cell="coupled"),
    ]
    return Inflector(tuple(members), {"ä": 4})


def test_members_are_in_the_order_their_votes_count() -> None:
    ordered = [
        a_member("haem", "smart", 9, 70.0),
        a_member("hacm", "naive", 1, 60.0),
        a_member("hacm", "naive", 2, 60.0),
        a_member("hacm", "naive", 10, 60.0),
        a_member("hacm", "smart", 1, 60.0),
        a_member("haem", "naive", 1, 60.0),
        a_member("haem", "smart", 1, 60.0),
        a_member("hacm", "naive", 1, 59.9),
    ]
    for shuffle in range(5):
        order = torch.randperm(len(ordered), generator=torch.Generator().manual_seed(shuffle)).tolist()
        found = Inflector(tuple(ordered[k] for k in order), {}).members
        assert [id(member) for member in found] == [id(member) for member in ordered]


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
        monkeypatch.setattr("reinflect.decode.threads.WORTH_THREADS", worth)
        found.append((inflector.predictions(members, ITEMS), inflector.nbest_many(ITEMS, 3)))
    assert found[0] == found[1] == found[2]


def test_what_does_not_end_or_repeats_becomes_the_lemma() -> None:
    member = a_member("haem")
    parameters = {name: np.zeros_like(array) for name, array in member.parameters.items()}
    parameters["output.bias"][3] = 9.0  # a, for ever
    endless = Inflector((replace(member, parameters=parameters),), {})
    assert endless.inflect("gehen", "V") == "gehen"

    parameters = {name: np.zeros_like(array) for name, array in member.parameters.items()}
    parameters["output.bias"][0], parameters["output.bias"][2] = 9.0, 10.0  # copy, then stop
    copying = replace(member, parameters=parameters)
    assert Inflector((copying,), {}).inflect("geeeeehen", "V") == "geeeeehen"

    # LSTM^a counts nothing here: write e where a lemma of h's is over, and stop after five.
    writes = Inflector((writing_five(member),), {})
    assert writes.inflect("h", "V") == "h"
    assert replace(writes, known_runs={"e": 5}).inflect("h", "V") == "heeeee"
    assert replace(writes, known_runs={"e": 4}).inflect("h", "V") == "h"
    assert writes.inflect("eeeeeh", "V") == "eeeeeheeeee"


def writing_five(member: Member) -> Member:
    """A member that copies the lemma, writes e five times and stops: LSTM^y counts e's after an h in its memory."""
    parameters = {name: np.zeros_like(array) for name, array in member.parameters.items()}
    letters = SYSTEMS["haem"].symbols(KNOWN)
    e, h = letters.number("e"), letters.number("h")
    hidden = SMALL["haem"].hidden
    parameters["embedding"][e, 0] = 1.0
    parameters["embedding"][h, 1] = 1.0
    gates, bias = parameters["written.input"], parameters["written.bias"]
    bias[:hidden] = 30.0  # input gate open
    bias[hidden : 2 * hidden] = 30.0  # forget nothing …
    gates[1, hidden : 2 * hidden] = -90.0  # … but at an h everything
    bias[2 * hidden : 3 * hidden] = 30.0  # show all
    gates[0, 3 * hidden] = 0.2  # each e adds tanh(0.2) to the memory
    parameters["state.written"][0, 0] = 1.0
    # Shown is tanh(k · tanh 0.2): after four e's .66, after five .76.
    weights, out = parameters["output.weights"], parameters["output.bias"]
    out[0] = 1000.0  # copy while there is something to copy
    write = SYSTEMS["haem"].choices(KNOWN).number("e")
    out[write], weights[0, write] = 71.0, 0.0
    out[2], weights[0, 2] = 0.0, 100.0
    return replace(member, parameters=parameters)


def told_of(items: Sequence[Item], *, confident: bool = True) -> Inflector:
    """An inflector that says where it comes from and how sure it is."""
    training = describe_training(items, None, source="words.tsv", accuracy=50.0, scored=30, interrupted=False)
    confidences = {"vote": Confidence((-1.0, 0.5, 0.25, 0.125, 2.0), 30)} if confident else {}
    return replace(an_inflector(), training=training, confidences=confidences)


SEEN = [
    Item("gehen", Bundle("V;PST"), "ging"),
    Item("haus", Bundle("N;SG"), "haus"),
    Item("sehen", Bundle("V"), "sehen"),
    Item("hand", Bundle("SG;N"), "hand"),
    Item("wand", Bundle("SG;N"), "wand"),
]


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


def test_a_file_has_all_that_is_known_of_its_training(tmp_path: Path) -> None:
    inflector = told_of(SEEN)
    inflector.save(tmp_path / "model")
    back = Inflector.load(tmp_path / "model")
    assert (back.training, back.confidences) == (inflector.training, inflector.confidences)
    assert back.card == inflector.card
    assert back.answers(ITEMS) == inflector.answers(ITEMS)
    with safe_open(tmp_path / "model", framework="np") as file:
        assert json.loads(file.metadata()["reinflect"])["card"] == card_text(inflector.card)


def test_half_precision_halves_the_file(tmp_path: Path) -> None:
    inflector = Inflector((a_member(hidden=60, embedding=40), a_member("hacm", hidden=60, embedding=40)), {})
    inflector.save(tmp_path / "whole")
    inflector.save(tmp_path / "half", half=True)
    sizes = [(tmp_path / name).stat().st_size for name in ("half", "whole")]
    assert sizes[0] < 0.55 * sizes[1]
    back = Inflector.load(tmp_path / "half")
    for one, other in zip(inflector.members, back.members, strict=True):
        for name, array in one.parameters.items():
            assert other.parameters[name].dtype == np.float32
            assert np.allclose(array, other.parameters[name], rtol=1e-3, atol=1e-6)
    back.save(tmp_path / "again", half=True)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "half").read_bytes()


def test_numbers_too_large_for_half_precision_are_kept(tmp_path: Path) -> None:
    member = a_member()
    member.parameters["output.bias"][0] = 1e6
    Inflector((member,), {}).save(tmp_path / "model", half=True)
    (back,) = Inflector.load(tmp_path / "model").members
    assert np.array_equal(back.parameters["output.bias"], member.parameters["output.bias"])


def test_a_file_gives_back_what_was_saved(tmp_path: Path) -> None:
    inflector, path = an_inflector(), tmp_path / "german.reinflect"
    inflector.save(path)
    again = Inflector.load(path)
    assert dict(again.known_runs) == {"ä": 4}
    for one, other in zip(inflector.members, again.members, strict=True):
        assert one.name == other.name
        assert (one.settings, one.inventory, one.dev_accuracy) == (other.settings, other.inventory, other.dev_accuracy)
        assert one.parameters.keys() == other.parameters.keys()
        for name, array in one.parameters.items():
            assert np.array_equal(array, other.parameters[name])
    assert again.member_forms(ITEMS) == inflector.member_forms(ITEMS)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "german.reinflect"]


def test_saving_over_a_folder_leaves_it(tmp_path: Path) -> None:
    with pytest.raises(ReinflectError):
        an_inflector().save(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "small"
    Inflector((a_member("haem"), a_member("hacm")), {}).save(path)
    return path


def refused(path: Path) -> str:
    with pytest.raises(InputError) as raised:
        Inflector.load(path)
    message = str(raised.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_changed_byte_anywhere_is_found_out(saved: Path, tmp_path: Path, data: st.DataObject) -> None:
    whole = saved.read_bytes()
    header = int.from_bytes(whole[:8], "little") + 8
    places = st.integers(0, len(whole) - 1) | st.integers(0, header - 1) | st.integers(0, 7)
    changed = bytearray(whole)
    place = data.draw(places)
    changed[place] ^= data.draw(st.integers(1, 255))
    (tmp_path / "changed").write_bytes(changed)
    found = loaded_or_refused(tmp_path / "changed")
    if found is not None:
        # Blanks in the header, or the order it gives its parts in, can change without the model changing.
        assert place < header
        for one, other in zip(found.members, Inflector.load(saved).members, strict=True):
            assert one.name == other.name
            assert all(np.array_equal(array, other.parameters[name]) for name, array in one.parameters.items())


def loaded_or_refused(path: Path) -> Inflector | None:
    with suppress(InputError):
        return Inflector.load(path)
    return None


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0, 1, exclude_max=True))
def test_a_part_of_a_file(saved: Path, tmp_path: Path, share: float) -> None:
    whole = saved.read_bytes()
    (tmp_path / "part").write_bytes(whole[: int(share * len(whole))])
    refused(tmp_path / "part")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=64))
def test_files_that_are_something_else(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other").write_bytes(content)
    refused(tmp_path / "other")


def test_places_without_a_model(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "nothing")
    assert "folder" in refused(tmp_path)
    save_file({"x": np.zeros(2)}, tmp_path / "foreign")
    assert "another program" in refused(tmp_path / "foreign")
    (tmp_path / "text").write_text("lemma\tform\tV\n", encoding="utf-8")
    assert "reinflect train" in refused(tmp_path / "text")


def with_header(saved: Path, path: Path, **changes: object) -> Path:
    """A file whose header was changed after it was written."""
    with safe_open(saved, framework="np") as file:
        metadata = file.metadata()
        about = json.loads(metadata["reinflect"]) | changes
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    save_file(tensors, path, metadata=metadata | {"reinflect": json.dumps(about)})
    return path


def test_a_newer_format_is_named_as_such(saved: Path, tmp_path: Path) -> None:
    path = with_header(saved, tmp_path / "newer", format=FORMAT + 1, version="99.0", members="in another shape")
    assert "99.0" in refused(path)
    assert "update" in refused(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "1"},
        {"format": None},
        {"format": float(FORMAT)},
        {"sha256": "0" * 64},
        {"members": []},
        {"members": 3},
        {"known_runs": {"ä": 7}},
        {"inventories": []},
    ],
    ids=str,
)
def test_headers_that_do_not_fit(saved: Path, tmp_path: Path, changes: dict[str, object]) -> None:
    refused(with_header(saved, tmp_path / "changed", **changes))


def resigned(about: dict[str, object], path: Path, inflector: Inflector) -> Path:
    """A file whose header says something else, and whose checksum is right for that."""
    inflector.save(path)
    with safe_open(path, framework="np") as file:
        header = {**json.loads(file.metadata()["reinflect"]), **about}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    text = json.dumps(header)
    save_file(tensors, path, metadata={"reinflect": text, "sha256": digest(text, tensors)})
    return path


def test_the_strategy_is_part_of_the_file(tmp_path: Path) -> None:
    inflector = an_inflector()
    names = tuple(member.name for member in inflector.members)
    made = Inflector(inflector.members, {}, "run6", {"run6": names[:2], "vote": names[::-1]})
    made.save(tmp_path / "model")
    back = Inflector.load(tmp_path / "model")
    assert (back.strategy, back.choices) == ("run6", made.choices)
    assert back.inflect_many(ITEMS) == made.inflect_many(ITEMS)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_files_of_older_formats_are_refused_with_a_remedy(tmp_path: Path, number: int) -> None:
    old = resigned({"format": number, "version": "0.1.0"}, tmp_path / "old", an_inflector())
    assert "made by reinflect '0.1.0', an older version whose files cannot be read any more" in refused(old)
    assert "train it again" in refused(old)


@pytest.mark.parametrize(
    "changes",
    [
        {"training": 3},
        {"training": {"source": "x"}},
        {"confidences": {"vote": {"weights": [1.0], "items": 3}}},
        {"confidences": {"vote": {"weights": "12345", "items": 3}}},
        {"confidences": []},
    ],
    ids=str,
)
def test_training_and_confidences_that_do_not_fit(tmp_path: Path, changes: dict[str, object]) -> None:
    refused(resigned(changes, tmp_path / "odd", an_inflector()))


@pytest.mark.parametrize(
    "changes",
    [{"strategy": "run1"}, {"strategy": "none at all"}, {"choices": {"vote": ["haem-naive-99"]}}, {"choices": 3}],
    ids=str,
)
def test_strategies_that_do_not_fit(tmp_path: Path, changes: dict[str, object]) -> None:
    refused(resigned(changes, tmp_path / "odd", an_inflector()))


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", "null", "[" * 100_000, '{"format": 1}'], ids=lambda t: t[:9])
def test_headers_of_other_shapes(tmp_path: Path, text: str) -> None:
    save_file({"x": np.zeros(2)}, tmp_path / "odd", metadata={"reinflect": text})
    refused(tmp_path / "odd")
