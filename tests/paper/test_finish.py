"""Languages one by one: their predictions, and processes that make them."""

from pathlib import Path

import pytest

from reinflect.data.items import Item, read_items, write_items
from reinflect.errors import OutputError, ReinflectError
from reinflect.learn.lesson import Lesson
from reinflect.paper.corpora import read_corpus
from reinflect.paper.finish import Work, finish_all, write_predictions
from reinflect.paper.grid import QUICK
from tests.paper.made_up import BUNDLE, combined, corpus, everyone

RIGHT = {"hacm-naive": 1, "hacm-smart": 2, "haem-naive": 3, "haem-smart": 2}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    write_items(folder / "german-train-low", [Item("c", BUNDLE, "cx")])
    write_items(folder / "german-dev", [Item(f"a{number}", BUNDLE, f"a{number}x") for number in range(4)])
    return folder


def german(data: Path) -> Work:
    own = read_corpus(data, "german", "low")
    assert own is not None
    return Work(own, everyone(own, QUICK, RIGHT), ())


def test_languages_are_finished_in_processes_as_here(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = [german(data), german(data)]
    found = finish_all(work, QUICK, tmp_path / "here", workers=2)
    monkeypatch.setattr("reinflect.paper.finish.WORTH_PROCESSES", 0)
    assert [*finish_all(work, QUICK, tmp_path / "there", workers=2).values()] == [*found.values()]
    for path in (tmp_path / "here").rglob("german-dev"):
        assert (tmp_path / "there" / path.relative_to(tmp_path / "here")).read_bytes() == path.read_bytes()


def test_errors_in_processes_reach_the_user(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reinflect.paper.finish.WORTH_PROCESSES", 0)
    (tmp_path / "low").touch()
    with pytest.raises(ReinflectError, match="could not be written"):
        finish_all([german(data), german(data)], QUICK, tmp_path, workers=2)


def test_predictions_that_no_file_can_hold_are_refused(tmp_path: Path) -> None:
    own = corpus()
    (found,) = combined(QUICK, own, right=RIGHT)
    found.forms["run7"]["dev"][1] = "a\tb"  # type: ignore[index]
    with pytest.raises(OutputError, match="has a tab or line end in it"):
        write_predictions(found, tmp_path)


def test_a_first_letter_that_looks_like_a_mark_is_kept(tmp_path: Path) -> None:
    bom = "\ufeff"
    own = Lesson((Item("c", BUNDLE, "cx"),), (Item(f"{bom}a", BUNDLE, "b"),), (), "german", "low")
    (found,) = combined(QUICK, own, right=RIGHT)
    write_predictions(found, tmp_path)
    assert [item.lemma for item in read_items(tmp_path / "low" / "run7" / "german-dev")] == [f"{bom}a"]
