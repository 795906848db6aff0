"""Pocket models: which file a name means, what is said when there is none, and how a model gets into its folder."""

import hashlib
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import reinflect
from reinflect.data.features import Bundle
from reinflect.data.items import Item, grouped, read_items
from reinflect.errors import InputError
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import INDEX, add_model, find_model, models_folder, pocket_models, read_index
from tests.fuzz import tiny_models

DISTRIBUTION = Path(__file__).parents[2] / "models" / "reinflect_models"
GOLDEN = Path(__file__).parents[1] / "golden" / "pocket-forms.tsv"


def silent(note: str) -> None:
    pytest.fail(note)


def test_a_bare_name_is_a_language(pocket: Path) -> None:
    assert find_model("finnish", silent) == pocket / "finnish.reinflect"
    loaded, other = reinflect.load("norwegian-bokmal"), Inflector.load(pocket / "norwegian-bokmal.reinflect")
    assert (loaded.card, loaded.source) == (other.card, other.source)


@pytest.mark.parametrize("name", ["finnish.reinflect", "./finnish", "folder/finnish", "verbs.v2", "", "-", "."])
@pytest.mark.usefixtures("pocket")
def test_anything_with_a_folder_or_an_ending_is_a_file(name: str) -> None:
    assert find_model(name, silent) == Path(name)
    assert find_model(Path("finnish"), silent) == Path("finnish")


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir])
def test_a_language_is_meant_where_there_is_a_file_of_the_same_name_too(pocket: Path, make: object) -> None:
    make(Path("finnish"))  # type: ignore[operator]
    said: list[str] = []
    assert find_model("finnish", said.append) == pocket / "finnish.reinflect"
    assert said == ["finnish is the pocket model; if you mean the file or folder of this name, write ./finnish"]
    with pytest.warns(UserWarning, match="write ./finnish"):
        reinflect.load("finnish")


@pytest.mark.usefixtures("pocket")
def test_a_file_without_ending_is_found_where_no_language_has_its_name() -> None:
    Path("verbs").write_bytes(tiny_models.model_file())
    assert find_model("verbs", silent) == Path("verbs")
    assert reinflect.load("verbs").strategy == "run7"


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("finish", "there is no pocket model 'finish'; did you mean finnish? (reinflect train"),
        ("Finnish", "did you mean finnish?"),
        ("norwegian", "did you mean norwegian-bokmal?"),
        ("xyzzy", "reinflect models lists them (reinflect train --train FORMS --out xyzzy.reinflect trains one)"),
        ("own", "there is no pocket model 'own'; for the file of this name, write own.reinflect"),
    ],
)
@pytest.mark.usefixtures("pocket")
def test_an_unknown_name_is_answered_with_the_nearest_and_with_training(name: str, remedy: str) -> None:
    Path("own.reinflect").touch()
    with pytest.raises(InputError, match=re.escape(remedy)):
        reinflect.load(name)


@pytest.mark.usefixtures("no_pocket")
def test_without_the_distribution_its_installation_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert models_folder() is None
    assert pocket_models() == {}
    with pytest.raises(InputError, match=r"none are installed; install them: pip install .* \(reinflect train"):
        reinflect.load("finnish")


def test_a_package_is_not_imported(tiny_pocket_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "reinflect_models"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / INDEX).write_bytes((tiny_pocket_models / INDEX).read_bytes())
    monkeypatch.delenv("REINFLECT_MODELS", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("reinflect_models", None)
    assert models_folder() == package
    assert pocket_models()["german"] == package / "german.reinflect"


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(path.read_bytes()[:-9]), Path.unlink])
def test_a_damaged_pocket_model_is_to_be_installed_again(pocket: Path, damage: object) -> None:
    damage(pocket / "finnish.reinflect")  # type: ignore[operator]
    path = re.escape(str(pocket / "finnish.reinflect"))
    with pytest.raises(InputError, match=f"{path}.*pip install --upgrade reinflect-models --force-reinstall$"):
        reinflect.load("finnish")
    assert reinflect.load("german").members
    Path("own.reinflect").write_bytes(b"")
    with pytest.raises(InputError, match=r"(?s)^(?!.*pip install)"):
        reinflect.load("own.reinflect")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"finnish": {}}', b'{"finnish": 3}', "outside"])
def test_a_damaged_index_is_one_line(pocket: Path, content: bytes | str) -> None:
    index = pocket / INDEX
    if content == "outside":
        content = index.read_bytes().replace(b"finnish.reinflect", b"../finnish.reinflect")
    assert isinstance(content, bytes)
    index.write_bytes(content)
    with pytest.raises(InputError, match=rf"^{re.escape(str(index))}: not a valid index of pocket models \(.*\Z"):
        pocket_models()
    index.unlink()
    with pytest.raises(InputError, match="there is no such file"):
        reinflect.load("finnish")


