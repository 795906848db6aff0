"""Which file of one folder goes with which file of another: by name, or else by language."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from reinflect.errors import InputError, quoted

_SIZE = "(?:low|medium|high)"
_ENDING = re.compile(
    rf"[-.](?:(?:un)?covered[-.](?:dev|test|tst)|train[-.]{_SIZE}|{_SIZE}[-.](?:dev|test|out)|{_SIZE}"
    r"|dev|test|tst|train|trn|out)(?:\.(?:tsv|txt))?$"
)
_TRAINING = re.compile(rf"[-.](?:train(?:[-.]{_SIZE})?|trn)(?:\.(?:tsv|txt))?$")
_COVERED = re.compile(r"[-.]covered[-.](?:dev|test|tst)(?:\.(?:tsv|txt))?$")
_TEST = re.compile(r"[-.](?:test|tst)(?:\.(?:tsv|txt))?$")
_SHOWN = 8


class FilePair(NamedTuple):
    """The gold and the predictions of a language."""

    language: str
    gold: Path
    predicted: Path


def language_of(name: str) -> str:
    """`norwegian-bokmal` for `norwegian-bokmal-covered-test`; a name without such an ending is a language itself."""
    ending = _ENDING.search(name)
    return name[: ending.start()] if ending else re.sub(r"\.(?:tsv|txt)$", "", name)


def pair_folders(
    gold: Path, predicted: Path, languages: Sequence[str] | None = None
) -> tuple[list[FilePair], list[str]]:
    """A pair for every language of the gold (or for those asked for), and the languages that are only predicted."""
    golds, predictions = _files_by_language(gold), _files_by_language(predicted)
    wanted = sorted(golds) if languages is None else list(dict.fromkeys(languages))
    for language in wanted:
        if language not in golds:
            raise InputError(
                f"found no file for the language {quoted(language)}", f"this folder has {_some(golds)}", path=gold
            )
    absent = [language for language in wanted if language not in predictions]
    if absent:
        found = [language for language in wanted if language in predictions]
        remedy = f"score only some with --languages {','.join(found[:_SHOWN])}{',…'[: 2 * (len(found) > _SHOWN)]}"
        raise InputError(
            f"found no predictions for {len(absent)} of {len(wanted)} languages ({_some(absent)})",
            f"add them, or {remedy}" if found else f"name the files as in {gold}",
            path=predicted,
        )
    pairs = [_pair(language, golds[language], predictions[language]) for language in wanted]
    unknown = [] if languages is not None else sorted(set(predictions) - set(golds))
    return pairs, unknown


def _files_by_language(folder: Path) -> dict[str, list[Path]]:
    """Files without a known ending, such as a README, are passed over unless the folder has no others."""
    try:
        files = sorted(f for f in folder.iterdir() if f.is_file() and not f.name.startswith(".") and f.suffix != ".md")
    except PermissionError:
        raise InputError("this may not be read", "check the folder's permissions", path=folder) from None
    named = [file for file in files if _ENDING.search(file.name)] or files
    if not named:
        raise InputError("found no files in this folder", "name a folder with a file for each language", path=folder)
    by_language: defaultdict[str, list[Path]] = defaultdict(list)
    for file in named:
        by_language[language_of(file.name)].append(file)
    return dict(by_language)


def _pair(language: str, golds: list[Path], predictions: list[Path]) -> FilePair:
    by_name = {file.name: file for file in predictions}
    same = [FilePair(language, file, by_name[file.name]) for file in golds if file.name in by_name]
    # A covered file cannot be gold; it is left in only where nothing else is, and then reading it says so.
    same = [pair for pair in same if not _COVERED.search(pair.gold.name)] or same
    if len(same) > 1:
        raise _ambiguous(language, same[0].gold.parent, (pair.gold for pair in same), "in both folders")
    if same:
        return same[0]
    golds = _plausible_golds(golds)
    if len(golds) > 1:
        raise _ambiguous(language, golds[0].parent, golds, f"to score {predictions[0].name} against")
    if len(predictions) > 1:
        raise _ambiguous(language, predictions[0].parent, predictions, f"to score against {golds[0].name}")
    return FilePair(language, golds[0], predictions[0])


def _plausible_golds(files: list[Path]) -> list[Path]:
    """Without the training files, which nobody predicts under another name, and a covered file beside its answers."""
    plausible = [file for file in files if not _TRAINING.search(file.name)] or files
    uncovered = [file for file in plausible if not _COVERED.search(file.name)]
    return uncovered if any(_TEST.search(file.name) for file in uncovered) else plausible


def _ambiguous(language: str, folder: Path, files: Iterable[Path], purpose: str) -> InputError:
    names = [file.name for file in files]
    return InputError(
        f"found several files of {language} {purpose}: {_some(names)}",
        "leave one file per language, or give files of the same name in both folders",
        path=folder,
    )


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more
