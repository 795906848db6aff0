"""`reinflect inflect`, `paradigm` and `trace`: they print what the inflector says; goldens have the formats."""

import json
from pathlib import Path

import msgspec
import pytest

from reinflect.cli.inflect import paradigm_text
from reinflect.data.features import NO_LABELS, Labels
from reinflect.data.items import read_items, write_items
from reinflect.ensemble.confidence import Answer
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.paradigm import Cell, Paradigm
from reinflect.text import display_width
from tests.cli import Reinflect, succeeded
from tests.cli.test_transcripts import GOLDEN
from tests.fuzz import tiny_models
from tests.learn.tiny import language


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.reinflect"
    path.write_bytes(tiny_models.model_file())
    return path


def test_a_file_keeps_its_order_lemmas_and_features(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    asked = [*language("german"), *language("greek"), *language("turkish")]
    write_items(tmp_path / "words", asked)
    succeeded(reinflect("inflect", model, "--input", tmp_path / "words", "--output", tmp_path / "forms"))
    inflected = read_items(tmp_path / "forms", forms="optional")
    assert [(item.lemma, item.features) for item in inflected] == [(item.lemma, item.features) for item in asked]
    assert [item.form for item in inflected] == Inflector.load(model).inflect_many(asked)


def test_json_lines_have_the_answers_of_the_inflector(model: Path, reinflect: Reinflect) -> None:
    words, inflector = [("gehen", "V;PST"), ("ge漢en", "N;PL")], Inflector.load(model)
    stdin = "".join(f"{lemma}\t\t{features}\n" for lemma, features in words)
    lines = reinflect("inflect", model, "--input", "-", "--json", stdin=stdin).stdout.splitlines()
    expected = [
        {"lemma": lemma, "features": features, **json.loads(msgspec.json.encode(answer))}
        for (lemma, features), answer in zip(words, inflector.answers(words), strict=True)
    ]
    assert [json.loads(line) for line in lines] == expected
    lines = reinflect("inflect", model, "--input", "-", "--json", "--n-best", 4, stdin=stdin).stdout.splitlines()
    lists = inflector.nbest_many(words, 4)
    assert [json.loads(line)["nbest"] for line in lines] == json.loads(msgspec.json.encode(lists))
    assert [json.loads(line)["form"] for line in lines] == [answer["form"] for answer in expected]
    assert "漢" in lines[1]  # not escaped


@pytest.mark.parametrize("lemma", ["漢字", "😀", "a\u0301e", "x" * 300, " ", "\u2028"])
@pytest.mark.parametrize("features", ["V;PST", ";", "XX;YY", ""])
def test_unusual_lemmas_and_features(lemma: str, features: str, model: Path, reinflect: Reinflect) -> None:
    result = succeeded(reinflect("inflect", model, lemma, features))
    assert result.stdout.endswith("\n")


MODEL = GOLDEN / "files" / "words.reinflect"
VERB = {
    f"V;IND;{tense};{person};{number}": f"{tense}{person}{number}".lower()
    for tense in ("PRS", "PST")
    for person in "123"
    for number in ("SG", "PL")
}


def lines(forms: dict[str, str], confidence: float | None = 0.5, labels: Labels = NO_LABELS) -> list[str]:
    cells = [Cell(features, Answer(form, confidence, 3, 5, -1.0)) for features, form in forms.items()]
    return paradigm_text(Paradigm("gehen", cells, labels)).splitlines()


def test_persons_are_rows_and_numbers_are_columns() -> None:
    assert lines(VERB | {"V;NFIN": "gehen"}) == [
        "V;IND;PRS  SG            PL",
        "1          prs1sg  50 %  prs1pl  50 %",
        "2          prs2sg  50 %  prs2pl  50 %",
        "3          prs3sg  50 %  prs3pl  50 %",
        "",
        "V;IND;PST  SG            PL",
        "1          pst1sg  50 %  pst1pl  50 %",
        "2          pst2sg  50 %  pst2pl  50 %",
        "3          pst3sg  50 %  pst3pl  50 %",
        "",
        "V;NFIN  gehen  50 %",
    ]


def test_cells_with_their_own_labels_are_a_list() -> None:
    past = [features for features in VERB if "PST" in features]
    labels = Labels(tuple((f"then {number}", features) for number, features in enumerate(past)))
    listed = lines(VERB, labels=labels)
    assert (listed[0], listed[5]) == ("V;IND;PRS  SG            PL", "V;IND;PST")
    assert [" ".join(line.split()) for line in listed[6:]] == [
        f"then {number} {VERB[features]} 50 %" for number, features in enumerate(past)
    ]
    assert "then" not in "".join(lines(VERB, labels=Labels(labels.pairs[1:])))


def test_a_gap_is_empty_and_votes_replace_missing_confidences() -> None:
    gap = {features: form for features, form in VERB.items() if features != "V;IND;PRS;2;SG"}
    assert lines(gap, None)[1:3] == ["1          prs1sg  3/5  prs1pl  3/5", "2                       prs2pl  3/5"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("كَتَبَ", "يَكْتُبُونَ"), ("e\u0301\u0323a", "eeeeeeee"), ("書く", "書きます"), ("कहना", "कहूँगा"), ("a", "tab\there")],
)
def test_columns_are_aligned_in_every_script(one: str, other: str) -> None:
    forms = {features: other if "PL" in features else one for features in VERB}
    rows = [line for line in lines(forms) if line.rstrip().endswith("%") or line.rstrip("\u200e").endswith("%")]
    assert len(rows) == 6
    assert len({display_width(row) for row in rows}) == 1
    assert len({display_width(row.partition("%")[0]) for row in rows}) == 1


