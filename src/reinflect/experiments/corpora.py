"""A folder with files of many languages.

The names are those of the shared task: `LANGUAGE-train-SETTING`, `LANGUAGE-dev`, and perhaps `LANGUAGE-covered-test`.
"""

from collections.abc import Sequence
from pathlib import Path

from reinflect.data.items import Item, check_lengths, read_items
from reinflect.errors import InputError, quoted
from reinflect.text import nearest
from reinflect.training.lesson import Lesson

SETTINGS = ("low", "medium", "high")
SHOWN = 8


def languages_in(folder: Path, wanted: Sequence[str] | None = None) -> list[str]:
    """The languages of a folder, or the wanted ones of them, in alphabetical order."""
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
            "it needs files such as german-train-low (or medium, high) and german-dev",
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


def read_corpus(folder: Path, language: str, setting: str) -> Lesson | None:
    """The items of a language in a setting, as a lesson not yet prepared; None if there are no training items."""
    train, dev, covered = (folder / f"{language}-{kind}" for kind in (f"train-{setting}", "dev", "covered-test"))
    if not train.exists():
        return None
    asked = read_items(covered, forms="optional") if covered.exists() else []
    parts = [(train, read_items(train)), (dev, read_items(dev)), (covered, asked)]
    for path, items in parts:
        check_lengths(items, path, "models take", "shorten it or take it out")
    hidden = tuple(Item(item.lemma, item.features) for item in asked)
    return Lesson(tuple(parts[0][1]), tuple(parts[1][1]), hidden, language, setting)


def read_corpora(folder: Path, languages: Sequence[str], settings: Sequence[str]) -> tuple[list[Lesson], list[str]]:
    """Every language in every setting, setting by setting, and what is missing, such as `scottish-gaelic-high`."""
    read = {f"{name}-{size}": read_corpus(folder, name, size) for size in settings for name in languages}
    return [one for one in read.values() if one], [label for label, one in read.items() if one is None]
