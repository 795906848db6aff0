"""The filter for endlessly repeating characters (§5).

A form with the same character four or more times in a row is a model that has lost its way; the lemma is a better
guess. Not where the language does such things: a run is fine if the lemma or a training word has one as long.
"""

import re
from collections.abc import Iterable, Sequence

SUSPICIOUS = 4
_RUN = re.compile(rf"(.)\1{{{SUSPICIOUS - 1},}}", re.DOTALL)


def longest_runs(words: Iterable[str]) -> dict[str, int]:
    """The longest run of each character that comes at least `SUSPICIOUS` times in a row."""
    longest: dict[str, int] = {}
    for word in words:
        for character, run in _runs(word):
            longest[character] = max(run, longest.get(character, 0))
    return longest


def filtered(form: str, lemma: str, known_runs: dict[str, int]) -> str:
    """The form, or the lemma in its place. `known_runs` are those of the training words."""
    for character, run in _runs(form):
        if run > max(known_runs.get(character, 0), longest_runs([lemma]).get(character, 0)):
            return lemma
    return form


def filtered_all(forms: Sequence[str | None], lemmas: Sequence[str], known_runs: dict[str, int]) -> list[str]:
    """The same for many; None, a form that came to no end, is replaced by its lemma as well."""
    said = [lemma if form is None else form for form, lemma in zip(forms, lemmas, strict=True)]
    if not _RUN.search("\n".join(said)):
        return said
    return [filtered(form, lemma, known_runs) for form, lemma in zip(said, lemmas, strict=True)]


def _runs(word: str) -> Iterable[tuple[str, int]]:
    """Those of at least `SUSPICIOUS`; hardly any word has one, so that it matters to see that at once."""
    return ((found[1], len(found[0])) for found in _RUN.finditer(word))
