from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reinflect.data.corrections import swapped_columns_note, variants_note
from reinflect.data.features import Bundle, Labels
from reinflect.data.items import (
    COLUMNS_2017,
    COLUMNS_2023,
    LONGEST,
    Columns,
    Item,
    check_lengths,
    format_items,
    parse_items,
    read_items,
    write_items,
)
from reinflect.errors import InputError, OutputError
from tests.data import fields, written

# Every code point a UTF-8 file can hold but the three that end a field or a line.
FIELD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), max_size=8)
ITEM = st.builds(Item, lemma=FIELD.filter(bool), features=st.builds(Bundle, FIELD), form=FIELD)
ODD = ["\ufeffa", "Ausflug ", " a", '"quoted"', "a\u2028b", "a\x0bb\x0cc\x85d", "\u00e4", "a\u0308", "*_"]
ORDERS = [COLUMNS_2017, COLUMNS_2023, Columns.parse("form,features,lemma")]


@given(st.lists(ITEM, min_size=1), st.sampled_from(ORDERS))
@example([Item(odd, Bundle("N;PL"), odd) for odd in ODD], COLUMNS_2017)
def test_every_field_comes_back_from_a_file_code_point_for_code_point(
    tmp_path_factory: pytest.TempPathFactory, items: list[Item], columns: Columns
) -> None:
    path = tmp_path_factory.mktemp("items") / "x.tsv"
    write_items(path, items, columns)
    assert fields(read_items(path, columns, forms="optional")) == fields(items)


def test_items_know_their_lines_and_share_their_bundles(tmp_path: Path) -> None:
    items = read_items(written(tmp_path / "x.tsv", "\ufeffa\tb\tN\r\n\r\n\nc\td\tV\r\ne\tf\tN\n"))
    assert [(item.lemma, item.line) for item in items] == [("a", 1), ("c", 4), ("e", 5)]
    assert items[0].features is items[2].features
    assert items[1].features == Bundle("V")


@pytest.mark.parametrize("columns", [COLUMNS_2017, COLUMNS_2023])
@pytest.mark.parametrize("covered", ["gehen\tV;PST\n", "gehen\t\tV;PST\n"])
def test_a_covered_line_may_leave_its_form_out_or_empty(columns: Columns, covered: str) -> None:
    text = covered if columns == COLUMNS_2017 else covered.replace("\t\tV;PST", "\tV;PST\t")
    (item,) = parse_items(text, "x.tsv", columns, forms="optional")
    assert (item.covered, item.features) == (True, Bundle("V;PST"))
    assert format_items([item], "x.tsv") == "gehen\t\tV;PST\n"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a\tb\tN\na\tb\n", 2, "found 2 columns"),
        ("a\tb\tN\tx\n", 1, "found 4 columns"),
        ("a b N\n", 1, "found 1 column in"),
        ("\tb\tN\n", 1, "empty lemma"),
        ("a\tb\tN\na\t\tN\n", 2, "no form for 'a'"),
        ("a\tb\tN\ra\tb\tN\n", 1, "carriage return"),
        ("", None, "found no items"),
        ("\n\n", None, "found no items"),
        (f"a\tb\tV\na\t{'b' * 20_000}\tV\n", 2, "found a line of 20,004 characters; write one item per line"),
        ("a\tN;SG\tV;PST\n", None, "two columns look like features; give --columns lemma,form,features or --col"),
    ],
)
def test_bad_lines_are_named(text: str, line: int | None, says: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_items(text, "verbs.tsv")
    message = str(caught.value)
    assert message.startswith("verbs.tsv")
    assert says in message
    assert caught.value.line == line
    assert line is None or f"line {line}:" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "order", ["lemma,form", "lemma,form,features,x", "lemma,lemma,form", "Lemma,Form,Features", ""]
)
def test_wrong_column_orders_are_refused(order: str) -> None:
    with pytest.raises(InputError, match="name each of lemma, form and features once"):
        Columns.parse(order)


