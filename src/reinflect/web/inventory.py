"""A model as the page needs it before the first request: features, bundles, paradigm tables, and its card."""

from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from reinflect.data.dimensions import OTHER, dimension_of, grouped, meaning_of, paradigms
from reinflect.data.features import Bundle
from reinflect.inflector.card import card_text
from reinflect.web.requests import LIMITS

if TYPE_CHECKING:
    from reinflect.inflector.inflector import Inflector


def summary(name: str, inflector: "Inflector") -> dict[str, Any]:
    """A model in the list of models."""
    sizes = {"members": inflector.members, "voters": inflector.voters, "bundles": inflector.bundles}
    return {"name": name} | {what: len(own) for what, own in sizes.items()}


def inventory(name: str, inflector: "Inflector") -> dict[str, Any]:
    """Everything the page shows about a model."""
    counts = inflector.bundle_counts
    commonest_first = sorted(inflector.bundles, key=lambda features: -counts.get(features, 0))
    by_part: dict[str, list[str]] = {}
    for features in commonest_first:
        by_part.setdefault(Bundle(features).part_of_speech.split(".")[0], []).append(features)
    laid_out = paradigms(chain.from_iterable(own[: LIMITS.paradigm_cells] for own in by_part.values()))
    parts = {features: part for part, own in by_part.items() for features in own}
    labels = {features: inflector.labels.to_label(features) for features in commonest_first}
    return {
        **summary(name, inflector),
        "strategy": inflector.strategy,
        "voter_names": [member.name for member in inflector.voters],
        "about": card_text(inflector.card),
        "characters": list(inflector.characters),
        "dimensions": _dimensions(inflector),
        "bundles": [
            {
                "features": features,
                "atoms": Bundle(features).atoms if "(" in features else None,
                "count": counts.get(features, 0),
                "label": None if label == features else label,
                "part_of_speech": parts[features],
            }
            for features, label in labels.items()
        ],
        "paradigms": [
            {
                "part_of_speech": part,
                "tables": msgspec.to_builtins(tables),
                "left_out": max(0, len(by_part[part]) - LIMITS.paradigm_cells),
            }
            for part, tables in laid_out.items()
        ],
    }


def _dimensions(inflector: "Inflector") -> list[dict[str, Any]]:
    """The features of the model by dimension; `several`: a bundle may have more than one of them."""
    several = {OTHER}
    for bundle in map(Bundle, inflector.bundles):
        found = [dimension_of(atom) for atom in bundle.atoms]
        several |= {name for name in found if found.count(name) > 1}
    return [
        {
            "name": name,
            "several": name in several,
            "atoms": [{"atom": atom, "meaning": meaning_of(atom)} for atom in atoms],
        }
        for name, atoms in grouped(inflector.atoms).items()
    ]
