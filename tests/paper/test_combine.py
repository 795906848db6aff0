"""From single models to ensembles, runs and scores."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reinflect.data.features import Bundle
from reinflect.data.items import Item, read_items
from reinflect.ensemble.strategies import RUNS
from reinflect.errors import OutputError
from reinflect.learn.lesson import Lesson, Preparation
from reinflect.paper.combine import averages, combine, evaluations, finish, parts_of, write_forms
from reinflect.paper.figures import Part, read_scores
from reinflect.paper.grid import PAPER, QUICK, Entry, kinds, specs_of
from reinflect.systems.symbols import load_preset
from tests.paper.made_up import BUNDLE, combined, corpus, everyone, gold, result, score

KINDS = ("hacm-naive", "hacm-smart", "haem-naive", "haem-smart")
PRESETS = {"low": load_preset("low", ["haem"])}
RIGHT = {"hacm-naive": 1, "hacm-smart": 2, "haem-naive": 3, "haem-smart": 2}


def test_the_grid_of_the_paper() -> None:
    sizes = {setting: sum(kinds(PAPER, setting).values()) for setting in ("low", "medium", "high")}
    assert sizes == {"low": 20, "medium": 18, "high": 12}
    assert 52 * 20 + 52 * 18 + 51 * 11 == 2537
    assert kinds(PAPER, "medium") == {"hacm-naive": 5, "hacm-smart": 5, "haem-naive": 3, "haem-smart": 5}
    assert kinds(PAPER, "high") == {"hacm-naive": 3, "hacm-smart": 3, "haem-naive": 2, "haem-smart": 3, "soft": 1}


def test_every_system_has_predictions_for_all_items() -> None:
    (found,) = combined(PAPER, corpus(setting="high"), right=RIGHT | {"soft": 4})
    assert set(found.forms) == {
        *KINDS,
        "soft",
        "baseline",
        "ensemble-7",
        "average",
        "vote",
        *(run.name for run in RUNS),
    }
    assert {(len(forms["dev"]), len(forms["test"])) for forms in found.forms.values()} == {(4, 3)}
    assert found.chosen["run1"] == ["hacm-smart-1", "hacm-smart-2", "hacm-smart-3"]
    assert found.chosen["run5"] == ["soft-1"]
    assert found.forms["run5"] == found.forms["soft"]
    assert len(found.chosen["run6"]) == 12


def test_models_set_apart_vote_in_none_of_the_runs() -> None:
    german = corpus(items=60, asked=10)
    grid = (*QUICK, Entry("haem", "smart", {"low": 2}, variant="made-up", augmentations=("made-up",)))
    plain = [result(german, kind, seed, dev=["z"] * 60, test=["z"] * 10) for kind in KINDS for seed in (1, 2)]
    apart = [replace(result(german, "haem-smart", seed, right=60), variant="made-up") for seed in (1, 2)]
    combined = combine(german, grid, [*plain, *apart])
    right = {split: [f"{item.lemma}x" for item in items] for split, items in parts_of(german).items()}
    assert combined.forms["haem-smart+made-up"] == right
    assert combined.forms["vote"]["dev"] == ["z"] * 60
    assert {name for run in RUNS for name in combined.chosen[run.name]} <= {model.name for model in plain}
    assert "vote" not in combine(german, grid, plain).forms, "of all models there are to be"
    assert not {run.name for run in RUNS} & set(combine(german, grid[-1:], apart).chosen)


def test_entries_of_a_grid_have_settings_and_augmentations_of_their_own() -> None:
    own = replace(corpus(), alignment="none")
    grid = (
        Entry("haem", "smart", {"low": 1}),
        Entry("haem", "smart", {"low": 2}, variant="made-up", changes=("hidden=7",), augmentations=("made-up",)),
    )
    plain, *others = specs_of([own], grid, PRESETS, Preparation.of({}, ["smart"], ["made-up"]))
    assert (plain.kind, plain.lesson.augmentations, plain.settings) == ("haem-smart", (), PRESETS["low"]["haem"])
    assert [spec.name for spec in others] == [f"{own.label}-haem-smart+made-up-{seed}" for seed in (1, 2)]
    assert {spec.lesson.augmentations for spec in others} == {("made-up",)}
    assert {spec.settings.hidden for spec in others} == {7}
    assert len({spec.lesson.digest for spec in (plain, *others)}) == 3


def test_test_items_play_no_part_in_the_choice() -> None:
    own = corpus()
    models = [result(own, kind, seed, test=["?"] * 3) for kind in KINDS for seed in (1, 2)]
    others = [result(own, kind, seed) for kind in KINDS for seed in (1, 2)]
    assert combine(own, QUICK, models).chosen == combine(own, QUICK, others).chosen


def test_bundles_that_training_has_and_others_are_counted_apart() -> None:
    """Of five dev items two have a bundle of the training items, one of them spelt in another order."""
    bundles = ["V;PST", "PST;V", "V", "V;PST;PL", "N"]
    dev = tuple(Item(f"a{number}", Bundle(bundle), "x") for number, bundle in enumerate(bundles))
    own = Lesson((Item("c", Bundle("V;PST"), "cx"),), dev, (), "german", "low")
    plain = combine(own, QUICK, [])
    said = replace(plain, forms={"best": {"dev": ["x", "y", "x", "y", "x"], "test": []}})
    found = averages([(own, evaluations(said, ()))])["dev"]["low"]["best"]
    assert (found.seen, found.unseen) == (Part(50.0, 2), Part(66.67, 3))
    assert found.languages["german"].unseen == Part(66.67, 3)
    other = replace(own, language="welsh", dev=dev[:2])
    both = averages(
        [
            (own, evaluations(said, ())),
            (other, evaluations(replace(said, corpus=other, forms={"best": {"dev": ["x", "x"], "test": []}}), ())),
        ]
    )["dev"]["low"]["best"]
    assert both.languages["welsh"].unseen is None
    assert (both.seen, both.unseen) == (Part(75.0, 4), Part(66.67, 3))


def test_results_of_earlier_versions_are_read(tmp_path: Path) -> None:
    old = {"accuracy": 1.0, "levenshtein": 2.0, "languages": {"a": {"accuracy": 1.0, "levenshtein": 2.0}}}
    (tmp_path / "results.json").write_text(json.dumps({"dev": {"low": {"best": old | {"signature": "s"}}}}))
    assert read_scores(tmp_path)["dev"]["low"]["best"].unseen is None


def test_what_is_not_all_trained_is_not_there_yet() -> None:
    own = corpus()
    models = everyone(own, QUICK, RIGHT)
    found = combine(own, QUICK, [model for model in models if (model.system, model.seed) != ("haem", 2)])
    assert set(found.forms) == {"hacm-naive", "hacm-smart", "run1", "run2", "baseline"}
    assert set(combine(own, QUICK, []).forms) == {"baseline"}


def test_models_that_diverged_take_no_part() -> None:
    own = corpus()
    models = [model for model in everyone(own, QUICK, RIGHT) if model.system == "hacm"]
    models += [result(own, kind, seed, usable=False) for kind in ("haem-naive", "haem-smart") for seed in (1, 2)]
    found = combine(own, QUICK, models)
    assert set(found.forms) >= {"hacm-naive", "run1", "run5", "run6", "run7"}
    assert not {"haem-naive", "haem-smart", "run3", "run4"} & set(found.forms)
    assert all(name.startswith("hacm") for name in found.chosen["run6"])


def test_repeats_become_the_lemma_and_are_counted() -> None:
    own = corpus(items=2, asked=1)
    said: dict[tuple[str, int], tuple[list[str | None], list[str | None]]] = {
        ("hacm-naive", 1): (["a0x", "axxxx"], [None]),
        ("hacm-naive", 2): (["a0x", "axxxx"], ["b0x"]),
        ("hacm-smart", 1): (["", "axxxx"], ["b0x"]),
        ("hacm-smart", 2): (["a0x", "a1x"], ["b0x"]),
    }
    models = [result(own, kind, seed, dev=dev, test=test) for (kind, seed), (dev, test) in said.items()]
    found = combine(own, QUICK, models)
    assert found.forms["hacm-naive"] == {"dev": ["a0x", "a1"], "test": ["b0"]}
    # Of two models the better one's form: the first naive model's, which did not end; the second smart one's.
    voted = {("voted", "dev"): 1, ("voted", "test"): 1}
    assert found.changed["hacm"] == {("single", "dev"): 3, ("single", "test"): 1} | voted
    assert "haem" not in found.changed


def test_scores_are_macro_averages_of_the_official_ones() -> None:
    languages = [corpus("a"), corpus("b"), corpus("b", "high")]
    found = combined(QUICK, *languages, right=RIGHT)
    scores = score(found, {"b": gold()})
    assert scores["dev"]["low"]["haem-naive"].accuracy == 75.0
    assert scores["dev"]["low"]["haem-naive"].levenshtein == pytest.approx(0.25 * len("haem-naive1"), abs=0.01)
    assert set(scores["dev"]["low"]["run7"].languages) == {"a", "b"}
    assert set(scores["dev"]["high"]["run7"].languages) == {"b"}
    assert set(scores["test"]["low"]["run7"].languages) == {"b"}
    assert scores["test"]["low"]["haem-naive"].accuracy == 100.0
    assert score(found, {})["test"] == {}


def test_predictions_that_no_file_can_hold_are_refused_and_a_mark_is_kept(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="has a tab or line end in it"):
        write_forms(tmp_path, corpus(items=1), "run7", "dev", ["a\tb"])
    mark = "\ufeff"
    german = Lesson((Item("c", BUNDLE, "cx"),), (Item(f"{mark}a", BUNDLE, "b"),), (), "german", "low")
    written = finish(german, everyone(german, QUICK, RIGHT), (), grid=QUICK, folder=tmp_path)
    assert written.evaluations["dev"]["run7"].items == 1
    assert [item.lemma for item in read_items(tmp_path / "low" / "run7" / "german-dev")] == [f"{mark}a"]
