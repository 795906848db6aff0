"""From predictions of single models to those of ensembles, runs and the rule baseline, and their scores."""

import glob
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reinflect.assemble import known_runs
from reinflect.data.items import Item, write_items
from reinflect.decode.forms import Predictions, filtered
from reinflect.ensemble.member import Trained
from reinflect.ensemble.strategies import RUNS, STRATEGIES, Strategy, Voter, best_first, choices, find_strategy, vote
from reinflect.files import BYTE_ORDER_MARK, make_folder, write_text
from reinflect.learn.lesson import Lesson
from reinflect.paper.figures import Average, Scores
from reinflect.score.baseline import Baseline
from reinflect.score.scores import Evaluation, MacroEvaluation, Score, digest_of_forms, right_forms
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
    """The predictions of all systems for one language in one setting."""

    corpus: Lesson
    forms: Mapping[str, Forms]
    """By the name of a system: a kind of model (the vote of its seeds), a run, the baseline."""
    chosen: Mapping[str, Sequence[str]]
    """The members that vote in a run, such as `haem-naive-3`, best first."""
    changed: Mapping[str, Changes]
    """By system."""


def parts_of(corpus: Lesson) -> dict[str, Sequence[Item]]:
    """The items that models inflect, by split."""
    return {"dev": corpus.dev, "test": corpus.asked}


def predictions_of(model: Trained) -> dict[str, Predictions]:
    return {"dev": model.dev, "test": model.asked}


def kept_forms(corpus: Lesson, models: Iterable[Trained], runs: dict[str, int]) -> Kept:
    """The forms of models after the filter for repeats."""
    lemmas = {split: [item.lemma for item in items] for split, items in parts_of(corpus).items()}
    return {
        (model.name, split): filtered(predictions_of(model)[split].forms, lemmas[split], runs)
        for model in models
        for split in SPLITS
    }


def forms_by_rules(corpus: Lesson) -> Forms:
    rules = Baseline.learn(corpus.train)
    return {
        split: [rules.inflect(item.lemma, item.features) for item in items] for split, items in parts_of(corpus).items()
    }


def combine(corpus: Lesson, kinds: Mapping[Kind, int], models: Iterable[Trained]) -> Combined:
    """All predictions for a corpus that can be made of the models there are.

    An ensemble or strategy needs all models of the `kinds` that may take part in it. Models that diverged count as
    trained, but take no part.
    """
    trained, runs, right = list(models), known_runs(corpus.train), right_forms(corpus.dev, "last")
    voters = best_first([Voter.of(model, corpus.dev, runs, right) for model in trained if model.usable])
    kept = kept_forms(corpus, [voter.model for voter in voters], runs)
    counts, wanted = Counter(model.kind for model in trained), {str(kind): seeds for kind, seeds in kinds.items()}
    complete = {
        kind: [voter for voter in voters if voter.kind == kind] for kind in wanted if counts[kind] >= wanted[kind]
    }
    combined: dict[tuple[int, tuple[str, ...]], Forms] = {}  # a run is often the vote of a kind, or another run

    def together(strategy: Strategy, members: Sequence[Voter]) -> Forms:
        key = id(strategy.combine), tuple(voter.name for voter in members)
        if key not in combined:
            combined[key] = {
                split: strategy.combine_all(
                    [kept[voter.name, split] for voter in members],
                    [predictions_of(voter.model)[split].log_probabilities for voter in members],
                )
                for split in SPLITS
            }
        return combined[key]

    forms = {kind: together(STRATEGIES["vote"], members) for kind, members in complete.items() if members}
    # The runs are the paper's: models that are set apart from the paper's take no part in them.
    of_paper = {str(kind): kind.system for kind in kinds if not kind.label}
    paper_voters = [voter for voter in voters if not voter.model.variant]
    votes, chosen = choices(paper_voters, COMPARED) if paper_voters else {}, dict[str, list[str]]()
    ours = [run.name for run in RUNS] + list(COMPARED)
    for name in (*ours, *(name for name in STRATEGIES if name not in (*ours, "vote", "max"))):
        strategy = find_strategy(name)
        needed = {kind for kind, system in of_paper.items() if strategy.may_vote(system)}
        if name in votes and needed and needed <= complete.keys():
            chosen[name] = [voter.name for voter in votes[name]]
            forms[name] = together(strategy, votes[name])
    if voters and wanted.keys() <= complete.keys():
        forms["vote"] = together(STRATEGIES["vote"], voters)
    forms[BASELINE] = forms_by_rules(corpus)
    changed: dict[str, Changes] = {}
    for members in complete.values():
        for split in SPLITS if members else ():
            changed.setdefault(members[0].system, Counter()).update(_changes(corpus, split, members, kept, runs))
    return Combined(corpus, forms, chosen, changed)


