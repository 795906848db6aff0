"""From predictions of single models to those of ensembles, runs and the rule baseline, and to their figures."""

import glob
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import ne
from pathlib import Path
from statistics import fmean

import msgspec

from reinflect.assemble import known_runs, voters_of
from reinflect.data.items import Item, write_items
from reinflect.decode.search import Predictions, filtered
from reinflect.ensemble.confidence import seen_cells
from reinflect.ensemble.strategies import (
    RUNS,
    STRATEGIES,
    Strategy,
    Trained,
    Voter,
    best_first,
    choices,
    find_strategy,
    vote,
)
from reinflect.files import make_folder
from reinflect.learn.lesson import Lesson
from reinflect.score.baseline import Baseline
from reinflect.score.scores import DECIMALS, Evaluation, MacroEvaluation, Score, evaluate
from reinflect.systems.kind import Kind

COMPARED = ("ensemble-7", "average")
"""Beside the seven runs: Run 6 as it was at high, of seven models; and its members' probabilities averaged."""
NOT_WRITTEN = (*COMPARED, "vote")
"""Systems that are only compared: their predictions are not written."""
SPLITS = ("dev", "test")

Forms = Mapping[str, Sequence[str]]
"""The forms of a system by split, in the order of the items."""
Kept = Mapping[tuple[str, str], Sequence[str]]
"""Forms by the name of a model and by split."""
Changes = Counter[tuple[str, str]]
"""How many outputs the filter for repeats replaces by the lemma, by split and by whose they are: `single` models, or
the `voted` forms E(·) of models that are not filtered before they vote, which the paper counts."""
Evaluations = Mapping[tuple[str, str], Evaluation]
"""Of one language in one setting, by split and system; without cells."""


class Part(msgspec.Struct, frozen=True):
    """The accuracy on a part of the items, and their number."""

    accuracy: float
    items: int


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """The figures of a language."""

    accuracy: float
    levenshtein: float
    seen: Part | None = None
    """Of items whose bundle the training items have."""
    unseen: Part | None = None
    """Of the others."""

    @classmethod
    def of(cls, evaluation: Evaluation) -> "Figure":
        seen = evaluation.seen
        unseen = seen and Score(evaluation.items - seen.items, evaluation.correct - seen.correct, 0, 0)
        parts = [Part(part.accuracy, part.items) if part and part.items else None for part in (seen, unseen)]
        return Figure(evaluation.accuracy, evaluation.levenshtein, *parts)


class Average(Figure, frozen=True, kw_only=True):
    """The macro average of a system in a setting, and the figures of each language."""

    languages: dict[str, Figure]
    signature: str

    @classmethod
    def over(cls, macro: MacroEvaluation) -> "Average":
        languages = {name: Figure.of(evaluation) for name, evaluation in macro.languages.items()}
        averages = {}
        for name in ("seen", "unseen"):
            if parts := [part for figure in languages.values() if (part := getattr(figure, name))]:
                accuracy = round(fmean(part.accuracy for part in parts), DECIMALS)
                averages[name] = Part(accuracy, sum(part.items for part in parts))
        return cls(macro.accuracy, macro.levenshtein, **averages, languages=languages, signature=macro.signature)


Figures = Mapping[str, Mapping[str, Average]]
"""By setting and system."""
Scores = dict[str, dict[str, dict[str, Average]]]
"""By split, setting and system."""


@dataclass(frozen=True)
class Combined:
    """All systems for one language in one setting."""

    forms: Mapping[str, Forms]
    """By the name of a system: a kind of model (the vote of its seeds), a run, the baseline. Empty once written."""
    chosen: Mapping[str, Sequence[str]]
    """The members that vote in a run, such as `haem-naive-3`, best first."""
    changed: Mapping[str, Changes]
    """By system."""
    evaluations: Evaluations


def parts_of(corpus: Lesson) -> dict[str, Sequence[Item]]:
    """The items that models inflect, by split."""
    return {"dev": corpus.dev, "test": corpus.asked}


def predictions_of(model: Trained) -> dict[str, Predictions]:
    return {"dev": model.dev, "test": model.asked}


def kept_forms(corpus: Lesson, models: Iterable[Trained], runs: dict[str, int]) -> Kept:
    """The forms of models after the filter for repeats."""
    lemmas = {split: [item.lemma for item in items] for split, items in parts_of(corpus).items()}
    return {
        (model.name, split): filtered(predictions.forms, lemmas[split], runs)
        for model in models
        for split, predictions in predictions_of(model).items()
    }


def forms_by_rules(corpus: Lesson) -> Forms:
    rules = Baseline.learn(corpus.train)
    return {
        split: [rules.inflect(item.lemma, item.features) for item in items] for split, items in parts_of(corpus).items()
    }


