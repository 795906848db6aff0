"""How the shared tasks name their files, and which of them belong together."""

import random
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from reinflect.data.items import Item, grouped
from reinflect.errors import InputError, quoted

SIZES = ("low", "medium", "high")
By = Literal["lemma", "form"]
BYS = get_args(By)
MOST = {"trn": 10_000, "dev": 1_000, "tst": 1_000}
"""Items in the parts of a split, as in the shared task of 2023; smaller files are divided 8 : 1 : 1."""
SHOWN = 8

PARTS = {
    **{size: f"train-{size}" for size in SIZES},
    "small": "small-train",
    "large": "large-train",
    "train": "train trn",
    "dev": "dev uncovered-dev",
    "covered-dev": "covered-dev",
    "test": "test tst",
    "gold": "gold uncovered-test uncovered-tst",
    "covered": "covered-test covered-tst test-covered",
    "dev-out": "low-dev medium-dev high-dev",
    "test-out": "low-test medium-test high-test",
    "out": "out low medium high low-out medium-out high-out",
}
"""The parts, `out` being predictions, and how the names of their files end, after the language; a hyphen stands for a
hyphen, dot or underscore, as in `german-train-low`, `deu.covered.tst` and `deu_small.train`.

Files of a `test` part may have forms (2020, 2021, 2023) or none (2022).
"""
COVERED = ("covered", "covered-dev")
TRAINING = (*SIZES, "small", "large", "train")
SIDES = (("dev", "dev-out", "covered-dev"), ("test", "gold", "test-out", "covered"))
"""The parts of dev items, and of test items."""
_ENDINGS = {ending: part for part, endings in PARTS.items() for ending in endings.split()}
_NAME = re.compile(rf"(.+?)(?:[-._]({'|'.join(_ENDINGS).replace('-', '[-._]')}))?(?:\.tsv|\.txt)?")


def part_of(name: str) -> tuple[str, str]:
    """The language and the part of a file: `deu` and `train` for `deu.trn`; no part if its name has no known ending."""
    match = _NAME.fullmatch(name)
    language, ending = match.groups() if match else (name, None)
    return language, _ENDINGS[re.sub("[._]", "-", ending)] if ending else ""


def parts_in(folder: Path) -> dict[str, dict[str, Path]]:
    """The files of a folder, by language and part; those of 2019 are in folders `SOURCE--TARGET` of their own."""
    parts: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        language, part = part_of(path.name)
        target = path.name.partition("--")[2] if path.is_dir() else ""
        if target and (files := parts_in(path).get(target)):
            parts[path.name] = files
        elif part and not path.is_dir():
            parts.setdefault(language, {}).setdefault(part, path)
    return parts


class FilePair(NamedTuple):
    """The gold and the predictions of a language."""

    language: str
    gold: Path
    predicted: Path


def pair_folders(
    gold: Path, predicted: Path, languages: Sequence[str] | None = None
) -> tuple[list[FilePair], list[str]]:
    """A pair for every language of the gold (or every one in `languages`), and the predicted languages without gold.

    Files of the same name belong together, or else files of the same language.
    """
    golds, predictions = _files_by_language(gold), _files_by_language(predicted)
    wanted = sorted(golds) if languages is None else list(dict.fromkeys(languages))
    for language in wanted:
        if language not in golds:
            problem = f"found no file for the language {quoted(language)}"
            raise InputError(problem, f"this folder has {some(golds)}", path=gold)
    if absent := [language for language in wanted if language not in predictions]:
        others = [language for language in wanted if language in predictions]
        remedy = f"score only some with --languages {','.join(others[:SHOWN])}{',…'[: 2 * (len(others) > SHOWN)]}"
        remedy = f"add them, or {remedy}" if others else f"name the files as in {gold}"
        problem = f"found no predictions for {len(absent)} of {len(wanted)} languages ({some(absent)})"
        raise InputError(problem, remedy, path=predicted)
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
    named = [file for file in files if part_of(file.name)[1]]
    return grouped(named or files, lambda file: part_of(file.name)[0])


def _pair(language: str, golds: list[Path], predictions: list[Path]) -> FilePair:
    parts = {file: part_of(file.name)[1] for file in (*golds, *predictions)}

    def without(others: Collection[str], files: list[Path]) -> list[Path]:
        return [file for file in files if parts[file] not in others] or files

    by_name = {file.name: file for file in predictions}
    # A covered file cannot be gold; it is kept only if there is no other, and then reading it raises an error.
    if shared := without(COVERED, [file for file in golds if file.name in by_name]):
        golds, predictions, purpose = shared, [by_name[shared[0].name]], "in both folders"
    else:
        # Predictions for training files have the same names as those, and covered files have no forms.
        golds, purpose = without(TRAINING, golds), f"to score {predictions[0].name} against"
        uncovered = [file for file in golds if parts[file] not in COVERED]
        # Predictions of a benchmark are named LANGUAGE-dev and LANGUAGE-test, whatever the gold files are called.
        dev, test = ([[f for f in files if parts[f] in side] for files in (uncovered, predictions)] for side in SIDES)
        golds = uncovered if test[0] else golds
        if all(dev) != all(test):
            golds, predictions = dev if all(dev) else test
    for files, why in ((golds, purpose), (predictions, f"to score against {golds[0].name}")):
        if len(files) > 1:
            problem = f"found several files of {language} {why}: {some([file.name for file in files])}"
            remedy = "leave one file per language, or give files of the same name in both folders"
            raise InputError(problem, remedy, path=files[0].parent)
    return FilePair(language, golds[0], predictions[0])


def some(names: Collection[str]) -> str:
    """The first few names, and how many more there are."""
    return ", ".join(list(names)[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def split_items(items: Sequence[Item], by: By = "lemma", seed: int = 1) -> dict[str, list[Item]]:
    """Items drawn for training, dev and test, in the order of the file.

    By lemma, no lemma is in two of the parts; by form, no cell is.
    """
    groups = list(grouped(items, lambda item: (item.lemma, item.features.cell if by == "form" else ())).values())
    random.Random(seed).shuffle(groups)
    parts: dict[str, list[Item]] = {part: [] for part in MOST}
    for group in groups:
        short = (part for part in ("dev", "tst") if len(parts[part]) < min(len(items) / 10, MOST[part]))
        part = next(short, "trn")
        parts[part] += group[: MOST[part] - len(parts[part])]
    return {part: sorted(drawn, key=lambda item: item.line) for part, drawn in parts.items()}
