"""What a model that was trained again gets right, and the earlier one does not."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from reinflect.changes import changes, held_out_forms
from reinflect.cli import main
from reinflect.data.features import Bundle
from reinflect.data.items import Item, read_items, write_items
from reinflect.ensemble.strategies import Trained, Voter
from reinflect.inflector.inflector import Inflector
from reinflect.learn.fleet import Fleet
from reinflect.learn.lesson import lessons_of
from tests.cli import Reinflect, as_options, refused, succeeded
from tests.learn.tiny import language, small_inflector

Cell = tuple[str, str]

TINY = "--seeds 2 --systems haem --alignments naive --workers 1 --device cpu".split()
TINY += as_options("embedding=5 hidden=6 history_hidden=4 epochs=8 patience=60 score_every=4 batch=2")


def cells(items: Sequence[Item]) -> list[Cell]:
    return [(item.lemma, item.features.spelling) for item in items]


def gold(count: int, bundles: Sequence[str] = ("V;PRS", "V;PST")) -> list[Item]:
    return [Item(f"lemma{number}", Bundle(bundles[number % len(bundles)]), "right") for number in range(count)]


def forms(items: Sequence[Item], wrong: set[int]) -> dict[Cell, str]:
    return {cell: "wrong" if number in wrong else "right" for number, cell in enumerate(cells(items))}


def between(items: Sequence[Item], before: set[int], after: set[int]) -> str:
    """The comparison of two models that have these items wrong."""
    return changes(forms(items, before), forms(items, after), items, ("old", "new"), "dev items")


def test_what_changed_is_counted_by_bundle_and_item() -> None:
    text = between(gold(20), {1, 3, 5, 4}, {2, 4, 6, 7})
    assert text.startswith("on 20 dev items:\nmodel  accuracy\nold       80.00\nnew       80.00\n")
    assert "V;PST          7 of 10    9 of 10  better\n" in text
    assert "V;PRS          9 of 10    7 of 10  worse\n" in text
    _, listed = text.split("3 became right and 3 wrong:\n")
    assert [line.split()[0] for line in listed.splitlines()[1:]] == [f"lemma{number}" for number in (1, 3, 5, 2, 6, 7)]
    assert "lemma1  V;PST     wrong   right  now right" in listed
    assert "lemma2  V;PRS     right   wrong  now wrong: right" in listed


def test_where_nothing_changed_nothing_is_listed() -> None:
    items = gold(4)
    text = between(items, {1}, {1})
    assert "There is no difference" in text
    assert "became" not in text
    assert "better" not in text
    fewer = {cell: form for cell, form in forms(items, set()).items() if cell != ("lemma0", "V;PRS")}
    text = changes(fewer, forms(items, {0}), items, ("old", "new"), "items")
    assert text.startswith("on 3 items:"), "one was not predicted"


def test_many_changes_fit_a_screen() -> None:
    items = gold(30, [f"V;{number}" for number in range(30)])
    text = between(items, set(range(30)), set())
    assert "… and 20 more" in text
    assert "30 became right and 0 wrong, such as:" in text
    assert text.count("now right") == 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that held out some of its items, one that had dev items, and corrections."""
    folder = tmp_path_factory.mktemp("changes")
    items = language("german")
    write_items(folder / "train.tsv", items[4:])
    write_items(folder / "dev.tsv", items[:4])
    wrong = Item(items[5].lemma, items[5].features, "falsch")
    write_items(folder / "new.csv", [wrong, Item("neuen", Bundle("V;PST"), "neute"), Item("neuen", Bundle("V;INF"))])
    write_items(folder / "more.tsv", [Item("blauen", Bundle("V;PST"), "blaute")])
    (folder / "labels.tsv").write_text("past\tV;PST\n", encoding="utf-8")
    for name, more in (("held", []), ("dev", ["--dev", folder / "dev.tsv"])):
        train = ["train", "--train", folder / "train.tsv", "--out", folder / name, *TINY, *more]
        succeeded(CliRunner().invoke(main, [*map(str, train), "--labels", str(folder / "labels.tsv")]))
    return folder


def assert_accuracy(inflector: Inflector, items: Sequence[Item]) -> None:
    """Held-out forms are those that the training was scored by."""
    held_out = held_out_forms(inflector, items, items)
    right = sum(held_out.get(cell) == item.form for cell, item in zip(cells(items), items, strict=True))
    assert inflector.training is not None
    assert len(held_out) == inflector.training.scored
    assert round(100 * right / len(held_out), 2) == inflector.training.accuracy


def test_each_model_answers_only_for_what_it_held_out(folder: Path) -> None:
    inflector, items = Inflector.load(folder / "held"), read_items(folder / "train.tsv")
    assert inflector.labels.to_features("past") == "V;PST"
    assert_accuracy(inflector, items)
    unknown = Item("ganz", Bundle("V;PST"), "anders")
    assert ("ganz", "V;PST") not in held_out_forms(inflector, [unknown, *items], items)


def scored_cells(monkeypatch: pytest.MonkeyPatch, inflector: Inflector, items: Sequence[Item]) -> dict[str, set[Cell]]:
    """The cells that each member votes on in `held_out_forms`."""
    scored: dict[str, set[Cell]] = {}
    plain = Voter.of

    def listened(model: Trained, dev: Sequence[Item], *more: Any) -> Voter:
        scored[model.name] = {*cells(dev)}
        return plain(model, dev, *more)

    with monkeypatch.context() as patch:
        patch.setattr(Voter, "of", listened)
        held_out_forms(inflector, items, items)
    return scored