def _changes(corpus: Lesson, split: str, voters: Sequence[Voter], kept: Kept, runs: dict[str, int]) -> Changes:
    """What the filter changes in the forms of one kind."""
    items, filters = (
        parts_of(corpus)[split],
        [(predictions_of(voter.model)[split].forms, kept[voter.name, split]) for voter in voters],
    )
    numbers = [number for before, after in filters for number, form in enumerate(before) if form != after[number]]
    changes: Changes = Counter({("single", split): len(numbers)})
    for number in set(numbers):  # the filter changes no vote on other items
        form = vote([before[number] for before, _ in filters])
        changes["voted", split] += filtered([form], [items[number].lemma], runs) != [form]
    return changes


def evaluations(combined: Combined, gold: Sequence[Item]) -> Evaluations:
    """The scores of every system on dev and, if the right forms of the test items are given, on test."""
    corpus, bundles = combined.corpus, {item.features.cell for item in combined.corpus.train}
    result: dict[str, dict[str, Evaluation]] = {}
    for split, right, items in (("dev", corpus.dev, corpus.dev), ("test", gold, corpus.asked)):
        if right and items:
            cells = [(item.lemma, item.features.spelling) for item in items]
            answers = right_forms(right, "last")
            seen = {item.features.spelling for item in right if item.features.cell in bundles}
            of_seen = {cell: forms for cell, forms in answers.items() if cell[1] in seen}
            digest = digest_of_forms(answers)
            scored: dict[int, Evaluation] = {}  # many systems share their forms
            for forms in combined.forms.values():
                if id(forms[split]) not in scored:
                    predicted = dict(zip(cells, forms[split], strict=True))
                    score, part = vars(Score.counted(answers, predicted)), Score.counted(of_seen, predicted)
                    scored[id(forms[split])] = Evaluation(
                        **score, name=corpus.language, cells=[], variants="last", gold_digest=digest, seen=part
                    )
            result[split] = {system: scored[id(forms[split])] for system, forms in combined.forms.items()}
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


@dataclass(frozen=True)
class Finished:
    """One language in one setting; its predictions are in files."""

    chosen: Mapping[str, Sequence[str]]
    """The members that vote in a run, such as `haem-naive-3`, best first."""
    changed: Mapping[str, Changes]
    """By system."""
    evaluations: Evaluations


def finish(
    corpus: Lesson, models: Sequence[Trained], gold: Sequence[Item], kinds: Mapping[Kind, int], *, folder: Path
) -> Finished:
    """Combine, score, and write the predictions into a folder; `gold` are the right forms of test items, if known."""
    combined = combine(corpus, kinds, models)
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
    return Finished(combined.chosen, combined.changed, evaluations(combined, gold))


def write_forms(folder: Path, corpus: Lesson, system: str, split: str, forms: Sequence[str]) -> Path:
    """`FOLDER/SETTING/SYSTEM/LANGUAGE-{dev,test}`, in the order and format of the data."""
    path = make_folder(folder / corpus.setting / system) / f"{corpus.language}-{split}"
    pairs = list(zip(parts_of(corpus)[split], forms, strict=True))
    text = "".join(f"{item.lemma}\t{form}\t{item.features.spelling}\n" for item, form in pairs)
    counts = tuple(map(text.count, "\t\n\r"))
    if counts == (2 * len(pairs), len(pairs), 0) and not text.startswith(BYTE_ORDER_MARK):
        write_text(path, text)
    else:  # `write_items` is much slower, but refuses or escapes what would be read as something else
        write_items(path, [Item(item.lemma, item.features, form) for item, form in pairs])
    return path
