"""Dictionaries: their format, as docs/files.md describes it, and what an inflector answers from one."""

import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.lexicon import Lexicon
from reinflect.errors import InputError, UnseenWarning
from reinflect.inflector import dictionary as packing
from reinflect.inflector.analyse import analyse, open_cells
from reinflect.inflector.card import card_text
from reinflect.inflector.dictionary import COLUMNS, Dictionary
from reinflect.inflector.inflector import Inflector
from reinflect.web.app import create_app
from tests.inflector.test_inflector import copying

pytestmark = pytest.mark.filterwarnings("ignore::reinflect.errors.UnseenWarning")
Cells = dict[str, dict[str, Sequence[str]]]
Run = Callable[..., Result]
BUNDLES = ("V;A", "V;B", "V.PTCP;A", "N;A")
CELLS: Cells = {
    "gen": {"V;A": (), "V;B": ("gan", "gon")},
    "eng": {"N;A": ("engs",)},
    "ging": {"N;A": (), "V;A": ()},
}


def slowly_read(packed: bytes, bundles: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """The reader that docs/files.md describes, step by step."""
    content = zlib.decompress(packed)
    lengths = [int.from_bytes(content[4 * i : 4 * i + 4], "little") for i in range(10)]
    assert len(content) == 40 + sum(lengths)
    columns = [content[40 + sum(lengths[:i]) : 40 + sum(lengths[: i + 1])] for i in range(10)]

    def numbers(column: bytes) -> Iterator[int]:
        value = shift = 0
        for byte in column:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                yield value
                value = shift = 0

    shared, _, shape_numbers, sizes, steps, counts, ranks, variants, dropped, _ = map(numbers, columns)
    lemma_texts, form_texts = (iter(columns[i].decode().split("\n")) for i in (1, 9))

    def ascending(steps: Iterator[int], count: int) -> list[int]:
        places, last = list[int](), -1
        for _ in range(count):
            last += next(steps) + 1
            places.append(last)
        return places

    shapes = [ascending(steps, size) for size in sizes]
    numbered = list(shape_numbers)
    alone = iter(shapes[len(shapes) - numbered.count(0) :])
    table, lemma = dict[str, dict[str, list[str]]](), ""
    for length, number in zip(shared, numbered, strict=True):
        lemma = lemma[:length] + next(lemma_texts)
        shape = shapes[number - 1] if number else next(alone)
        row = table[lemma] = {bundles[cell]: list[str]() for cell in shape}
        for rank in ascending(ranks, next(counts)):
            for _ in range(1 + next(variants)):
                cut = next(dropped)
                row[bundles[shape[rank]]].append(lemma[: len(lemma) - cut] + next(form_texts))
    return table


WORDS = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=6)
WORDS |= st.text("ab", max_size=150) | st.sampled_from(["", "\r", "\t", "\0", "\U0001f40e", "e\u0301", "\u2028"])


@given(
    st.dictionaries(WORDS, st.dictionaries(st.sampled_from(BUNDLES), st.lists(WORDS, max_size=4, unique=True))),
    st.permutations([*BUNDLES, *(f"N;{number}" for number in range(200))]),
)
@example({}, BUNDLES)
@example({"gen": {}, "": {"N;A": ["x"]}}, BUNDLES)
@example({"a": {"V;A": [str(number) for number in range(1000)]}}, BUNDLES)
def test_what_is_packed_is_unpacked(cells: dict[str, dict[str, list[str]]], bundles: Sequence[str]) -> None:
    dictionary = Dictionary.of(cells, bundles)
    assert slowly_read(dictionary.packed, bundles) == cells
    assert dictionary == Dictionary(tuple(bundles), dictionary.packed) == Dictionary.of(cells, bundles)
    assert dictionary.lemmas == sorted(cells)
    for lemma, row in cells.items():
        assert {bundle.spelling for bundle in dictionary.bundles_of(lemma)} == row.keys()
        for features in BUNDLES:
            forms = dictionary.forms(lemma, ";".join(reversed(features.split(";"))))
            assert forms == (tuple(row[features]) if features in row else None)
            assert all((lemma, Bundle(features)) in dictionary.having(form) for form in forms or ())
    assert dictionary.forms("nobody", "V;A") is dictionary.forms("gen", "V;XX") is None
    assert sum(dictionary.counts.values()) == dictionary.facts["cells"] == sum(map(len, cells.values()))


