"""`--normalise`: lemmas and forms in one encoding, in data and in queries; without it nothing is changed."""

from dataclasses import replace
from pathlib import Path
from typing import cast
from unicodedata import normalize

import pytest

from reinflect.data.features import Bundle
from reinflect.data.items import COLUMNS_2017, Item, Normalisation, read_items
from reinflect.data.lexicon import Lexicon
from reinflect.inflector.analyse import analyse
from reinflect.inflector.inflector import Inflector
from reinflect.systems.symbols import Inventory
from tests.cli import Reinflect
from tests.data import written
from tests.inflector.test_inflector import a_member

ONE, TWO = "\u00e4", "a\u0308"
FILES = {
    "words.tsv": f"B{ONE}r\tB{ONE}ren\tN;PL\nB{TWO}ren\tB{TWO}rs\tN;PL\n",
    "words.csv": f"lemma,form,features\nB{ONE}r,B{ONE}ren,N;PL\nB{TWO}ren,B{TWO}rs,N;PL\n",
    "wide.csv": f"lemma,N;PL\nB{ONE}r,B{ONE}ren\nB{TWO}ren,B{TWO}rs\n",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(("way", "changed"), [("none", 0), ("nfc", 1), ("nfd", 1)])
def test_items_of_a_file(tmp_path: Path, name: str, way: Normalisation, changed: int) -> None:
    path, notes = written(tmp_path / name, FILES[name]), list[str]()
    items = read_items(path, replace(COLUMNS_2017, normalisation=way), note=notes.append)
    words = [f"B{ONE}r", f"B{ONE}ren", f"B{TWO}ren", f"B{TWO}rs"]
    if way != "none":
        words = [normalize("NFC" if way == "nfc" else "NFD", word) for word in words]
    assert [word for item in items for word in (item.lemma, item.form)] == words
    assert len(notes) == changed
    if changed:
        where = f"{'line' if name.endswith('tsv') else 'row'} {1 + (way == 'nfc') + name.endswith('csv')}"
        assert notes == [f"note: {path}: 1 item brought into the form {way.upper()} (the first: {where})"]


def test_check_names_row_and_column_of_mixed_spellings(tmp_path: Path, reinflect: Reinflect) -> None:
    path = written(tmp_path / "wide.csv", f"lemma,N;PL\nBar,B{ONE}ren\nHar,H{TWO}ren\n")
    said = reinflect("check", path).stdout
    both = f"U+00E4 in {path}, row 2, form (N;PL); U+0061 U+0308 in {path}, row 3, form (N;PL)"
    assert f"different letters ({both}); --normalise nfc uses one encoding throughout\n  '{ONE}': {both}\n" in said
    again = reinflect("check", path, "--normalise", "nfc").stdout
    assert "two ways" not in again
    assert "1 item brought into the form NFC (the first: row 3)" in again


def an_inflector(way: Normalisation) -> Inflector:
    inventory = Inventory(tuple("Barens\u00e4\u0308"), ("N", "PL"))
    return Inflector((a_member(inventory=inventory), a_member("hacm", inventory=inventory)), {}, normalisation=way)


@pytest.mark.parametrize("way", ["nfc", "nfd"])
def test_queries_are_encoded_as_the_model_was_trained(tmp_path: Path, way: str) -> None:
    an_inflector(cast("Normalisation", way)).save(tmp_path / "m")
    inflector, plain = Inflector.load(tmp_path / "m"), an_inflector("none")
    assert inflector.normalisation == way
    right, asked = normalize(way.upper(), f"B{ONE}r"), [f"B{ONE}r", f"B{TWO}r"]  # type: ignore[arg-type]
    for lemma in asked:
        assert inflector.answers([(lemma, "N;PL")]) == plain.answers([(right, "N;PL")])
        assert inflector.nbest(lemma, "N;PL") == plain.nbest(right, "N;PL")
        assert inflector.trace(lemma, "N;PL") == plain.trace(right, "N;PL")
    one, other = (plain.answers([(lemma, "N;PL")]) for lemma in asked)
    assert one != other  # without it, they are two words


def test_attested_forms_are_found_in_either_encoding() -> None:
    inflector = replace(an_inflector("nfc"), attested=(Item(f"B{ONE}r", Bundle("N;PL"), f"B{ONE}ren"),))
    for lemma in (f"B{ONE}r", f"B{TWO}r"):
        (answer,) = inflector.answers([(lemma, "N;PL")], attested=True)
        assert (answer.form, answer.attested) == (f"B{ONE}ren", True)
        assert inflector.attested_forms(lemma, "N;PL") == (f"B{ONE}ren",)


def test_analyse_finds_the_form_in_either_encoding() -> None:
    lexicon = Lexicon((f"B{TWO}r",), ())
    inflector = replace(an_inflector("nfc"), attested=())
    form = inflector.inflect(f"B{ONE}r", "N;PL")
    assert analyse(inflector, form, lexicon) == analyse(inflector, normalize("NFD", form), lexicon)


def test_train_remembers_it(tmp_path: Path, reinflect: Reinflect) -> None:
    train = written(tmp_path / "t.tsv", "".join(f"{w}{TWO}\t{w}{ONE}n\tN\n" for w in "abcdefghijkl"))
    out = tmp_path / "m.reinflect"
    tiny = [f"--set={one}" for one in ("epochs=1", "hidden=6", "embedding=5", "history_hidden=4", "score_from=0")]
    few = ["--seeds", 1, "--systems", "haem", "--alignments", "naive", "--device", "cpu", "--workers", 1]
    result = reinflect("train", "--train", train, "--out", out, "--normalise", "nfc", *few, *tiny)
    assert result.exit_code == 0, result.output
    model = Inflector.load(out)
    assert model.normalisation == "nfc"
    assert "\u0308" not in model.characters
    assert "two ways" not in result.stderr
    forms = [reinflect("inflect", out, f"k{way}", "N").stdout for way in (ONE, TWO)]
    assert forms[0] == forms[1]