def test_several_lemmas_are_titles_above_their_tables(reinflect: Reinflect) -> None:
    alone = {lemma: reinflect("paradigm", MODEL, lemma).stdout for lemma in ("leben", "sagen", "lo漢en")}
    titled = [f"{lemma}\n\n{tables}" for lemma, tables in alone.items()]
    assert reinflect("paradigm", MODEL, *alone).stdout == "\n\n".join(titled)
    assert reinflect("paradigm", MODEL, "leben", "leben").stdout == alone["leben"]
    assert reinflect("paradigm", MODEL, "--input", "-", stdin="leben\n").stdout == titled[0]
    objects = [json.loads(reinflect("paradigm", MODEL, lemma, "--json").stdout) for lemma in ("leben", "sagen")]
    jsonl = reinflect("paradigm", MODEL, "leben", "sagen", "--json").stdout.splitlines()
    assert [json.loads(line) for line in jsonl] == objects


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_a_spreadsheet_is_read_again(ending: str, tmp_path: Path, reinflect: Reinflect) -> None:
    path, inflector = tmp_path / f"forms{ending}", Inflector.load(MODEL)
    result = succeeded(reinflect("paradigm", MODEL, "gehen", "sagen", "--pos", "V", "--output", path))
    assert result.stdout == ""
    assert [(item.lemma, item.form, item.features.spelling) for item in read_items(path)] == [
        (lemma, (*inflector.attested_forms(lemma, features), inflector.inflect(lemma, features))[0], features)
        for lemma in ("gehen", "sagen")
        for features in ("V;PRS;1;SG", "V;PRS;3;SG", "V;PST;3;SG", "V;PST;3;PL")
    ]


def test_a_prediction_replaced_by_the_lemma_is_explained(tmp_path: Path, reinflect: Reinflect) -> None:
    member = Inflector.load(MODEL).members[0]
    member.parameters["output.bias"][3] = 50.0
    Inflector((member,), {}).save(tmp_path / "endless")
    result = reinflect("trace", tmp_path / "endless", "gen", "V")
    assert result.stdout.splitlines()[0] == "haem-naive-1: gen, V → gen"
    assert result.stdout.splitlines()[-1].startswith("The lemma is the prediction")


@pytest.mark.parametrize("lemma", ["漢字", "😀", "a\u0301e", "x" * 300, " ", "\u2028", "שלום", "-keit"])
@pytest.mark.parametrize("member", ["haem-naive-1", "hacm-naive-1", "soft-1"])
def test_unusual_lemmas(lemma: str, member: str, reinflect: Reinflect) -> None:
    result = succeeded(reinflect("trace", "--member", member, "--", MODEL, lemma, "V;XX"))
    assert max(map(len, result.stdout.splitlines()[1:12])) < 120 + len(lemma)
    assert "never seen the feature 'XX'" in result.stderr
