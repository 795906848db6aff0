"""The filter for forms that no model should give: unfinished ones, and endless repetitions of a character (§5).

A form with the same character four or more times in a row is most likely an error; the lemma is a better guess. A run
of that length is accepted if the lemma or a training word has one as long.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

SUSPICIOUS = 4
_RUN = re.compile(rf"(.)\1{{{SUSPICIOUS - 1},}}", re.DOTALL)


def longest_runs(words: Iterable[str]) -> dict[str, int]:
    """The longest run of each character that occurs at least `SUSPICIOUS` times in a row."""
    longest: dict[str, int] = {}
    for word in words:
        for found in _RUN.finditer(word):
            longest[found[1]] = max(len(found[0]), longest.get(found[1], 0))
    return longest


def filtered(form: str | None, lemma: str, known_runs: Mapping[str, int]) -> str:
    """The form or, in its place, the lemma: `filtered_all` for one item."""
    return filtered_all([form], [lemma], known_runs)[0]


def filtered_all(forms: Sequence[str | None], lemmas: Sequence[str], known_runs: Mapping[str, int]) -> list[str]:
    """Each form, or its lemma if decoding did not end (None) or if the form repeats a character too often.

    `known_runs` are the longest runs of the training words.
    """
    ended = [lemma if form is None else form for form, lemma in zip(forms, lemmas, strict=True)]
    if not _RUN.search("\n".join(ended)):  # one search for all, because few forms have a run
        return ended
    return [lemma if _repeats(form, lemma, known_runs) else form for form, lemma in zip(ended, lemmas, strict=True)]


def _repeats(form: str, lemma: str, known_runs: Mapping[str, int]) -> bool:
    allowed = longest_runs([lemma])
    return any(run > max(known_runs.get(c, 0), allowed.get(c, 0)) for c, run in longest_runs([form]).items())
