"""Cells that items leave open: an ensemble inflects them, and a small model learns from forms that members agree on."""

import hashlib
import lzma
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reinflect.data.corrections import question
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decode.search import greedy, shared_out
from reinflect.ensemble.strategies import Member
from reinflect.files import make_folder, write_bytes
from reinflect.learn.lesson import Lesson
from reinflect.settings import key


def cells_of(lesson: Lesson, most: int) -> tuple[Item, ...]:
    """A sample of training lemmas with bundles of their part of speech, without the cells of any of its items.

    It is the same every time; asked for as many cells as a sample has, the sample is the same again.
    """
    known = {question(item) for items in (lesson.train, lesson.dev, lesson.asked) for item in items}
    lemmas: dict[str, dict[str, None]] = {}
    bundles: dict[str, dict[tuple[str, ...], Bundle]] = {}
    for item in lesson.train:
        part = item.features.part_of_speech
        lemmas.setdefault(part, {})[item.lemma] = None
        bundles.setdefault(part, {}).setdefault(item.features.cell, item.features)
    grids = [(list(lemmas[part]), list(bundles[part].values())) for part in sorted(lemmas)]
    ends = np.cumsum([0, *(len(rows) * len(columns) for rows, columns in grids)])
    order = np.random.Generator(np.random.PCG64(key("cells"))).permutation(ends[-1])[: most + len(known)]
    whose = np.searchsorted(ends, order, side="right") - 1
    cells: list[Item] = []
    for grid, number in zip(whose.tolist(), (order - ends[whose]).tolist(), strict=True):
        rows, columns = grids[grid]
        item = Item(rows[number // len(columns)], columns[number % len(columns)])
        if question(item) not in known:
            cells.append(item)
    # Sorted, so that similar forms are side by side.
    return tuple(sorted(cells[:most], key=lambda item: (item.features.spelling, item.lemma)))


def forms_of(cells: Sequence[Item], members: Sequence[Member], folder: Path, name: str) -> list[list[str]]:
    """The forms that members with their parameters give for cells, empty where decoding did not end; kept in a folder.

    *Shape:* (members, cells)
    """
    lines = [f"{item.lemma}\t{item.features.spelling}" for item in cells]
    about = "\n".join([*lines, *(member.fingerprint for member in members)])
    path = make_folder(folder) / f"{name}.{hashlib.sha256(about.encode()).hexdigest()[:12]}.xz"
    if not path.is_file():
        predictions = shared_out(lambda member: greedy(member.words, cells), members, len(cells))
        text = "\n".join("\t".join(form or "" for form in forms) for forms, _ in predictions)
        write_bytes(path, lzma.compress(text.encode()))
    return [line.split("\t") for line in lzma.decompress(path.read_bytes()).decode().split("\n")] if cells else []


def agreed(cells: Sequence[Item], forms: Sequence[Sequence[str]], least: int) -> tuple[Item, ...]:
    """The cells for which at least so many members have the same form, with this form. *Shape:* (members, cells)"""
    items = []
    for cell, of_cell in zip(cells, zip(*forms, strict=True), strict=True):
        [(form, count)] = Counter(of_cell).most_common(1)
        if form and count >= least:
            items.append(Item(cell.lemma, cell.features, form))
    return tuple(items)
