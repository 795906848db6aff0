"""What a model that was trained again gets right or wrong, unlike the earlier one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice

from reinflect.data.corrections import TrainingFiles, question
from reinflect.data.items import Item
from reinflect.decode.search import Predictions
from reinflect.ensemble.strategies import Voter, combined, find_strategy
from reinflect.errors import InputError, printable, source_name
from reinflect.inflector.card import fingerprint
from reinflect.inflector.inflector import Inflector
from reinflect.learn.lesson import fold_split
from reinflect.score.scores import Cell, Judged, evaluate
from reinflect.score.significance import Comparison, compare
from reinflect.text import table

MOST_LISTED = 10
"""Bundles, and items of either kind, that a report lists."""


@dataclass(frozen=True)
class Rival:
    """An earlier model to compare a new one with."""

    path: str
    inflector: Inflector
    gold: Sequence[Item]
    """The items they are compared by."""
    taught: Sequence[Item] | None
    """What it learnt from, without dev items; None if both models are compared by dev items."""

    @classmethod
    def of(cls, path: str, inflector: Inflector, files: TrainingFiles, train: str) -> "Rival":
        """Refuses a model if no items are new to it, or none are known to be."""
        if files.dev is not None:
            learnt = {question(item) for item in files.items}  # additions may have dev items
            gold = [item for item in files.dev if question(item) not in learnt]
            if not gold:
                raise InputError("found all dev items among the training items", "give --dev FILE with other items")
            return cls(path, inflector, gold, None)
        training, reason = inflector.training, f"did not learn from {source_name(train)} as it is"
        if training and not training.held_out:
            reason = "was trained with a dev file"
        elif training:
            for taught in files.versions:
                if fingerprint(taught) == training.fingerprint:
                    learnt = {question(item) for item in taught}
                    return cls(path, inflector, [item for item in files.items if question(item) in learnt], taught)
        remedy = "give --dev FILE with forms that neither of the two learns from"
        raise InputError(f"this {reason}, so the items that are new to it are not known", remedy, path=path)

    def text(self, new: Inflector, out: str, items: Sequence[Item]) -> str:
        """The report at the end of a training of the model `out` on these items."""
        if self.taught is None:
            what, cells = "dev items", [_cell(item) for item in self.gold]
            forms = [dict(zip(cells, each.inflect_many(self.gold), strict=True)) for each in (self.inflector, new)]
        else:
            what = "items, each predicted by the models that had not learnt from it"
            forms = [held_out_forms(self.inflector, self.gold, self.taught), held_out_forms(new, self.gold, items)]
        return Changes.between(forms[0], forms[1], self.gold).text(self.path, out, what)


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
        items = [item for item in gold if _cell(item) in before and _cell(item) in after]
        earlier, later = (
            evaluate(items, [replace(item, form=forms[_cell(item)]) for item in items], name="changes")
            for forms in (before, after)
        )
        return cls(compare(later, earlier), tuple(zip(earlier.cells, later.cells, strict=True)))

    @property
    def bundles(self) -> dict[str, tuple[int, int, int]]:
        """Bundles whose accuracy changed, the most changed first: items, right before, right now."""
        counts: dict[str, tuple[int, int, int]] = {}
        for earlier, later in self.cells:
            items, was, now = counts.get(earlier.features.spelling, (0, 0, 0))
            counts[earlier.features.spelling] = items + 1, was + earlier.correct, now + later.correct
        moved = sorted(counts, key=lambda name: -abs(counts[name][2] - counts[name][1]))
        return {name: counts[name] for name in moved if counts[name][1] != counts[name][2]}

    @property
    def flipped(self) -> list[tuple[Judged, Judged]]:
        """The items that only one of the two gets right; first those that are right now."""
        flipped = [pair for pair in self.cells if pair[0].correct != pair[1].correct]
        return sorted(flipped, key=lambda pair: not pair[1].correct)

    def text(self, before: str, after: str, what: str) -> str:
        comparison, names = self.comparison, (printable(before), printable(after))
        rows = [(names[0], f"{comparison.other_accuracy:.2f}"), (names[1], f"{comparison.accuracy:.2f}")]
        accuracies = table(("model", "accuracy"), rows, sides=("left", "right"))
        parts = [f"on {len(self.cells)} {what}:\n{accuracies}{comparison.text(names[1], names[0])}"]
        if moved := self.bundles:
            bundles = [
                (printable(name), f"{old} of {count}", f"{new} of {count}", "better" if new > old else "worse")
                for name, (count, old, new) in islice(moved.items(), MOST_LISTED)
            ]
            more = f"… and {len(moved) - MOST_LISTED} more\n" if len(moved) > MOST_LISTED else ""
            columns = ("features", "right before", "right now", "")
            parts.append(table(columns, bundles, sides=("left", "right", "right", "left")) + more)
        if flipped := self.flipped:
            listed = flipped[: comparison.won][:MOST_LISTED] + flipped[comparison.won :][:MOST_LISTED]
            items = [
                [printable(text) for text in (was.lemma, was.features.spelling, was.predicted, now.predicted)]
                + ["now right" if now.correct else f"now wrong: {printable(now.gold)}"]
                for was, now in listed
            ]
            such_as = ", such as" if len(flipped) > len(listed) else ""
            flips = f"{comparison.won} became right and {comparison.lost} wrong{such_as}:\n"
            parts.append(flips + table(("lemma", "features", "before", "now", ""), items, sides=("left",) * 5))
        return "\n".join(parts)


def held_out_forms(inflector: Inflector, items: Sequence[Item], taught: Sequence[Item]) -> dict[Cell, str]:
    """The predictions for `items` of an inflector that was trained on `taught`, by the voters that held them out."""
    voters = []
    for member, (forms, scores) in zip(inflector.voters, inflector.predictions(inflector.voters, items), strict=True):
        held_out = {question(item) for item in fold_split(taught, member.fold)[1]} if member.fold is not None else ()
        chosen = [question(item) in held_out for item in items]
        dev = Predictions(list(compress(forms, chosen)), list(compress(scores, chosen)))
        voters.append(Voter.of(member.with_predictions(dev), list(compress(items, chosen)), inflector.known_runs))
    return combined(find_strategy(inflector.strategy), voters)


def _cell(item: Item) -> Cell:
    return item.lemma, item.features.spelling