def test_shapes_and_endings_are_shared() -> None:
    forms = {f"{number:05}en": {"V;A": [f"{number:05}te"], "V;B": [], "N;A": []} for number in range(5000)}
    assert len(Dictionary.of(forms, BUNDLES).packed) < 20 * 1024


def test_what_cannot_be_packed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong: list[Cells] = [{"a": {"V;Z": ["b"]}}, {"a\n": {"V;A": []}}, {"a": {"V;A": ["b\n"]}}]
    for cells in wrong:
        with pytest.raises(InputError, match="no line ends"):
            Dictionary.of(cells, BUNDLES)
    whole = Dictionary.of(CELLS, BUNDLES)
    monkeypatch.setattr(packing, "MOST_BYTES", 20)
    with pytest.raises(InputError, match="leave out lemmas"):
        Dictionary.of(CELLS, BUNDLES)
    with pytest.raises(ValueError, match="truncated or too large"):
        Dictionary(BUNDLES, whole.packed)


def test_a_bomb_is_not_unpacked() -> None:
    bomb = zlib.compress(bytes(4 * packing.MOST_BYTES), 9)
    with pytest.raises(ValueError, match="truncated or too large"):
        Dictionary(BUNDLES, bomb)


@settings(max_examples=300)
@given(st.data())
def test_a_dictionary_with_a_wrong_byte_is_refused_or_read(data: st.DataObject) -> None:
    """Whatever somebody made by hand: nothing but a ValueError when it is read, and no error later."""
    content = bytearray(zlib.decompress(Dictionary.of(CELLS, BUNDLES).packed))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.sampled_from([0, 1, 10, 128, 255, 3]))
    try:
        dictionary = Dictionary(BUNDLES, zlib.compress(content))
    except ValueError:
        return
    assert all(
        dictionary.forms(lemma, bundle) is not None
        for lemma in dictionary.lemmas
        for bundle in dictionary.bundles_of(lemma)
    )
    assert isinstance(dictionary.having("gan"), list)
    assert dictionary.facts["lemmas"] == len(dictionary.lemmas)


@given(st.binary(max_size=60), st.booleans())
def test_other_bytes_are_refused(raw: bytes, deflated: bool) -> None:
    with pytest.raises(ValueError, match="dictionary"):
        Dictionary(BUNDLES, zlib.compress(raw[: 4 * COLUMNS - 1]) if deflated else raw)


@pytest.fixture(name="inflector")
def model_with_dictionary() -> Inflector:
    """Copies the lemma; its dictionary has two verbs and two nouns, one of which is both."""
    bundles = [Item(lemma, Bundle(features), "x") for lemma in CELLS for features in BUNDLES]
    return replace(copying(bundles), dictionary=Dictionary.of(CELLS, BUNDLES, credit="From a <list>."))


@pytest.fixture(name="model")
def model_file(inflector: Inflector, tmp_path: Path) -> Path:
    inflector.save(tmp_path / "model", numbers="eighth")
    return tmp_path / "model"


def test_a_file_has_the_dictionary(inflector: Inflector, model: Path) -> None:
    back = Inflector.load(model)
    assert back.dictionary == inflector.dictionary
    back.save(model.with_name("again"), numbers="eighth")
    assert model.with_name("again").read_bytes() == model.read_bytes()
    assert b'\\"format\\": 5' in model.read_bytes(), "0.2 knows 4"
    replace(inflector, dictionary=None).save(model)
    assert b'\\"format\\": 4' in model.read_bytes()


def test_a_damaged_file_is_refused_in_one_line(model: Path) -> None:
    whole = model.read_bytes()
    assert inflector_dictionary(whole) in whole
    for at in range(whole.index(inflector_dictionary(whole)), len(whole)):
        model.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(InputError, match=r"not a valid reinflect model \(changed after it was written\)"):
            Inflector.load(model)


def inflector_dictionary(whole: bytes) -> bytes:
    header = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])
    start, end = header["dictionary"]["data_offsets"]
    return whole[8 + int.from_bytes(whole[:8], "little") :][start:end]


