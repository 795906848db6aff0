"""Fields of spreadsheets that are not plain forms are never learnt as forms, unless the user says so."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.corrections import corrected
from reinflect.data.form_cells import AS_WRITTEN, USUAL_RULES, FormRules
from reinflect.data.items import COLUMNS_2017, Item, read_items
from reinflect.errors import InputError
from tests.cli import Reinflect
from tests.data import written
from tests.data.test_sheets import read

WIDE = """lemma,V;PST,V;PRS
dive,dived / dove,dives
go,went,—
be,"was, were",n/a
goe,*goed,(goes)
get,got (rare),-
eat,,eats
"""
PAST, PRESENT = "column B ('V;PST')", "column C ('V;PRS')"
NOTES = [
    f"2 fields have several forms (row 2, {PAST}: 'dived / dove'; row 4, {PAST}: 'was, were'); each is a form of its "
    "cell (--variants first, skip or keep changes that)",
    f"1 field has a remark in brackets (row 6, {PAST}: 'got (rare)'); the form is taken without it (--variants keep "
    "takes both)",
    f"3 fields have no form (row 3, {PRESENT}: '—'; row 4, {PRESENT}: 'n/a'; row 6, {PRESENT}: '-'); left out as "
    "missing (--missing none takes them as forms)",
    f"2 fields have a mark of doubt or brackets (row 5, {PAST}: '*goed'; row 5, {PRESENT}: '(goes)'); left out as "
    "missing (--missing none takes them as forms)",
]


def forms_of(path: Path, rules: FormRules = USUAL_RULES) -> tuple[list[tuple[str, str]], list[str]]:
    items, notes = read(path, replace(COLUMNS_2017, rules=rules))
    return [(lemma, form) for lemma, _, form in items], notes


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    return written(tmp_path / "verbs.csv", WIDE)


@pytest.mark.parametrize(
    ("field", "kind", "forms"),
    [
        ("a / b", "variants", "a b"),
        ("a/b", "variants", "a b"),
        ("a, b,c", "variants", "a b c"),
        ("a; b", "variants", "a b"),
        ("a ~ b", "variants", "a b"),
        ("a / a", "variants", "a"),
        ("a / —", "variants", "a"),
        ("*a / b", "variants", "b"),
        ("geh(e)t", "variants", "geht gehet"),
        ("a, b (rare, old)", "variants", "a b"),
        ("x (rare)", "remark", "x"),
        ("x [rare, old]", "remark", "x"),
        *((mark, "missing", "") for mark in ["-", "–", "—", "?", "n/a", "N/A", "n.a.", "…", " ", " - ", "- / ?", "//"]),
        *((mark, "doubtful", "") for mark in "*x|?x|x?|(x)|[x]|*x (old)|x(rare)|(a) b|*a / (b)".split("|")),
        *((word, "plain", word) for word in "x a-b -x x' a~b naïve ǃxóõ 2sg auto Auto none".split()),
    ],
)
def test_what_a_field_says(field: str, kind: str, forms: str) -> None:
    assert USUAL_RULES.read(field, "lemma") == (tuple(forms.split()), kind)
    assert AS_WRITTEN.read(field, "lemma") == ((field,), "plain")


@pytest.mark.parametrize(
    ("lemma", "field"), [("24/7", "24/7s"), ("*ed-", "*eti"), ("-", "-"), ("ka?a", "?aka"), ("(a)b", "(a)c")]
)
def test_a_mark_that_the_lemma_has_too_is_a_letter(lemma: str, field: str) -> None:
    assert USUAL_RULES.read(field, lemma) == ((field,), "letters")


@given(st.text(st.characters(categories=["L", "M"]), min_size=1), st.text(min_size=1), st.sampled_from(["all", "skip"]))
def test_letters_and_marks_on_them_are_always_a_form(word: str, lemma: str, variants: str) -> None:
    assert FormRules(variants).read(word, lemma) == ((word,), "plain")  # type: ignore[arg-type]


variants = st.sampled_from(["all", "first", "skip", "keep"])


@given(st.text(min_size=1), st.text(min_size=1), variants, st.sampled_from([("auto",), (), ("x",)]))
def test_any_field_has_a_reading(field: str, lemma: str, variants: str, missing: tuple[str, ...]) -> None:
    forms, kind = FormRules(variants, missing).read(field, lemma)  # type: ignore[arg-type]
    assert forms == (field,) if kind in ("plain", "letters") else all(form == form.strip() != "" for form in forms)
    assert len(set(forms)) == len(forms) <= (1 if variants in ("first", "keep") else len(field))


def test_unusual_fields_are_named_with_counts_and_places(wide: Path) -> None:
    dive, be = [("dive", "dived"), ("dive", "dove"), ("dive", "dives")], [("be", "was"), ("be", "were")]
    assert forms_of(wide) == ([*dive, ("go", "went"), *be, ("get", "got"), ("eat", "eats")], NOTES)


def test_a_field_without_a_form_is_covered_where_forms_are_wanted(wide: Path) -> None:
    items = read_items(wide, forms="optional")
    assert [item.lemma for item in items if item.covered] == ["go", "be", "goe", "goe", "get", "eat"]
    assert [item.covered for item in read_items(wide, forms="ignored")] == [True] * 12


def test_the_rules_can_be_chosen(wide: Path) -> None:
    first, notes = forms_of(wide, FormRules("first"))
    assert ("be", "was") in first
    assert ("be", "were") not in first
    assert "the first is taken (--variants all, skip or keep" in notes[0]
    assert {"be", "dive"}.isdisjoint(lemma for lemma, form in forms_of(wide, FormRules("skip"))[0] if form != "dives")
    assert ("be", "was, were") in forms_of(wide, FormRules("keep"))[0]
    assert ("goe", "*goed") in forms_of(wide, FormRules("all", ()))[0]
    assert ("go", "went") not in forms_of(wide, FormRules("all", ("auto", "went")))[0]
    assert [form for _, form in forms_of(wide, AS_WRITTEN)[0]].count("—") == 1


def test_a_long_sheet_has_rows_without_forms(tmp_path: Path) -> None:
    path = written(
        tmp_path / "verbs.csv", "lemma,form,features\ngo,went,PST\nbe,-,PST\nsee,,PST\neat,ate/et,PST\na / b,c,PST\n"
    )
    items, notes = forms_of(path)
    assert items == [("go", "went"), ("eat", "ate"), ("eat", "et"), ("a / b", "c")]
    assert notes[1].startswith("2 fields have no form (row 3, column B ('form'): '-'; row 4, column B ('form'): '')")
    assert notes[2] == "1 field has unusual marks in a lemma (row 6, column A ('lemma'): 'a / b'); taken as they are"


def test_tab_separated_items_are_taken_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path / "verbs.tsv", "dive\tdived / dove\tPST\ngo\t—\tPST\nbe\t*x (y)\tPST\n")
    assert forms_of(path) == ([("dive", "dived / dove"), ("go", "—"), ("be", "*x (y)")], [])


def test_several_forms_in_one_field_can_be_a_correction(tmp_path: Path) -> None:
    path = written(tmp_path / "add.csv", "lemma,form,features\ndive,dived / dove,PST\nlie,lay / lied,PST\n")
    additions = read_items(path, forms="optional")
    dove = next(item for item in additions if item.form == "dove")
    result = corrected([replace(dove, form="doven", line=7)], additions, path)
    assert [(item.form, item.line) for item in result.items] == [("dived", 7), ("dove", 7), ("lay", 3), ("lied", 3)]
    assert (result.replaced, result.added) == (1, 1)
    with pytest.raises(InputError, match="correct an item once only"):
        corrected([], [*additions, Item("dive", dove.features, "diven", 9)], path)


def test_the_options_of_commands(wide: Path, reinflect: Reinflect) -> None:
    arguments = ("baseline", "--train", wide, "--input", wide)
    plain = reinflect(*arguments)
    assert plain.exit_code == 0, plain.output
    assert len(plain.stdout.splitlines()) == 12
    assert "2 fields have several forms" in plain.stderr
    assert "fields have" not in reinflect(*arguments, "--variants", "keep", "--missing", "none").stderr
    for more, message in (
        (("--missing", "none,x"), "found --missing 'none,x'; give auto, none, or your own marks with commas between"),
        (("--variants", "some"), "Invalid value for '--variants'"),
    ):
        refused = reinflect(*arguments, *more)
        assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
        assert message in refused.stderr