def test_the_fold_goes_with_the_model_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folds are not counted from the lowest seed there is: the others keep theirs, from training to file."""
    items, finite = language("german"), Fleet.finite

    def first_diverges(fleet: Fleet) -> list[bool]:
        seeds = [run.spec.seed for run in fleet.columns]
        return [seed != 3 and stable for seed, stable in zip(seeds, finite(fleet), strict=True)]

    with monkeypatch.context() as patch:
        patch.setattr(Fleet, "finite", first_diverges)
        small_inflector("haem-naive", dev=None, seeds=3, first_seed=3, strategy="vote", out=tmp_path / "model")
    inflector, lessons = Inflector.load(tmp_path / "model"), lessons_of(items, None, 3)
    assert {(member.seed, member.fold) for member in inflector.members} == {(4, 1), (5, 2)}
    held_out = {member.name: {*cells(lessons[member.seed - 3].dev)} for member in inflector.members}
    assert scored_cells(monkeypatch, inflector, items) == held_out
    assert set(held_out_forms(inflector, items, items)) == set().union(*held_out.values())
    assert_accuracy(inflector, items)


def retrain(reinflect: Reinflect, folder: Path, out: Path, *more: object) -> Result:
    return reinflect("train", "--train", folder / "train.tsv", "--out", out, *TINY, *more)


def test_a_model_is_trained_again_and_compared(folder: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    again = retrain(reinflect, folder, tmp_path / "m", "--add", folder / "new.csv", "--compare", folder / "held")
    assert again.exit_code == 0, again.output
    assert "new.csv: 1 item corrected, 1 added, 1 ignored (no form)" in again.stderr
    assert "training 2 models on 21 items" in again.stderr
    assert re.fullmatch(r"Expect about \d+ % right, estimated on \d+ held-out forms", again.stdout.splitlines()[-1])
    assert "items, each predicted by the models that had not learnt from it:" in again.stdout
    # Once more, with the corrections of before and others.
    files = ["--add", folder / "new.csv", "--add", folder / "more.tsv"]
    third = succeeded(retrain(reinflect, folder, tmp_path / "m3", *files, "--compare", tmp_path / "m"))
    assert "more.tsv: 0 items corrected, 1 added" in third.stderr


def test_with_dev_items_both_are_asked_for_those(folder: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    for model in ("held", "dev"):
        more = ["--dev", folder / "dev.tsv", "--add", folder / "new.csv", "--compare", folder / model]
        result = succeeded(retrain(reinflect, folder, tmp_path / model, *more))
        assert "on 4 dev items:" in result.stdout


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--compare", "dev"], "this was trained with a dev file, so the items that are new to it are not known"),
        (["--train", "more.tsv", "--compare", "held"], "more.tsv as it is, so the items that are new to it are not"),
        (["--compare", "none"], "there is no such file"),
        (["--add", "none"], "there is no such file"),
        (["--dev", "train.tsv", "--compare", "held"], "found all dev items among the training items"),
        (["--add", "-", "--dev", "-"], "found - (standard input) more than once"),
        (["--out", "held", "--compare", "held"], "this file is read from"),
    ],
)
def test_what_hinders_a_comparison_is_told_before_training(
    folder: Path, tmp_path: Path, reinflect: Reinflect, more: list[str], message: str
) -> None:
    words = [word if word.startswith("-") else folder / word for word in more]
    result = retrain(reinflect, folder, tmp_path / "m", *words)
    refused(result, message)
    assert "training 2 models" not in result.stderr
    assert not list(tmp_path.iterdir())


def test_suggestions_can_be_filled_in_and_learnt_from(folder: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    (tmp_path / "lemmas.txt").write_text("neuen\nlachen\n", encoding="utf-8")
    call = ["suggest", folder / "held", "--lemmas", tmp_path / "lemmas.txt"]
    first = succeeded(reinflect(*call, "--n", 2))
    assert len(first.stdout.splitlines()) == 3
    assert "past" in reinflect(*call).stdout, "the model's own labels"
    for name in ("s.tsv", "s.csv", "s.xlsx"):
        path = tmp_path / name
        succeeded(reinflect(*call, "--spread", "-o", path))
        suggested = read_items(path, forms="optional")
        assert len(suggested) == 6
        assert all(item.covered for item in suggested)
        assert {item.lemma for item in suggested[:2]} == {"neuen", "lachen"}
        write_items(path, [replace(suggested[0], form="x"), *suggested[1:]])
        succeeded(reinflect(*call, "--known", path, "-o", tmp_path / "rest.tsv", "--force"))
        assert len(read_items(tmp_path / "rest.tsv", forms="optional")) == 5
    succeeded(reinflect(*call, "--labels", folder / "labels.tsv", "-o", tmp_path / "labelled.tsv"))
    assert "past" in (tmp_path / "labelled.tsv").read_text(encoding="utf-8")
    assert "past" not in (tmp_path / "rest.tsv").read_text(encoding="utf-8"), "or it could not be learnt from"
    (tmp_path / "item.tsv").write_text("gehen\tging\tV;PST\n", encoding="utf-8")
    (tmp_path / "past.txt").write_text("V;PST\n", encoding="utf-8")
    call = ["suggest", folder / "held", "--lemmas", tmp_path / "item.tsv", "--features", tmp_path / "past.txt"]
    refused(reinflect(*call), "found no unknown forms to suggest")
