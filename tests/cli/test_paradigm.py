"""`reinflect paradigm`: tables, spreadsheets, JSON and errors."""

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import Result

from reinflect.assemble import Keep
from reinflect.cli import paradigm as module
from reinflect.data.items import read_items
from reinflect.data.labels import Labels
from reinflect.inflector.answers import Answer, Cell, Paradigm
from reinflect.inflector.inflector import Inflector
from reinflect.run.resources import Resources
from reinflect.text import display_width
from reinflect.train import train_model
from tests.learn.tiny import language, wish

Reinflect = Callable[..., Result]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    items, out = [*language("german"), *language("turkish")], tmp_path_factory.mktemp("model") / "words.reinflect"
    keep = Keep(labels=Labels((("participle", "V;PTCP;PST"),)))
    train_model(items, items[:30], wish("haem-naive", seeds=5), keep, Resources(), out=out)
    return out


def test_all_bundles_of_the_training_items(model: Path, reinflect: Reinflect) -> None:
    result = reinflect("paradigm", model, "leben")
    assert result.exit_code == 0, result.output
    cells = Inflector.load(model).paradigm("leben")
    assert [cell.features for cell in cells] == ["V;INF", "V;PST", "V;PTCP;PST", "N;PL", "N;GEN;PL", "N;ACC", "PL;PL"]
    for cell in cells:
        assert cell.answer.confidence is not None
        assert cell.answer.form in result.stdout
        assert f"{100 * cell.answer.confidence:.0f} %" in result.stdout
    assert result.stderr == ""


def test_json(model: Path, reinflect: Reinflect) -> None:
    result = reinflect("paradigm", model, "leben", "--json", "--pos", "V")
    found = json.loads(result.stdout)
    cells = Inflector.load(model).paradigm("leben", ["V;INF", "V;PST", "V;PTCP;PST"])
    assert found == {"lemma": "leben", "cells": json.loads(msgspec.json.encode([*cells]))}
    fields = {"form", "confidence", "votes", "voters", "log_probability", "attested", "variants"}
    assert set(found["cells"][0]["answer"]) == fields


def test_several_lemmas_are_titles_above_their_tables(model: Path, reinflect: Reinflect) -> None:
    alone = {lemma: reinflect("paradigm", model, lemma).stdout for lemma in ("leben", "sagen", "lo漢en")}
    result = reinflect("paradigm", model, *alone)
    assert result.exit_code == 0, result.output
    assert result.stdout == "\n\n".join(f"{lemma}\n\n{tables}" for lemma, tables in alone.items())
    assert reinflect("paradigm", model, "leben", "leben").stdout == alone["leben"]