def test_what_it_has_is_answered_exactly(inflector: Inflector) -> None:
    known = [("gen", "B;V"), ("eng", "N;A"), ("gen", "V;A"), ("ging", "N;A")]
    assert inflector.inflect_many(known) == ["gan", "engs", "gen", "ging"]
    assert inflector.inflect("gen", "V;B") == "gan"
    answers = inflector.answers(known)
    assert [answer.variants for answer in answers] == [("gon",), (), (), ()]
    assert all(answer.attested and answer.confidence is None for answer in answers)
    assert inflector.inflect_many(known, attested=False) == ["gen", "eng", "gen", "ging"]
    assert not any(answer.attested for answer in inflector.answers(known, attested=False))
    [first, second, *others] = inflector.nbest("gen", "V;B", 4)
    assert (first.form, second.form, first.attested, second.attested) == ("gan", "gon", True, True)
    assert others[0].form == "gen"
    assert not any(answer.attested for answer in others)
    assert inflector.nbest("gen", "V;A")[0].attested
    assert not inflector.nbest("genn", "V;A")[0].attested
    assert inflector.attested_forms("gen", "A;V") == ("gen",)
    assert inflector.attested_forms("gen", "V;B") == ("gan", "gon")
    assert inflector.attested_forms("gen", "V.PTCP;A") == ()
    taught = replace(inflector, attested=(Item("gen", Bundle("V;A"), "gun"),))
    assert taught.inflect("gen", "V;A") == "gun", "what a person says comes first"


def test_a_known_lemma_has_the_cells_of_its_parts_of_speech(inflector: Inflector) -> None:
    def cells(lemma: str) -> list[tuple[str, bool]]:
        return [(cell.features, cell.answer.attested) for cell in inflector.paradigm(lemma)]

    assert cells("gen") == [("V;A", True), ("V;B", True), ("V.PTCP;A", False)]
    assert cells("eng") == [("N;A", True)]
    assert [features for features, _ in cells("ging")] == [features for features, _ in cells("new")] == [*BUNDLES]


def test_its_bundles_are_the_model_s(inflector: Inflector) -> None:
    assert inflector.bundles == BUNDLES
    assert inflector.bundle_counts == {"V;A": 2, "V;B": 1, "V.PTCP;A": 0, "N;A": 2}
    for ask in (
        inflector.inflect,
        inflector.nbest,
        lambda *query: inflector.inflect_many([Item(query[0], Bundle(query[1]))]),
    ):
        with pytest.raises(InputError, match="found 'ADV', but the model has no ADV; choose from N, V"):
            ask("gen", "ADV")
    with pytest.warns(UnseenWarning, match="nearest"):
        assert inflector.inflect("gen", "V;A;B") == "gen"
    assert inflector.inflect("gen", "XX") == "gen"


def test_a_dictionary_goes_with_its_strategy(inflector: Inflector) -> None:
    assert inflector.using("ensemble-1").inflect("gen", "V;B") == "gan", "one member always votes alone"
    other = replace(inflector.members[0], seed=2)
    two = replace(inflector, members=(*inflector.members, other), choices={})
    with pytest.raises(InputError, match="made for vote"):
        two.using("ensemble-1")


def test_analyses_are_looked_up(inflector: Inflector) -> None:
    def cells(form: str) -> list[tuple[str, str, bool]]:
        return [(row.lemma, row.features, row.answer is None) for row in analyse(inflector, form, Lexicon(()), 9)]

    assert cells("gan") == [("gen", "V;B", True)]
    assert cells("gen")[:2] == [("gen", "V;A", True), ("gen", "V.PTCP;A", False)]
    assert ("gen", "V;B", False) not in cells("gen"), "another form is attested there"
    assert cells("ging")[:2] == [("ging", "V;A", True), ("ging", "N;A", True)]


