from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data.dimensions import (
    OTHER,
    PART_OF_SPEECH,
    dimension_of,
    grouped,
    meaning_of,
    paradigms,
    schema,
    tables,
)
from reinflect.data.features import PARTS_OF_SPEECH, Bundle
from reinflect.data.german import read_split

atoms = st.sampled_from(
    ["V", "N", "V.PTCP", "SG", "PL", "1", "2", "3", "MASC", "PST", "PRF", "NOM", "IN+ESS", "STRONG"]
)


@pytest.mark.parametrize(
    ("dimension", "atoms"),
    [
        *(("tense", ["PST", "FUT:MASC"]), ("case", ["IN+ESS"]), ("person", ["{1/2}", "non{3}"])),
        *(("number", ["SG/DU/PL"]), ("argument marking", ["ARGAC3S"]), ("possession", ["PSS1S", "PSS(1)"])),
        *((PART_OF_SPEECH, ["V.PTCP", "V.NFIN"]), (OTHER, ["STRONG", ""])),
        *(("person (NOM)", ["NOM(1)"]), ("other (ACC)", ["ACC(STRONG)"])),
    ],
)
def test_an_atom_has_a_dimension(dimension: str, atoms: list[str]) -> None:
    assert {dimension_of(atom) for atom in atoms} == {dimension}


def test_the_schema_has_every_part_of_speech_and_says_what_atoms_mean() -> None:
    assert set(grouped(schema())[PART_OF_SPEECH]) == PARTS_OF_SPEECH
    meanings = {"PST": "past", "{1/2}": "first person or second person", "NOM+ACC": "nominative and accusative"}
    meanings |= {"STRONG": "", "1/STRONG": ""}
    assert {atom: meaning_of(atom) for atom in meanings} == meanings


def test_groups_are_in_the_order_of_the_schema() -> None:
    assert grouped(["STRONG", "PL", "SG", "3", "V", "1"]) == {
        PART_OF_SPEECH: ["V"],
        "person": ["1", "3"],
        "number": ["SG", "PL"],
        OTHER: ["STRONG"],
    }


def test_german_verbs_are_tables_of_person_and_number() -> None:
    [(part, found)] = paradigms(item.features.spelling for item in read_split("train-medium")).items()
    assert part == "V"
    assert [table.title for table in found] == ["V;IND;PRS", "V;IND;PST", "V;SBJV;PRS", "V;SBJV;PST", "V;IMP", ""]
    assert found[0].columns == ("SG", "PL")
    assert [row.title for row in found[0].rows] == ["1", "2", "3"]
    assert found[0].rows[2].cells == ("V;IND;PRS;3;SG", "V;IND;PRS;3;PL")
    assert [row.cells for row in found[-1].rows] == [("V;NFIN",), ("V.PTCP;PRS",), ("V.PTCP;PST",)]


def test_a_gender_makes_rows_of_its_own() -> None:
    spellings = ["V;1;SG", "V;1;PL", "V;2;SG;MASC", "V;2;SG;FEM", "V;2;PL;MASC", "V;2;PL;FEM", "V;3;DU;MASC"]
    [table] = tables([Bundle(spelling) for spelling in spellings])
    assert table.columns == ("SG", "DU", "PL")
    assert [row.title for row in table.rows] == ["1", "2;MASC", "2;FEM", "3;MASC"]
    assert table.rows[3].cells == (None, "V;3;DU;MASC", None)


def test_a_few_cells_are_a_list() -> None:
    [table] = tables([Bundle(spelling) for spelling in ["V;PST", "V;3;SG;PRS", "V;NFIN"]])
    assert {row.cells[0] for row in table.rows} == {"V;PST", "V;3;SG;PRS", "V;NFIN"}


def check_tables(spellings: Iterable[str]) -> None:
    tables = [table for part in paradigms(spellings).values() for table in part]
    assert all(len(row.cells) == len(table.columns) for table in tables for row in table.rows)
    cells = [Bundle(spelling).cell for table in tables for spelling in table.bundles]
    assert sorted(cells) == sorted({Bundle(spelling).cell for spelling in spellings})


@given(st.lists(st.lists(atoms, min_size=1, max_size=5).map(";".join), max_size=30))
def test_every_cell_is_in_one_table_once(spellings: list[str]) -> None:
    check_tables(spellings)


def test_every_language_of_2017_can_be_laid_out(conll2017: Path) -> None:
    for path in sorted(conll2017.glob("*-train-medium")):
        check_tables({line.split("\t")[2]: None for line in path.read_text(encoding="utf-8").splitlines()})


def test_a_table_that_would_be_nearly_empty_is_a_list() -> None:
    """A row and a column for each of a hundred thousand bundles would be ten thousand million places."""
    spellings = [f"V;{number}+1;SG+{number}" for number in range(2000)]
    [table] = tables([Bundle(spelling) for spelling in spellings])
    assert table.columns == ("",)
    assert sorted(row.title for row in table.rows) == sorted(spellings)


def test_the_subject_of_a_verb_has_rows_and_columns() -> None:
    cells = [f"V;NOM({person},{number});ACC(3,SG)" for person in "12" for number in ("SG", "PL")]
    more = ["V;NFIN", "V;IMP;NOM(2,SG)", "V;IMP;NOM(2,PL)"]
    imperative, finite, rest = sorted(paradigms([*cells, *more])["V"], key=lambda table: table.title == "")
    tables_of = {table.columns for table in (imperative, finite)}
    assert tables_of == {("NOM(SG)", "NOM(PL)")}
    assert {row.title for row in (*imperative.rows, *finite.rows)} == {"NOM(1)", "NOM(2)"}
    assert rest.rows[0].cells == ("V;NFIN",)
    assert meaning_of("NOM(1)") == f"{meaning_of('1')} (NOM)"


def test_nouns_with_layers_are_laid_out_as_without() -> None:
    features = list(product(("NOM", "ACC", "GEN", "DAT"), ("SG", "PL")))
    flat = [f"N;{case};{number}" for case, number in features]
    layered = [f"N;{case}({number})" for case, number in features]
    (one,), (other,) = paradigms(flat)["N"], paradigms(layered)["N"]
    assert (one.title, one.columns) == (other.title, other.columns)
    assert [row.title for row in one.rows] == [row.title for row in other.rows]
    assert [cell for row in other.rows for cell in row.cells] == layered
