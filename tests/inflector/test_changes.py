import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from reinflect.data.features import Bundle
from reinflect.data.items import Item, read_items, write_items
from reinflect.ensemble.member import TrainedModel
from reinflect.ensemble.strategies import Voter
from reinflect.inflector.changes import Changes, held_out_forms
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.train import Plan, train_inflector
from reinflect.learn.fleet import Fleet
from reinflect.learn.lesson import plain_lessons
from tests.fuzz import tiny_models
from tests.learn.tiny import language, small

Reinflect = Callable[..., Result]

TINY = "--seeds 2 --systems haem --alignments naive --workers 1 --device cpu".split() + [
    argument
    for change in "embedding=5 hidden=6 history_hidden=4 epochs=8 patience=60 score_every=4 batch=2".split()
    for argument in ("--set", change)
]


def gold(count: int) -> list[Item]:
    return [Item(f"lemma{number}", Bundle("V;PST" if number % 2 else "V;PRS"), "right") for number in range(count)]


def said(items: list[Item], wrong: set[int]) -> dict[tuple[str, str], str]:
    return {
        (item.lemma, item.features.spelling): "wrong" if number in wrong else item.form
        for number, item in enumerate(items)
    }


def test_what_changed_is_counted_by_bundle_and_item() -> None:
    items = gold(20)
    changes = Changes.between(said(items, {1, 3, 5, 4}), said(items, {2, 4, 6, 7}), items)
    assert (changes.comparison.won, changes.comparison.lost) == (3, 3)
    assert changes.bundles == {"V;PST": (10, 7, 9), "V;PRS": (10, 9, 7)}
    assert [(before.lemma, after.correct) for before, after in changes.flipped] == [
        *((f"lemma{number}", True) for number in (1, 3, 5)),
        *((f"lemma{number}", False) for number in (2, 6, 7)),
    ]
    text = changes.text("old", "new", "dev items")
    assert text.startswith("on 20 dev items:\nmodel  accuracy\nold       80.00\nnew       80.00\n")
    assert "V;PST          7 of 10    9 of 10  better" in text
    assert "3 became right and 3 wrong:" in text
    assert "lemma2  V;PRS     right   wrong  now wrong: right" in text


def test_where_nothing_changed_nothing_is_listed() -> None:
    items = gold(4)
    text = Changes.between(said(items, {1}), said(items, {1}), items).text("old", "new", "dev items")
    assert "There is no difference" in text
    assert "became" not in text


def test_an_item_that_one_of_them_was_not_asked_is_not_counted() -> None:
    items = gold(6)
    before = said(items, set())
    del before["lemma0", "V;PRS"]
    assert len(Changes.between(before, said(items, {0}), items).cells) == 5


def test_many_changes_fit_a_screen() -> None:
    items = [Item(f"l{number}", Bundle(f"V;{number}"), "right") for number in range(30)]
    text = Changes.between(said(items, set(range(30))), said(items, set()), items).text("old", "new", "dev items")
    assert "… and 20 more" in text
    assert "30 became right and 0 wrong, such as:" in text
    assert text.count("now right") == 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that held out some of its items, one that had dev items, and corrections."""
    from click.testing import CliRunner

    from reinflect.cli import main

    folder = tmp_path_factory.mktemp("changes")
    items = language("german")
    write_items(folder / "train.tsv", items[4:])
    write_items(folder / "dev.tsv", items[:4])
    wrong = Item(items[5].lemma, items[5].features, "falsch")
    write_items(folder / "new.csv", [wrong, Item("neuen", Bundle("V;PST"), "neute"), Item("neuen", Bundle("V;INF"))])
    write_items(folder / "more.tsv", [Item("blauen", Bundle("V;PST"), "blaute")])
    (folder / "labels.tsv").write_text("past\tV;PST\n", encoding="utf-8")
    for name, more in (("held", []), ("dev", ["--dev", "dev.tsv"])):
        paths = [str(folder / word) if word.endswith(".tsv") else word for word in more]
        train = ["train", "--train", str(folder / "train.tsv"), "--out", str(folder / name), *TINY, *paths]
        result = CliRunner().invoke(main, [*train, "--labels", str(folder / "labels.tsv")])
        assert result.exit_code == 0, result.output
    return folder


def test_held_out_forms_are_those_the_training_was_scored_by(folder: Path) -> None:
    inflector, items = Inflector.load(folder / "held"), read_items(folder / "train.tsv")
    forms = held_out_forms(inflector, items, items)
    right = sum(
        forms[item.lemma, item.features.spelling] == item.form
        for item in items
        if (item.lemma, item.features.spelling) in forms
    )
    assert inflector.training is not None
    assert len(forms) == inflector.training.scored
    assert round(100 * right / len(forms), 2) == inflector.training.accuracy


def test_each_model_answers_only_for_what_it_held_out(folder: Path) -> None:
    inflector, items = Inflector.load(folder / "held"), read_items(folder / "train.tsv")
    unknown = Item("ganz", Bundle("V;PST"), "anders")
    assert ("ganz", "V;PST") not in held_out_forms(inflector, [unknown, *items], items)


def asked_of(
    monkeypatch: pytest.MonkeyPatch, inflector: Inflector, items: Sequence[Item], taught: Sequence[Item]
) -> dict[str, set[tuple[str, str]]]:
    """The cells that each member's vote counts for in `held_out_forms`."""
    asked: dict[str, set[tuple[str, str]]] = {}
    plain = Voter.of

    def listened(model: TrainedModel, dev: Sequence[Item], *more: Any) -> Voter:
        asked[model.name] = {(item.lemma, item.features.spelling) for item in dev}
        return plain(model, dev, *more)

    with monkeypatch.context() as patch:
        patch.setattr(Voter, "of", listened)
        held_out_forms(inflector, items, taught)
    return asked


