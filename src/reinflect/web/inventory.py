"""A model as the page needs it before the first request: features, bundles, paradigm tables, and its card."""

from collections import Counter
from typing import Any

import msgspec

from reinflect.data import dimensions
from reinflect.data.dimensions import OTHER, dimension_of, meaning_of, paradigms
from reinflect.data.features import Bundle, Labels
from reinflect.data.items import grouped
from reinflect.inflector.card import card_text
from reinflect.inflector.inflector import Inflector
from reinflect.web.requests import LIMITS

SAMPLE = 200
"""Lemmas of a dictionary among which examples are looked for."""


def summary(name: str, inflector: Inflector | None) -> dict[str, Any]:
    """A model in the list of models; only its name is known before its file is loaded."""
    fields = ("members", "voters", "bundles", "attested")
    facts = inflector and inflector.dictionary and inflector.dictionary.facts
    return {
        "name": name,
        **{field: inflector and len(getattr(inflector, field)) for field in fields},
        "dictionary": facts and {field: facts[field] for field in ("lemmas", "cells", "marks")},
    }


def inventory(name: str, inflector: Inflector) -> dict[str, Any]:
    """Everything the page shows about a model."""
    counts, labels, examples = inflector.bundle_counts, inflector.labels, example_lemmas(inflector)
    commonest_first = sorted(inflector.bundles, key=lambda features: -counts.get(features, 0))
    by_part = grouped(commonest_first, lambda features: part_of(Bundle(features)))
    in_tables = {features for bundles in by_part.values() for features in bundles[: LIMITS.paradigm_cells]}
    usual = [features for features in inflector.usual_bundles() if features in in_tables]
    card = inflector.card
    training = card["training"] and {name: fact for name, fact in card["training"].items() if name != "bundles"}
    return {
        **summary(name, inflector),
        "strategy": inflector.strategy,
        "voter_names": [member.name for member in inflector.voters],
        "about": card_text(card),
        "card": {
            "training": training,
            "members": [{key: member[key] for key in ("name", "dev_accuracy", "votes")} for member in card["members"]],
            "parameters": card["parameters"],
            "confidence_items": card["confidence"] and card["confidence"]["items"],
        },
        "characters": list(inflector.characters),
        "dimensions": _dimensions(inflector),
        "bundles": [
            {
                "features": features,
                "atoms": Bundle(features).among(inflector.atoms) if "(" in features else None,
                "count": counts.get(features, 0),
                "label": label_of(features, labels),
                "part_of_speech": part_of(Bundle(features)),
            }
            for features in commonest_first
        ],
        "paradigms": [
            {
                "part_of_speech": part,
                "example": examples.get(part),
                "tables": msgspec.to_builtins(tables),
                "left_out": max(0, len(by_part[part]) - LIMITS.paradigm_cells),
            }
            for part, tables in paradigms(usual, labels.names, ordered=bool(inflector.cells)).items()
        ],
    }


def part_of(bundle: Bundle) -> str:
    return bundle.part_of_speech.split(".")[0]


def label_of(features: str, labels: Labels) -> str | None:
    return None if (label := labels.to_label(features)) == features else label


def example_lemmas(inflector: Inflector) -> dict[str, str]:
    """An attested lemma for each part of speech: the one with most forms, rather one that has a gap to fill."""
    attested, dictionary, examples = list(inflector.attested), inflector.dictionary, {}
    attested += dictionary.items(dictionary.sample(SAMPLE)) if dictionary else ()
    usable = [item for item in attested if len(item.lemma) <= LIMITS.lemma_characters]
    for part, items in grouped(usable, lambda item: part_of(item.features)).items():
        full = len({item.features.cell for item in items})
        forms = Counter(lemma for lemma, _ in {(item.lemma, item.features.cell): None for item in items})
        examples[part] = max(forms, key=lambda lemma: (forms[lemma] < full, forms[lemma]))
    return examples


def _dimensions(inflector: Inflector) -> list[dict[str, Any]]:
    """The features of the model by dimension; `several`: a bundle may have more than one of them."""
    counts = [Counter(map(dimension_of, Bundle(spelling).atoms)) for spelling in inflector.bundles]
    several = {OTHER, *(name for names in counts for name, count in names.items() if count > 1)}

    def about(atom: str) -> dict[str, str | None]:
        return {"atom": atom, "meaning": meaning_of(atom), "label": label_of(atom, inflector.labels)}

    return [
        {"name": name, "several": name in several, "atoms": list(map(about, atoms))}
        for name, atoms in dimensions.grouped(inflector.atoms).items()
    ]
