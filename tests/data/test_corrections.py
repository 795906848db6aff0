"""Corrections of items, and the files beside a main one that they are read from, whose columns are their own."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.corrections import corrected, question, read_further
from reinflect.data.features import Bundle
from reinflect.data.items import Columns, Item
from reinflect.errors import InputError
from reinflect.inflector.inflector import Inflector
from tests.cli import Reinflect
from tests.data import fields, written

NAMED = "lemma=Verb,form=Says,features=Cell"


def items_of(text: str) -> list[Item]:
    """`gehen V;PST gehte, …`"""
    rows = [row.split() for row in text.split(",")]
    return [Item(row[0], Bundle(row[1]), "".join(row[2:]), line) for line, row in enumerate(rows, start=1)]


@pytest.mark.parametrize(
    ("items", "corrections", "result", "note"),
    [
        (
            "gehen V;PST gehte, sehen V;PST sah, gehen V;PST gong, gehen V;PRS gehe",
            "gehen PST;V ging, sehen V;PST sah, stehen V;PST stand, stehen V;PRS",
            "gehen V;PST ging, sehen V;PST sah, gehen V;PRS gehe, stehen V;PST stand",
            ": 1 item corrected, 1 added, 1 already correct, 1 ignored (no form)",
        ),
        ("a V b, a V c", "a V c", "a V c", ": 1 item corrected, 0 added"),
        ("a V b, c V d", "a V, e V", "a V b, c V d", " has no forms yet; nothing added"),
        ("a V b, c V d", "a V b, c V d", "a V b, c V d", ": 0 items corrected, 0 added, 2 already correct"),
    ],
)
def test_a_correction_replaces_what_it_corrects(items: str, corrections: str, result: str, note: str) -> None:
    after = corrected(items_of(items), items_of(corrections), "x.tsv")
    assert fields(after.items) == fields(items_of(result))
    assert after.note("x.tsv") == f"note: x.tsv{note}"


def test_corrections_that_contradict_each_other_are_refused() -> None:
    message = r"^x\.tsv, line 3: found 'd' for 'a' 'PST;V', but 'c' before \(line 1\); correct"
    with pytest.raises(InputError, match=message):
        corrected(items_of("a V b"), items_of("a V;PST c, a PST;V c, a PST;V d"), "x.tsv")


words = st.sampled_from("abc")
some = st.lists(st.builds(Item, words, st.sampled_from([Bundle("V;1"), Bundle("1;V"), Bundle("N")]), words), max_size=8)


@given(some, some)
def test_afterwards_every_question_has_the_corrected_answer_and_others_are_as_before(
    items: list[Item], corrections: list[Item]
) -> None:
    answers = {question(item): item.form for item in corrections}
    agreeing = [item for item in corrections if answers[question(item)] == item.form]
    result = corrected(items, agreeing, "x").items
    assert {question(item) for item in result} == {question(item) for item in (*items, *agreeing)}
    for cell, form in answers.items():
        assert [item.form for item in result if question(item) == cell] == [form]
    untouched = [item for item in items if question(item) not in answers]
    assert [item for item in result if question(item) not in answers] == untouched


# Files beside a main one

SHEET = "lemma,form,features,guess,confidence\ngehen,ging,V;PST,gehte,0.2\nsehen,sieht,PRS,seht,0.4\n"
RENAMED = "Verb,Says,Cell,form\ngehen,ging,V;PST,x\nsehen,sieht,PRS,y\n"
ORDERS = ("lemma,form,features", "lemma,features,form", "auto")
READ_AS = "its columns are read as"


@pytest.mark.parametrize(
    ("name", "text", "columns", "forms", "note"),
    [
        *(("new.tsv", "gehen\tging\tV;PST\r\nsehen\tsieht\tPRS\r\n", c, "ging sieht", None) for c in (*ORDERS, NAMED)),
        *(("ask.csv", SHEET, columns, "ging sieht", None) for columns in (*ORDERS, NAMED)),
        # The names and the order of the main file count where they make sense
        ("same.csv", RENAMED, NAMED, "ging sieht", "ignored columns: form"),
        ("new.tsv", "gehen\tV;PST\tging\nsehen\tPRS\tsieht\n", "lemma,features,form", "ging sieht", ""),
        ("new.tsv", "gehen\tX\tY\n", "lemma,features,form", "Y", ""),
        ("new.tsv", "gehen\tging\tV;PST\n", "lemma,features,form", "ging", f"{READ_AS} lemma, form, features"),
        ("deu.dev", "gehen\tV;PST\tging\n", "auto", "ging", f"{READ_AS} lemma, features, form"),
        ("deu.dev", "gehen\tN;SG\tging\n", "auto", "ging", f"{READ_AS} lemma, features, form"),
        ("deu.dev", "gehen\tging\tV;PST\n", "auto", "ging", ""),
    ],
)
def test_a_file_beside_the_main_one_has_its_own_columns(
    name: str, text: str, columns: str, forms: str, note: str | None, tmp_path: Path
) -> None:
    """`note` is None where it depends on the columns."""
    path, notes = written(tmp_path / name, text), list[str]()
    items = read_further(path, Columns.parse(columns), ["V;PST", "PRS"], note=notes.append)
    assert [item.form for item in items] == forms.split()
    assert [item.lemma for item in items] == ["gehen", "sehen"][: len(items)]
    assert note is None or notes == ([f"note: {path}: {note}"] if note else [])


def test_train_adds_corrections_of_the_page_to_a_sheet_with_other_names(tmp_path: Path, reinflect: Reinflect) -> None:
    rows = "".join(f"{verb},{verb}a,{verb}i\n" for verb in "ab ac bc cb ba".split())
    sheet = written(tmp_path / "sheet.csv", f"Verb,V;PST,V;PRS\n{rows}")
    corrections = written(tmp_path / "corrections.tsv", "ab\tabe\tV;PST\nad\tada\tV;PST\n")
    tiny = ["--seeds", 1, "--systems", "haem", "--alignments", "naive", "--set", "epochs=1", "--device", "cpu"]
    files = ["--train", sheet, "--add", corrections, "--columns", "lemma=Verb"]
    result = reinflect("train", *files, "--out", tmp_path / "model", *tiny)
    assert result.exit_code == 0, result.stderr
    assert "1 item corrected, 1 added" in result.stderr
    assert Inflector.load(tmp_path / "model").attested_forms("ab", "V;PST") == ("abe",)
