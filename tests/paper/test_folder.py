"""The folder of a benchmark: one process at a time, and nothing left of those that were killed."""

import os
from pathlib import Path

import pytest

from reinflect.errors import OutputError
from reinflect.files import atomic_path
from reinflect.paper.folder import held


def test_a_folder_that_stays_empty_is_removed(tmp_path: Path) -> None:
    with held(tmp_path / "deep" / "out"):
        assert (tmp_path / "deep" / "out").is_dir()
    assert list(tmp_path.iterdir()) == []
    with held(tmp_path / "deep" / "out"):
        (tmp_path / "deep" / "out" / "results.md").touch()
    assert [path.name for path in (tmp_path / "deep" / "out").iterdir()] == ["results.md"]


def test_a_second_command_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    taken = rf"out: another command \(process {os.getpid()}\) is working on this; wait for it"
    with held(tmp_path / "out"):
        with pytest.raises(OutputError, match=taken), held(tmp_path / "out"):
            pytest.fail("two at once")
        with pytest.raises(OutputError, match=taken), held(tmp_path / "out"):
            pytest.fail("the first one's refusal took the lock away")


def test_unfinished_files_of_a_killed_command_are_removed_and_no_others(tmp_path: Path) -> None:
    left = [tmp_path / ".results.md.abcdefgh.part", tmp_path / "predictions" / "low" / ".x.abcd_123.part"]
    others = [tmp_path / "mine.part", tmp_path / "packs" / "a.pack.xz", tmp_path / ".results.md.part"]
    for path in (*left, *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with atomic_path(tmp_path / "packs" / "b.pack.xz") as being_written, held(tmp_path):
        assert not any(path.exists() for path in left)
        assert all(path.exists() for path in (*others, being_written))


@pytest.mark.parametrize(("name", "found"), [("packs", "a file, not a folder"), ("results.json/x", "a folder, not a")])
def test_what_would_prevent_writing_later_is_an_error_now(tmp_path: Path, name: str, found: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    with pytest.raises(OutputError, match=found), held(tmp_path):
        pytest.fail("it began")
