"""Folders of languages."""

from pathlib import Path

import pytest

from reinflect.align.pairs import Naive
from reinflect.align.smart import Smart
from reinflect.data.items import COLUMNS_2017, COLUMNS_2023, Columns, Item, write_items
from reinflect.errors import InputError
from reinflect.learn.lesson import Lesson
from reinflect.paper.benchmark import read_gold
from reinflect.paper.corpora import languages_in, layout_note, read_corpora
from reinflect.run.driver import prepared
from reinflect.run.watch import Resources, Watcher
from reinflect.systems.kind import Kind
from tests.learn.tiny import language, spec_for

ITEMS = language("german")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("old-norse", "greek"):
        write_items(tmp_path / f"{name}-dev", ITEMS[:4])
        write_items(tmp_path / f"{name}-train-low", ITEMS[4:])
    write_items(tmp_path / "greek-train-high", ITEMS[4:])
    write_items(tmp_path / "greek-covered-test", ITEMS[:3])  # with their forms, which nobody may see
    write_items(tmp_path / "latin-train-low", ITEMS)  # without dev
    (tmp_path / "README.md").write_text("of this data")
    return tmp_path


def test_languages_have_something_to_learn_from_and_to_be_scored_on(folder: Path) -> None:
    assert languages_in(folder) == ["greek", "old-norse"]
    assert languages_in(folder, ["old-norse", "old-norse"]) == ["old-norse"]
    refused = [(folder, ["greak"], "did you mean greek"), (folder, ["zulu"], "there are greek, old-norse")]
    (empty := folder / "empty").mkdir()
    for path, wanted, complaint in (*refused, (folder / "no", None, "no such folder"), (empty, None, "no language")):
        with pytest.raises(InputError, match=complaint):
            languages_in(path, wanted)


def test_settings_a_language_does_not_have_are_named(folder: Path) -> None:
    corpora, absent = read_corpora(folder, ["greek", "old-norse"], ["low", "high"])
    assert [corpus.label for corpus in corpora] == ["greek-low", "old-norse-low", "greek-high"]
    assert absent == ["old-norse-high"]
    assert [len(corpus.asked) for corpus in corpora] == [3, 0, 3]
    assert all(item.covered for item in corpora[0].asked)
    assert read_corpora(folder, ["zulu"], ["low"]) == ([], ["zulu-low"])


TWO_LAYOUTS = [("xyz.trn xyz.dev xyz.covered.tst", COLUMNS_2023), ("xyz_small.train xyz.dev xyz.test", COLUMNS_2017)]


@pytest.mark.parametrize(("files", "columns"), TWO_LAYOUTS)
def test_files_without_sizes_have_the_setting_of_their_number(tmp_path: Path, files: str, columns: Columns) -> None:
    names = files.split()
    many = [Item(f"a{n}", item.features, item.form) for n in range(320) for item in ITEMS[:1]]
    for name, items in zip(names, (many, ITEMS, ITEMS[:3]), strict=True):
        write_items(tmp_path / name, items, columns)
    assert languages_in(tmp_path) == ["xyz"]
    (corpus,), absent = read_corpora(tmp_path, ["xyz"], ["low", "medium", "high"])
    assert (corpus.setting, absent, len(corpus.train), len(corpus.dev)) == ("medium", [], 320, len(ITEMS))
    assert [item.form for item in corpus.dev] == [item.form for item in ITEMS]
    assert [(item.lemma, item.form) for item in corpus.asked] == [(item.lemma, "") for item in ITEMS[:3]]
    assert read_corpora(tmp_path, ["xyz"], ["low"]) == ([], ["xyz-low"])
    note = f"data: xyz; files such as {', '.join(names)}; columns {', '.join(columns.order)}"
    assert layout_note(tmp_path, ["xyz"]) == note


def test_a_pair_of_2019_is_the_language_that_is_learnt(folder: Path) -> None:
    pair = folder / "greek--old-norse"
    pair.mkdir()
    for name in ("old-norse-train-low", "old-norse-dev"):
        (folder / name).rename(pair / name)
    assert languages_in(folder) == ["greek", "greek--old-norse"]
    ((corpus,), _) = read_corpora(folder, ["greek--old-norse"], ["low"])
    assert len(corpus.dev) == 4


def test_right_forms_of_test_items_are_found_by_their_endings(tmp_path: Path) -> None:
    for name in ("a.tst", "b.gold", "c-test", "d-uncovered-test", "e.dev"):
        write_items(tmp_path / name, ITEMS[:2])
    lessons = [Lesson((), (), (), name, "low") for name in "abcde"]
    assert sorted(read_gold(tmp_path, lessons)) == list("abcd")


def test_processes_align_as_this_one_does(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    aligners, watcher, steps = {"naive": Naive(), "smart": Smart()}, Watcher(), list[tuple[object, ...]]()
    monkeypatch.setattr(watcher, "working", lambda *step: steps.append(step))
    planned = [
        spec_for(corpus.for_kind(Kind("", method), aligners, 1), "soft" if method == "none" else "haem")
        for corpus in read_corpora(folder, ["greek", "old-norse"], ["low"])[0]
        for method in ("naive", "smart", "none")
    ]
    here = prepared(planned, Resources(watcher=watcher))
    assert steps == [("aligning all files", number, 6) for number in range(1, 7)]
    monkeypatch.setattr("reinflect.run.driver.WORTH_PROCESSES", 0)
    there = prepared(planned, Resources(workers=2, alignment_cache=tmp_path / "cache"))
    assert [spec.lesson.alignments for spec in here] == [spec.lesson.alignments for spec in there]
    assert [spec.digest for spec in there] == [spec.digest for spec in planned]
