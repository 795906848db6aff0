"""`reinflect paradigm`: how tables are laid out; goldens have the other formats."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.cli.inflect import paradigm_text
from reinflect.data.items import read_items
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.inflector.answers import Answer, Cell, Paradigm
from reinflect.inflector.inflector import Inflector
from reinflect.text import display_width
from tests.cli.test_transcripts import GOLDEN

Reinflect = Callable[..., Result]
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
    result = reinflect("paradigm", MODEL, "gehen", "sagen", "--pos", "V", "--output", tmp_path / f"forms{ending}")
    assert (result.exit_code, result.stdout) == (0, "")
    inflector = Inflector.load(MODEL)
    assert [(item.lemma, item.form, item.features.spelling) for item in read_items(tmp_path / f"forms{ending}")] == [
        (lemma, (*inflector.attested_forms(lemma, features), inflector.inflect(lemma, features))[0], features)
        for lemma in ("gehen", "sagen")
        for features in ("V;PRS;1;SG", "V;PRS;3;SG", "V;PST;3;SG", "V;PST;3;PL")
    ]