@pytest.mark.parametrize("bad", ["a\tb", "a\nb", "a\rb"])
def test_what_a_file_cannot_hold_is_not_written(tmp_path: Path, bad: str) -> None:
    with pytest.raises(OutputError, match="has a tab or line end"):
        write_items(tmp_path / "out.tsv", [Item("a", Bundle("N"), "b"), Item("a", Bundle("N"), bad)])
    assert list(tmp_path.iterdir()) == []


def test_variants_are_kept_and_reported() -> None:
    items = parse_items("Mund\tMunde\tN;PL\nMund\tMünder\tN;PL\nTag\tTage\tN;PL\nTag\tTage\tN;PL\n", "x.tsv")
    assert len(items) == 4
    note = "note: x.tsv: 1 cell has more than one form (such as Mund N;PL: Munde, Münder); all are kept"
    assert variants_note(items, "x.tsv") == note
    assert variants_note(items, "x.tsv", "the last counts") == note.replace("all are kept", "the last counts")
    assert variants_note(items[2:], "x.tsv") is None
    odd = variants_note([Item("a\x1b[2J", Bundle("N\u202e"), form) for form in "bc"], "-")
    assert odd is not None
    assert r"standard input/output: 1 cell has more than one form (such as a\x1b[2J N\u202e: b, c)" in odd


def test_swapped_columns_are_recognised_by_semicolons() -> None:
    text = "gehen\tV;PST\tging\nsehen\tV\tsah\nlegen\tV;PST\tlegte\n"
    wrong, right = parse_items(text, "x.tsv", COLUMNS_2017), parse_items(text, "x.tsv", COLUMNS_2023)
    note = swapped_columns_note(wrong, "x.tsv", COLUMNS_2017)
    assert note == "note: x.tsv: the forms look like features; did you mean --columns lemma,features,form?"
    assert swapped_columns_note(right, "x.tsv", COLUMNS_2023) is None
    assert swapped_columns_note([Item("a;b", Bundle("N;SG"), "a;c")], "x.tsv", COLUMNS_2017) is None
    order = Columns.parse("features,lemma,form")
    assert "did you mean --columns form,lemma,features?" in (swapped_columns_note(wrong, "x.tsv", order) or "")


def test_words_that_are_too_long_are_reported_with_their_place() -> None:
    items = [Item("a" * LONGEST, Bundle("N"), "b"), Item("a", Bundle("N"), "b" * (LONGEST + 1), 7)]
    check_lengths(items[:1], "x.tsv", "we take", "shorten it")
    message = r"^x.tsv, line 7: found a lemma or form of 1001 characters; we take up to 1000; shorten it$"
    with pytest.raises(InputError, match=message):
        check_lengths(items, "x.tsv", "we take", "shorten it")


@given(st.lists(st.builds(Item, *map(st.sampled_from, ["ab", [Bundle("N"), Bundle("V")], ["x", "y", ""]]))))
def test_variants_are_the_cells_with_several_forms(items: list[Item]) -> None:
    cells = [(item.lemma, item.features.spelling) for item in items]
    slow = {cell: list(dict.fromkeys(i.form for i, c in zip(items, cells, strict=True) if c == cell)) for cell in cells}
    several = [(cell, forms) for cell, forms in slow.items() if len(forms) > 1]
    note = variants_note(items, "x")
    assert (note is not None) == bool(several)
    for (lemma, features), forms in several[:1]:
        assert f": {len(several)} cell" in (note or "")
        assert f"(such as {lemma} {features}: {', '.join(forms)})" in (note or "")


def test_all_shared_task_files_are_read_and_written_back(conll2017: Path) -> None:
    files = sorted(conll2017.iterdir())
    assert len(files) == 259
    for path in files:
        items = read_items(path, forms="optional" if "covered" in path.name else "required")
        assert format_items(items, path).encode() == path.read_bytes()


