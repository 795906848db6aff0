"""A folder with files of many languages: what there is in it, read and aligned.

The names are those of the shared task: `LANGUAGE-train-SETTING`, `LANGUAGE-dev`, and perhaps `LANGUAGE-covered-test`.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from reinflect.alignment.pairs import Alignment
from reinflect.data.items import Item, check_lengths, read_items
from reinflect.errors import InputError, quoted
from reinflect.execution.side import side_processes
from reinflect.text import nearest
from reinflect.training.lesson import Lesson, Split, lessons

SETTINGS = ("low", "medium", "high")
SHOWN = 8
WORTH_PROCESSES = 20_000
"""Items to align the smart way, which take some seconds: as long as processes take to start."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """The items of one language in one setting."""

    language: str
    setting: str
    split: Split
    """Covered test items, where there are any, are those it asks besides dev."""

    @classmethod
    def of(cls, lesson: Lesson) -> "Corpus":
        """What a lesson was made of, by its label."""
        language, _, setting = lesson.label.rpartition("-")
        return cls(language, setting, lesson.split)

    @property
    def label(self) -> str:
        return f"{self.language}-{self.setting}"

    @cached_property
    def digest(self) -> str:
        """A mark of all its items."""
        mark = hashlib.sha256()
        for items in (self.split.train, self.split.dev, self.split.asked):
            lines = "".join(f"{item.lemma}\t{item.form}\t{item.features.spelling}\n" for item in items)
            mark.update(f"{len(items)}\n{lines}".encode("utf-8", "surrogatepass"))
        return mark.hexdigest()


def languages_in(folder: Path, wanted: Sequence[str] | None = None) -> list[str]:
    """The languages of a folder, or those of them that are wanted; the alphabet's order."""
    if not folder.is_dir():
        raise InputError("there is no such folder", "name a folder with files such as german-train-low", path=folder)
    names = {file.name for file in folder.iterdir() if file.is_file()}
    found = sorted(
        {
            language
            for name in names
            for setting in SETTINGS
            if (language := name.removesuffix(f"-train-{setting}")) != name and f"{language}-dev" in names
        }
    )
    if not found:
        raise InputError(
            "found no language in this folder",
            "it needs files named as german-train-low (or medium, high) and german-dev",
            path=folder,
        )
    for language in wanted or ():
        if language not in found:
            some = ", ".join(found[:SHOWN]) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else "")
            raise InputError(
                f"found no files of the language {quoted(language)}",
                nearest(language, found, f"there are {some}"),
                path=folder,
            )
    return found if wanted is None else sorted(set(wanted))


def read_corpus(folder: Path, language: str, setting: str) -> Corpus | None:
    """What there is of a language in a setting; None where there is nothing to learn from."""
    train, dev, covered = (folder / f"{language}-{kind}" for kind in (f"train-{setting}", "dev", "covered-test"))
    if not train.exists():
        return None
    asked = read_items(covered, forms="optional") if covered.exists() else []
    parts = [(train, read_items(train)), (dev, read_items(dev)), (covered, asked)]
    for path, items in parts:
        check_lengths(items, path, "models take", "shorten it or take it out")
    hidden = tuple(Item(item.lemma, item.features) for item in asked)
    return Corpus(language, setting, Split(tuple(parts[0][1]), tuple(parts[1][1]), hidden))


def read_corpora(folder: Path, languages: Sequence[str], settings: Sequence[str]) -> tuple[list[Corpus], list[str]]:
    """Every language in every setting, setting by setting, and what is not there, such as `scottish-gaelic-high`."""
    found, absent = [], []
    for setting in settings:
        for language in languages:
            corpus = read_corpus(folder, language, setting)
            if corpus is None:
                absent.append(f"{language}-{setting}")
            else:
                found.append(corpus)
    return found, absent


def align_corpora(
    corpora: Iterable[tuple[Corpus, str]],
    *,
    cache: Path | None = None,
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Mapping[tuple[str, str], Lesson]:
    """The lessons of corpora, each with its alignment method; by label and method. The largest are aligned first.

    Other processes do it if there are to be several; `progress` is told how many of how many are done.
    """
    work = sorted(dict.fromkeys(corpora), key=lambda one: -len(one[0].split.train))
    plain = [(Split(corpus.split.train, ()), method) for corpus, method in work]
    align = partial(_alignments, cache=cache)
    made: dict[tuple[str, str], Lesson] = {}

    def collect(found: Iterable[tuple[Alignment, ...]]) -> None:
        for number, ((corpus, method), alignments) in enumerate(zip(work, found, strict=True), start=1):
            made[corpus.label, method] = Lesson(method, corpus.split, alignments, corpus.label)
            progress(number, len(work))

    alone = sum(len(split.train) for split, method in plain if method == "smart") < WORTH_PROCESSES
    with side_processes(1 if alone else min(workers, len(work))) as pool:
        try:
            collect((pool.map if pool else map)(align, plain))
        except BrokenProcessPool:  # as when there is too little memory for all of them
            collect(map(align, plain))
    return made


def _alignments(work: tuple[Split, str], cache: Path | None) -> tuple[Alignment, ...]:
    split, method = work
    return lessons([split], [method], cache=cache)[method][0].alignments