def test_a_model_is_added_with_its_card_and_its_entry(tmp_path: Path) -> None:
    path, folder = tmp_path / "made.reinflect", tmp_path / "models"
    inflector = tiny_models.inflector()
    inflector.save(path)
    said = inflector.inflect("gehen", "V;PST")
    dev = [Item("gehen", Bundle("V;PST"), said), Item("sehen", Bundle("V;PST"), "x"), Item("hand", Bundle("N;PL"), "x")]
    made = add_model(folder, path, "lower-sorbian", dev, command="runs/pocket.sh lower-sorbian")
    assert (made.accuracy, made.items, made.date) == (33.33, 4, "2026-11-15")
    content = path.read_bytes()
    assert (made.size, made.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert (folder / made.file).read_bytes() == content
    card = (folder / "lower-sorbian.txt").read_text(encoding="utf-8")
    shares = "all 33.33 % of 3", "V 50.00 % of 2", "N 0.00 % of 1"
    for line in (
        *shares,
        "The licence is that of the data: CC BY-SA 3.0 (word forms from Wiktionary, by way of UniMorph)",
        "Command: runs/pocket.sh lower-sorbian",
    ):
        assert f"\n  {line}\n" in card
    assert card.startswith("A model of 2026-11-15, ")
    assert "Cotterell" in card
    assert "4 forms of 3 lemmas, from words.tsv" in card

    again = add_model(folder, path, "estonian", dev[:1], command="x")
    assert read_index(folder) == {"estonian": again, "lower-sorbian": made}
    assert list(json.loads((folder / INDEX).read_text())) == ["estonian", "lower-sorbian"]
    better = add_model(folder, path, "lower-sorbian", dev[:1], command="x")
    assert read_index(folder)["lower-sorbian"] == better
    assert better.accuracy == 100


@pytest.mark.parametrize("name", ["Finnish", "../finnish", "", "a.b", "-a", "suomi/x"])
def test_no_name_of_a_language_and_no_record_of_a_training_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "made.reinflect"
    path.write_bytes(tiny_models.model_file())
    with pytest.raises(InputError, match="use small letters"):
        add_model(tmp_path / "models", path, name, tiny_models.ITEMS, command="x")
    assert not (tmp_path / "models").exists()
    replace(tiny_models.inflector(), training=None).save(path)
    with pytest.raises(InputError, match="no record of its training"):
        add_model(tmp_path / "models", path, "finnish", tiny_models.ITEMS, command="x")


@pytest.mark.skipif(not DISTRIBUTION.is_dir(), reason="the sdist of reinflect leaves the models out")
def test_the_distribution_has_what_its_index_lists_and_nothing_else() -> None:
    index = read_index(DISTRIBUTION)
    files = {INDEX, "__init__.py", *(own.file for own in index.values()), *(f"{name}.txt" for name in index)}
    assert {path.name for path in DISTRIBUTION.iterdir() if path.is_file()} == files
    for own in index.values():
        content = (DISTRIBUTION / own.file).read_bytes()
        assert (own.size, own.sha256) == (len(content), hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize("language", sorted(read_index(DISTRIBUTION)) if DISTRIBUTION.is_dir() else [])
def test_the_accuracy_on_dev_items_is_the_one_that_the_index_has(language: str, conll2017: Path) -> None:
    model, dev = read_index(DISTRIBUTION)[language], read_items(conll2017 / f"{language}-dev")
    forms = Inflector.load(DISTRIBUTION / model.file).inflect_many(dev)
    right = sum(form == item.form for form, item in zip(forms, dev, strict=True))
    assert 100 * right / len(dev) == pytest.approx(model.accuracy, abs=0.2)


@pytest.mark.skipif(not DISTRIBUTION.is_dir(), reason="the sdist of reinflect leaves the models out")
def test_pocket_models_give_the_forms_of_the_golden_file() -> None:
    """Fifty dev items of each language, by 0.2's torch decoder: lemma, features, form, log-probability."""
    rows = [line.split("\t") for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    golden = grouped(rows, lambda row: row[0])
    assert golden.keys() == read_index(DISTRIBUTION).keys()
    for language, fields in golden.items():
        inflector = Inflector.load(DISTRIBUTION / f"{language}.reinflect")
        items = [Item(lemma, Bundle(features)) for _, lemma, features, *_ in fields]
        ((forms, log_probabilities),) = inflector.predictions(inflector.voters, items)
        assert forms == [form for *_, form, _ in fields], language
        assert log_probabilities == pytest.approx([float(row[-1]) for row in fields], abs=1e-4), language