@pytest.mark.parametrize("first_seed", [1, 7])
@pytest.mark.parametrize("dropped", [(), (0,), (1,), (0, 2)])
def test_members_answer_for_their_own_fold_whichever_others_are_left(
    monkeypatch: pytest.MonkeyPatch, first_seed: int, dropped: tuple[int, ...]
) -> None:
    """Folds used to be counted from the lowest seed there was: if its models had diverged, members were asked for items
    that they had learnt from.
    """
    items = language("german")
    lessons = plain_lessons(items, None, 4)
    folded = [replace(tiny_models.member("haem", seed), seed=first_seed + seed, fold=seed) for seed in range(4)]
    members = tuple(own for fold, own in enumerate(folded) if fold not in dropped)
    inflector = Inflector(members, {}, "vote")
    asked = asked_of(monkeypatch, inflector, items, items)
    assert asked == {
        own.name: {(item.lemma, item.features.spelling) for item in lessons[fold].dev}
        for fold, own in enumerate(folded)
        if fold not in dropped
    }
    for fold, own in enumerate(folded):
        if fold not in dropped:
            learnt = {(item.lemma, item.features.spelling) for item in lessons[fold].train}
            assert not asked[own.name] & learnt
    found = held_out_forms(inflector, items, items)
    assert set(found) == set().union(*asked.values())


