"""From predictions of single models to those of ensembles, runs and the rule baseline, and their scores."""

import glob
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reinflect.assemble import known_runs, voters_of
from reinflect.data.items import Item, write_items
from reinflect.decode.search import Predictions, filtered
from reinflect.ensemble.confidence import seen_cells
from reinflect.ensemble.member import Trained
from reinflect.ensemble.strategies import RUNS, STRATEGIES, Strategy, Voter, best_first, choices, find_strategy, vote
from reinflect.files import make_folder
from reinflect.learn.lesson import Lesson
from reinflect.paper.figures import Average, Scores
from reinflect.score.baseline import Baseline
from reinflect.score.scores import Evaluation, MacroEvaluation, Score, evaluate
from reinflect.systems.kind import Kind

BASELINE = "baseline"
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
Evaluations = Mapping[str, Mapping[str, Evaluation]]
"""Of one language in one setting, by split and system; without cells."""


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
    wanted = {str(kind): seeds for kind, seeds in kinds.items()}
    complete = {
        kind: [voter for voter in voters if voter.kind == kind] for kind in wanted if counts[kind] >= wanted[kind]
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
    if voters and wanted.keys() <= complete.keys():
        systems["vote"] = voted(voters)
    systems[BASELINE] = forms_by_rules(corpus)
    changed: dict[str, Changes] = {}
    for members in filter(None, complete.values()):
        changed.setdefault(members[0].system, Counter()).update(_changes(corpus, members, kept, runs))
    return Combined(systems, chosen, changed, evaluations(corpus, systems, gold))


def _changes(corpus: Lesson, voters: Sequence[Voter], kept: Kept, runs: dict[str, int]) -> Changes:
    """What the filter changes in the forms of one kind."""
    changes: Changes = Counter()
    for split, items in parts_of(corpus).items():
        plain = [predictions_of(voter.model)[split].forms for voter in voters]
        both = [zip(forms, kept[voter.name, split], strict=True) for forms, voter in zip(plain, voters, strict=True)]
        numbers = [number for pairs in both for number, (before, after) in enumerate(pairs) if before != after]
        changes["single", split] += len(numbers)
        for number in set(numbers):  # the filter changes no vote on other items
            form = vote([forms[number] for forms in plain])
            changes["voted", split] += filtered([form], [items[number].lemma], runs) != [form]
    return changes


def predicted(items: Sequence[Item], forms: Sequence[str]) -> list[Item]:
    return [Item(item.lemma, item.features, form) for item, form in zip(items, forms, strict=True)]


def evaluations(corpus: Lesson, systems: Mapping[str, Forms], gold: Sequence[Item]) -> Evaluations:
    """The scores of every system on dev and, if the right forms of the test items are given, on test."""
    result: dict[str, dict[str, Evaluation]] = {}
    for (split, items), right in zip(parts_of(corpus).items(), (corpus.dev, gold), strict=True):
        if right and items:
            result[split], trained = {}, seen_cells(corpus.train, right)
            for system, forms in systems.items():
                scored = evaluate(right, predicted(items, forms[split]), name=corpus.language)
                seen = Score.of([cell for cell in scored.cells if (cell.lemma, cell.features.spelling) in trained])
                result[split][system] = replace(scored, cells=[], seen=seen)
    return result


def averages(evaluated: Iterable[tuple[Lesson, Evaluations]]) -> Scores:
    """Macro averages over the languages of each setting."""
    languages: dict[tuple[str, str, str], dict[str, Evaluation]] = {}
    for corpus, by_split in evaluated:
        for split, systems in by_split.items():
            for system, evaluation in systems.items():
                languages.setdefault((split, corpus.setting, system), {})[corpus.language] = evaluation
    scores: Scores = {split: {} for split in SPLITS}
    for (split, setting, system), of_system in languages.items():
        macro = MacroEvaluation(f"{setting}-{split}", of_system)
        scores[split].setdefault(setting, {})[system] = Average.over(macro)
    return scores


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
