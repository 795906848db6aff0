"""A word list: the words that are known to occur in a language, and how often."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from unicodedata import category, normalize

from reinflect.errors import InputError, source_name
from reinflect.files import PIECE, read_text

MOST_WORDS = 10_000_000
"""Different words, each of about 150 bytes in memory."""
COUNTED = re.compile("(.+)\t *([0-9]{1,15})\\s*")


@dataclass(frozen=True, repr=False)
class WordList:
    """Words with their counts, in NFC: then it does not matter how list and forms encode letters with marks."""

    name: str
    digest: str
    size: int
    counts: Mapping[str, int]
    """Those of words with capitals also count for the same word in lower case: a sentence may begin with it."""

    @classmethod
    def read(cls, path: Path | str) -> "WordList":
        """Read a file with a word on each line; with a word, a tab and its count on each line; or with running text."""
        text = read_text(path)
        counts, lines = Counter[str](), StringIO(normalize("NFC", text))
        while piece := lines.readlines(PIECE):
            found = [(line, COUNTED.fullmatch(line) if "\t" in line else None) for line in piece]
            # Spelling dictionaries have marks after a slash.
            counts.update(" ".join(line for line, counted in found if not counted).replace("/", " ").split())
            for counted in filter(None, (own for _, own in found)):
                counts.update(dict.fromkeys(counted[1].split(), int(counted[2])))
            if len(counts) > MOST_WORDS:
                raise InputError(f"found more than {MOST_WORDS:,} words", "leave out the rarest", path=path)
        for token in [own for own in counts if not (own[0].isalnum() and own[-1].isalnum())]:
            places = [place for place, character in enumerate(token) if category(character)[0] in "LMN"]
            count = counts.pop(token)
            counts[token[places[0] : places[-1] + 1] if places else ""] += count
        del counts[""]
        if "\0" in text or not counts:
            found_what = "a NUL character" if counts else "no words"
            raise InputError(f"found {found_what}", "give a text file, such as one with a word a line", path=path)
        size = len(counts)
        for word in [own for own in counts if own != own.lower()]:
            counts[word.lower()] += counts[word]
        return cls(Path(source_name(path)).name, hashlib.sha256(text.encode()).hexdigest()[:12], size, counts)

    def count(self, form: str) -> int:
        """How often a form occurs; if it has several words, the rarest."""
        return min((self.counts.get(own, 0) for own in normalize("NFC", form).split()), default=0)