@pytest.mark.parametrize(
    "line",
    ["lemma\tform\tfeatures", "Lemma\tFeatures\tForm", "HEADWORD\tWord_Form\tMSD", "merkmale\tGrundform\t wortform "],
)
@pytest.mark.parametrize("columns", ORDERS)
def test_headings_are_not_a_word(line: str, columns: Columns) -> None:
    text = f"{line}\r\ngehen\tging\tging\n"
    message = r"^verbs\.tsv, line 1: found the headings '.*'; remove this line, or save"
    with pytest.raises(InputError, match=message) as caught:
        parse_items(text, "verbs.tsv", columns)
    assert all(repr(cell) in str(caught.value) for cell in line.split("\t"))


@pytest.mark.parametrize(
    "text",
    [
        "lemma\tlemmas\tN;PL\n",  # a word of English
        "form\tforms\ttag\n",  # two names for one column, none for another
        "gehen\tging\tV;PST\nlemma\tform\tfeatures\n",  # not the first line
    ],
)
def test_words_that_could_be_part_of_a_heading_are_words(text: str) -> None:
    assert len(parse_items(text, "x.tsv")) == text.count("\n")


@pytest.mark.parametrize(
    ("text", "forms", "many", "place"),
    [
        ("a\tb \tV\n\na c\td\tV\n\u00a0e\tf\tV \n", ["b ", "d", "f"], "3 fields begin or end", "line 1, form: 'b '"),
        ("gehen\tV;PST \n", [""], "1 field begins or ends", "line 1, features: 'V;PST '"),
        ("gehen\tging\tV;PST\n", ["ging"], "", ""),
    ],
)
def test_blanks_at_the_edges_are_reported_and_kept(text: str, forms: list[str], many: str, place: str) -> None:
    notes: list[str] = []
    items = parse_items(text, "x.tsv", forms="optional", note=notes.append)
    assert [item.form for item in items] == forms
    assert notes == ([f"note: {many} with a blank, which is kept as a letter (x.tsv, {place})"] if many else [])


SECOND = ["gehen\tV;PST\tging\n", "a\tN\tb\nc\tN;PL\td\nN;\tb;c\tN\n", "a\tN;ACC(PL)\t\n", "a\tV.PTCP\tb\nc\tV\n"]
THIRD = ["gehen\tging\tV;PST\n", "a\tb\tpast\n", "a\tb\t\n", "a\t\tN;PL\n", "a\tV;SG\tb\nc\td\tV\n", "a\tN\n"]


@pytest.mark.parametrize("text", SECOND + THIRD)
def test_features_are_found_in_the_second_or_third_column(text: str) -> None:
    notes: list[str] = []
    items = parse_items(text, "x.tsv", forms="optional", note=notes.append)
    assert items == parse_items(text, "x.tsv", COLUMNS_2023 if text in SECOND else COLUMNS_2017, forms="optional")
    assert notes == ["note: x.tsv: its columns are read as lemma, features, form"] * (text in SECOND)


def test_labels_show_where_features_are() -> None:
    labelled = Columns(COLUMNS_2017.order, labels=Labels((("past", "V;PST"),)), auto=True)
    assert fields(parse_items("gehen\tpast\tging\n", "x.tsv", labelled)) == [("gehen", "V;PST", "ging")]


def test_brackets_that_are_no_layers_are_said_once(tmp_path: Path) -> None:
    path = written(tmp_path / "x.tsv", "a\tb\tN;NOM(SG)\nc\td\tN;NOM(SG\ne\tf\tN;(non)NOM\n")
    notes: list[str] = []
    read_items(path, note=notes.append)
    (note,) = notes
    assert note.startswith(f"note: {path}, line 2: brackets in 'N;NOM(SG' are not layers")


def test_every_file_of_other_years_is_read(shared_sets: Path) -> None:
    for name, columns in (("conll2018", COLUMNS_2017), ("sigmorphon2023", COLUMNS_2023)):
        for path in (shared_sets / name).glob("[s-t]*"):
            assert read_items(path, forms="optional") == read_items(path, columns, forms="optional")
