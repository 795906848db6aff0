"""What a model that was trained again gets right that the one before it did not, and the other way round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reinflect.data.corrections import question
from reinflect.data.items import Item
from reinflect.ensembles.vote import Voter, combined, strategy
from reinflect.errors import InputError, printable, source_name
from reinflect.evaluation.cells import Cell, Judged
from reinflect.evaluation.scores import evaluate
from reinflect.evaluation.significance import Comparison, compare
from reinflect.evaluation.tables import table
from reinflect.inflector.card import fingerprint
from reinflect.inflector.inflector import Inflector
from reinflect.training.fleet import NEXT_SEED
from reinflect.training.lesson import folded_splits

SHOWN = 10
"""Bundles, and items of either kind: as many as a screen can hold."""


@dataclass(frozen=True)
class Changes:
    """Two models asked for the same items, of which the right forms are known."""

    comparison: Comparison
    """Of the later model with the earlier."""
    cells: tuple[tuple[Judged, Judged], ...]
    """Each item as it was before, and as it is now."""

    @classmethod
    def between(cls, before: Mapping[Cell, str], after: Mapping[Cell, str], gold: Sequence[Item]) -> "Changes":
        """From what the two say; an item that one of them was not asked is not counted."""
        asked = [item for item in gold if _cell(item) in before and _cell(item) in after]
        earlier, later = (
            evaluate(asked, [Item(item.lemma, item.features, said[_cell(item)]) for item in asked], name="changes")
            for said in (before, after)
        )
        return cls(compare(later, earlier), tuple(zip(earlier.cells, later.cells, strict=True)))

    @property
    def bundles(self) -> dict[str, tuple[int, int, int]]:
        """The features whose forms changed for better or worse: items, right before, right now; most changed first."""
        counts: dict[str, tuple[int, int, int]] = {}
        for earlier, later in self.cells:
            items, was, now = counts.get(earlier.features.spelling, (0, 0, 0))
            counts[earlier.features.spelling] = items + 1, was + earlier.correct, now + later.correct
        moved = [name for name, (_, was, now) in counts.items() if was != now]
        return {name: counts[name] for name in sorted(moved, key=lambda name: -abs(counts[name][2] - counts[name][1]))}

    @property
    def flipped(self) -> list[tuple[Judged, Judged]]:
        """The items that one of the two gets right; first those that are right now."""
        found = [pair for pair in self.cells if pair[0].correct != pair[1].correct]
        return sorted(found, key=lambda pair: not pair[1].correct)

    def text(self, before: str, after: str, asked: str) -> str:
        """What a user reads at the end of a training."""
        made, names = self.comparison, (printable(before), printable(after))
        rows = [(names[0], f"{made.other_accuracy:.2f}"), (names[1], f"{made.accuracy:.2f}")]
        parts = [
            f"on {len(self.cells)} {asked}:\n"
            + table(("model", "accuracy"), rows, sides=("left", "right"))
            + f"difference {made.difference:+.2f}, 95 % interval {made.low:+.2f} to {made.high:+.2f}, "
            + f"p = {made.p_value:.4f} (paired bootstrap, {made.resamples} resamples)\n"
            + made.verdict(names[1], names[0])
            + "\n"
        ]
        if self.bundles:
            parts.append(self._bundle_table())
        if self.flipped:
            parts.append(self._flip_table())
        return "\n".join(parts)

    def _bundle_table(self) -> str:
        moved = self.bundles
        rows = [
            (printable(name), f"{was} of {items}", f"{now} of {items}", "better" if now > was else "worse")
            for name, (items, was, now) in list(moved.items())[:SHOWN]
        ]
        return table(("features", "right before", "right now", ""), rows, sides=("left", "right", "right", "left")) + (
            f"… and {len(moved) - SHOWN} more\n" if len(moved) > SHOWN else ""
        )

    def _flip_table(self) -> str:
        now, no_more = self.comparison.won, self.comparison.lost
        shown = self.flipped[: min(now, SHOWN)] + self.flipped[now:][:SHOWN]
        rows = [
            (
                printable(earlier.lemma),
                printable(earlier.features.spelling),
                printable(earlier.predicted),
                printable(later.predicted),
                "now right" if later.correct else f"now wrong: {printable(later.gold)}",
            )
            for earlier, later in shown
        ]
        return f"{now} became right and {no_more} wrong{', such as' if now + no_more > len(shown) else ''}:\n" + table(
            ("lemma", "features", "before", "now", ""), rows, sides=("left",) * 5
        )


def forms_of(inflector: Inflector, items: Sequence[Item]) -> dict[Cell, str]:
    """What an inflector says of dev items."""
    return {_cell(item): form for item, form in zip(items, inflector.inflect_many(items), strict=True)}


def held_out_forms(inflector: Inflector, items: Sequence[Item], taught: Sequence[Item]) -> dict[Cell, str]:
    """What an inflector that was trained on `taught`, without dev items, says of those of `items` that are among them.

    On each item only those vote that had held it out; one that all voters have learnt from is left out.
    """
    numbers = [member.seed % NEXT_SEED for member in inflector.members]
    first = min(numbers)
    splits = folded_splits(taught, max(numbers) - first + 1, "training data")
    held = [{question(item) for item in split.dev} for split in splits]
    places = {member.name: place for place, member in enumerate(inflector.members)}
    answers, voters = inflector.member_answers(items), []
    for member in inflector.voters:
        own = held[member.seed % NEXT_SEED - first]
        forms, scores = answers[places[member.name]]
        asked = [place for place, item in enumerate(items) if question(item) in own]
        voters.append(
            Voter.of(
                member.kind,
                member.seed,
                [items[place] for place in asked],
                [forms[place] for place in asked],
                [scores[place] for place in asked],
            )
        )
    return combined(strategy(inflector.strategy), voters)


def check_comparable(
    inflector: Inflector, taught: Sequence[Sequence[Item]], model: Path | str, train: Path | str
) -> Sequence[Item]:
    """Which of some lists of items an inflector was trained on without dev items; without that, nothing can be told."""
    training = inflector.training
    if training and training.held_out:
        for items in taught:
            if fingerprint(items) == training.fingerprint:
                return items
    why = (
        "was trained with a dev file"
        if training and not training.held_out
        else f"did not learn from {source_name(train)} as it is"
    )
    raise InputError(
        f"this {why}, so nothing tells which of the items are new to it",
        "give --dev FILE with forms that neither of the two learns from",
        path=model,
    )


def _cell(item: Item) -> Cell:
    return item.lemma, item.features.spelling
