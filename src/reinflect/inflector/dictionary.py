"""The dictionary of a model file: which cells are attested, and the forms of those that the model does not give.

A model predicts most of a dictionary, so that all of it fits in little space. docs/files.md has the format.
"""

import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, takewhile
from operator import lt
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Prefix

from reinflect.data.features import Bundle
from reinflect.data.items import Item, grouped
from reinflect.errors import InputError, quoted

COLUMNS, MOST_BYTES, LONGEST_NUMBER = 10, 1 << 23, 4
"""The columns, the most bytes of all of them (a million cells have a third of that), and of a number."""
Numbers = NDArray[np.int64]


class Table(NamedTuple):
    """The columns as they are used. Starts say where the things of each lemma begin; the end of the last one follows.

    Each lemma has a shape, the set of its bundles, and perhaps exceptions: cells whose forms are not the model's. A
    form drops some characters at the end of the lemma.
    """

    lemmas: list[str]
    shapes: Numbers
    shape_starts: Numbers
    cells: Numbers
    exception_starts: Numbers
    exceptions: Numbers
    form_starts: Numbers
    dropped: list[int]
    endings: list[str]

    @classmethod
    def of(cls, columns: Sequence[bytes], bundles: int) -> "Table":
        lemma, texts, endings = "", _texts(columns[1]), _texts(columns[9])
        columns = [column for number, column in enumerate(columns) if number not in (1, 9)]
        shared, shapes, sizes, steps, counts, ranks, variants, dropped = map(_numbers, columns)
        lemmas = [lemma := lemma[:length] + text for length, text in zip(shared.tolist(), texts, strict=True)]
        alone = np.flatnonzero(shapes == 0)
        shapes = shapes - 1
        shapes[alone] = np.arange(len(sizes) - len(alone), len(sizes))
        starts, exception_starts, form_starts = map(_starts, (sizes, counts, variants + 1))
        cells, ranks = _summed(steps, sizes), _summed(ranks, counts)
        fits = [len(shapes) == len(counts) == len(lemmas), len(alone) <= len(sizes), (shapes < len(sizes)).all()]
        fits += [(cells < bundles).all(), all(map(lt, lemmas, islice(lemmas, 1, None)))]
        fits += [len(variants) == len(ranks), len(dropped) == len(endings) == form_starts[-1]]
        if not all(fits) or (ranks >= np.repeat(sizes[shapes], counts)).any():
            raise ValueError("the columns of its dictionary do not fit")
        exceptions = cells[np.repeat(starts[shapes], counts) + ranks]
        return cls(lemmas, shapes, starts, cells, exception_starts, exceptions, form_starts, dropped.tolist(), endings)


