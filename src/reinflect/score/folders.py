"""Pairs of files in two folders: files of the same name, or else of the same language."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from reinflect.data.items import grouped
from reinflect.errors import InputError, quoted

_SIZE = "(?:low|medium|high)"
_SUFFIX = r"(?:\.(?:tsv|txt))?$"
_ENDING = re.compile(
    rf"[-.](?:(?:un)?covered[-.](?:dev|test|tst)|test-covered|train[-.]{_SIZE}|{_SIZE}[-.](?:dev|test|out)|{_SIZE}"
    rf"|dev|test|tst|gold|train|trn|out){_SUFFIX}|_(?:small|large)\.train{_SUFFIX}"
)
_TRAINING = re.compile(rf"[-.](?:train(?:[-.]{_SIZE})?|trn){_SUFFIX}")
_COVERED = re.compile(rf"[-.]covered[-.](?:dev|test|tst){_SUFFIX}|-test-covered{_SUFFIX}")
_TEST = re.compile(rf"[-.](?:test|tst|gold){_SUFFIX}")
_PARTS = (re.compile(rf"[-.]dev{_SUFFIX}"), _TEST)
_SHOWN = 8


class FilePair(NamedTuple):
    """The gold and the predictions of a language."""

    language: str
    gold: Path
    predicted: Path


def language_of(name: str) -> str:
    """`norwegian-bokmal` for `norwegian-bokmal-covered-test`; a name without such an ending is itself a language."""
    ending = _ENDING.search(name)
    return name[: ending.start()] if ending else re.sub(r"\.(?:tsv|txt)$", "", name)


def pair_folders(
    gold: Path, predicted: Path, languages: Sequence[str] | None = None
) -> tuple[list[FilePair], list[str]]:
    """A pair for every language of the gold (or every one in `languages`), and the predicted languages without gold."""
    golds, predictions = _files_by_language(gold), _files_by_language(predicted)
    wanted = sorted(golds) if languages is None else list(dict.fromkeys(languages))
    for language in wanted:
        if language not in golds:
            remedy = f"this folder has {some(golds)}"
            raise InputError(f"found no file for the language {quoted(language)}", remedy, path=gold)
    if absent := [language for language in wanted if language not in predictions]:
        found = [language for language in wanted if language in predictions]
        remedy = f"score only some with --languages {','.join(found[:_SHOWN])}{',…'[: 2 * (len(found) > _SHOWN)]}"
        raise InputError(
            f"found no predictions for {len(absent)} of {len(wanted)} languages ({some(absent)})",
            f"add them, or {remedy}" if found else f"name the files as in {gold}",
            path=predicted,
        )
    pairs = [_pair(language, golds[language], predictions[language]) for language in wanted]
    return pairs, [] if languages is not None else sorted(set(predictions) - set(golds))


def _files_by_language(folder: Path) -> dict[str, list[Path]]:
    """Files without a known ending, such as a README, are ignored unless the folder has no others."""
    try:
        files = sorted(f for f in folder.iterdir() if f.is_file() and not f.name.startswith(".") and f.suffix != ".md")
    except PermissionError:
        raise InputError("reading is not permitted", "check the folder's permissions", path=folder) from None
    if not files:
        raise InputError("found no files in this folder", "name a folder with a file for each language", path=folder)
    known = [file for file in files if _ENDING.search(file.name)]
    return grouped(known or files, lambda file: language_of(file.name))


def _pair(language: str, golds: list[Path], predictions: list[Path]) -> FilePair:
    by_name = {file.name: file for file in predictions}
    # A covered file cannot be gold; it is kept only if there is no other, and then reading it raises an error.
    if shared := _without(_COVERED, [file for file in golds if file.name in by_name]):
        golds, predictions, purpose = shared, [by_name[shared[0].name]], "in both folders"
    else:
        # Predictions for training files have the same names as those, and covered files have no forms.
        golds, purpose = _without(_TRAINING, golds), f"to score {predictions[0].name} against"
        uncovered = [file for file in golds if not _COVERED.search(file.name)]
        if any(_TEST.search(file.name) for file in uncovered):
            golds = uncovered
        # Predictions of a benchmark are named LANGUAGE-dev and LANGUAGE-test, whatever the gold files are called.
        sides = [
            [[file for file in own if part.search(file.name)] for own in (uncovered, predictions)] for part in _PARTS
        ]
        if len(both := [side for side in sides if all(side)]) == 1:
            golds, predictions = both[0]
    for files, why in ((golds, purpose), (predictions, f"to score against {golds[0].name}")):
        if len(files) > 1:
            found = f"found several files of {language} {why}: {some([file.name for file in files])}"
            remedy = "leave one file per language, or give files of the same name in both folders"
            raise InputError(found, remedy, path=files[0].parent)
    return FilePair(language, golds[0], predictions[0])


def _without(pattern: re.Pattern[str], files: list[Path]) -> list[Path]:
    return [file for file in files if not pattern.search(file.name)] or files


def some(names: Collection[str]) -> str:
    """The first few of these names, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(list(names)[:_SHOWN]) + more
