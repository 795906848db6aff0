"""The page of a small benchmark."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import pytest
from click.testing import CliRunner

from reinflect.cli import main
from reinflect.data.features import Bundle
from reinflect.data.items import Item, write_items
from reinflect.errors import InputError
from reinflect.paper.page import Details, Language, benchmark_page, data_of, measured, read_languages, read_scores
from reinflect.run.packs import read_results
from tests.paper.made_up import corpus, result
from tests.report.pages import Page

ITEMS = 200
TINY = "embedding=5 hidden=6 history_hidden=4 epochs=3 patience=60 score_from=0 score_every=1".split()


def items(first: str, count: int) -> list[Item]:
    stems = [f"{first}{a}{b}" for a in "klmn" for b in "aeiou<&"]
    endings = [("V;PST", "te"), ("V;PRS", "t"), ("N;PL", "s")]
    return [Item(stem, Bundle(features), stem + end) for stem in stems for features, end in endings][:count]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder `data` with two languages, and the folder `out` of a benchmark on them."""
    place = tmp_path_factory.mktemp("benchmark")
    (place / "data").mkdir()
    for name, first in (("german", "b"), ("hebrew", "ש")):
        known = items(first, 64)
        write_items(place / "data" / f"{name}-dev", known[::2] + known[1::4])
        write_items(place / "data" / f"{name}-train-low", known[3::4])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("REINFLECT_CACHE", str(place / "cache"))
        line = "benchmark --data data --out out --grid quick --settings low --device cpu --workers 1".split()
        done = CliRunner().invoke(main, line + [word for change in TINY for word in ("--set", change)])
        assert done.exit_code == 0, done.output
        # The recorded command line is that of pytest.
        command = {"command": "reinflect benchmark --data data --out out", "seconds": {}}
        (place / "out" / "commands.jsonl").write_text(json.dumps(command) + "\n", encoding="utf-8")
        yield place


def languages_of(folder: Path, data: Path) -> list[Language]:
    return list(read_languages(folder, data, read_scores(folder), Details.read(folder)))


def test_the_page_has_all_sections(place: Path) -> None:
    page = Page(benchmark_page(place / "out", place / "data"))
    beginning = ["table-of-runs-dev", "claims-of-the-paper", "accuracy-by-language-dev", "learning-curves"]
    assert page.titles == [*beginning, "by-part-of-speech", "confidence", "languages-at-low"]
    results = json.loads((place / "out" / "results.json").read_text(encoding="utf-8"))["dev"]["low"]
    assert f"Run 7 at low, dev{results['run7']['accuracy']:.2f}" in page.text
    assert f"German: {results['run7']['languages']['german']['accuracy']:.1f}" in page.text
    assert f"{results['hacm-smart']['accuracy']:.2f}" in page.text
    assert "naive fails at low for Khaling" in page.text
    assert "models16" in page.text
    # Each language has 8 models and 4 means of kinds, all languages have 16 and 4; accuracies and losses.
    assert len(page.elements("polyline", "kind")) == 2 * (12 + 12 + 20)
    assert any(one.get("dir") == "rtl" for one in page.elements("table", "letters"))