@dataclass(frozen=True)
class Dictionary:
    """The cells that a model file knows: which are attested, and the forms of those that the model does not give."""

    bundles: tuple[str, ...]
    """Of all parts of speech, one spelling for each cell."""
    packed: bytes = field(repr=False)
    marks: str = ""
    """Combining characters that ordinary text leaves out, such as the macrons of Latin: *amō* is found as *amo* too."""
    letters: str = ""
    """Letters of the alphabet that have one of these marks and keep it, such as ć where á is a with an accent."""
    credit: str = ""
    """Its sources and their licences, for the card."""

    @classmethod
    def of(cls, cells: Mapping[str, Mapping[str, Sequence[str]]], bundles: Sequence[str], **about: str) -> "Dictionary":
        """A dictionary of the forms of each bundle of each lemma, best first; none where the model's own is right."""
        numbers = {Bundle(spelling).cell: number for number, spelling in enumerate(bundles)}
        rows: dict[str, dict[int, tuple[str, ...]]] = {}
        for lemma in sorted(cells):
            row = rows.setdefault(lemma, {})
            for features, forms in cells[lemma].items():
                if (number := numbers.get(Bundle(features).cell)) is None or "\n" in "".join((lemma, *forms)):
                    problem = f"found the forms {quoted(', '.join(forms))} of {quoted(lemma)} {quoted(features)}"
                    raise InputError(problem, "give them one of the dictionary's bundles, and no line ends")
                row[number] = tuple(dict.fromkeys((*row.get(number, ()), *forms)))
        return cls(tuple(bundles), _packed(rows), **about)

    def __post_init__(self) -> None:
        self._table  # noqa: B018 - all is read at once, so that a file made by hand is refused when it is loaded

    @cached_property
    def _table(self) -> Table:
        return Table.of(_unpacked(self.packed), len(self.bundles))

    @property
    def lemmas(self) -> Sequence[str]:
        """In the order of their code points."""
        return self._table.lemmas

    @cached_property
    def cells(self) -> Sequence[Bundle]:
        return [*map(Bundle, self.bundles)]

    @cached_property
    def parts_of_speech(self) -> Sequence[str]:
        """Of the bundles, such as V, also for V.PTCP."""
        return [bundle.word_class for bundle in self.cells]

    def forms(self, lemma: str, features: str | Bundle) -> tuple[str, ...] | None:
        """The forms of a cell as they are spelled here, best first; none of them if the model's own form is right.

        None if it is not attested. The features are in any order, the lemma is written with marks or without.
        """
        table, bundle = self._table, Bundle(features) if isinstance(features, str) else features
        entry, number = self._entry(lemma, bundle), self._cell_numbers.get(bundle.cell)
        if entry is None or number not in self._cells(entry):
            return None
        first, end = table.exception_starts[entry : entry + 2]
        places = first + np.flatnonzero(table.exceptions[first:end] == number)
        return tuple(self._form(entry, form) for at in places for form in range(*table.form_starts[at : at + 2]))

    def spelled(self, lemma: str, bundle: Bundle) -> str:
        """The lemma with its marks, if it is known: that of this cell, or of this part of speech, or any."""
        entry = self._entry(lemma, bundle)
        return lemma if entry is None else self.lemmas[entry]

    def bundles_of(self, lemma: str) -> list[Bundle]:
        """Those of the attested cells of a lemma; none if it is not known."""
        return [self.cells[number] for entry in self._entries(lemma) for number in self._cells(entry)]

    def items(self, lemmas: Iterable[str], form: str = "") -> list[Item]:
        """All attested cells of some lemmas, each with this form."""
        return [Item(lemma, bundle, form) for lemma in lemmas for bundle in self.bundles_of(lemma)]

    def sample(self, most: int) -> list[str]:
        """Some of the lemmas, at equal distances."""
        return [*self.lemmas[:: -(-len(self.lemmas) // most) or 1]]

    def having(self, form: str) -> list[tuple[str, Bundle]]:
        """The lemmas and bundles that have a form, written with marks or without, which the model does not give."""
        table = self._table
        exceptions = np.repeat(np.arange(len(table.exceptions)), np.diff(table.form_starts))
        entries = np.repeat(np.arange(len(table.lemmas)), np.diff(table.exception_starts))[exceptions]
        forms = self._like(form, [*map(self._form, entries.tolist(), range(len(exceptions)))])
        cells = [(entries[at], table.exceptions[exceptions[at]]) for at, text in enumerate(forms) if text == form]
        return [(self._like(form, [self.lemmas[entry]])[0], self.cells[number]) for entry, number in cells]

    def lemmas_like(self, text: str) -> Sequence[str]:
        """The lemmas in order, without marks if the text has none."""
        return self.lemmas if not self.marks or self.is_marked(text) else sorted(self._by_spelling)

    def starting(self, beginning: str, most: int) -> list[str]:
        """The first lemmas that begin in this way."""
        lemmas = self.lemmas_like(beginning)
        first = bisect_left(lemmas, beginning)
        return [*takewhile(lambda lemma: lemma.startswith(beginning), lemmas[first : first + most])]

    @cached_property
    def counts(self) -> dict[str, int]:
        """The number of lemmas that have each bundle."""
        table = self._table
        uses = np.bincount(table.shapes, minlength=len(table.shape_starts) - 1)
        counts = np.bincount(table.cells, np.repeat(uses, np.diff(table.shape_starts)), len(self.bundles))
        return dict(zip(self.bundles, counts.astype(int).tolist(), strict=True))

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What `reinflect info` says of it: the number of lemmas, and of cells, by part of speech."""
        lemmas, cells = Counter[str](), Counter[str]()
        _, entries, uses = np.unique(self._table.shapes, return_index=True, return_counts=True)
        for entry, count in zip(entries, uses.tolist(), strict=True):
            lemmas.update(dict.fromkeys((self.parts_of_speech[number] for number in self._cells(entry)), count))
        for part, count in zip(self.parts_of_speech, self.counts.values(), strict=True):
            cells[part] += count
        total = {"lemmas": len(self.lemmas), "cells": cells.total(), "marks": self.marks, "credit": self.credit}
        return total | {"parts": {part: [lemmas[part], cells[part]] for part in sorted(lemmas)}}

    def is_marked(self, text: str) -> bool:
        rest = set(normalize("NFC", text)).difference(self.letters) if self.marks else ()
        return any(character in self.marks for letter in rest for character in normalize("NFD", letter))

    def unmarked(self, text: str) -> str:
        """The text without marks, in NFC."""
        text = normalize("NFC", text)
        for letter in filter(self.is_marked, set(text)):
            text = text.replace(letter, "".join(c for c in normalize("NFD", letter) if c not in self.marks))
        return normalize("NFC", text)

    def _like(self, text: str, texts: Sequence[str]) -> Sequence[str]:
        """Texts, without marks if a text has none."""
        if not (self.marks and texts) or self.is_marked(text):
            return texts
        return self.unmarked("\n".join(texts)).split("\n")  # one by one would take ten times as long

    @cached_property
    def _by_spelling(self) -> dict[str, list[int]]:
        """The lemmas by their spelling without marks."""
        return grouped(range(len(self.lemmas)), self._like("", self.lemmas).__getitem__)

    @cached_property
    def _cell_numbers(self) -> dict[tuple[str, ...], int]:
        return {bundle.cell: number for number, bundle in enumerate(self.cells)}

    def _entries(self, lemma: str) -> list[int]:
        """The lemmas that are spelled like this: the one with just these marks, then, without any, those with some.

        If there is none, those without the capital of a sentence.
        """
        at = bisect_left(self.lemmas, lemma)
        exact = [at] * (self.lemmas[at : at + 1] == [lemma])
        if self.marks and not (exact and self.is_marked(lemma)):
            exact = [*dict.fromkeys((*exact, *self._by_spelling.get(self.unmarked(lemma), ())))]
        return exact or (self._entries(lemma[:1].lower() + lemma[1:]) if lemma[:1].isupper() else [])

    def _entry(self, lemma: str, bundle: Bundle) -> int | None:
        """The first lemma of this spelling that has a cell, or else its part of speech, or the first."""
        number, part = self._cell_numbers.get(bundle.cell), bundle.word_class

        def fit(entry: int) -> tuple[bool, bool]:
            cells = self._cells(entry)
            return number in cells, part in {self.parts_of_speech[cell] for cell in cells}

        entries = self._entries(lemma)
        return max(entries, key=fit) if len(entries) > 1 else next(iter(entries), None)

    def _cells(self, entry: int) -> list[int]:
        table = self._table
        cells: list[int] = table.cells[slice(*table.shape_starts[table.shapes[entry] :][:2])].tolist()
        return cells

    def _form(self, entry: int, number: int) -> str:
        lemma, table = self.lemmas[entry], self._table
        return lemma[: max(0, len(lemma) - table.dropped[number])] + table.endings[number]


def _packed(rows: Mapping[str, Mapping[int, Sequence[str]]]) -> bytes:
    """The columns of lemmas in their order, with the forms of each bundle by its number."""
    lemmas, shapes = list(rows), [tuple(sorted(row)) for row in rows.values()]
    shared = [Prefix.similarity(*pair) for pair in zip(["", *lemmas], lemmas, strict=False)]
    several = {shape: at for at, (shape, count) in enumerate(Counter(shapes).most_common(), start=1) if count > 1}
    kinds = [*several, *(shape for shape in shapes if shape not in several)]
    exceptions = [[rank for rank, cell in enumerate(sorted(row)) if row[cell]] for row in rows.values()]
    lists = [(lemma, row[cell]) for lemma, row in rows.items() for cell in sorted(row) if row[cell]]
    forms = [(lemma, form, Prefix.similarity(lemma, form)) for lemma, variants in lists for form in variants]
    columns = [
        _varints(shared),
        _lines(lemma[length:] for lemma, length in zip(lemmas, shared, strict=True)),
        _varints(several.get(shape, 0) for shape in shapes),
        _varints(map(len, kinds)),
        _varints(step for shape in kinds for step in _steps(shape)),
        _varints(map(len, exceptions)),
        _varints(step for ranks in exceptions for step in _steps(ranks)),
        _varints(len(variants) - 1 for _, variants in lists),
        _varints(len(lemma) - length for lemma, _, length in forms),
        _lines(form[length:] for _, form, length in forms),
    ]
    if (size := sum(map(len, columns))) > MOST_BYTES:
        raise InputError(f"found a dictionary of {size:,} bytes", f"leave out lemmas: it may have {MOST_BYTES:,}")
    deflate = zlib.compressobj(9, memLevel=9)
    return deflate.compress(np.array([*map(len, columns)], "<u4").tobytes() + b"".join(columns)) + deflate.flush()


def _unpacked(packed: bytes) -> list[bytes]:
    inflate, start = zlib.decompressobj(), 4 * COLUMNS
    try:
        content = inflate.decompress(packed, start + MOST_BYTES + 1)
    except zlib.error as error:
        raise ValueError(f"its dictionary is damaged: {error}") from None
    lengths = np.frombuffer(content[:start].ljust(start, b"\xff"), "<u4")
    ends = (start + np.cumsum(lengths, dtype=np.int64)).tolist()
    if not inflate.eof or inflate.unused_data or ends[-1] != len(content):
        raise ValueError("its dictionary is truncated or too large")
    return [content[slice(*ends)] for ends in zip([start, *ends], ends, strict=False)]


def _varints(numbers: Iterable[int]) -> bytes:
    """Seven bits in each byte, the lowest first; all bytes of a number but the last have the highest bit."""
    shifts = ((number, shift) for number in numbers for shift in range(0, number.bit_length() or 1, 7))
    return bytes(number >> shift & 127 | 128 * (number >> shift > 127) for number, shift in shifts)


def _numbers(column: bytes) -> Numbers:
    raw = np.frombuffer(column, np.uint8)
    ends = np.flatnonzero(raw < 128)
    lengths, values = np.diff(ends, prepend=-1), raw[ends].astype(np.int64)
    if lengths.sum() != len(raw) or (longest := lengths.max(initial=1)) > LONGEST_NUMBER:
        raise ValueError("its dictionary has a broken number")
    for back in range(1, longest):
        longer = lengths > back
        values[longer] = values[longer] << 7 | raw[ends[longer] - back] & 127
    return values


def _steps(numbers: Sequence[int]) -> Iterable[int]:
    """How many numbers are passed over before each of ascending ones."""
    return (number - before - 1 for before, number in zip((-1, *numbers), numbers, strict=False))


def _summed(steps: Numbers, sizes: Numbers) -> Numbers:
    """The numbers whose steps these are, in runs of these sizes."""
    if sizes.sum() != len(steps):
        raise ValueError("a column of its dictionary is too long or too short")
    sums = _starts(steps + 1)
    return sums[1:] - np.repeat(sums[_starts(sizes)[:-1]], sizes) - 1


def _starts(sizes: Numbers) -> Numbers:
    return np.cumsum(np.concatenate([np.zeros(1, np.int64), sizes]))


def _lines(texts: Iterable[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def _texts(column: bytes) -> list[str]:
    *texts, rest = column.decode().split("\n")
    if rest:
        raise ValueError("its dictionary has a line without an end")
    return texts
