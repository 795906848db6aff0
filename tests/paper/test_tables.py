"""The page of results, the figure, and whether the paper's claims hold."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from reinflect.paper import published
from reinflect.paper.combine import Average, Figures
from reinflect.paper.grid import PAPER, QUICK
from reinflect.paper.page import languages_chart
from reinflect.paper.tables import COLUMNS, language_table, languages_note, main_table, markdown, page
from reinflect.report.drawing import svg_file
from tests.paper.made_up import combined, corpus, gold, macro, pack, result, score

GOLDEN = Path(__file__).parents[1] / "golden" / "benchmark.md"
RIGHT = {"hacm-naive": 1, "hacm-smart": 2, "haem-naive": 3, "haem-smart": 2}


def test_the_whole_page() -> None:
    languages = [corpus("turkish"), corpus("scottish-gaelic"), corpus("turkish", "high")]
    systems = combined(QUICK, *languages, right=RIGHT, gold={"turkish": gold()})
    changed = [(lesson.setting, {"hacm": each.changed["hacm"]}) for lesson, each in systems.items()]
    models = [replace(result(lesson, seed=n), dev_accuracy=30.0 * n) for lesson in languages for n in (1, 2)]
    models[0] = replace(models[0], dev_accuracy=-1.0)  # it diverged
    text = page(
        score(systems),
        about=["data: made up; grid: quick"],
        changed=changed,
        results=[pack(*models[:3], seconds=3), pack(*models[3:], seconds=60)],
    )
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_columns_are_in_line_in_the_source() -> None:
    text = markdown([("a", "b"), ("one", "1"), ("three", "1000")], words=1)
    assert text == "| a     |    b |\n| ---   |  --: |\n| one   |    1 |\n| three | 1000 |\n"


def test_the_papers_figures_stand_beside_ours() -> None:
    figures = {"high": {"run7": macro(german=95.7), "soft": macro(german=93.0), "soft+deep": macro(german=96.0)}}
    assert main_table(figures, "dev") == [
        ["dev", "", "soft", "Run 7", "Run 7 Lev", "soft+deep"],
        ["high", "ours", "93.00", "95.70", "0.04", "96.00"],
        ["", "paper", "–", "95.6", "0.1", "–"],
        ["", "difference", "–", "+0.10", "-0.06", "–"],
    ]


def test_languages_that_the_paper_has_not_stand_alone() -> None:
    figures = {"low": {"run7": macro(german=50.0, adyghe=70.0), "best": macro(german=52.0)}}
    assert main_table(figures, "dev")[1:] == [["low", "ours", "60.00", "0.40", "52.00"]]
    assert languages_note(figures) == "Languages averaged: 1 to 2 (low).\n"
    assert language_table(figures, "low") == [
        ["language", "run7", "best"],
        ["Adyghe", "70.00", "–"],
        ["German", "50.00", "52.00"],
    ]
    assert "## Claims" not in page({"dev": figures}, about=[], changed=[], results=[])


@pytest.mark.parametrize(
    ("setting", "ours", "following"), [("low", 50.6, 46.6), ("medium", 82.8, 82.6), ("high", 95.1, 95.3)]
)
def test_the_published_languages_average_to_the_published_averages(setting: str, ours: float, following: float) -> None:
    pairs = [pair for name in LANGUAGES if (pair := published.of_language(name, setting))]
    assert len(pairs) == (51 if setting == "high" else 52)
    for figures, average in zip(zip(*pairs, strict=True), (ours, following), strict=True):
        assert sum(figures) / len(figures) == pytest.approx(average, abs=0.05)
    assert published.average("accuracy", "test", setting, "run7") == ours


LANGUAGES = list(published.numbers()["languages"])


def test_published_figures_are_those_of_the_shared_file(conll2017: Path) -> None:
    lines = (conll2017.parents[1] / "published" / "per-language-test.csv").read_text().splitlines()
    names = lines[0].split(",")
    columns = {"low": "low_LMU-2", "medium": "med_LMU-2", "high": "high_UE-LMU-1"}
    for line in lines[1:]:
        row = dict(zip(names, line.split(","), strict=True))
        for setting, second in columns.items():
            first = f"{second.partition('_')[0]}_Run7"
            expected = (float(row[first]), float(row[second])) if row[first] and row[second] else None
            assert published.of_language(row["lang"], setting) == expected


def test_the_figure_shows_every_language_best_first() -> None:
    figures = {
        "low": {"run7": macro(turkish=40.0, navajo=20.0, elvish=30.0)},
        "high": {"run7": macro(turkish=90.0, navajo=95.0), "run1": macro(klingon=99.0)},
    }
    chart = languages_chart(figures, "dev")
    assert chart is not None
    text = svg_file(chart)
    ElementTree.fromstring(text)
    for piece in ("Run 7, ours (dev), mean 30.0", "next best, UE-LMU-1", "Elvish, Run 7, ours (dev): 30.0"):
        assert piece in text
    low, high = text.split("At high")
    assert low.index(">Turkish<") < low.index(">Elvish<") < low.index(">Navajo<")
    assert high.index(">Navajo<") < high.index(">Turkish<")
    assert "Klingon" not in text
    assert languages_chart({"low": {"run1": macro(a=1.0)}}, "dev") is None


def test_the_grid_has_a_column_for_all_it_trains() -> None:
    header = " ".join(name for name, _, _ in COLUMNS)
    for entry in PAPER:
        title = entry.system if entry.alignment == "none" else f"{entry.system.upper()} {entry.alignment[0].upper()}"
        assert title in header


def one_language(name: str, naive: float, smart: float, setting: str = "low") -> dict[str, dict[str, Average]]:
    accuracies = {"naive": macro(**{name: naive}), "smart": macro(**{name: smart})}
    kinds = ((system, alignment) for system in ("hacm", "haem") for alignment in accuracies)
    return {setting: {f"{system}-{alignment}": accuracies[alignment] for system, alignment in kinds}}


def test_without_figures_nothing_is_checked() -> None:
    assert [(claim.held, claim.evidence) for claim in published.claims({})] == [(None, "")] * 12


WINS, FAILS = "naive is consistently better than smart for Norwegian Nynorsk", "naive fails at low for Navajo"
ABOVE, BELOW = "HAEM is above HACM at low, by some 2 points or more", "HAEM is below HACM at high"
GAIN = "the gain from ensembling is largest at low"


def runs(first: float, second: float) -> Figures:
    both = {"run1": macro(a=first), "run3": macro(a=second)}
    return {"low": both, "high": both}


def gains(*points: float) -> Figures:
    return {
        setting: {"run1": macro(a=50.0), "run3": macro(a=40.0), "run7": macro(a=50.0 + gain)}
        for setting, gain in zip(("low", "medium", "high"), points, strict=True)
    }


@pytest.mark.parametrize(
    ("text", "figures", "expected"),
    [
        (WINS, one_language("norwegian_nynorsk", 50.1, 50.0), True),
        (WINS, one_language("norwegian_nynorsk", 50.0, 50.0), False),
        (WINS, one_language("turkish", 50.0, 50.0), None),
        (WINS, one_language("norwegian_nynorsk", 50, 40) | one_language("norwegian_nynorsk", 90, 91, "high"), False),
        (FAILS, one_language("navajo", 10.0, 15.0), True),
        (FAILS, one_language("navajo", 10.0, 14.9), False),
        (ABOVE, runs(46.5, 48.9), True),
        (ABOVE, runs(46.5, 47.9), False),
        (ABOVE, {"low": {"run1": macro(a=50.0), "run3": macro(a=53.0, b=1.0)}}, True),  # b is not compared
        (BELOW, runs(95.0, 89.8), True),
        (BELOW, runs(95.0, 95.0), False),
        (GAIN, gains(3, 2, 1), True),
        (GAIN, gains(2, 3, 1), False),
        (GAIN, gains(2, 1, 2), False),
    ],
)
def test_claims(text: str, figures: Figures, expected: bool | None) -> None:
    assert {claim.text: claim.held for claim in published.claims(figures)}[text] is expected
