"""From a small table to a pocket model with a dictionary: chosen, trained for a moment, packed, and asked."""

import json
from pathlib import Path

import pytest
from models.choose import choose, is_unseen

from models import make
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import read_index
from tests.learn.tiny import language

BUNDLES = sorted({item.features.spelling for item in language("german")})


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of the bundled verbs, as `python -m models.sources` writes it, with a variant."""
    folder = tmp_path_factory.mktemp("tables")
    items = {(item.lemma, item.features.spelling): item.form for item in language("german")}
    rows = [f"{lemma}\t{bundle}\t{form}\t1\tunimorph" for (lemma, bundle), form in items.items()]
    rows.append("küren\tV;PST\tkürte / kor\t3\tunimorph,use")
    (folder / "german.tsv").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    rare = [f"selten{number}\tV;PST\tseltente\t1" for number in range(30)]
    (folder / "german.rare.tsv").write_text("".join(f"{row}\n" for row in rare), encoding="utf-8")
    about = {
        "bundles": [*BUNDLES, *({"V;PST"} - {*BUNDLES})],
        "marks": [],
        "letters_with_marks": "",
        "credits": {"unimorph": [["UniMorph", "CC BY-SA 3.0"]]},
        "left_out": 7,
    }
    (folder / "german.json").write_text(json.dumps(about), encoding="utf-8")
    return folder


def test_nothing_is_learnt_from_what_a_model_is_judged_by(tables: Path) -> None:
    choice = choose(tables, "german", 10_000)
    learnt = {item.lemma for item in choice.learnt}
    assert learnt
    assert not any(map(is_unseen, learnt))
    assert all(is_unseen(item.lemma) for item in choice.dev)
    assert learnt.isdisjoint(item.lemma for item in choice.rare)


def test_every_form_of_the_table_is_answered_exactly(
    tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = "embedding=5 hidden=6 history_hidden=4 epochs=2 batch=20 score_from=0 smart.sweeps=2".split()
    words = ["make", "--tables", str(tables), "--out", str(tmp_path / "work"), "--into", str(tmp_path / "pocket")]
    monkeypatch.setattr("sys.argv", [*words, "--device", "cpu", "--workers", "1", "--set", *small])
    make.main()
    model = read_index(tmp_path / "pocket")["german"]
    inflector = Inflector.load(tmp_path / "pocket" / model.file)
    table = choose(tables, "german", 1).table
    answers = inflector.answers([word.items[0] for word in table])
    assert [(answer.form, *answer.variants) for answer in answers] == [word.forms for word in table]
    assert all(answer.attested and answer.confidence is None for answer in answers)
    assert (model.cells, model.lemmas) == (len(table), len({word.lemma for word in table}))
    card = (tmp_path / "pocket" / "german.txt").read_text(encoding="utf-8")
    for text in ("UniMorph (CC BY-SA 3.0)", "7 cells, of lemmas that are used least", "CC BY-SA 4.0", "SHA-256"):
        assert text in card
    guess = inflector.answers([("zyxeln", "V;PST")])[0]
    assert not guess.attested


def test_a_file_that_is_too_large_leaves_out_the_last_lemmas(
    tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = "embedding=5 hidden=6 history_hidden=4 epochs=1 batch=20 score_from=0 smart.sweeps=2".split()
    words = ["make", "--tables", str(tables), "--out", str(tmp_path / "work"), "--into", str(tmp_path / "pocket")]
    monkeypatch.setattr("sys.argv", [*words, "--device", "cpu", "--stages", "choose", "train", "--set", *small])
    make.main()
    whole, left_out = make.write_complete("german", tables, tmp_path / "work", 60_000)
    size = make.complete_file(tmp_path / "work", "german").stat().st_size
    monkeypatch.setattr(make, "LARGEST", size - 100)
    _, more = make.write_complete("german", tables, tmp_path / "work", 60_000)
    assert make.complete_file(tmp_path / "work", "german").stat().st_size <= size - 100
    assert (left_out, whole.table) == (7, [])
    assert more > 7