def combine(
    corpus: Lesson, kinds: Mapping[Kind, int], models: Sequence[Trained], gold: Sequence[Item] = ()
) -> Combined:
    """Combine and score what can be made of the models there are; `gold` are the right forms of test items, if known.

    An ensemble or strategy needs all models of the `kinds` that may take part in it. Models that diverged count as
    trained, but take no part.
    """
    runs, counts = known_runs(corpus.train), Counter(model.kind for model in models)
    voters = best_first(voters_of(models, corpus.train, corpus.dev))
    kept = kept_forms(corpus, [voter.model for voter in voters], runs)
    complete = {
        str(kind): [voter for voter in voters if voter.kind == str(kind)]
        for kind, seeds in kinds.items()
        if counts[str(kind)] >= seeds
    }

    def voted(members: Sequence[Voter], strategy: Strategy = STRATEGIES["vote"]) -> Forms:
        return {
            split: strategy.combine_all(
                [kept[voter.name, split] for voter in members],
                [predictions_of(voter.model)[split].log_probabilities for voter in members],
            )
            for split in SPLITS
        }

    systems = {kind: voted(members) for kind, members in complete.items() if members}
    # The runs are the paper's: models that are set apart from the paper's take no part in them.
    votes, chosen = choices([voter for voter in voters if not voter.model.variant], COMPARED), {}
    for name in dict.fromkeys([*(run.name for run in RUNS), *COMPARED, *STRATEGIES]):
        strategy = find_strategy(name)
        needed = {str(kind) for kind in kinds if not kind.label and strategy.may_vote(kind.system)}
        if name in votes and name not in ("vote", "max") and needed <= complete.keys():
            chosen[name] = [voter.name for voter in votes[name]]
            systems[name] = voted(votes[name], strategy)
    if voters and len(complete) == len(kinds):
        systems["vote"] = voted(voters)
    systems["baseline"] = forms_by_rules(corpus)
    changed: defaultdict[str, Changes] = defaultdict(Counter)
    for members in filter(None, complete.values()):
        changed[members[0].system] += _changes(corpus, members, kept, runs)
    return Combined(systems, chosen, changed, evaluations(corpus, systems, gold))


def _changes(corpus: Lesson, voters: Sequence[Voter], kept: Kept, runs: dict[str, int]) -> Changes:
    """What the filter changes in the forms of one kind."""
    changes: Changes = Counter()
    for split, items in parts_of(corpus).items():
        plain = zip(*(predictions_of(voter.model)[split].forms for voter in voters), strict=True)
        after = zip(*(kept[voter.name, split] for voter in voters), strict=True)
        for item, forms, others in zip(items, plain, after, strict=True):
            if forms != others:  # the filter changes no vote on other items
                changes["single", split] += sum(map(ne, forms, others))
                form = vote(forms)
                changes["voted", split] += filtered([form], [item.lemma], runs) != [form]
    return changes


def predicted(items: Sequence[Item], forms: Sequence[str]) -> list[Item]:
    return [Item(item.lemma, item.features, form) for item, form in zip(items, forms, strict=True)]


def evaluations(corpus: Lesson, systems: Mapping[str, Forms], gold: Sequence[Item]) -> Evaluations:
    """The scores of every system on dev and, if the right forms of the test items are given, on test."""
    result = {}
    for (split, items), right in zip(parts_of(corpus).items(), (corpus.dev, gold), strict=True):
        trained = seen_cells(corpus.train, right)
        for system, forms in systems.items() if right and items else ():
            scored = evaluate(right, predicted(items, forms[split]), name=corpus.language)
            seen = Score.of([cell for cell in scored.cells if (cell.lemma, cell.features.spelling) in trained])
            result[split, system] = replace(scored, cells=[], seen=seen)
    return result


def averages(evaluated: Iterable[tuple[Lesson, Evaluations]]) -> Scores:
    """Macro averages over the languages of each setting."""
    languages: defaultdict[tuple[str, str, str], dict[str, Evaluation]] = defaultdict(dict)
    for corpus, evaluations in evaluated:
        for (split, system), evaluation in evaluations.items():
            languages[split, corpus.setting, system][corpus.language] = evaluation
    scores: Scores = {split: {} for split in SPLITS}
    for (split, setting, system), by_language in languages.items():
        macro = MacroEvaluation(f"{setting}-{split}", by_language)
        scores[split].setdefault(setting, {})[system] = Average.over(macro)
    return scores


def accuracies(figures: Figures, setting: str, system: str) -> dict[str, float]:
    """The accuracy of a system in each language that it has in a setting."""
    average = figures.get(setting, {}).get(system)
    return {name: figure.accuracy for name, figure in average.languages.items()} if average else {}


def finish(
    corpus: Lesson, models: Sequence[Trained], gold: Sequence[Item], kinds: Mapping[Kind, int], *, folder: Path
) -> Combined:
    """Combine and score, and write the predictions into a folder."""
    combined = combine(corpus, kinds, models, gold)
    written = {
        write_forms(folder, corpus, system, split, forms[split])
        for system, forms in combined.forms.items()
        for split, items in parts_of(corpus).items()
        if items and system not in NOT_WRITTEN
    }
    # An earlier command may have written those of other systems, with other settings.
    for split in SPLITS:
        for path in (folder / corpus.setting).glob(f"*/{glob.escape(corpus.language)}-{split}"):
            if path not in written:
                path.unlink(missing_ok=True)
    return replace(combined, forms={})


def write_forms(folder: Path, corpus: Lesson, system: str, split: str, forms: Sequence[str]) -> Path:
    """`FOLDER/SETTING/SYSTEM/LANGUAGE-{dev,test}`, in the order and format of the data."""
    path = make_folder(folder / corpus.setting / system) / f"{corpus.language}-{split}"
    write_items(path, predicted(parts_of(corpus)[split], forms))
    return path