def test_several_lemmas_are_one_json_object_per_line(model: Path, reinflect: Reinflect) -> None:
    alone = [json.loads(reinflect("paradigm", model, lemma, "--json").stdout) for lemma in ("leben", "sagen")]
    lines = reinflect("paradigm", model, "leben", "sagen", "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == alone


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_several_lemmas_in_a_spreadsheet(ending: str, model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    result = reinflect("paradigm", model, "leben", "sagen", "--pos", "V", "--output", tmp_path / f"forms{ending}")
    assert (result.exit_code, result.stdout) == (0, "")
    inflector = Inflector.load(model)
    assert [(item.lemma, item.form, item.features.spelling) for item in read_items(tmp_path / f"forms{ending}")] == [
        (lemma, (*inflector.attested_forms(lemma, features), inflector.inflect(lemma, features))[0], features)
        for lemma in ("leben", "sagen")
        for features in ("V;INF", "V;PST", "V;PTCP;PST")
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("words", "leben\n\nsagen\nleben\n"),
        ("words", "leben\tlebte\tV;PST\nsagen\t\tV;PST\nleben\t\tV;INF\n"),
        ("words.csv", "lemma,gloss\nleben,live\nsagen,say\n"),
        ("words.csv", "Verb,V;PST\nleben,lebte\nsagen,\n"),
    ],
)
def test_the_lemmas_of_a_file(name: str, text: str, model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    columns = ["--columns", "lemma=Verb"] if "Verb" in text else []
    result = reinflect("paradigm", model, "--input", tmp_path / name, *columns)
    assert result.exit_code == 0, result.output
    assert result.stdout == reinflect("paradigm", model, "leben", "sagen").stdout


def test_a_file_with_one_lemma_has_the_layout_for_several(model: Path, reinflect: Reinflect) -> None:
    alone = reinflect("paradigm", model, "leben").stdout
    assert reinflect("paradigm", model, "--input", "-", stdin="leben\n").stdout == f"leben\n\n{alone}"
    lines = reinflect("paradigm", model, "--input", "-", "--json", stdin="leben\n").stdout.splitlines()
    assert [json.loads(line)["lemma"] for line in lines] == ["leben"]


def test_unknown_features_are_named_once_for_all_lemmas(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    (tmp_path / "wanted").write_text("".join(f"V;Q{number}Q\n" for number in range(20)), encoding="utf-8")
    result = reinflect("paradigm", model, "leben", "sagen", "--features", tmp_path / "wanted")
    assert len(result.stderr.splitlines()) == 6
    assert result.stderr.endswith("note: the model has never seen 15 more features\n")


def test_bundles_of_a_file(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    (tmp_path / "wanted").write_text("V;PST\r\n\nV;ERG\nptcp;V\nV;PST\n", encoding="utf-8")
    result = reinflect("paradigm", model, "leben", "--features", tmp_path / "wanted", "--output", tmp_path / "out")
    assert result.exit_code == 0, result.output
    inflector = Inflector.load(model)
    lines = (tmp_path / "out").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    for features in ("V;PST", "V;ERG", "ptcp;V"):
        (own,) = (line for line in lines if line.startswith(features))
        assert inflector.inflect("leben", features) in own
    assert result.stderr.splitlines() == [
        "note: the model has never seen the feature 'ERG'; it knows ACC, GEN, INF, N, PL, PST, PTCP, V",
        "note: the model has never seen the feature 'ptcp'; did you mean PTCP?",
        f"written: {tmp_path / 'out'}",
    ]


def test_own_labels(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    (tmp_path / "labels").write_text("past\tV;PST\nplural\tN;PL\n", encoding="utf-8")
    (tmp_path / "wanted").write_text("past\nN;ACC\n", encoding="utf-8")
    result = reinflect(
        "paradigm", model, "leben", "--features", tmp_path / "wanted", "--labels", tmp_path / "labels", "--json"
    )
    assert [cell["features"] for cell in json.loads(result.stdout)["cells"]] == ["V;PST", "N;ACC"]
    result = reinflect("paradigm", model, "leben", "--features", tmp_path / "wanted", "--labels", tmp_path / "labels")
    assert [line.split()[0] for line in result.stdout.splitlines() if line] == ["past", "N;ACC"]


def test_labels_of_the_model(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    (tmp_path / "wanted").write_text("participle\nV;PST\n", encoding="utf-8")
    result = reinflect("paradigm", model, "leben", "--features", tmp_path / "wanted")
    assert sorted(line.split()[0] for line in result.stdout.splitlines()) == ["V;PST", "participle"]
    assert Inflector.load(model).inflect("leben", "V;PTCP;PST") in result.stdout


def cells(forms: dict[str, str], confidence: float | None = 0.5) -> Paradigm:
    own = [Cell(features, Answer(form, confidence, 3, 5, -1.0)) for features, form in forms.items()]
    return Paradigm("gehen", own)


VERB = {
    f"V;IND;{tense};{person};{number}": f"{tense}{person}{number}".lower()
    for tense in ("PRS", "PST")
    for person in "123"
    for number in ("SG", "PL")
}


def test_persons_are_rows_and_numbers_are_columns() -> None:
    text = module._text(cells(VERB | {"V;NFIN": "gehen"}), Labels())
    assert text == (
        "V;IND;PRS  SG            PL\n"
        "1          prs1sg  50 %  prs1pl  50 %\n"
        "2          prs2sg  50 %  prs2pl  50 %\n"
        "3          prs3sg  50 %  prs3pl  50 %\n"
        "\n"
        "V;IND;PST  SG            PL\n"
        "1          pst1sg  50 %  pst1pl  50 %\n"
        "2          pst2sg  50 %  pst2pl  50 %\n"
        "3          pst3sg  50 %  pst3pl  50 %\n"
        "\n"
        "V;NFIN  gehen  50 %\n"
    )


def test_cells_with_their_own_labels_are_a_list() -> None:
    past = [features for features in VERB if "PST" in features]
    labels = Labels(tuple((f"then {number}", features) for number, features in enumerate(past)))
    lines = module._text(cells(VERB), labels).splitlines()
    assert lines[0] == "V;IND;PRS  SG            PL"
    assert lines[5] == "V;IND;PST"
    assert [" ".join(line.split()) for line in lines[6:]] == [
        f"then {number} {VERB[features]} 50 %" for number, features in enumerate(past)
    ]
    assert "then" not in module._text(cells(VERB), Labels(labels.pairs[1:]))


def test_a_gap_is_empty_and_votes_replace_missing_confidences() -> None:
    gap = {features: form for features, form in VERB.items() if features != "V;IND;PRS;2;SG"}
    lines = module._text(cells(gap, None), Labels()).splitlines()
    assert lines[1] == "1          prs1sg  3/5  prs1pl  3/5"
    assert lines[2] == "2                       prs2pl  3/5"


@pytest.mark.parametrize(
    ("one", "other"),
    [("كَتَبَ", "يَكْتُبُونَ"), ("e\u0301\u0323a", "eeeeeeee"), ("書く", "書きます"), ("कहना", "कहूँगा"), ("a", "tab\there")],
)
def test_columns_are_aligned_in_every_script(one: str, other: str) -> None:
    forms = {features: other if "PL" in features else one for features in VERB}
    lines = module._text(cells(forms), Labels()).splitlines()
    rows = [line for line in lines if line.rstrip().endswith("%") or line.rstrip("\u200e").endswith("%")]
    assert len(rows) == 6
    assert len({display_width(row) for row in rows}) == 1
    assert len({display_width(row.partition("%")[0]) for row in rows}) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["", "--json"], "found an empty lemma"),
        (["leben", ""], "found an empty lemma"),
        ([], "found neither a lemma nor --input; give either one or more LEMMAs or --input FILE"),
        (["leben", "--input", "table"], "found both a lemma and --input"),
        (["leben", "--json", "-o", "x.csv"], "x.csv: found --json for a spreadsheet"),
        (["--input", "-", "--features", "-"], "found - (standard input) more than once"),
        (["--input", "missing"], "missing: there is no such file"),
        (["--input", "-"], "standard input/output: found no lemmas; write one on each line"),
        (["--input", "long"], "long: found a lemma or form of 1001 characters; models take up to 1000"),
        (["a" * 1001], "models take up to 1000"),
        (["leben", "--pos", "ADJ"], "found no forms of the part of speech 'ADJ'; choose from V, N"),
        (["leben", "--features", "missing"], "missing: there is no such file"),
        (["leben", "--features", "empty"], "empty: found no features"),
        (["leben", "--features", "table"], "table, line 1: found several columns in 'V;PST\\tx'"),
        (["leben", "--strategy", "run1"], "votes in run1"),
        (["leben", "--output", "nowhere/out"], "there is no folder nowhere"),
    ],
)
def test_misuse(
    arguments: list[str],
    message: str,
    model: Path,
    tmp_path: Path,
    reinflect: Reinflect,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").write_text("\n  \n", encoding="utf-8")
    Path("long").write_text("a" * 1001, encoding="utf-8")
    Path("table").write_text("V;PST\tx\n", encoding="utf-8")
    result = reinflect("paradigm", model, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
