"""Languages one by one: their predictions, and processes that make them."""

from collections.abc import Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from reinflect.data.items import Item, read_items, write_items
from reinflect.errors import OutputError, ReinflectError
from reinflect.execution.corpora import Corpus, read_corpus
from reinflect.execution.grid import QUICK
from reinflect.execution.side import side_processes
from reinflect.experiments.finish import Work, finish_all, write_predictions
from reinflect.training.lesson import Split
from tests.experiments.made_up import BUNDLE, combined, corpus, everyone

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


class Broken(Executor):
    """Processes that die of their work."""

    def map(self, *_: Any, **__: Any) -> Iterable[Any]:  # type: ignore[override]
        raise BrokenProcessPool


def test_where_processes_die_it_is_done_here(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reinflect.experiments.finish.WORTH_PROCESSES", 0)
    work = [german(data)]
    found = finish_all(work, QUICK, data, tmp_path / "broken", Broken())
    assert found == finish_all(work, QUICK, data, tmp_path / "here")
    for path in (tmp_path / "here").rglob("german-dev"):
        assert (tmp_path / "broken" / path.relative_to(tmp_path / "here")).read_bytes() == path.read_bytes()


def test_files_that_changed_are_said(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reinflect.experiments.finish.WORTH_PROCESSES", 0)
    work = [german(data)]
    write_items(data / "german-dev", [Item("other", BUNDLE, "others")])
    with ThreadPoolExecutor(1) as pool, pytest.raises(ReinflectError, match="files of german changed in the meantime"):
        finish_all(work, QUICK, data, tmp_path, pool)


def test_few_answers_are_not_worth_processes(data: Path, tmp_path: Path) -> None:
    with side_processes(2) as pool:
        assert pool is not None
        pool.shutdown()
        assert len(finish_all([german(data)], QUICK, data, tmp_path, pool)) == 1
    with side_processes(1) as pool:
        assert pool is None


def test_predictions_that_no_file_can_hold_are_refused(tmp_path: Path) -> None:
    own = corpus()
    (found,) = combined(QUICK, own, right=RIGHT)
    found.forms["run7"]["dev"][1] = "a\tb"  # type: ignore[index]
    with pytest.raises(OutputError, match="has a tab or line end in it"):
        write_predictions(found, tmp_path)


def test_a_first_letter_that_looks_like_a_mark_is_kept(tmp_path: Path) -> None:
    bom = "\ufeff"
    own = Corpus("german", "low", Split((Item("c", BUNDLE, "cx"),), (Item(f"{bom}a", BUNDLE, "b"),)))
    (found,) = combined(QUICK, own, right=RIGHT)
    write_predictions(found, tmp_path)
    assert [item.lemma for item in read_items(tmp_path / "low" / "run7" / "german-dev")] == [f"{bom}a"]
