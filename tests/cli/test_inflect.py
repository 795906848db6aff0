"""`reinflect inflect`: forms in every output format, notes and errors."""

import csv
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import Result

from reinflect.data.items import COLUMNS_2023, read_items, write_items
from reinflect.data.labels import Labels
from reinflect.inflector.answers import Answer
from reinflect.inflector.inflector import Inflector
from tests.learn.tiny import language, small_inflector

Reinflect = Callable[..., Result]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("model") / "verbs"
    small_inflector("hacm-naive", "haem-naive", seeds=2, changes=["score_every=3"], out=out)
    return out


def test_one_form(model: Path, reinflect: Reinflect) -> None:
    result = reinflect("inflect", model, "leben", "V;PST")
    assert result.stdout == Inflector.load(model).inflect("leben", "V;PST") + "\n"
    assert result.stderr == ""


def test_a_file_keeps_its_order_lemmas_and_features(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    asked = [*language("german"), *language("greek"), *language("turkish")]
    write_items(tmp_path / "words", asked)
    result = reinflect("inflect", model, "--input", tmp_path / "words", "--output", tmp_path / "forms")
    assert result.exit_code == 0, result.output
    given = read_items(tmp_path / "forms")
    assert [(item.lemma, item.features) for item in given] == [(item.lemma, item.features) for item in asked]
    assert [item.form for item in given] == Inflector.load(model).inflect_many(asked)


def test_standard_input_and_output_and_columns(model: Path, reinflect: Reinflect) -> None:
    result = reinflect(
        "inflect", model, "--input", "-", "--columns", COLUMNS_2023, stdin="leben\tV;PST\nloben\tV;INF\tx\n"
    )
    forms = [Inflector.load(model).inflect(*word) for word in (("leben", "V;PST"), ("loben", "V;INF"))]
    assert result.stdout == f"leben\tV;PST\t{forms[0]}\nloben\tV;INF\t{forms[1]}\n"


def figures(answer: Answer) -> list[str]:
    sure = "" if answer.confidence is None else f"{answer.confidence:.4f}"
    return [sure, str(answer.votes), f"{math.exp(answer.log_probability or 0.0):.4f}"]


def test_several_forms_are_lines_with_more_columns(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    asked = [*language("german")[:3], *language("greek")[:2]]
    write_items(tmp_path / "words", asked, COLUMNS_2023)
    result = reinflect("inflect", model, "--input", tmp_path / "words", "--n-best", 3, "--columns", COLUMNS_2023)
    assert result.exit_code == 0, result.output
    expected = [
        [item.lemma, item.features.spelling, answer.form, str(rank), *figures(answer)]
        for item, answers in zip(asked, Inflector.load(model).nbest_many(asked, 3), strict=True)
        for rank, answer in enumerate(answers, start=1)
    ]
    assert [line.split("\t") for line in result.stdout.splitlines()] == expected
    assert len(expected) > len(asked)


def test_several_forms_of_one_lemma_are_a_table(model: Path, reinflect: Reinflect) -> None:
    result = reinflect("inflect", model, "leben", "V;PST", "--n-best", 2)
    header, *rows = (line.split() for line in result.stdout.splitlines())
    assert header == ["form", "confidence", "votes", "probability"]
    answers = Inflector.load(model).nbest("leben", "V;PST", 2)
    assert rows == [[answer.form, *filter(None, figures(answer))] for answer in answers]


def test_several_forms_in_a_spreadsheet(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    result = reinflect("inflect", model, "leben", "V;PST", "--n-best", 2, "--output", tmp_path / "forms.csv")
    assert result.exit_code == 0, result.output
    with (tmp_path / "forms.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    answers = Inflector.load(model).nbest("leben", "V;PST", 2)
    assert [(row["lemma"], row["form"], row["features"], row["rank"]) for row in rows] == [
        ("leben", answer.form, "V;PST", str(rank)) for rank, answer in enumerate(answers, start=1)
    ]


def test_json_lines_have_confidences(model: Path, reinflect: Reinflect) -> None:
    words, inflector = [("leben", "V;PST"), ("lo漢en", "V;INF")], Inflector.load(model)
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


def test_labels_of_the_model_are_read_and_written(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    own, plain = tmp_path / "own.reinflect", Inflector.load(model)
    replace(plain, labels=Labels((("past", "V;PST"),))).save(own)
    assert reinflect("inflect", own, "leben", "past").stdout == plain.inflect("leben", "V;PST") + "\n"
    result = reinflect("inflect", own, "--input", "-", stdin="leben\t\tpast\n")
    assert result.stdout == f"leben\t{plain.inflect('leben', 'V;PST')}\tpast\n"
    assert result.stderr == ""
    misspelled = reinflect("inflect", own, "leben", "pasd")
    assert misspelled.stderr == "note: the model has never seen the feature 'pasd'; did you mean past?\n"
    (tmp_path / "labels").write_text("back then\tV;PST\n", encoding="utf-8")
    named = reinflect("inflect", model, "leben", "back them", "--labels", tmp_path / "labels")
    assert named.stderr == "note: the model has never seen the feature 'back them'; did you mean back then?\n"


def test_other_strategies(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    asked, inflector = language("german"), Inflector.load(model)
    assert inflector.strategy == "run7"
    write_items(tmp_path / "words", asked)
    for name in ("vote", "run1", "run3", "max", "ensemble-1", "average"):
        result = reinflect(
            "inflect", model, "--input", tmp_path / "words", "--output", tmp_path / name, "--strategy", name
        )
        assert result.exit_code == 0, result.output
        assert [item.form for item in read_items(tmp_path / name)] == inflector.using(name).inflect_many(asked)
    assert {member.system for member in inflector.using("run1").voters} == {"hacm"}
    result = reinflect("inflect", model, "leben", "V;PST", "--strategy", "best")
    assert result.exit_code == 2
    assert "there is no strategy 'best'; strategies: run1, run2" in result.stderr


def test_unknown_features_are_named_once_with_the_nearest(model: Path, reinflect: Reinflect) -> None:
    words = "leben\t\tV;pst\nloben\t\tV;pst;ERG\nsagen\t\tptcp\n"
    result = reinflect("inflect", model, "--input", "-", stdin=words)
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 3
    assert result.stderr.splitlines() == [
        "note: the model has never seen the feature 'pst'; did you mean PST?",
        "note: the model has never seen the feature 'ERG'; it knows INF, PST, PTCP, V",
        "note: the model has never seen the feature 'ptcp'; did you mean PTCP?",
    ]


@pytest.mark.parametrize("lemma", ["漢字", "😀", "a\u0301e", "x" * 300, " ", "\u2028"])
@pytest.mark.parametrize("features", ["V;PST", ";", "XX;YY"])
def test_unusual_lemmas_and_features(lemma: str, features: str, model: Path, reinflect: Reinflect) -> None:
    result = reinflect("inflect", model, lemma, features)
    assert result.exit_code == 0
    assert result.stdout.endswith("\n")


def test_features_may_be_empty(model: Path, reinflect: Reinflect) -> None:
    result = reinflect("inflect", model, "leben", "")
    assert result.stdout == Inflector.load(model).inflect("leben", "") + "\n"


def test_two_columns_are_lemma_and_features(model: Path, reinflect: Reinflect) -> None:
    result = reinflect("inflect", model, "--input", "-", stdin="leben\tV;PST\n")
    assert result.stdout == f"leben\t{Inflector.load(model).inflect('leben', 'V;PST')}\tV;PST\n"
    forms = "".join(f"leben\tform{number}\n" for number in range(200))
    notes = reinflect("inflect", model, "--input", "-", stdin=forms).stderr.splitlines()
    assert len(notes) == 6
    assert notes[-1] == "note: the model has never seen 195 more features"


def test_one_more_unknown_feature_is_singular(model: Path, reinflect: Reinflect) -> None:
    result = reinflect("inflect", model, "leben", ";".join(f"Q{n}Q" for n in range(6)))
    assert result.stderr.endswith("note: the model has never seen 1 more feature\n")


def test_many_unknown_features_are_not_all_named(model: Path, reinflect: Reinflect) -> None:
    result = reinflect("inflect", model, "leben", ";".join(f"Q{n}Q" for n in range(50)))
    assert len(result.stderr.splitlines()) == 6
    assert "never seen 45 more features" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either LEMMA FEATURES"),
        (["leben"], "give either LEMMA FEATURES"),
        (["leben", "V;PST", "--input", "-"], "found both a lemma and --input"),
        (["", "V;PST"], "found an empty lemma"),
        (["a" * 1001, "V;PST"], "found a lemma or form of 1001 characters; models take up to 1000"),
        (["--input", "missing"], "missing: there is no such file"),
        (["--input", "-", "--wide", "--n-best", "2", "-o", "x.csv"], "found --wide with --n-best"),
        (["--input", "-", "--wide", "--json"], "found --wide with --json"),
        (["leben", "V;PST", "--json", "-o", "x.csv"], "x.csv: found --json for a spreadsheet"),
        (["--input", "-", "--output", "nowhere/forms"], "there is no folder nowhere"),
    ],
)
def test_misuse(arguments: list[str], message: str, model: Path, reinflect: Reinflect) -> None:
    result = reinflect("inflect", model, *arguments, stdin="a\t\tV\n")
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1


def test_a_file_that_is_not_a_model(tmp_path: Path, reinflect: Reinflect) -> None:
    (tmp_path / "notes").write_text("my field notes")
    for path in (tmp_path / "notes", tmp_path / "missing", tmp_path):
        result = reinflect("inflect", path, "leben", "V;PST")
        assert result.exit_code == 2
        assert str(path) in result.stderr
        assert len(result.stderr.splitlines()) == 1
