"""The items that only one of two models gets right: an earlier model, and one that was trained again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reinflect.data.corrections import question
from reinflect.data.items import Item
from reinflect.decode.forms import Predictions
from reinflect.ensemble.strategies import Voter, combined, find_strategy
from reinflect.errors import InputError, printable, source_name
from reinflect.inflector.card import fingerprint
from reinflect.inflector.inflector import Inflector
from reinflect.learn.lesson import fold_split
from reinflect.score.scores import Cell, Judged, evaluate
from reinflect.score.significance import Comparison, compare
from reinflect.text import table

SHOWN = 10
"""The most bundles, and items of either kind, that are shown."""


@dataclass(frozen=True)
class Changes:
    """The predictions of two models for the same items, with the right forms."""

    comparison: Comparison
    """Of the later model with the earlier."""
    cells: tuple[tuple[Judged, Judged], ...]
    """Each item as the earlier model predicts it, and as the later one does."""

    @classmethod
    def between(cls, before: Mapping[Cell, str], after: Mapping[Cell, str], gold: Sequence[Item]) -> "Changes":
        """Compare two models by their predictions; only items that both have predicted count."""
        asked = [item for item in gold if _cell(item) in before and _cell(item) in after]
        earlier, later = (
            evaluate(asked, [replace(item, form=own[_cell(item)]) for item in asked], name="changes")
            for own in (before, after)
        )
        return cls(compare(later, earlier), tuple(zip(earlier.cells, later.cells, strict=True)))

    @property
    def bundles(self) -> dict[str, tuple[int, int, int]]:
        """Bundles whose accuracy changed, the most changed first: items, right before, right now."""
        counts: dict[str, tuple[int, int, int]] = {}
        for earlier, later in self.cells:
            items, was, now = counts.get(earlier.features.spelling, (0, 0, 0))
            counts[earlier.features.spelling] = items + 1, was + earlier.correct, now + later.correct
        moved = [name for name, (_, was, now) in counts.items() if was != now]
        return {name: counts[name] for name in sorted(moved, key=lambda name: -abs(counts[name][2] - counts[name][1]))}

    @property
    def flipped(self) -> list[tuple[Judged, Judged]]:
        """The items that only one of the two gets right; first those that are right now."""
        found = [pair for pair in self.cells if pair[0].correct != pair[1].correct]
        return sorted(found, key=lambda pair: not pair[1].correct)

    def text(self, before: str, after: str, asked: str) -> str:
        """The report at the end of a training."""
        made, names = self.comparison, (printable(before), printable(after))
        rows = [(names[0], f"{made.other_accuracy:.2f}"), (names[1], f"{made.accuracy:.2f}")]
        both = table(("model", "accuracy"), rows, sides=("left", "right"))
        parts = [f"on {len(self.cells)} {asked}:\n{both}{made.text(names[1], names[0])}"]
        if moved := self.bundles:
            bundles = [
                (printable(name), f"{old} of {count}", f"{new} of {count}", "better" if new > old else "worse")
                for name, (count, old, new) in list(moved.items())[:SHOWN]
            ]
            header = ("features", "right before", "right now", "")
            more = f"… and {len(moved) - SHOWN} more\n" if len(moved) > SHOWN else ""
            parts.append(table(header, bundles, sides=("left", "right", "right", "left")) + more)
        if flipped := self.flipped:
            shown = flipped[: min(made.won, SHOWN)] + flipped[made.won :][:SHOWN]
            such_as = ", such as" if len(flipped) > len(shown) else ""
            items = [
                (
                    *map(printable, (was.lemma, was.features.spelling, was.predicted, now.predicted)),
                    "now right" if now.correct else f"now wrong: {printable(now.gold)}",
                )
                for was, now in shown
            ]
            parts.append(f"{made.won} became right and {made.lost} wrong{such_as}:\n")
            parts[-1] += table(("lemma", "features", "before", "now", ""), items, sides=("left",) * 5)
        return "\n".join(parts)


def forms_of(inflector: Inflector, items: Sequence[Item]) -> dict[Cell, str]:
    """The predictions of an inflector for dev items."""
    return {_cell(item): form for item, form in zip(items, inflector.inflect_many(items), strict=True)}


def held_out_forms(inflector: Inflector, items: Sequence[Item], taught: Sequence[Item]) -> dict[Cell, str]:
    """The predictions of an inflector that was trained on `taught` without dev items, for `items` among them.

    Only the voters that held out an item vote on it; an item that all voters learnt from is left out.
    """
    voters = []
    for member, (forms, scores) in zip(inflector.voters, inflector.predictions(inflector.voters, items), strict=True):
        held_out = fold_split(taught, member.fold)[1] if member.fold is not None else []
        own = {question(item) for item in held_out}
        asked = [place for place, item in enumerate(items) if question(item) in own]
        dev = Predictions([forms[place] for place in asked], [scores[place] for place in asked])
        voters.append(Voter.of(replace(member, dev=dev), [items[place] for place in asked], inflector.known_runs))
    return combined(find_strategy(inflector.strategy), voters)


def check_comparable(
    inflector: Inflector, taught: Sequence[Sequence[Item]], model: Path | str, train: Path | str
) -> Sequence[Item]:
    """The list of `taught` that an inflector was trained on without dev items; an error if there is none."""
    training = inflector.training
    reason = f"did not learn from {source_name(train)} as it is"
    if training and not training.held_out:
        reason = "was trained with a dev file"
    elif training:
        for items in taught:
            if fingerprint(items) == training.fingerprint:
                return items
    remedy = "give --dev FILE with forms that neither of the two learns from"
    raise InputError(f"this {reason}, so the items that are new to it are not known", remedy, path=model)


def _cell(item: Item) -> Cell:
    return item.lemma, item.features.spelling
