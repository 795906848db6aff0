"""A model as the page needs it before the first request: features, bundles, paradigm tables, and its card."""

from pathlib import Path
from typing import Any

import msgspec

from reinflect.data.dimensions import OTHER, dimension_of, grouped, meaning_of, paradigms
from reinflect.data.features import Bundle
from reinflect.inflector.card import card_text
from reinflect.inflector.inflector import Inflector
from reinflect.web.requests import LIMITS


def summary(name: str, inflector: Inflector | Path) -> dict[str, Any]:
    """A model in the list of models; only its name is known before its file is loaded."""
    counted, loaded = ("members", "voters", "bundles", "attested"), not isinstance(inflector, Path)
    return {"name": name} | {own: len(getattr(inflector, own)) if loaded else None for own in counted}


def inventory(name: str, inflector: Inflector) -> dict[str, Any]:
    """Everything the page shows about a model."""
    counts = inflector.bundle_counts
    commonest_first = sorted(inflector.bundles, key=lambda features: -counts.get(features, 0))
    by_part: dict[str, list[str]] = {}
    for features in commonest_first:
        by_part.setdefault(Bundle(features).part_of_speech.split(".")[0], []).append(features)
    examples = example_lemmas(inflector)
    shown = {features for own in by_part.values() for features in own[: LIMITS.paradigm_cells]}
    used = [features for features in inflector.usual_bundles() if features in shown]
    laid_out = paradigms(used, inflector.labels.names, ordered=bool(inflector.cells))
    parts = {features: part for part, own in by_part.items() for features in own}
    labels = {features: inflector.labels.to_label(features) for features in commonest_first}
    return {
        **summary(name, inflector),
        "strategy": inflector.strategy,
        "voter_names": [member.name for member in inflector.voters],
        "about": card_text(inflector.card),
        "card": _card(inflector),
        "characters": list(inflector.characters),
        "dimensions": _dimensions(inflector),
        "bundles": [
            {
                "features": features,
                "atoms": Bundle(features).among(inflector.atoms) if "(" in features else None,
                "count": counts.get(features, 0),
                "label": None if label == features else label,
                "part_of_speech": parts[features],
            }
            for features, label in labels.items()
        ],
        "paradigms": [
            {
                "part_of_speech": part,
                "example": examples.get(part),
                "tables": msgspec.to_builtins(tables),
                "left_out": max(0, len(by_part[part]) - LIMITS.paradigm_cells),
            }
            for part, tables in laid_out.items()
        ],
    }


def example_lemmas(inflector: Inflector) -> dict[str, str]:
    """An attested lemma for each part of speech: the one with most forms, rather one that has a gap to fill."""
    cells: dict[str, dict[str, set[tuple[str, ...]]]] = {}
    for item in inflector.attested:
        own = cells.setdefault(item.features.part_of_speech.split(".")[0], {})
        if len(item.lemma) <= LIMITS.lemma_characters:
            own.setdefault(item.lemma, set()).add(item.features.cell)
    full = {part: len(set().union(*own.values())) for part, own in cells.items()}
    return {
        part: max(own, key=lambda lemma: (len(own[lemma]) < full[part], len(own[lemma])))
        for part, own in cells.items()
        if own
    }


def _card(inflector: Inflector) -> dict[str, Any]:
    """The facts of the panel about the model; its bundles and characters are elsewhere in the inventory."""
    card = inflector.card
    training, confidence = card["training"], card["confidence"]
    facts = None if training is None else {name: own for name, own in training.items() if name != "bundles"}
    members = [{name: own[name] for name in ("name", "dev_accuracy", "votes")} for own in card["members"]]
    return {
        "training": facts,
        "members": members,
        "parameters": card["parameters"],
        "confidence_items": confidence and confidence["items"],
    }


def _dimensions(inflector: Inflector) -> list[dict[str, Any]]:
    """The features of the model by dimension; `several`: a bundle may have more than one of them."""
    several = {OTHER}
    for bundle in map(Bundle, inflector.bundles):
        found = [dimension_of(atom) for atom in bundle.atoms]
        several |= {name for name in found if found.count(name) > 1}
    return [
        {
            "name": name,
            "several": name in several,
            "atoms": [
                {"atom": atom, "meaning": meaning_of(atom), "label": None if label == atom else label}
                for atom, label in ((atom, inflector.labels.to_label(atom)) for atom in atoms)
            ],
        }
        for name, atoms in grouped(inflector.atoms).items()
    ]
