"""Files beside a main one, such as corrections: their columns are their own."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.data.corrections import read_further
from reinflect.data.items import COLUMNS_AUTO, Columns
from reinflect.inflector.inflector import Inflector

NAMED = "lemma=Verb,form=Says,features=Cell"
KNOWN = ["V;PST", "PRS"]
WANTED = [("gehen", "ging", "V;PST"), ("sehen", "sieht", "PRS")]


def read(path: Path, columns: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    notes: list[str] = []
    items = read_further(path, Columns.parse(columns), KNOWN, note=notes.append)
    return [(item.lemma, item.form, item.features.spelling) for item in items], notes


@pytest.mark.parametrize(
    "columns", ["lemma,form,features", "lemma,features,form", "lemma=Verb,form=Says,features=Cell"]
)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("corrections.tsv", "gehen\tging\tV;PST\r\nsehen\tsieht\tPRS\r\n"),
        ("ask.csv", "lemma,form,features,guess,confidence\ngehen,ging,V;PST,gehte,0.2\nsehen,sieht,PRS,seht,0.4\n"),
    ],
)
def test_what_we_write_is_read_with_any_columns_of_the_main_file(
    name: str, text: str, columns: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    assert read(tmp_path / name, columns)[0] == WANTED


def test_the_names_of_the_main_file_count_where_they_are(tmp_path: Path) -> None:
    text = "Verb,Says,Cell,form\ngehen,ging,V;PST,x\nsehen,sieht,PRS,y\n"
    (tmp_path / "same.csv").write_text(text, encoding="utf-8")
    assert read(tmp_path / "same.csv", NAMED)[0] == WANTED


def test_the_order_of_the_main_file_counts_where_both_make_sense(tmp_path: Path) -> None:
    (tmp_path / "new.tsv").write_text("gehen\tV;PST\tging\nsehen\tPRS\tsieht\n", encoding="utf-8")
    assert read(tmp_path / "new.tsv", "lemma,features,form") == (WANTED, [])
    (tmp_path / "new.tsv").write_text("gehen\tX\tY\n", encoding="utf-8")
    assert read(tmp_path / "new.tsv", "lemma,features,form") == ([("gehen", "Y", "X")], [])
    (tmp_path / "new.tsv").write_text("gehen\tging\tV;PST\n", encoding="utf-8")
    [note] = read(tmp_path / "new.tsv", "lemma,features,form")[1]
    assert note.endswith("new.tsv: its columns are read as lemma, form, features")


def test_train_adds_corrections_of_the_page_to_a_sheet_with_other_names(
    tmp_path: Path, reinflect: Callable[..., Result]
) -> None:
    (tmp_path / "own.csv").write_text(
        "Verb,V;PST,V;PRS\n" + "".join(f"{w},{w}a,{w}i\n" for w in "ab ac bc cb ba".split()), encoding="utf-8"
    )
    (tmp_path / "corrections.tsv").write_text("ab\tabe\tV;PST\nad\tada\tV;PST\n", encoding="utf-8")
    tiny = ["--seeds", 1, "--systems", "haem", "--alignments", "naive", "--set", "epochs=1", "--device", "cpu"]
    files = ["--train", tmp_path / "own.csv", "--add", tmp_path / "corrections.tsv", "--columns", "lemma=Verb"]
    result = reinflect("train", *files, "--out", tmp_path / "model", *tiny)
    assert result.exit_code == 0, result.stderr
    assert "1 item corrected, 1 added" in result.stderr
    assert Inflector.load(tmp_path / "model").attested_forms("ab", "V;PST") == ("abe",)


@pytest.mark.parametrize("known", [["V;PST"], ["N;SG"]])
def test_a_file_of_another_year_is_read_whatever_the_main_one_is(tmp_path: Path, known: list[str]) -> None:
    path, notes = tmp_path / "deu.dev", list[str]()
    path.write_text("gehen\tV;PST\tging\n", encoding="utf-8")
    (item,) = read_further(path, COLUMNS_AUTO, known, note=notes.append)
    assert (item.form, item.features.spelling) == ("ging", "V;PST")
    assert notes == [f"note: {path}: its columns are read as lemma, features, form"]
    path.write_text("gehen\tging\tV;PST\n", encoding="utf-8")
    assert read_further(path, COLUMNS_AUTO, known, note=pytest.fail)[0].form == "ging"
