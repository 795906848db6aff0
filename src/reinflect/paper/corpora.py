"""A folder with files of many languages, named as in one of the shared tasks (`data/layouts.py`)."""

from collections.abc import Container, Mapping, Sequence
from itertools import product
from pathlib import Path

from reinflect.data.items import Item, check_lengths, order_in, read_items
from reinflect.data.layouts import SIZES, parts_in, some
from reinflect.errors import InputError, nearest, quoted
from reinflect.files import read_text
from reinflect.learn.lesson import Lesson
from reinflect.settings import preset_for

SETTINGS = SIZES
UNSIZED = ("small", "train", "large")
"""Training parts whose setting is that of their number of items."""


def settings_in(figures: Container[str]) -> list[str]:
    return [setting for setting in SETTINGS if setting in figures]


def title(language: str) -> str:
    return " ".join(part.capitalize() for part in language.split("-"))


def languages_in(folder: Path, wanted: Sequence[str] | None = None) -> list[str]:
    """The languages of a folder, or the wanted ones of them, in alphabetical order."""
    if not folder.is_dir():
        raise InputError("there is no such folder", "name a folder with files such as german-train-low", path=folder)
    trains = {*SETTINGS, *UNSIZED}
    parts = parts_in(folder).items()
    languages = sorted(name for name, files in parts if "dev" in files and trains & files.keys())
    if not languages:
        raise InputError(
            "found no language in this folder",
            "it needs files such as german-train-low (or medium, high) and german-dev, or deu.trn and deu.dev; "
            "`reinflect data split` makes them of one file",
            path=folder,
        )
    for language in wanted or ():
        if language not in languages:
            remedy = nearest(language, languages, f"there are {some(languages)}")
            raise InputError(f"found no files of the language {quoted(language)}", remedy, path=folder)
    return languages if wanted is None else sorted(set(wanted))


def layout_note(folder: Path, languages: Sequence[str]) -> str:
    """One sentence about the files that were found."""
    parts = parts_in(folder)[languages[0]]
    files = [parts[part].name for part in (*SETTINGS, *UNSIZED, "dev", "covered", "test") if part in parts]
    columns = ", ".join(order_in(read_text(parts["dev"]), parts["dev"]))
    many = f"{len(languages)} languages" if len(languages) > 1 else languages[0]
    return f"data: {many}; files such as {', '.join(files)}; columns {columns}"


def read_corpora(folder: Path, languages: Sequence[str], settings: Sequence[str]) -> tuple[list[Lesson], list[str]]:
    """Every language in every setting, setting by setting, and what is missing, such as `scottish-gaelic-high`."""
    parts, corpora, missing = parts_in(folder), [], []
    for setting, language in product(settings, languages):
        if corpus := _read(parts.get(language, {}), language, setting):
            corpora.append(corpus)
        else:
            missing.append((language, f"{language}-{setting}"))
    # A training file without a size in its name is in one setting only.
    unsized = {corpus.language for corpus in corpora if not parts[corpus.language].keys() & {*SETTINGS}}
    return corpora, [label for language, label in missing if language not in unsized]


def _read(files: Mapping[str, Path], language: str, setting: str) -> Lesson | None:
    """The items of a language, as a lesson not yet prepared; None if it has no training or dev items."""
    lines = {part: read_text(files[part]).split("\n") for part in UNSIZED if part in files}
    unsized = {preset_for(sum(bool(line.strip()) for line in text)): files[part] for part, text in lines.items()}
    train, covered = files.get(setting) or unsized.get(setting), files.get("covered") or files.get("test")
    if train is None or "dev" not in files:
        return None
    learnt, dev = read_items(train), read_items(files["dev"])
    test = read_items(covered, forms="ignored") if covered else []
    for path, items in ((train, learnt), (files["dev"], dev), (covered, test)):
        check_lengths(items, path, "models take", "shorten it or take it out")
    hidden = tuple(Item(item.lemma, item.features) for item in test)
    return Lesson(tuple(learnt), tuple(dev), hidden, language, setting)