def test_its_cells_as_items(inflector: Inflector) -> None:
    assert inflector.dictionary is not None
    assert sorted(inflector.dictionary.sample(9)) == sorted(CELLS)
    assert len(inflector.dictionary.sample(2)) == 2
    items = inflector.dictionary.items(("gen", "new"), "x")
    assert items == [Item("gen", Bundle(features), "x") for features in BUNDLES[:2]]
    cells = open_cells(Lexicon(("gen", "new"), tuple(items)), BUNDLES)
    found = [(item.lemma, item.features.spelling) for item in cells]
    assert found == [("gen", "V.PTCP;A"), *(("new", features) for features in BUNDLES)]


LATIN: Cells = {
    "amō": {"V;A": (), "V;B": ("amās",)},
    "populus": {"N;A": ("populī",)},
    "pōpulus": {"N;A": ("pōpulī",), "V;A": ("pōpulō",)},
    "ējiciō": {"V;A": ("é\u0304iciō",)},
}


@pytest.fixture(name="latin", params=["none", "nfc", "nfd"])
def latin_model(inflector: Inflector, request: pytest.FixtureRequest) -> Inflector:
    return replace(inflector, dictionary=Dictionary.of(LATIN, BUNDLES, marks="\u0304"), normalisation=request.param)


def test_answers_have_marks_where_the_lemma_has(inflector: Inflector) -> None:
    latin = replace(inflector, dictionary=Dictionary.of(LATIN, BUNDLES, marks="\u0304"), normalisation="nfc")
    for lemma, form, own in (("amō", "amās", "amō"), ("amo\u0304", "amās", "amō"), ("amo", "amas", "amo")):
        assert latin.inflect_many([(lemma, "V;B"), (lemma, "V;A")]) == [form, own]
        assert latin.nbest(lemma, "V;B", 2)[1].form == own
        assert all(answer.attested for answer in latin.answers([(lemma, "V;B"), (lemma, "V;A")]))
    assert latin.with_marks().inflect_many([("amo", "V;B"), ("amo", "V;A")]) == ["amās", "amō"]
    assert latin.inflect("novō", "V;A") == "novō"
    assert latin.inflect("novo", "V;A") == "novo"
    assert latin.inflect("eicio", "V;A") == "eicio", "not in the dictionary"
    assert latin.inflect("ejicio", "V;A") == "éicio", "other marks stay"
    assert latin.inflect_many([("Amo", "V;B"), ("Amo", "V;A"), ("Novō", "V;A")]) == ["Amas", "Amo", "Novō"]
    assert latin.trace("amo", "V;A").lemma == "amō"
    assert latin.member_forms([("amo", "V;A")]) == [["amo"]]


def test_a_capital_that_the_dictionary_lacks_is_that_of_a_sentence(inflector: Inflector) -> None:
    cells = {"go": {"V;A": ("went",)}, "Fisch": {"N;A": ("Fische",)}, "fisch": {"N;A": ("fischte",)}}
    model = replace(inflector, dictionary=Dictionary.of(cells, BUNDLES))
    assert model.inflect_many([("Go", "V;A"), ("Fisch", "N;A"), ("fisch", "N;A")]) == ["Went", "Fische", "fischte"]
    assert [answer.attested for answer in model.answers([("Go", "V;A"), ("GO", "V;A")])] == [True, False]


def test_of_lemmas_that_differ_in_marks_the_one_with_the_cell_answers(inflector: Inflector) -> None:
    latin = replace(inflector, dictionary=Dictionary.of(LATIN, BUNDLES, marks="\u0304"))
    assert latin.inflect("populus", "N;A") == "populi"
    assert latin.inflect("populus", "V;A") == "populo"
    assert latin.with_marks().inflect_many([("populus", "V;A"), ("populus", "V;B")]) == ["pōpulō", "pōpulus"]
    assert latin.inflect("pōpulus", "N;A") == "pōpulī"
    assert {cell.features for cell in latin.paradigm("populus")} == {*BUNDLES}
    assert [(row.lemma, row.features) for row in analyse(latin, "amas", Lexicon(()))] == [("amo", "V;B")]
    assert latin.dictionary is not None
    assert latin.dictionary.starting("po", 5) == ["populus"]
    assert latin.dictionary.starting("pō", 5) == ["pōpulus"]


