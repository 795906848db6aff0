"""What a model that was trained again gets right or wrong, unlike the earlier one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

from reinflect.data.corrections import TrainingFiles, question
from reinflect.data.items import Item, grouped
from reinflect.decode.search import Predictions
from reinflect.ensemble.strategies import Voter, combined, find_strategy
from reinflect.errors import InputError, printable, source_name
from reinflect.inflector.card import fingerprint
from reinflect.inflector.inflector import Inflector
from reinflect.learn.lesson import fold_split
from reinflect.score.scores import Cell, Judged, evaluate
from reinflect.score.significance import compare
from reinflect.text import table

MOST_LISTED = 10
"""Bundles, and items of either kind, that a report lists."""
Pair = tuple[Judged, Judged]
"""An item as the earlier model predicts it, and as the later one does."""


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
        what = "items, each predicted by the models that had not learnt from it" if self.taught else "dev items"
        before, after = (
            held_out_forms(inflector, self.gold, taught)
            if self.taught
            else dict(zip(map(_cell, self.gold), inflector.inflect_many(self.gold, attested=False), strict=True))
            for inflector, taught in ((self.inflector, self.taught or ()), (new, items))
        )
        return changes(before, after, self.gold, (self.path, out), what)


def changes(
    before: Mapping[Cell, str], after: Mapping[Cell, str], gold: Sequence[Item], names: tuple[str, str], what: str
) -> str:
    """How two models differ in their predictions for those items that both have predicted."""
    items = [item for item in gold if _cell(item) in before and _cell(item) in after]
    earlier, later = (
        evaluate(items, [replace(item, form=forms[_cell(item)]) for item in items], name="changes")
        for forms in (before, after)
    )
    comparison, pairs = compare(later, earlier), list(zip(earlier.cells, later.cells, strict=True))
    old, new = map(printable, names)
    rows = [(old, f"{comparison.other_accuracy:.2f}"), (new, f"{comparison.accuracy:.2f}")]
    accuracies = table(("model", "accuracy"), rows, sides=("left", "right"))
    overall = f"on {len(pairs)} {what}:\n{accuracies}{comparison.text(new, old)}"
    return "\n".join([overall, *_changed_bundles(pairs), *_changed_items(pairs)])


def _changed_bundles(pairs: Sequence[Pair]) -> list[str]:
    """The bundles whose accuracy changed, the most changed first; nothing if there are none."""
    gains: dict[int, list[list[str]]] = {}
    for name, group in grouped(pairs, lambda pair: pair[0].features.spelling).items():
        was, now = (sum(cell.correct for cell in cells) for cells in zip(*group, strict=True))
        verdict = "better" if now > was else "worse"
        row = [printable(name), f"{was} of {len(group)}", f"{now} of {len(group)}", verdict]
        gains.setdefault(abs(now - was), []).append(row)
    rows = [row for gain in sorted(gains, reverse=True) if gain for row in gains[gain]]
    more = f"… and {len(rows) - MOST_LISTED} more\n" if len(rows) > MOST_LISTED else ""
    header, listed = ("features", "right before", "right now", ""), rows[:MOST_LISTED]
    return [table(header, listed, sides=("left", "right", "right", "left")) + more] if rows else []


def _changed_items(pairs: Sequence[Pair]) -> list[str]:
    """The items that only one of the two has right, first those that are right now; nothing if there are none."""
    right = [(was, now) for was, now in pairs if now.correct and not was.correct]
    wrong = [(was, now) for was, now in pairs if was.correct and not now.correct]
    rows = [
        [printable(text) for text in (was.lemma, was.features.spelling, was.predicted, now.predicted)]
        + ["now right" if now.correct else f"now wrong: {printable(now.gold)}"]
        for was, now in (*right[:MOST_LISTED], *wrong[:MOST_LISTED])
    ]
    such_as = ", such as" if len(rows) < len(right) + len(wrong) else ""
    flips = f"{len(right)} became right and {len(wrong)} wrong{such_as}:\n"
    header = ("lemma", "features", "before", "now", "")
    return [flips + table(header, rows, sides=("left",) * 5)] if rows else []


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
