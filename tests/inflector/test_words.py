"""A word list in training and inflection: what it changes, what it marks, and that nothing changes without it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.assemble import Keep, with_word_list
from reinflect.data.items import write_items
from reinflect.data.lexicon import WordList
from reinflect.errors import InputError
from reinflect.inflector.inflector import Inflector
from reinflect.run.watch import Resources
from reinflect.score import evaluate
from reinflect.train import train_model
from tests.learn.tiny import language, wish

Reinflect = Callable[..., Result]
ITEMS = language("german")
WISH = wish("haem-naive", seeds=5, changes=["epochs=30", "score_every=5"], strategy="vote")
TINY = ["--systems", "haem", "--alignments", "naive", "--device", "cpu", "--workers", "1"]
TINY += [part for name in ("embedding", "hidden", "history_hidden", "epochs") for part in ("--set", f"{name}=6")]


@pytest.fixture(scope="module")
def helpful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("words") / "german.txt"
    path.write_text("".join(f"{word}\n" for item in ITEMS for word in (item.lemma, item.form)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(helpful: Path) -> Path:
    return helpful.with_name("taught.reinflect")


@pytest.fixture(scope="module", autouse=True)
def taught(helpful: Path, model: Path) -> Inflector:
    return train_model(ITEMS, None, WISH, Keep(words=WordList.read(helpful)), Resources(), out=model).inflector


@pytest.fixture(scope="module")
def plain(taught: Inflector, helpful: Path) -> Path:
    replace(taught, words=None, word_list=None).save(helpful.with_name("plain.reinflect"))
    return helpful.with_name("plain.reinflect")


def right(inflector: Inflector) -> int:
    return sum(form == item.form for item, form in zip(ITEMS, inflector.inflect_many(ITEMS), strict=True))


def test_a_list_of_the_right_forms_helps(plain: Path, taught: Inflector) -> None:
    before = Inflector.load(plain)
    assert right(taught) > right(before)
    answers, lists = taught.answers(ITEMS), taught.nbest_many(ITEMS, 3)
    assert answers == [own[0] for own in lists]
    assert [own.form for own in answers] == taught.inflect_many(ITEMS)
    for own in lists:
        sure = [answer.confidence or 0.0 for answer in own]
        assert sure == sorted(sure, reverse=True)
    # A form changes only for one that is in the list, or is the lemma.
    assert taught.word_list is not None
    for item, old, new in zip(ITEMS, before.inflect_many(ITEMS), answers, strict=True):
        assert new.form in (old, item.lemma) or taught.word_list.count(new.form)


def test_it_is_learnt_from_held_out_or_dev_items(taught: Inflector, model: Path, plain: Path, helpful: Path) -> None:
    before, words = Inflector.load(plain), WordList.read(helpful)
    again = with_word_list(before, ITEMS, None, words)
    assert again.words == taught.words == Inflector.load(model).words
    assert again.inflect_many(ITEMS) == taught.inflect_many(ITEMS)
    dev = with_word_list(before, [], ITEMS, words)
    assert dev.words is not None
    assert dev.words.accuracy == pytest.approx(100 * right(dev) / len(ITEMS), abs=0.01)


def test_it_is_used_only_where_it_is_given(plain: Path, model: Path, helpful: Path) -> None:
    before, after = Inflector.load(plain), Inflector.load(model)
    assert after.answers(ITEMS) == before.answers(ITEMS)
    assert after.nbest_many(ITEMS) == before.nbest_many(ITEMS)
    used = after.with_words(helpful)
    assert used.inflect_many(ITEMS) == after.with_words(WordList.read(helpful)).inflect_many(ITEMS)
    assert used.using("ensemble-2").answers(ITEMS)[0].voters == 2
    with pytest.raises(InputError, match="this model was trained without a word list"):
        before.with_words(helpful)
    assert "words" not in before.card
    assert b'\\"words\\"' not in plain.read_bytes()


def test_attested_forms_and_their_variants_still_come_first(taught: Inflector) -> None:
    item = ITEMS[0]
    more = replace(taught, attested=(*taught.attested, replace(item, form="xx")))
    (answer,) = more.answers([item], attested=True)
    assert (answer.form, answer.variants, answer.attested) == (item.form, ("xx",), True)
    assert more.answers([item]) == taught.answers([item])
    assert more.nbest_many([item], 2, attested=True)[0][1].form == "xx"


def test_signatures_name_it(taught: Inflector) -> None:
    assert taught.word_list is not None
    own = evaluate(ITEMS, ITEMS)
    assert "words:" not in own.signature
    assert "|words:german.txt-123|version" in replace(own, words="german.txt-123").signature


def test_commands(model: Path, helpful: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    taught = Inflector.load(model).with_words(helpful)
    write_items(tmp_path / "items", ITEMS)
    given = reinflect("inflect", model, "--input", tmp_path / "items", "--words", helpful, "--no-attested")
    assert [line.split("\t")[1] for line in given.stdout.splitlines()] == taught.inflect_many(ITEMS)
    assert given.stderr == ""
    (tmp_path / "other").write_text("x\n")
    other = reinflect("inflect", model, "leben", "V;PST", "--words", tmp_path / "other", "--no-attested")
    assert "note: MODEL was trained with another word list: german.txt, 2" in other.stderr
    (tmp_path / "counted").write_text("lobte\t3\tx\n")
    asked = ["inflect", model, "--input", tmp_path / "items", "--words", tmp_path / "counted"]
    assert "this file is read from" in reinflect(*asked, "--output", tmp_path / "counted").stderr
    assert (tmp_path / "counted").read_text() == "lobte\t3\tx\n"


def test_the_card_names_it(model: Path, taught: Inflector, reinflect: Reinflect) -> None:
    assert taught.words is not None
    text = " ".join(reinflect("info", model).stdout.split())
    assert f"german.txt: {taught.words.words} words (SHA-256 {taught.words.digest}…)" in text
    card = json.loads(reinflect("info", model, "--json").stdout)
    assert (card["words"]["name"], card["words"]["digest"]) == ("german.txt", taught.words.digest)


def test_train_says_what_it_is_worth(helpful: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    write_items(tmp_path / "items", ITEMS)
    given = ["train", "--train", tmp_path / "items", *TINY, "--words", helpful, "--out", tmp_path / "model"]
    made = reinflect(*given, "--seeds", 5)
    assert made.exit_code == 0, made.output
    learnt = Inflector.load(tmp_path / "model").words
    assert learnt is not None
    assert f"With german.txt about {learnt.accuracy:.0f} %" in made.stdout
    few = reinflect(*given, "--seeds", 1, "--force")
    assert "note: too few held-out forms to learn what german.txt is worth" in few.stderr
    assert Inflector.load(tmp_path / "model").words is None