@given(st.text(st.sampled_from("aāeēǖū\u0304\u0301\u0323ḗs\n")), st.sampled_from(["\u0304", "\u0301\u0304"]))
def test_marks_are_combining_characters(text: str, marks: str) -> None:
    from unicodedata import normalize

    slow = normalize("NFC", "".join(letter for letter in normalize("NFD", text) if letter not in marks))
    dictionary = Dictionary.of({}, BUNDLES, marks=marks)
    assert dictionary.unmarked(text) == slow
    assert dictionary.is_marked(text) == (normalize("NFC", text) != slow)


def test_letters_of_the_alphabet_keep_their_marks() -> None:
    croatian = Dictionary.of({"kuća": {}, "sága": {}}, BUNDLES, marks="\u0301", letters="ćĆ")
    assert [croatian.is_marked(word) for word in ("kuća", "sága", "kuc\u0301a")] == [False, True, False]
    assert croatian.unmarked("kúća kuc\u0301a") == "kuća kuća"


def test_the_card_counts_lemmas_and_cells(inflector: Inflector, reinflect: Run, model: Path) -> None:
    text = card_text(inflector.card)
    assert "Dictionary\n  All: 3 lemmas, 5 attested cells" in text
    assert "N: 2 lemmas, 2 attested cells" in text
    assert "V: 2 lemmas, 3 attested cells" in text
    assert "From a <list>." in text
    facts = json.loads(reinflect("info", model, "--json").stdout)["dictionary"]
    assert facts["parts"] == {"N": [2, 2], "V": [2, 3]}


def test_commands_give_what_is_attested(reinflect: Run, model: Path, tmp_path: Path) -> None:
    single = reinflect("inflect", model, "gen", "V;B")
    assert (single.stdout, single.stderr) == (
        "gan / gon\n",
        "note: attested: in its dictionary (--no-attested predicts one)\n",
    )
    answer = json.loads(reinflect("inflect", model, "gen", "V;A", "--json").stdout)
    assert (answer["form"], answer["attested"], answer["confidence"]) == ("gen", True, None)
    assert reinflect("inflect", model, "gen", "V;B", "--no-attested").stdout == "gen\n"
    (tmp_path / "items").write_text("gen\tV;B\nnew\tV;B\neng\tN;A\n", encoding="utf-8")
    file = reinflect("inflect", model, "--input", tmp_path / "items")
    assert file.stdout == "gen\tgan\tV;B\nnew\tnew\tV;B\neng\tengs\tN;A\n"
    assert "2 of 3 items are in MODEL's dictionary; --no-attested gives predictions" in file.stderr
    alone = reinflect("inflect", model, "--input", tmp_path / "items", "--no-attested")
    assert (alone.stdout, alone.stderr) == ("gen\tgen\tV;B\nnew\tnew\tV;B\neng\teng\tN;A\n", "")
    listed = reinflect("inflect", model, "--input", tmp_path / "items", "--n-best", 2).stdout.splitlines()
    assert [line.split("\t")[1] for line in listed[:2]] == ["gan", "gon"]
    (tmp_path / "items").write_text("gen\tV;B\nquickly\tADV\n", encoding="utf-8")
    refused = reinflect("inflect", model, "--input", tmp_path / "items")
    assert refused.exit_code == 2
    assert "line 2: found 'ADV', but the model has no ADV; choose from N, V" in refused.stderr


def test_paradigms_suggestions_and_analyses_need_no_list_of_lemmas(reinflect: Run, model: Path) -> None:
    paradigm = reinflect("paradigm", model, "gen")
    assert "gan / gon    ✓" in paradigm.stdout
    assert paradigm.stdout.endswith("✓ attested: in its dictionary\n")
    assert "N;A" not in reinflect("paradigm", model, "gen", "--json").stdout
    assert "N;A" in reinflect("paradigm", model, "gen", "--pos", "N", "--json").stdout
    suggested = reinflect("suggest", model).stdout.splitlines()[1:]
    assert {tuple(line.split()[:2]) for line in suggested} == {
        ("gen", "V.PTCP;A"),
        ("ging", "V;B"),
        ("ging", "V.PTCP;A"),
    }
    assert reinflect("analyse", model, "gan").stdout.splitlines()[1].split() == ["gen", "V;B", "attested"]


