"""Which lemma and features could a form have? A model inverted: it inflects known lemmas, and the form is looked for.

Every bundle of every lemma would take minutes, so lemmas that look least like the form are left out, the best member
alone inflects the others, and all voters are asked only about cells where its form is near.
"""

from dataclasses import dataclass

from rapidfuzz.distance.Levenshtein import distance

from reinflect.data.corrections import question
from reinflect.data.items import normal, normalised
from reinflect.data.lexicon import Lexicon
from reinflect.inflector.inflector import Answer, Inflector
from reinflect.inflector.suggestions import chances, open_cells

COSTS = (1, 2, 2)
"""Of inserting, deleting and replacing a character on the way from the lemma to the form: forms are mostly longer. Of
5,000 lemmas the right one is among the nearest twenty for 89 % (Arabic) to 99 % (Finnish) of dev forms."""
CELLS = 2000
"""Cells that the best member inflects, at most: about a second."""
NEAR = 0.34
"""The share of the form's characters that may differ from the best member's form; other voters may be right."""
ASKED = 40
"""Cells that all voters are asked about, at most."""
ALTERNATIVES = 5


@dataclass(frozen=True)
class Analysis:
    """A lemma and a bundle that a form may have."""

    lemma: str
    features: str
    answer: Answer | None
    """The form as an answer for this cell; None if the form is attested there."""


def analyse(inflector: Inflector, form: str, lexicon: Lexicon, n: int = 5) -> list[Analysis]:
    """The cells of known lemmas that may have this form, attested ones first, then the likeliest; at most n.

    Lemmas of the lexicon, and those of the forms that the model keeps. Cells whose attested form is another are left
    out.
    """
    way = inflector.normalisation
    form = normal(form, way)
    attested = normalised([item for item in (*lexicon.items, *inflector.attested) if not item.covered], way)
    right = [item for item in attested if item.form == form]
    sure = {question(item): Analysis(item.lemma, item.features.spelling, None) for item in right}
    lemmas = dict.fromkeys((*(normal(lemma, way) for lemma in lexicon.lemmas), *(item.lemma for item in attested)))
    nearest = sorted(lemmas, key=lambda lemma: distance(lemma, form, weights=COSTS))
    cells = open_cells(Lexicon(tuple(nearest), tuple(attested)), inflector.usual_bundles(), CELLS)
    ((forms, _),) = inflector.predictions(inflector.voters[:1], cells)
    away = {place: distance(form, own) for place, own in enumerate(forms)}
    near = sorted((place for place in away if away[place] <= NEAR * len(form)), key=lambda place: away[place])[:ASKED]
    chosen = [cells[place] for place in near]
    asked = zip(chosen, inflector.nbest_many(chosen, ALTERNATIVES), strict=True)
    found = [(cell, answer) for cell, answers in asked for answer in answers if answer.form == form]
    found.sort(key=lambda own: -chances(own[1]))
    return [*sure.values(), *(Analysis(cell.lemma, cell.features.spelling, answer) for cell, answer in found)][:n]