def test_the_fold_goes_with_the_model_file_when_the_first_seed_diverged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From training to file: the model of the first seed is dropped, and the others keep their folds."""
    items = language("german")
    finite = Fleet.finite

    def first_diverges(fleet: Fleet) -> list[bool]:
        return [run.spec.seed != 3 and sound for run, sound in zip(fleet.columns, finite(fleet), strict=True)]

    with monkeypatch.context() as patch:
        patch.setattr(Fleet, "finite", first_diverges)
        plan = Plan(
            settings={"haem": small("haem", epochs=2)},
            systems=["haem"],
            alignments=["naive"],
            seeds=3,
            first_seed=3,
            strategy="vote",
        )
        train_inflector(items, None, plan, out=tmp_path / "model")
    inflector = Inflector.load(tmp_path / "model")
    assert {(own.seed, own.fold) for own in inflector.members} == {(4, 1), (5, 2)}
    lessons = plain_lessons(items, None, 3)
    assert asked_of(monkeypatch, inflector, items, items) == {
        own.name: {(item.lemma, item.features.spelling) for item in lessons[own.seed - 3].dev}
        for own in inflector.members
    }
    forms = held_out_forms(inflector, items, items)
    right = sum(forms.get((item.lemma, item.features.spelling)) == item.form for item in items)
    assert inflector.training is not None
    assert len(forms) == inflector.training.scored
    assert round(100 * right / len(forms), 2) == inflector.training.accuracy


def retrain(reinflect: Reinflect, folder: Path, out: Path, *more: object) -> Result:
    return reinflect("train", "--train", folder / "train.tsv", "--out", out, *TINY, *more)


def test_a_model_is_trained_again_with_corrections_and_compared(
    folder: Path, tmp_path: Path, reinflect: Reinflect
) -> None:
    again = retrain(reinflect, folder, tmp_path / "m", "--add", folder / "new.csv", "--compare", folder / "held")
    assert again.exit_code == 0, again.output
    assert "new.csv: 1 item corrected, 1 added, 1 ignored (no form)" in again.stderr
    assert "training 2 models on 21 items" in again.stderr
    assert re.fullmatch(r"Expect about \d+ % right, estimated on \d+ held-out forms", again.stdout.splitlines()[-1])
    assert "items, each predicted by the models that had not learnt from it:" in again.stdout
    # Once more, with the corrections of before and others.
    files = ["--add", folder / "new.csv", "--add", folder / "more.tsv"]
    third = retrain(reinflect, folder, tmp_path / "m3", *files, "--compare", tmp_path / "m")
    assert third.exit_code == 0, third.output
    assert "more.tsv: 0 items corrected, 1 added" in third.stderr


def test_with_dev_items_both_are_asked_for_those(folder: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    dev = ["--dev", folder / "dev.tsv"]
    for model in ("held", "dev"):
        result = retrain(
            reinflect, folder, tmp_path / model, *dev, "--add", folder / "new.csv", "--compare", folder / model
        )
        assert result.exit_code == 0, result.output
        assert "on 4 dev items:" in result.stdout


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--compare", "dev"], "this was trained with a dev file, so the items that are new to it are not known"),
        (
            ["--train", "more.tsv", "--compare", "held"],
            "more.tsv as it is, so the items that are new to it are not known",
        ),
        (["--compare", "none"], "there is no such file"),
        (["--add", "none"], "there is no such file"),
        (["--dev", "train.tsv", "--compare", "held"], "found all dev items among the training items"),
        (["--add", "-", "--dev", "-"], "found - (standard input) more than once"),
    ],
)
def test_what_hinders_a_comparison_is_said_before_training(
    folder: Path, tmp_path: Path, reinflect: Reinflect, more: list[str], message: str
) -> None:
    words = [word if word.startswith("-") else folder / word for word in more]
    result = retrain(reinflect, folder, tmp_path / "m", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "training" not in result.stderr.split(message)[0].replace("training items", "")
    assert not list(tmp_path.iterdir())


def test_the_model_of_before_is_not_written_over(folder: Path, reinflect: Reinflect) -> None:
    result = retrain(reinflect, folder, folder / "held", "--compare", folder / "held")
    assert "this file is read from" in result.stderr


def test_labels_are_kept_in_the_model(folder: Path) -> None:
    assert Inflector.load(folder / "held").labels.to_features("past") == "V;PST"


def test_suggestions_can_be_filled_in_and_learnt_from(folder: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    (tmp_path / "lemmas.txt").write_text("neuen\nlachen\n", encoding="utf-8")
    call = ["suggest", folder / "held", "--lemmas", tmp_path / "lemmas.txt"]
    shown = reinflect(*call, "--n", 2)
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.splitlines()[0].split() == ["lemma", "features", "prediction", "confidence"]
    assert len(shown.stdout.splitlines()) == 3
    assert "past" in reinflect(*call).stdout, "the model's own labels"
    for name in ("s.tsv", "s.csv", "s.xlsx"):
        path = tmp_path / name
        assert reinflect(*call, "--spread", "-o", path).exit_code == 0
        asked = read_items(path, forms="optional")
        assert len(asked) == 6
        assert all(item.covered for item in asked)
        assert {item.lemma for item in asked[:2]} == {"neuen", "lachen"}
        filled = [Item(item.lemma, item.features, "x") for item in asked[:1]] + asked[1:]
        write_items(path, filled)
        known = reinflect(*call, "--known", path, "-o", tmp_path / "rest.tsv", "--force")
        assert known.exit_code == 0, known.output
        assert len(read_items(tmp_path / "rest.tsv", forms="optional")) == 5
    labelled = reinflect(*call, "--labels", folder / "labels.tsv", "-o", tmp_path / "labelled.tsv")
    assert labelled.exit_code == 0
    assert "past" in (tmp_path / "labelled.tsv").read_text(encoding="utf-8")
    assert "past" not in (tmp_path / "rest.tsv").read_text(encoding="utf-8"), "or it could not be learnt from"


def test_a_paradigm_may_be_a_sheet_that_can_be_read_again(folder: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    result = reinflect("paradigm", folder / "held", "neuen", "--output", tmp_path / "neuen.xlsx")
    assert result.exit_code == 0, result.output
    cells = Inflector.load(folder / "held").paradigm("neuen")
    found = read_items(tmp_path / "neuen.xlsx", forms="optional")
    assert [(item.features.spelling, item.form) for item in found] == [
        (cell.features, cell.answer.form) for cell in cells
    ]


@pytest.mark.parametrize(
    ("lemmas", "more", "message"),
    [
        ("", [], "found no lemmas"),
        ("a" * 2000, [], "models take up to 1000"),
        ("gehen\tging\tV;PST\n", ["--features", "past.txt"], "found no unknown forms to suggest"),
        ("gehen\n", ["--n", "0"], "0 is not in the range"),
        ("gehen\n", ["-o", "no/such/folder.csv"], "there is no folder"),
    ],
)
def test_suggest_says_what_is_wrong(
    folder: Path,
    tmp_path: Path,
    reinflect: Reinflect,
    monkeypatch: pytest.MonkeyPatch,
    lemmas: str,
    more: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("past.txt").write_text("V;PST\n", encoding="utf-8")
    Path("lemmas.txt").write_text(lemmas, encoding="utf-8")
    result = reinflect("suggest", folder / "held", "--lemmas", "lemmas.txt", *more)
    assert result.exit_code == 2
    assert message in result.stderr