def test_gaps_are_filled_from_it(reinflect: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("lemma,V;A,V;B,ADV\ngen,,,\nnew,,x,\n", encoding="utf-8")
    filled = reinflect("fill", model, tmp_path / "mine.csv", "--output", tmp_path / "filled.csv")
    assert "not filled, as MODEL knows none of these features: 'ADV'" in filled.stderr
    assert (tmp_path / "filled.csv").read_text(
        encoding="utf-8-sig"
    ) == "lemma,V;A,V;B,ADV\ngen,gen,gan / gon,\nnew,new ?,x,\n"


def test_marks_are_kept_on_request(inflector: Inflector, reinflect: Run, tmp_path: Path) -> None:
    replace(inflector, dictionary=Dictionary.of(LATIN, BUNDLES, marks="\u0304")).save(tmp_path / "model")
    (tmp_path / "mine.csv").write_text("lemma,V;B\namo,\n", encoding="utf-8")
    assert reinflect("inflect", tmp_path / "model", "amo", "V;B").stdout == "amas\n"
    assert reinflect("inflect", tmp_path / "model", "amo", "V;B", "--marks").stdout == "amās\n"
    assert "amās" in reinflect("paradigm", tmp_path / "model", "amo", "--marks").stdout
    reinflect("fill", tmp_path / "model", tmp_path / "mine.csv", "--marks", "--output", tmp_path / "filled.csv")
    assert "amo,amās" in (tmp_path / "filled.csv").read_text(encoding="utf-8")


def test_the_page_has_its_lemmas(inflector: Inflector) -> None:
    with TestClient(create_app({"x": inflector}), base_url="http://127.0.0.1:8000") as client:
        assert client.post("/api/lemmas", json={"beginning": "g"}).json() == {"lemmas": ["gen", "ging"]}
        shown = client.get("/api/models/x").json()
        assert shown["dictionary"] == {"lemmas": 3, "cells": 5, "marks": ""}
        assert {part["part_of_speech"]: part["example"] for part in shown["paradigms"]} == {"V": "ging", "N": "eng"}
        row = client.post("/api/inflect", json={"lemma": "gen", "features": "V;B"}).json()["answer"]
        assert (row["form"], row["variants"], row["attested"]) == ("gan", ["gon"], True)
        assert len(client.post("/api/paradigm", json={"lemma": "gen"}).json()["cells"]) == 3
        refused = client.post("/api/inflect", json={"lemma": "gen", "features": "ADV"}).json()
        assert refused["code"] == "cannot_answer"
        assert "no ADV" in refused["error"]


def test_the_page_keeps_marks_on_request(inflector: Inflector) -> None:
    latin = replace(inflector, dictionary=Dictionary.of(LATIN, BUNDLES, marks="\u0304"))
    with TestClient(create_app({"x": latin}), base_url="http://127.0.0.1:8000") as client:
        assert client.get("/api/models/x").json()["dictionary"]["marks"] == "\u0304"
        question = {"lemma": "amo", "features": "V;B"}
        answers = [client.post("/api/inflect", json=question | more).json() for more in ({}, {"marks": True})]
        assert [answer["answer"]["form"] for answer in answers] == ["amas", "amās"]
        cells = client.post("/api/paradigm", json={"lemma": "amo", "marks": True}).json()["cells"]
        assert [cell["answer"]["form"] for cell in cells][:2] == ["amō", "amās"]


def test_the_example_of_the_docs() -> None:
    forms: dict[str, Sequence[str]] = {"learn": ("learned", "learnt"), "walk": (), "warm": ()}
    bundles = ("V;PST", "V.PTCP;PST")
    cells = {lemma: dict.fromkeys(bundles, variants) for lemma, variants in forms.items()}
    content = zlib.decompress(Dictionary.of(cells, bundles).packed)
    page = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8").partition("**Example.**")[2]
    rows = re.findall(r"^\| \d+ \| `([^`]*)` \|", page, re.MULTILINE)
    columns = [
        bytes.fromhex(row) if re.fullmatch("[0-9A-F ]+", row) else row.replace("␊", "\n").encode() for row in rows
    ]
    assert content == b"".join(len(column).to_bytes(4, "little") for column in columns) + b"".join(columns)
