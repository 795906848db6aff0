"""Comparisons of settings and of starts: what with what, on real models and by made-up figures; the test of pairs."""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from bench.ablate import Factor, Scored, Variant, factors, rows
from bench.pairs import compare_pairs, holm
from bench.start import ALONE, ISOLATES, groups
from hypothesis import given
from hypothesis import strategies as st

from bench import ablate, common, start
from reinflect.data.catalog import find
from reinflect.data.features import Bundle
from reinflect.data.items import Item, write_items
from reinflect.decode.search import Predictions
from reinflect.ensemble.strategies import Trained, Voter
from reinflect.errors import InputError
from reinflect.run.packs import by_key, read_results
from reinflect.settings import Settings
from reinflect.systems.haem import HaemSettings
from tests.learn.tiny import language, small
from tests.test_start import CHANGES, installed, languages

__all__ = ["installed", "languages"]
BOTH = {"hacm": small("hacm"), "haem": small("haem", dropout=0.3)}
TINY = "embedding=5 hidden=6 epochs=2 score_from=0 score_every=1 batch=2"


def test_one_setting_is_changed_at_a_time() -> None:
    varied = ["dropout=0,0.3", "haem.batch=4,2,8", "haem.dropout_on=encoder,encoder+state"]
    dropout, haem_dropout, batch, kinds = factors(varied, BOTH)
    bases = [f"{factor.system}.{factor.base}" for factor in (dropout, haem_dropout, batch)]
    assert bases == ["hacm.dropout=0", "haem.dropout=0.3", "haem.batch=2"]
    assert dropout.variants == {"dropout=0": small("hacm"), "dropout=0.3": small("hacm", dropout=0.3)}
    assert {(variant.batch, variant.dropout) for variant in batch.variants.values()} == {(4, 0.3), (2, 0.3), (8, 0.3)}
    places = [getattr(variant, "dropout_on", None) for variant in kinds.variants.values()]
    assert places == [("encoder",), ("encoder", "state")]
    (factor,) = factors(["hacm.step=0.5,0.1"], BOTH)
    assert factor.base == "step=0.5", "without the preset's value it is the first"


