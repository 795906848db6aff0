"""A folder with files of many languages, named as in one of the shared tasks (`data/layouts.py`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from reinflect.data.items import Item, check_lengths, order_in, read_items
from reinflect.data.layouts import SIZES, parts_in, some
from reinflect.errors import InputError, quoted
from reinflect.files import read_text
from reinflect.learn.lesson import Lesson
from reinflect.settings import preset_for
from reinflect.text import nearest

SETTINGS = SIZES
UNSIZED = ("small", "train", "large")
"""Training parts whose setting is that of their number of items."""


def languages_in(folder: Path, wanted: Sequence[str] | None = None) -> list[str]:
    """The languages of a folder, or the wanted ones of them, in alphabetical order."""
    if not folder.is_dir():
        raise InputError("there is no such folder", "name a folder with files such as german-train-low", path=folder)
    parts = parts_in(folder)
    found = sorted(language for language, own in parts.items() if "dev" in own and {*SETTINGS, *UNSIZED} & own.keys())
    if not found:
        raise InputError(
            "found no language in this folder",
            "it needs files such as german-train-low (or medium, high) and german-dev, or deu.trn and deu.dev; "
            "`reinflect data split` makes them of one file",
            path=folder,
        )
    for language in wanted or ():
        if language not in found:
            remedy = nearest(language, found, f"there are {some(found)}")
            raise InputError(f"found no files of the language {quoted(language)}", remedy, path=folder)
    return found if wanted is None else sorted(set(wanted))


def layout_note(folder: Path, languages: Sequence[str]) -> str:
    """One sentence about the files that were found."""
    parts = parts_in(folder)[languages[0]]
    files = [parts[part].name for part in (*SETTINGS, *UNSIZED, "dev", "covered", "test") if part in parts]
    columns = ", ".join(order_in(read_text(parts["dev"]), parts["dev"]))
    many = f"{len(languages)} languages" if len(languages) > 1 else languages[0]
    return f"data: {many}; files such as {', '.join(files)}; columns {columns}"


def read_corpus(folder: Path, language: str, setting: str) -> Lesson | None:
    """The items of a language in a setting, as a lesson not yet prepared; None if it has no training or dev items."""
    return _read(parts_in(folder).get(language, {}), language, setting)


def _read(files: Mapping[str, Path], language: str, setting: str) -> Lesson | None:
    unsized = {preset_for(_lines(files[part])): files[part] for part in UNSIZED if part in files}
    train = files.get(setting) or unsized.get(setting)
    if train is None or "dev" not in files:
        return None
    dev, covered = files["dev"], files.get("covered") or files.get("test")
    learnt, scored = read_items(train), read_items(dev)
    asked = read_items(covered, forms="ignored") if covered else []
    for path, items in ((train, learnt), (dev, scored), (covered, asked)):
        check_lengths(items, path, "models take", "shorten it or take it out")
    hidden = tuple(Item(item.lemma, item.features) for item in asked)
    return Lesson(tuple(learnt), tuple(scored), hidden, language, setting)


def _lines(path: Path) -> int:
    return sum(bool(line.strip()) for line in read_text(path).split("\n"))


def read_corpora(folder: Path, languages: Sequence[str], settings: Sequence[str]) -> tuple[list[Lesson], list[str]]:
    """Every language in every setting, setting by setting, and what is missing, such as `scottish-gaelic-high`."""
    parts = parts_in(folder)
    read = {(name, size): _read(parts[name], name, size) for size in settings for name in languages}
    found = [one for one in read.values() if one]
    # A training file without a size in its name is in one setting only.
    there = {one.language for one in found if not parts[one.language].keys() & {*SETTINGS}}
    return found, [f"{name}-{size}" for (name, size), one in read.items() if one is None and name not in there]