def test_the_recorded_command_names_the_data(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_of(place / "out") == Path("data")
    monkeypatch.chdir(tmp_path)
    assert data_of(place / "out") is None
    assert data_of(tmp_path) is None
    truncated = b'{"seconds": {}}\nnothing\n{"command": "a \'"}\n' + b'{"command":' * 100_000
    (tmp_path / "commands.jsonl").write_bytes(truncated)
    assert data_of(tmp_path) is None
    (tmp_path / "commands.jsonl").write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        data_of(tmp_path)


def test_without_data_the_page_has_tables_and_curves(place: Path) -> None:
    page = Page(benchmark_page(place / "out", None))
    assert "name it with --dev" in page.text
    assert "learning-curves" in page.titles
    assert "by-part-of-speech" not in page.titles
    assert not page.elements("table", "letters")


def test_missing_parts_are_named_or_left_out(place: Path, tmp_path: Path) -> None:
    shutil.copy(place / "out" / "results.json", tmp_path)
    shutil.copytree(place / "out" / "packs", tmp_path / "packs")
    page = Page(benchmark_page(tmp_path, place / "data"))
    assert "the folder logs is missing or empty" in page.text
    assert page.titles == ["table-of-runs-dev", "accuracy-by-language-dev", "confidence", "languages-at-low"]


def test_models_of_other_settings_are_not_shown(place: Path, tmp_path: Path) -> None:
    """The folder may have packs of models that details.json does not name."""
    shutil.copytree(place / "out", tmp_path / "out")
    path = tmp_path / "out" / "details.json"
    details = json.loads(path.read_text(encoding="utf-8"))
    own = [one for one in read_results(tmp_path / "out" / "packs") if one.pack.startswith("german-low-hacm")]
    details["models"] = [model.key for one in own for model in one.models]
    path.write_text(json.dumps(details), encoding="utf-8")
    shown = languages_of(tmp_path / "out", place / "data")
    assert {each.name: bool(each.confidences) for each in shown} == {"german": True, "hebrew": False}
    logged = {each.name: {log.kind for log in each.logs} for each in shown}
    assert logged == {"german": {"hacm-naive", "hacm-smart"}, "hebrew": set()}
    del details["models"]  # as in older versions
    path.write_text(json.dumps(details), encoding="utf-8")
    assert all(len(one.logs) == 8 for one in languages_of(tmp_path / "out", place / "data"))


def test_packs_of_other_data_are_ignored(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "data", tmp_path / "data")
    write_items(tmp_path / "data" / "german-dev", items("b", 10))
    shown = languages_of(place / "out", tmp_path / "data")
    assert {one.name: bool(one.confidences) for one in shown} == {"german": False, "hebrew": True}


def test_folders_that_are_not_benchmarks(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no results.json in it; name a folder that reinflect benchmark wrote"):
        benchmark_page(tmp_path, None)
    bad = (b"\xff\xfe", b'{"claims":{"\xff":[]},"dev":3}', b'{"dev":' * 100_000)
    for name, contents in (("results", (b'{"dev": {"low": {"run7": {}}}}', *bad)), ("details", (b"[]", *bad))):
        for content in contents:
            (tmp_path / f"{name}.json").write_bytes(content)
            with pytest.raises(InputError, match=f"not the {name} of a benchmark"):
                benchmark_page(tmp_path, None)
        (tmp_path / f"{name}.json").write_text("{}", encoding="utf-8")


def forms(right: int) -> list[str]:
    """The first so many forms right, the others each model's own."""
    return [f"a{number}x" if number < right else f"a{number}-{right}" for number in range(ITEMS)]


def test_items_on_which_all_agree_are_surer() -> None:
    own = corpus(items=ITEMS)
    models = [result(own, "hacm-naive", seed, dev=forms(100 + seed), test=[""] * 3) for seed in (1, 2, 3)]
    found = measured(own, models)
    assert len(found) == ITEMS
    sure, unsure = ([confidence for confidence, right in found if right is good] for good in (True, False))
    assert fmean(sure) > 0.9
    assert fmean(unsure) < 0.1
    assert abs(fmean(right for _, right in found) - 0.515) < 0.011  # the better of the three decides, by half


def test_what_is_confidently_wrong_is_found_out() -> None:
    own = corpus(items=ITEMS)
    wrong = [f"a{number}{'x' if number % 2 else 'y'}" for number in range(ITEMS)]
    found = measured(own, [result(own, "haem-smart", seed, dev=wrong, test=[""] * 3) for seed in (1, 2)])
    assert all(0.35 < confidence < 0.65 for confidence, _ in found)
    few = corpus(items=30)
    assert measured(few, [result(few, right=15)]) == [], "too few items are not measured"