@pytest.mark.parametrize(
    ("varied", "complaint"),
    [
        (["dropout"], "key=a,b,c"),
        (["=1,2"], "key=a,b,c"),
        (["haem.dropout=0.3,0.30"], "fewer than two values"),
        (["dropout="], "fewer than two values"),
        (["soft.dropout=0.3,0.5"], "only hacm and haem would be trained"),
        (["dropuot=0.3,0.5"], "--vary: found the unknown setting 'dropuot'; did you mean dropout"),
        (["dropout=0.3,1.5"], "--vary: found dropout = '1.5', which does not fit"),
        (["dropout=0.3,0.4", "haem.dropout=0.1,0.2"], "'dropout' twice"),
    ],
)
def test_what_cannot_be_compared(varied: list[str], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        factors(varied, BOTH)


def command(monkeypatch: pytest.MonkeyPatch, *words: object) -> None:
    monkeypatch.setattr(sys, "argv", ["ablate", *map(str, words), "--set", *TINY.split()])
    ablate.main()


def test_variants_are_trained_compared_and_kept(
    two_languages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--data", two_languages, "--systems", "hacm", "--seeds", 2, "--vary", "dropout=0.4,0.8", "--out", tmp_path]
    execute = common.execute
    monkeypatch.setattr(
        ablate, "execute", lambda specs, *more: execute([s for s in specs if s.lesson.language == "german"], *more)
    )
    with pytest.raises(SystemExit):  # too few pairs in one language alone
        command(monkeypatch, *words, "--languages", "german", "--alignments", "naive")
    assert "2 pairs of models, which are too few" in capsys.readouterr().err
    command(monkeypatch, *words)
    assert "interrupted; languages compared: german\n" in capsys.readouterr().out
    monkeypatch.setattr(ablate, "execute", execute)
    command(monkeypatch, *words)
    header, base, other = capsys.readouterr().out.splitlines()
    assert header.split()[:8] == ["hacm", "E(naive)", "E(smart)", "MAX", "single", "epoch", "seconds", "difference"]
    assert (base.split()[0], base.split()[-1], other.split()[0]) == ("dropout=0.4", "base", "dropout=0.8")
    whole = json.loads((tmp_path / "ablation.json").read_text(encoding="utf-8"))
    accuracies: dict[float, dict[tuple[str, str, int], float]] = {0.4: {}, 0.8: {}}
    for model in whole["models"]:
        pair = model["language"], model["alignment"], model["seed"]
        accuracies[model["settings"]["dropout"]][pair] = model["accuracy"]
    assert len(accuracies[0.4]) == len(accuracies[0.8]) == 8
    differences = [accuracies[0.8][pair] - accuracy for pair, accuracy in accuracies[0.4].items()]
    assert whole["rows"][1]["against_base"]["difference"] == pytest.approx(fmean(differences), abs=0.01)
    assert f"{whole['rows'][1]['against_base']['difference']:+.2f}" in other


DEV = tuple(Item(f"w{number}", Bundle("V"), "x") for number in range(100))


def hallucinated(settings: Settings, accuracies: Mapping[tuple[str, str, int], float | None]) -> list[Scored]:
    models = []
    for (name, alignment, seed), accuracy in accuracies.items():
        right = round(accuracy or 0)
        dev = Predictions([*["x"] * right, *["y"] * (100 - right)], [0.0] * 100)
        facts: dict[str, Any] = {"system": "haem", "alignment": alignment, "seed": seed, "dev_accuracy": 0.0}
        model = Trained(**facts, key="", language=name, best_epoch=7, usable=accuracy is not None, dev=dev)
        voter = None if accuracy is None else Voter.of(model, DEV, {})
        models.append(Scored(model, settings, accuracy or 0.0, None, voter, 3.0))
    return models


def variants_of(gains: Mapping[str, float], seeds: int = 10) -> dict[str, Variant]:
    """Variants that are so much better than the base, give or take a bit of luck."""
    settings = {"base": HaemSettings()} | {name: HaemSettings(clip=number + 6) for number, name in enumerate(gains)}
    pairs = [(name, alignment, seed) for name in "ab" for alignment in ("naive", "smart") for seed in range(seeds)]
    models = hallucinated(HaemSettings(), dict.fromkeys(pairs, 50.0))
    for name, gain in gains.items():
        luck = {pair: (2.0, -2.0)[number % 2] * bool(gain) for number, pair in enumerate(pairs)}
        models += hallucinated(settings[name], {pair: 50.0 + gain + luck[pair] for pair in pairs})
    return {row.variant: row for row in rows([Factor("haem", "clip", settings, "base")], models)}


def test_verdicts() -> None:
    variants = variants_of({"up": 3.0, "down": -3.0, "none": 0.0, "chance": 0.1})
    verdicts = {name: row.verdict for name, row in variants.items()}
    assert verdicts == {"base": "base", "up": "better", "down": "worse", "none": "the same", "chance": "may be chance"}
    assert variants_of({"up": 3.0}, seeds=1)["up"].verdict == "too few pairs"
    assert variants_of({"up": 0.7})["up"].verdict == "better"
    many = {"up": 0.7} | {f"chance{number}": 0.05 + number / 1000 for number in range(30)}
    assert variants_of(many)["up"].verdict == "perhaps better", "the more is compared, the more it takes"


def test_models_that_diverged_count_as_nothing() -> None:
    factor = Factor("haem", "step", {"step=1": HaemSettings(), "step=90": HaemSettings(step=90)}, "step=1")
    pairs = [(name, "naive", seed) for name in "ab" for seed in range(3)]
    models = hallucinated(HaemSettings(), dict.fromkeys(pairs, 40.0))
    base, wild = rows([factor], models + hallucinated(HaemSettings(step=90), dict.fromkeys(pairs)))
    assert (base.single, base.best_vote, base.seconds) == (40, 40, 18)
    assert (wild.single, wild.best_vote, wild.votes, wild.verdict) == (0, 0, {"naive": 0}, "worse")
    assert wild.against_base
    assert wild.against_base.difference == -40


DIFFERENCES = st.lists(st.integers(-300, 300).map(lambda points: points / 100), min_size=1, max_size=3)


@given(groups=st.dictionaries(st.sampled_from("abcd"), DIFFERENCES, min_size=1))
def test_few_pairs_are_permuted_exhaustively(groups: dict[str, list[float]]) -> None:
    compared, observed = compare_pairs(groups), fmean(fmean(values) for values in groups.values())
    as_far = []
    for signs in product((1, -1), repeat=sum(map(len, groups.values()))):
        sign = iter(signs)
        turned = fmean(fmean(next(sign) * difference for difference in values) for values in groups.values())
        as_far.append(abs(turned) >= abs(observed) - 1e-9)
    assert compared.p_value == pytest.approx(fmean(as_far))
    assert compared.difference == pytest.approx(observed, abs=0.0051)


def test_many_pairs_are_permuted_at_random() -> None:
    chance = np.random.default_rng(5)
    groups = {name: list(chance.normal(shift, 1.0, 10)) for name, shift in (("a", 0.8), ("b", 0.0), ("c", 0.2))}
    compared, observed = compare_pairs(groups, resamples=20_000), fmean(map(fmean, groups.values()))
    signs = chance.choice([1, -1], (20_000, 3, 10))
    slow = np.abs((signs * list(groups.values())).mean(axis=(1, 2))) >= abs(observed)
    assert compared.p_value == pytest.approx(slow.mean(), abs=0.01)
    # The interval of three means of ten each, the spread being that within the groups.
    spread = sum(np.var(values) / 10 for values in groups.values()) ** 0.5 / 3
    expected = observed - 1.96 * spread, observed + 1.96 * spread
    assert (compared.low, compared.high) == pytest.approx(expected, abs=0.05)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_rejects_what_stepping_down_rejects(p_values: list[float]) -> None:
    level, rejected = 0.05, set()
    for rank, number in enumerate(sorted(range(len(p_values)), key=lambda number: p_values[number])):
        if p_values[number] * (len(p_values) - rank) >= level:
            break
        rejected.add(number)
    assert {number for number, p in enumerate(holm(p_values)) if p < level} == rejected
    assert holm([0.03, 0.01, 0.6, 0.015]) == pytest.approx([0.06, 0.04, 0.6, 0.045])


def test_the_families_of_the_benchmark_are_those_of_its_languages() -> None:
    assert groups().keys() == set(find("conll2017").languages)
    assert Counter(groups().values())["Slavic"] == 10
    assert {name for name, group in groups().items() if group == ISOLATES} >= {"basque", "haida", "turkish", "navajo"}
    assert {name for name, group in groups().items() if group == ALONE} >= {"albanian", "hungarian"}


def test_the_benchmark_compares_ways_to_start(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    for name in ("german", "greek", "turkish"):
        items = language(name)
        write_items(data / f"{name}-dev", items[::2])
        write_items(data / f"{name}-train-low", items[1::2])
    tiny = [*CHANGES, "epochs=2"]
    given = ["--data", data, "--models", installed, "--out", out, "--languages", "german", "--relatives", 1]
    more = ["--systems", "haem", "--alignments", "naive", "--seeds", 2, "--set", *tiny]
    monkeypatch.setattr("sys.argv", ["start", *map(str, given + more)])
    start.main()
    assert list(json.loads((out / "results.json").read_text(encoding="utf-8"))) == ["best-1"]
    assert len(by_key(read_results(out / "packs"))) == 2 * 2
    assert "Start: best-1" in capsys.readouterr().out
