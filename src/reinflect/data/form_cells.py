"""What a spreadsheet's field for a form says: a form, several, none, or a form with a remark.

Linguists write `dived / dove`, `—`, `n/a`, `*goed`, `(dove)` or `dove (rare)` where a form belongs. A mark that the
lemma has as well is a letter of the language.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

Variants = Literal["all", "first", "skip", "keep"]
"""Of several forms in a field, all are learnt, the first or none; or the field is kept as one form."""
Kind = Literal["plain", "variants", "remark", "missing", "doubtful", "letters"]
"""`letters`: it has marks that the lemma has too."""

AUTO = "auto"
MISSING = frozenset(["", *"- -- --- – — ― ‒ − ? ?? ??? n/a n.a. n.a #n/a … ... ∅ / * . _".split()])
"""Fields without a form, in lower case and without blanks around them."""
UNCONFIRMED = " ?"
"""After a guess of `reinflect fill`, also in languages that have a question mark for a letter."""
BRACKETED = re.compile(r"\([^()]*\)|\[[^][]*\]")
REMARK = re.compile(rf"([^][()]*[^][()\s])\s+(?:{BRACKETED.pattern})")
OPTIONAL_LETTER = re.compile(r"([^][()\s]+)\((\w)\)([^][()\s]+)")


class Reading(NamedTuple):
    forms: tuple[str, ...]
    kind: Kind


@dataclass(frozen=True, slots=True)
class FormRules:
    """How fields are read that are not plain forms."""

    variants: Variants = "all"
    missing: tuple[str, ...] = (AUTO,)
    """Texts for no form; `auto` stands for the usual ones and for doubtful forms."""

    def read(self, field: str, lemma: str) -> Reading:
        """The forms of a field that is not empty; a plain form is kept code point for code point."""
        reading = self._read(field, lemma)
        if reading.kind == "plain" and self._read(field, "").kind != "plain":
            return Reading((field,), "letters")
        return reading

    def _read(self, field: str, letters: str) -> Reading:
        """The forms of a field in which `letters` are not marks."""
        text, auto = field.strip(), AUTO in self.missing
        usual = text.casefold() in MISSING
        own_mark = text in self.missing and text != AUTO  # which is a word, too
        if own_mark or (auto and usual and text != letters.strip()):
            return Reading((), "missing")
        parts = [text] if usual or self.variants == "keep" else _parts(text, letters)
        parts = [part for part in parts if not auto or part == text or part.casefold() not in MISSING]
        if not parts:
            return Reading((), "missing") if auto else Reading((field,), "plain")
        readings = [self._read_part(part, letters) for part in parts]
        forms = tuple(dict.fromkeys(form for reading in readings for form in reading.forms))
        kind = readings[0].kind if len(readings) == 1 else "variants"
        if parts == [text] and kind == "plain":
            return Reading((field,), "plain")
        if not forms or kind == "remark":
            return Reading(forms, kind if forms else "doubtful")
        return Reading({"first": forms[:1], "skip": ()}.get(self.variants, forms), "variants")

    def _read_part(self, part: str, letters: str) -> Reading:
        """A part of a field, without separators."""
        brackets, split = not set("()[]") & set(letters), self.variants != "keep"
        if brackets and split and (remark := REMARK.fullmatch(part)):
            inner = self._read_part(remark[1], letters)
            return Reading(inner.forms, "doubtful" if inner.kind == "doubtful" else "remark")
        if brackets and split and (optional := OPTIONAL_LETTER.fullmatch(part)):
            return Reading((optional[1] + optional[3], "".join(optional.groups())), "variants")
        doubtful = (
            any(sign not in letters and part.startswith(sign) for sign in "*?")
            or part.endswith(UNCONFIRMED)
            or (part.endswith("?") and "?" not in letters)
            or (brackets and (BRACKETED.fullmatch(part) or (split and set("()[]") & set(part))))
        )
        return Reading((), "doubtful") if doubtful and AUTO in self.missing else Reading((part,), "plain")


USUAL_RULES = FormRules()
AS_WRITTEN = FormRules("keep", ())
"""Every field that is not empty is a form, letter for letter."""


def _parts(text: str, letters: str) -> list[str]:
    """A field cut at its separators, except those in brackets."""
    patterns = [sign for sign in "/,;" if sign not in letters]
    patterns += [rf"(?<=\s){re.escape(sign)}(?=\s)" for sign in "~|" if sign not in letters]
    if not patterns:
        return [text]
    masked = BRACKETED.sub(lambda match: "\0" * len(match[0]), text)
    cuts = [(0, 0), *(cut.span() for cut in re.finditer("|".join(patterns), masked)), (len(text), len(text))]
    parts = (text[end:start].strip() for (_, end), (start, _) in pairwise(cuts))
    return [part for part in parts if part]
