"""Alignments are read back as they were made, and whatever is wrong with the folder, pairs are aligned."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.align.pairs import Alignment, Naive, Progress, StringPair, aligned, default_folder, key
from reinflect.align.smart import Smart

PAIRS = [("fliegen", "flog"), ("legen", "gelegt"), ("walk", "walked"), ("été", "e\u0301te\u0301"), ("x", "")]


class Counting:
    """An aligner that shifts every form by one place and counts its calls."""

    cached: ClassVar[bool] = True
    signature = "counting"

    def __init__(self) -> None:
        self.calls = 0

    def align(self, pairs: Sequence[StringPair], progress: Progress | None = None) -> list[Alignment]:
        self.calls += 1
        if progress:
            progress(len(pairs), len(pairs))
        return [shifted(lemma, form) for lemma, form in pairs]

    def align_more(
        self, _pairs: Sequence[StringPair], _alignments: Sequence[Alignment], more: Sequence[StringPair]
    ) -> list[Alignment]:
        return self.align(more)


def shifted(lemma: str, form: str) -> Alignment:
    """Deletes the first letter of the lemma, then pairs position by position."""
    (rest,) = Naive().align([(lemma[1:], form)])
    return ((lemma[:1], ""), *rest) if lemma else rest


SHIFTED = [shifted(*pair) for pair in PAIRS]


def only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


@given(st.lists(st.tuples(st.text(st.characters()), st.text(st.characters())), max_size=5))
def test_alignments_of_any_strings_are_read_back_from_a_new_folder(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[StringPair]
) -> None:
    folder, aligner = tmp_path_factory.mktemp("cache") / "new" / "folder", Counting()
    assert aligned(aligner, pairs, folder) == aligned(aligner, pairs, folder) == [shifted(*pair) for pair in pairs]
    assert aligner.calls == 1


def test_nothing_is_cached_of_a_fast_aligner_or_without_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path))
    assert aligned(Naive(), PAIRS, tmp_path) == Naive().align(PAIRS)
    aligner = Counting()
    assert aligned(aligner, PAIRS, None) == aligned(aligner, PAIRS, None) == SHIFTED
    assert aligner.calls == 2
    assert not list(tmp_path.iterdir())


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut": lambda content: content[:-1],
    "cut within the checksum": lambda content: content[:30],
    "longer": lambda content: content + b"2",
    "another line": lambda content: content + b"\n2",
    "one move changed": lambda content: content[:-1] + (b"0" if content[-1:] != b"0" else b"1"),
    "two moves swapped": lambda content: content.replace(b"\n12", b"\n21", 1),
    "not text": lambda content: content[:-1] + b"\xff",
    "foreign": lambda _: b"\x89PNG\r\n\x1a\n" * 100,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: str) -> None:
    aligner = Counting()
    aligned(aligner, PAIRS, tmp_path)
    path = only_file(tmp_path)
    content = path.read_bytes()
    path.write_bytes(DAMAGES[damage](content))
    assert path.read_bytes() != content
    assert aligned(aligner, PAIRS, tmp_path) == SHIFTED
    assert aligner.calls == 2
    assert only_file(tmp_path).read_bytes() == content


def test_a_file_of_other_pairs_under_this_name_is_rejected(tmp_path: Path) -> None:
    aligner, pairs = Smart(sweeps=0), [("ab", "ab"), ("ab", "b")]
    right = aligned(aligner, pairs, tmp_path)
    ours = only_file(tmp_path)
    aligned(Counting(), [("cd", "cd"), ("cd", "d")], tmp_path)
    (theirs,) = set(tmp_path.iterdir()) - {ours}
    ours.write_bytes(theirs.read_bytes())
    assert aligned(aligner, pairs, tmp_path) == right


def test_aligning_works_where_nothing_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    assert aligned(Counting(), PAIRS, tmp_path / "file" / "cache") == SHIFTED
    assert (tmp_path / "file").read_text() == "in the way"
    aligned(Counting(), PAIRS, tmp_path / "cache")
    path = only_file(tmp_path / "cache")
    path.unlink()
    path.mkdir()  # a folder in the place of the file
    assert aligned(Counting(), PAIRS, tmp_path / "cache") == SHIFTED
    monkeypatch.setattr(os, "access", lambda *_: False)  # a superuser ignores permissions
    assert aligned(Counting(), PAIRS, tmp_path / "other") == SHIFTED
    assert not list((tmp_path / "other").iterdir())


def test_an_interrupted_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", interrupt)
    with pytest.raises(KeyboardInterrupt):
        aligned(Counting(), PAIRS, tmp_path)
    assert not list(tmp_path.iterdir())


def test_everything_that_decides_the_alignment_changes_the_key() -> None:
    aligners = Smart(), Smart(seed=2), Smart(sweeps=149), Smart(alpha=0.2), Naive()
    letters = ("ab", "c"), ("a", "bc"), ("abc", ""), ("\U0001f600", "c"), ("\ud83d\ude00", "c")
    others = PAIRS[::-1], PAIRS[:-1], [*PAIRS, ("", "")], *([pair] for pair in letters)
    keys = [*(key(aligner, PAIRS) for aligner in aligners), *(key(Smart(), pairs) for pairs in others)]
    assert len(set(keys)) == len(keys)
    assert key(Smart(), list(PAIRS)) == keys[0]


def test_the_default_folder_is_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path))
    assert default_folder() == tmp_path / "alignments"
    monkeypatch.delenv("REINFLECT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert default_folder().parts[-2:] == ("reinflect", "alignments")
