"""How the shared tasks name their files, and which of them belong together."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from reinflect.data.items import Item, grouped

SIZES = ("low", "medium", "high")
By = Literal["lemma", "form"]
BYS = get_args(By)
MOST = {"trn": 10_000, "dev": 1_000, "tst": 1_000}
"""Items in the parts of a split, as in the shared task of 2023; smaller files are divided 8 : 1 : 1."""

ENDINGS = {
    **{f"-train-{size}": size for size in SIZES},
    "-dev": "dev",
    "-covered-test": "covered",
    "-test-covered": "covered",
    "-uncovered-test": "gold",
    "-test": "gold",
    "_small.train": "small",
    "_large.train": "large",
    ".train": "train",
    ".trn": "train",
    ".covered.dev": "covered-dev",
    ".dev": "dev",
    ".covered.tst": "covered",
    ".covered.test": "covered",
    ".tst": "test",
    ".test": "test",
    ".gold": "gold",
}
"""The part that each ending names; a longer ending comes before a shorter one that it ends with.

Files of a `test` part may have forms (2020, 2021, 2023) or none (2022).
"""


def part_of(name: str) -> tuple[str, str]:
    """The language and the part of a file: `deu` and `train` for `deu.trn`; no part if its name has no known ending."""
    ending = next((ending for ending in ENDINGS if name.endswith(ending) and name != ending), "")
    return name.removesuffix(ending), ENDINGS.get(ending, "")


def parts_in(folder: Path) -> dict[str, dict[str, Path]]:
    """The files of a folder, by language and part; those of 2019 are in folders `SOURCE--TARGET` of their own."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir():
            target = path.name.partition("--")[2]
            if own := parts_in(path).get(target) if target else None:
                found[path.name] = own
        elif (named := part_of(path.name))[1]:
            found.setdefault(named[0], {})[named[1]] = path
    return found


def split_items(items: Sequence[Item], by: By = "lemma", seed: int = 1) -> dict[str, list[Item]]:
    """Items drawn for training, dev and test, in the order of the file.

    By lemma, no lemma is in two of the parts; by form, no cell is.
    """
    groups = grouped(items, lambda item: (item.lemma, item.features.cell if by == "form" else ()))
    drawn = list(groups.values())
    random.Random(seed).shuffle(drawn)
    made: dict[str, list[Item]] = {part: [] for part in MOST}
    for group in drawn:
        short = (part for part in ("dev", "tst") if len(made[part]) < min(len(items) / 10, MOST[part]))
        part = next(short, "trn")
        made[part] += group[: MOST[part] - len(made[part])]
    return {part: sorted(own, key=lambda item: item.line) for part, own in made.items()}
