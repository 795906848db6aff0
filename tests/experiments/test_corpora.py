"""Folders of languages."""

from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from reinflect.data.items import Item, write_items
from reinflect.errors import InputError
from reinflect.execution.corpora import align_corpora, languages_in, read_corpora, read_corpus
from tests.training.tiny import language

ITEMS = language("german")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("old-norse", "greek"):
        write_items(tmp_path / f"{name}-dev", ITEMS[:4])
        write_items(tmp_path / f"{name}-train-low", ITEMS[4:])
    write_items(tmp_path / "greek-train-high", ITEMS[4:])
    write_items(tmp_path / "greek-covered-test", [Item(item.lemma, item.features) for item in ITEMS[:3]])
    write_items(tmp_path / "latin-train-low", ITEMS)  # without dev
    (tmp_path / "README.md").write_text("of this data")
    return tmp_path


def test_languages_have_something_to_learn_from_and_to_be_scored_on(folder: Path) -> None:
    assert languages_in(folder) == ["greek", "old-norse"]
    assert languages_in(folder, ["old-norse", "old-norse"]) == ["old-norse"]


@pytest.mark.parametrize(
    ("wanted", "remedy"), [("greak", "did you mean greek"), ("zulu", "there are greek, old-norse")]
)
def test_other_languages_are_refused(folder: Path, wanted: str, remedy: str) -> None:
    with pytest.raises(InputError, match=remedy):
        languages_in(folder, [wanted])


def test_where_processes_die_it_is_aligned_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Dying(Executor):
        def map(self, work: Any, given: Any, **_: Any) -> Any:  # type: ignore[override]
            yield work(given[0])
            raise BrokenProcessPool

    corpora, _ = read_corpora(folder, ["greek", "old-norse"], ["low"])
    work = [(corpus, method) for corpus in corpora for method in ("naive", "smart")]
    usual = align_corpora(work)
    monkeypatch.setattr("reinflect.execution.corpora.WORTH_PROCESSES", 0)
    monkeypatch.setattr("reinflect.execution.corpora.side_processes", lambda _: nullcontext(Dying()))
    found = align_corpora(work, workers=2)
    assert {place: one.alignments for place, one in found.items()} == {
        place: one.alignments for place, one in usual.items()
    }


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        languages_in(tmp_path / "nowhere")
    with pytest.raises(InputError, match="found no language"):
        languages_in(tmp_path)


def test_settings_a_language_does_not_have_are_named(folder: Path) -> None:
    found, absent = read_corpora(folder, ["greek", "old-norse"], ["low", "high"])
    assert [corpus.label for corpus in found] == ["greek-low", "old-norse-low", "greek-high"]
    assert absent == ["old-norse-high"]
    assert [len(corpus.split.asked) for corpus in found] == [3, 0, 3]
    assert read_corpus(folder, "greek", "medium") is None


def test_nobody_sees_the_right_forms_of_test_items(folder: Path) -> None:
    write_items(folder / "greek-covered-test", ITEMS[:3])
    corpus = read_corpus(folder, "greek", "low")
    assert corpus is not None
    assert all(item.covered for item in corpus.split.asked)


def test_processes_align_as_this_one_does(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpora, _ = read_corpora(folder, ["greek", "old-norse"], ["low"])
    work = [(corpus, method) for corpus in corpora for method in ("naive", "smart", "none")]
    said: list[tuple[int, int]] = []
    here = align_corpora(work, progress=lambda done, every: said.append((done, every)))
    assert said == [(number, 6) for number in range(1, 7)]
    monkeypatch.setattr("reinflect.execution.corpora.WORTH_PROCESSES", 0)
    there = align_corpora(work, workers=2, cache=tmp_path / "cache")
    assert {place: lesson.alignments for place, lesson in here.items()} == {
        place: lesson.alignments for place, lesson in there.items()
    }
    assert all(lesson.split is corpus.split for corpus, method in work for lesson in [there[corpus.label, method]])
