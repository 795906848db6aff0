"""What the page has to know of a model before anything is asked: its features, its cells, and how it was trained."""

from typing import TYPE_CHECKING, Any

import msgspec

from reinflect.data.dimensions import OTHER, dimension_of, grouped, meaning_of, paradigms
from reinflect.data.features import Bundle
from reinflect.inflector.card import card_text

if TYPE_CHECKING:
    from reinflect.inflector.inflector import Inflector


def summary(name: str, inflector: "Inflector") -> dict[str, Any]:
    """A line for the list of models."""
    return {
        "name": name,
        "members": len(inflector.members),
        "voters": len(inflector.voters),
        "bundles": len(inflector.bundles),
    }


def inventory(name: str, inflector: "Inflector") -> dict[str, Any]:
    """Everything about one model."""
    counts = inflector.bundle_counts
    commonest_first = sorted(inflector.bundles, key=lambda features: -counts.get(features, 0))
    return {
        **summary(name, inflector),
        "strategy": inflector.strategy,
        "voter_names": [member.name for member in inflector.voters],
        "about": card_text(inflector.card),
        "characters": list(inflector.characters),
        "dimensions": dimensions(inflector),
        "bundles": [
            {
                "features": features,
                "count": counts.get(features, 0),
                "label": label(inflector, features),
                "part_of_speech": Bundle(features).part_of_speech.split(".")[0],
            }
            for features in commonest_first
        ],
        "paradigms": [
            {"part_of_speech": part, "tables": msgspec.to_builtins(tables)}
            for part, tables in paradigms(commonest_first).items()
        ],
    }


def label(inflector: "Inflector", features: str) -> str | None:
    """The user's own name for a bundle, if it has one."""
    shown = inflector.labels.to_label(features)
    return None if shown == features else shown


def dimensions(inflector: "Inflector") -> list[dict[str, Any]]:
    """The atoms the model knows, by dimension; `several`: a bundle may have more than one of them at once."""
    together = {OTHER}
    for bundle in map(Bundle, inflector.bundles):
        found = [dimension_of(atom) for atom in bundle.atoms]
        together |= {name for name in found if found.count(name) > 1}
    return [
        {
            "name": name,
            "several": name in together,
            "atoms": [{"atom": atom, "meaning": meaning_of(atom)} for atom in atoms],
        }
        for name, atoms in grouped(inflector.atoms).items()
    ]
