"""From single models to ensembles, runs and scores."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reinflect.data.features import Bundle
from reinflect.data.items import Item, read_items
from reinflect.ensemble.strategies import RUNS
from reinflect.errors import OutputError
from reinflect.learn.lesson import Lesson
from reinflect.paper.combine import Part, averages, combine, evaluations, finish, parts_of, write_forms
from reinflect.paper.grid import PAPER, QUICK, made_up, with_kinds
from reinflect.paper.page import read_scores
from reinflect.systems.kind import Kind
from tests.paper.made_up import BUNDLE, combined, corpus, everyone, gold, kinds, result, score

KINDS = ("hacm-naive", "hacm-smart", "haem-naive", "haem-smart")
RIGHT = {"hacm-naive": 1, "hacm-smart": 2, "haem-naive": 3, "haem-smart": 2}
RUN_NAMES = {run.name for run in RUNS}


def test_the_grid_of_the_paper() -> None:
    settings = (kinds(PAPER, setting) for setting in ("low", "medium", "high"))
    low, medium, high = ({str(kind): seeds for kind, seeds in grid.items()} for grid in settings)
    assert low == dict.fromkeys(KINDS, 5)
    assert medium == {"hacm-naive": 5, "hacm-smart": 5, "haem-naive": 3, "haem-smart": 5}
    assert high == {"hacm-naive": 3, "hacm-smart": 3, "haem-naive": 2, "haem-smart": 3, "soft": 1}


def test_further_kinds_and_augmentations_of_a_grid() -> None:
    grid = {Kind("haem", "smart"): {"low": 2}, Kind("soft"): {"high": 1}}
    more = with_kinds(grid, [Kind("haem", "smart"), Kind("imitation")], ["made-up"])
    assert {kind.augment for kind in more} == {("made-up",)}
    low = [(str(kind), seeds.get("low")) for kind, seeds in more.items()]
    assert low == [("haem-smart", 2), ("soft", None), ("imitation", 1)]
    apart = grid | {made_up(Kind("soft")): {"high": 1}}
    assert with_kinds(apart, [], ["made-up"]) == apart, "an augmentation of some kinds stays with these"


def test_every_system_has_predictions_for_all_items() -> None:
    lesson = corpus(setting="high")
    systems = combined(PAPER, lesson, right=RIGHT | {"soft": 4})[lesson]
    assert set(systems.forms) == {*KINDS, "soft", "baseline", "ensemble-7", "average", "vote", *RUN_NAMES}
    assert {(len(forms["dev"]), len(forms["test"])) for forms in systems.forms.values()} == {(4, 3)}
    assert systems.chosen["run1"] == ["hacm-smart-1", "hacm-smart-2", "hacm-smart-3"]
    assert systems.chosen["run5"] == ["soft-1"]
    assert systems.forms["run5"] == systems.forms["soft"]
    assert len(systems.chosen["run6"]) == 12


def test_models_set_apart_vote_in_none_of_the_runs() -> None:
    german = corpus(items=60, asked=10)
    apart_alone = {made_up(Kind("haem", "smart")): {"low": 2}}
    grid = {**QUICK, **apart_alone}
    plain = [result(german, kind, seed, dev=["z"] * 60, test=["z"] * 10) for kind in KINDS for seed in (1, 2)]
    apart = [replace(result(german, "haem-smart", seed, right=60), variant="made-up") for seed in (1, 2)]
    systems = combine(german, kinds(grid), [*plain, *apart])
    right = {split: [f"{item.lemma}x" for item in items] for split, items in parts_of(german).items()}
    assert systems.forms["haem-smart+made-up"] == right
    assert systems.forms["vote"]["dev"] == ["z"] * 60
    assert {name for run in RUN_NAMES for name in systems.chosen[run]} <= {model.name for model in plain}
    assert "vote" not in combine(german, kinds(grid), plain).forms, "of all models there are to be"
    assert not RUN_NAMES & combine(german, kinds(apart_alone), apart).chosen.keys()


def test_test_items_play_no_part_in_the_choice() -> None:
    lesson = corpus()
    models = [result(lesson, kind, seed, test=["?"] * 3) for kind in KINDS for seed in (1, 2)]
    others = [result(lesson, kind, seed) for kind in KINDS for seed in (1, 2)]
    assert combine(lesson, kinds(QUICK), models).chosen == combine(lesson, kinds(QUICK), others).chosen


def test_bundles_that_training_has_and_others_are_counted_apart() -> None:
    """Of five dev items two have a bundle of the training items, one of them spelt in another order."""
    bundles = ["V;PST", "PST;V", "V", "V;PST;PL", "N"]
    dev = tuple(Item(f"a{number}", Bundle(bundle), "x") for number, bundle in enumerate(bundles))
    german = Lesson((Item("c", Bundle("V;PST"), "cx"),), dev, (), "german", "low")
    welsh = replace(german, language="welsh", dev=dev[:2])
    forms = {german: list("xyxyx"), welsh: list("xx")}
    scored = [(each, evaluations(each, {"best": {"dev": forms[each], "test": []}}, ())) for each in forms]
    alone, both = (averages(some)["dev"]["low"]["best"] for some in (scored[:1], scored))
    assert (alone.seen, alone.unseen) == (Part(50.0, 2), Part(66.67, 3))
    assert alone.languages["german"].unseen == Part(66.67, 3)
    assert both.languages["welsh"].unseen is None
    assert (both.seen, both.unseen) == (Part(75.0, 4), Part(66.67, 3))


def test_results_of_earlier_versions_are_read(tmp_path: Path) -> None:
    old = {"accuracy": 1.0, "levenshtein": 2.0, "languages": {"a": {"accuracy": 1.0, "levenshtein": 2.0}}}
    (tmp_path / "results.json").write_text(json.dumps({"dev": {"low": {"best": old | {"signature": "s"}}}}))
    assert read_scores(tmp_path)["dev"]["low"]["best"].unseen is None


def test_what_is_not_all_trained_or_diverged_takes_no_part() -> None:
    lesson = corpus()
    models = everyone(lesson, QUICK, RIGHT)
    fewer = combine(lesson, kinds(QUICK), [model for model in models if (model.system, model.seed) != ("haem", 2)])
    assert set(fewer.forms) == {"hacm-naive", "hacm-smart", "run1", "run2", "baseline"}
    assert set(combine(lesson, kinds(QUICK), []).forms) == {"baseline"}
    diverged = [replace(model, usable=model.system == "hacm") for model in models]
    systems = combine(lesson, kinds(QUICK), diverged)
    assert set(systems.forms) >= {"hacm-naive", "run1", "run5", "run6", "run7"}
    assert not {"haem-naive", "haem-smart", "run3", "run4"} & set(systems.forms)
    assert all(name.startswith("hacm") for name in systems.chosen["run6"])


def test_repeats_become_the_lemma_and_are_counted() -> None:
    lesson = corpus(items=2, asked=1)
    forms: dict[tuple[str, int], tuple[list[str | None], list[str | None]]] = {
        ("hacm-naive", 1): (["a0x", "axxxx"], [None]),
        ("hacm-naive", 2): (["a0x", "axxxx"], ["b0x"]),
        ("hacm-smart", 1): (["", "axxxx"], ["b0x"]),
        ("hacm-smart", 2): (["a0x", "a1x"], ["b0x"]),
    }
    models = [result(lesson, kind, seed, dev=dev, test=test) for (kind, seed), (dev, test) in forms.items()]
    systems = combine(lesson, kinds(QUICK), models)
    assert systems.forms["hacm-naive"] == {"dev": ["a0x", "a1"], "test": ["b0"]}
    # Of two models the better one's form: the first naive model's, which did not end; the second smart one's.
    voted = {("voted", "dev"): 1, ("voted", "test"): 1}
    assert systems.changed["hacm"] == {("single", "dev"): 3, ("single", "test"): 1} | voted
    assert "haem" not in systems.changed


def test_scores_are_macro_averages_of_the_official_ones() -> None:
    languages = [corpus("a"), corpus("b"), corpus("b", "high")]
    scores = score(combined(QUICK, *languages, right=RIGHT, gold={"b": gold()}))
    assert scores["dev"]["low"]["haem-naive"].accuracy == 75.0
    assert scores["dev"]["low"]["haem-naive"].levenshtein == pytest.approx(0.25 * len("haem-naive1"), abs=0.01)
    assert set(scores["dev"]["low"]["run7"].languages) == {"a", "b"}
    assert set(scores["dev"]["high"]["run7"].languages) == {"b"}
    assert set(scores["test"]["low"]["run7"].languages) == {"b"}
    assert scores["test"]["low"]["haem-naive"].accuracy == 100.0
    assert score(combined(QUICK, *languages, right=RIGHT))["test"] == {}


def test_predictions_that_no_file_can_hold_are_refused_and_a_byte_order_mark_is_kept(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="has a tab or line end in it"):
        write_forms(tmp_path, corpus(items=1), "run7", "dev", ["a\tb"])
    lemma = "\ufeffa"
    german = Lesson((Item("c", BUNDLE, "cx"),), (Item(lemma, BUNDLE, "b"),), (), "german", "low")
    written = finish(german, everyone(german, QUICK, RIGHT), (), kinds(QUICK), folder=tmp_path)
    assert written.evaluations["dev", "run7"].items == 1
    assert [item.lemma for item in read_items(tmp_path / "low" / "run7" / "german-dev")] == [lemma]
