"""Pocket models: small models of many languages, named by their language, in a folder with an index."""

import hashlib
import json
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import msgspec

from reinflect.errors import InputError, nearest, quoted
from reinflect.files import STANDARD, make_folder, read_bytes, write_bytes, write_text

if TYPE_CHECKING:
    from reinflect.data.items import Item
    from reinflect.inflector.inflector import Inflector

PACKAGE, VARIABLE = "reinflect_models", "REINFLECT_MODELS"
"""Where the models are: an installed package, or the folder that this variable of the environment names."""
INSTALL = "pip install --upgrade reinflect-models"
AGAIN = f"install the pocket models again: {INSTALL} --force-reinstall"
INDEX, ENDING = "index.json", ".reinflect"
NAME = "[a-z0-9]+(-[a-z0-9]+)*"


class PocketModel(msgspec.Struct, frozen=True):
    """A model in the index."""

    file: Annotated[str, msgspec.Meta(pattern=rf"^{NAME}\{ENDING}$")]
    size: int
    accuracy: float
    """Of the model alone, in per cent: on lemmas that it did not learn from; on dev items without a dictionary."""
    items: int
    """Those that it learnt from."""
    date: str
    sha256: str
    lemmas: int = 0
    cells: int = 0
    """Of its dictionary; 0 without one, as in the models of 0.2."""
    text: float | None = None
    """The share of the words of running text that it inflects as they are there, in per cent; None where no text is."""


def models_folder() -> Path | None:
    """The folder of pocket models; None if they are not installed."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    package = find_spec(PACKAGE)
    return Path(package.origin).parent if package and package.origin else None


def pocket_models() -> dict[str, Path]:
    """The file of each installed pocket model, by language."""
    folder = models_folder()
    return {} if folder is None else {name: folder / model.file for name, model in read_index(folder).items()}


def read_index(folder: Path) -> dict[str, PocketModel]:
    try:
        return msgspec.json.decode(read_bytes(folder / INDEX), type=dict[str, PocketModel])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not a valid index of pocket models ({error})", AGAIN, path=folder / INDEX) from None


def find_model(name: Path | str, note: Callable[[str], object] = warnings.warn) -> Path:
    """The file of a model: a bare language name is a pocket model; with a folder or an ending it is a file."""
    path = Path(name)
    if isinstance(name, Path) or name in ("", STANDARD) or path.name != name or path.suffix:
        return path
    models, file = pocket_models(), f"{name}{ENDING}"
    if name in models:
        if path.exists():
            note(f"{name} is the pocket model; if you mean the file or folder of this name, write ./{name}")
        return models[name]
    if path.exists():
        return path
    finding = f"there is no pocket model {quoted(name)}"
    if Path(file).is_file():
        raise InputError(finding, f"for the file of this name, write {file}")
    remedy = nearest(name, models, "reinflect models lists them")
    if not models:
        finding, remedy = f"{finding}: none are installed", f"install them: {INSTALL}"
    raise InputError(finding, f"{remedy} (reinflect train --train FORMS --out {file} trains one)")


def load(path: Path | str) -> "Inflector":
    """Read a model: a text may be the name of a language, whose pocket model is meant; a `Path` is always a file."""
    from reinflect.inflector.inflector import Inflector

    file = find_model(path)
    try:
        return Inflector.load(file)
    except InputError as error:
        if file.parent != models_folder():
            raise
        raise InputError(error.found, AGAIN, path=file) from None


def add_model(
    folder: Path,
    path: Path | str,
    language: str,
    dev: "Sequence[Item]",
    *,
    command: str,
    text: float | None = None,
    about: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> PocketModel:
    """Put a file that `command` made into a folder of pocket models, with a card: how it does on `dev`, and `about`.

    Of a model with a dictionary, `dev` has lemmas that it did not learn from. `text` is as in the index; parts of
    `about` take the place of those of the same title.
    """
    from reinflect.data.catalog import find
    from reinflect.inflector.card import card_text
    from reinflect.score.scores import breakdown, evaluate

    if not re.fullmatch(NAME, language):
        raise InputError(f"found the language {quoted(language)}", "use small letters, digits and hyphens")
    content, inflector, source = read_bytes(path), load(Path(path)), find("conll2017")
    if (training := inflector.training) is None:
        raise InputError("this model has no record of its training", "train it with reinflect", path=path)
    forms, dictionary = inflector.inflect_many(dev, attested=False), inflector.dictionary
    score = evaluate(dev, [replace(item, form=form) for item, form in zip(dev, forms, strict=True)])
    scores = {"all": score, **breakdown(score.cells, "pos")}
    model = PocketModel(
        f"{language}{ENDING}",
        len(content),
        round(score.accuracy, 2),
        training.items,
        training.date,
        hashlib.sha256(content).hexdigest(),
        len(dictionary.lemmas) if dictionary else 0,
        sum(dictionary.counts.values()) if dictionary else 0,
        text,
    )
    index = {**(read_index(folder) if (folder / INDEX).exists() else {}), language: model}
    write_bytes(make_folder(folder) / model.file, content)
    title = (
        "Accuracy of the model alone, on lemmas that it did not learn from" if dictionary else "Accuracy on dev items"
    )
    further = {
        title: [f"{part} {score.accuracy:.2f} % of {score.items}" for part, score in scores.items()],
        "Licence and citation": [f"The licence is that of the data: {source.licence}", f"Cite: {source.citation}"],
        "Origin": [f"Data: {source.title}; {source.source}", f"Command: {command}"],
        **about,
    }
    write_text(folder / f"{language}.txt", card_text(inflector.card, further))
    # The index comes last, so that it never lists a file that is not there.
    write_text(folder / INDEX, f"{json.dumps(msgspec.to_builtins(index), indent=1, sort_keys=True)}\n")
    return model
