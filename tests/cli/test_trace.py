"""`reinflect trace`: tables, JSON and errors."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import Result

from reinflect.data.labels import Labels
from reinflect.inflector.inflector import Inflector
from tests.inflector.test_inflector import a_member

Reinflect = Callable[..., Result]
MEMBERS = [("haem", 60.0), ("hacm", 50.0), ("soft", 40.0)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of every system; HAEM copies all and stops, HACM steps and copies, soft attention ends at once."""
    path = tmp_path_factory.mktemp("model") / "all.reinflect"
    members = []
    for name, accuracy in MEMBERS:
        member = a_member(name, "none" if name == "soft" else "naive", accuracy=accuracy)
        for array in member.parameters.values():
            array[:] = 0
        bias = member.parameters["output.bias"]
        if name == "haem":
            bias[:5] = [3.0, 1.0, 30.0, 0.5, 0.2]
        elif name == "hacm":  # generate a STEP after <s> or a character, copy after a STEP
            bias[3] = 20.0
            member.parameters["embedding"][:, 0] = 1.0
            member.parameters["embedding"][3, 0] = -1.0
            member.parameters["copy.previous"][0] = 50.0
        else:
            bias[2] = 20.0
        members.append(member)
    Inflector(tuple(members), {}, "vote", {"vote": ("haem-naive-1",)}).save(path)
    return path


def test_a_table(model: Path, reinflect: Reinflect) -> None:
    result = reinflect("trace", model, "gen", "V")
    assert result.stdout.splitlines() == [
        "haem-naive-1: gen, V → gen",
        "t  lemma  action  probability  form  otherwise",
        "1  [g]en  COPY          0.677  g     DELETE 0.092, a 0.056, e 0.041",
        "2  g[e]n  COPY          0.677  ge    DELETE 0.092, a 0.056, e 0.041",
        "3  ge[n]  COPY          0.677  gen   DELETE 0.092, a 0.056, e 0.041",
        "4  gen[]  STOP          1.000  gen",
    ]
    assert result.stderr == ""


def test_the_copy_gate_has_a_column(model: Path, reinflect: Reinflect) -> None:
    result = reinflect("trace", model, "g漢", "V", "--member", "hacm-naive-1")
    assert result.stdout.splitlines() == [
        "hacm-naive-1: g漢, V → g漢",
        "t  lemma  action  probability  generated  form  otherwise",
        "1  []g漢  STEP          1.000      1.000",
        "2  [g]漢  g             1.000      0.000  g",
        "3  [g]漢  STEP          1.000      1.000  g",
        "4  g[漢]  COPY          1.000      0.000  g漢",
        "5  g漢[]  </s>          1.000      0.000  g漢",
    ]


def test_json_has_the_whole_trace(model: Path, reinflect: Reinflect) -> None:
    inflector = Inflector.load(model)
    result = reinflect("trace", model, "ge漢", "V;PST", "--json")
    assert json.loads(result.stdout) == json.loads(json.dumps(msgspec.to_builtins(inflector.trace("ge漢", "V;PST"))))
    every_member = reinflect("trace", model, "ge漢", "V;PST", "--json", "--member", "all").stdout.splitlines()
    assert [json.loads(line)["member"] for line in every_member] == ["haem-naive-1", "hacm-naive-1", "soft-1"]


def test_all_members(model: Path, reinflect: Reinflect) -> None:
    tables = reinflect("trace", model, "gen", "V", "--member", "all").stdout.split("\n\n")
    assert [table.split(":")[0] for table in tables] == ["haem-naive-1", "hacm-naive-1", "soft-1"]


def test_a_prediction_replaced_by_the_lemma_is_explained(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    member = Inflector.load(model).members[0]
    member.parameters["output.bias"][3] = 50.0
    Inflector((member,), {}).save(tmp_path / "endless")
    result = reinflect("trace", tmp_path / "endless", "gen", "V")
    assert result.stdout.splitlines()[0] == "haem-naive-1: gen, V → gen"
    assert result.stdout.splitlines()[-1].startswith("The lemma is the prediction")


@pytest.mark.parametrize("lemma", ["漢字", "😀", "a\u0301e", "x" * 300, " ", "\u2028", "שלום", "-keit"])
@pytest.mark.parametrize("member", ["haem-naive-1", "hacm-naive-1", "soft-1"])
def test_unusual_lemmas(lemma: str, member: str, model: Path, reinflect: Reinflect) -> None:
    result = reinflect("trace", "--member", member, "--", model, lemma, "V;XX")
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines()[1:12])) < 120 + len(lemma)
    assert "never seen the feature 'XX'" in result.stderr


def test_a_long_lemma_is_cut_around_the_attended_character(model: Path, reinflect: Reinflect) -> None:
    lemma = "aeghns" * 6
    lines = reinflect("trace", model, lemma, "V").stdout.splitlines()
    assert lines[2].split()[1] == "[a]eghnsaeghnsa…"
    assert lines[20].split()[1] == "…aeghnsaeghns[a]eghnsaeghnsa…"
    assert lines[-1].split()[1] == "…aeghnsaeghns[]"


def test_labels(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    (tmp_path / "labels").write_text("past\tV;PST\n", encoding="utf-8")
    result = reinflect("trace", model, "gen", "past", "--labels", tmp_path / "labels", "--json")
    assert json.loads(result.stdout)["features"] == "V;PST"
    replace(Inflector.load(model), labels=Labels((("past", "V;PST"),))).save(tmp_path / "own")
    assert json.loads(reinflect("trace", tmp_path / "own", "gen", "past", "--json").stdout)["features"] == "V;PST"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["", "V"], "found an empty lemma"),
        (["a" * 1001, "V"], "found a lemma or form of 1001 characters; models take up to 1000"),
        (["gen", "V", "--member", "haem-naive"], "found the member 'haem-naive'; did you mean haem-naive-1"),
        (["gen", "V", "--member", ""], "found the member ''; it has haem-naive-1, hacm-naive-1, soft-1"),
        (["gen", "V", "--labels", "missing"], "missing: there is no such file"),
        (["gen", "V", "--output", "nowhere/trace"], "there is no folder nowhere"),
        (["gen", "V", "--json", "--output", "steps.csv"], "steps.csv: found --json for a spreadsheet"),
    ],
)
def test_misuse(arguments: list[str], message: str, model: Path, reinflect: Reinflect) -> None:
    result = reinflect("trace", model, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
