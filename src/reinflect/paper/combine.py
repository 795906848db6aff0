"""From predictions of single models to those of ensembles, runs and the rule baseline, and their scores."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reinflect.assemble import known_runs
from reinflect.data.items import Item
from reinflect.decode.forms import Predictions
from reinflect.decode.repeats import filtered, filtered_all
from reinflect.ensemble.candidates import Pool
from reinflect.ensemble.member import TrainedModel
from reinflect.ensemble.strategies import RUNS, STRATEGIES, Strategy, Voter, best_first, choices, find_strategy
from reinflect.ensemble.vote import vote
from reinflect.ensemble.weights import BEST, RULES, WAYS, Ballots, cross_fitted
from reinflect.learn.lesson import Lesson
from reinflect.paper.figures import Average, Scores
from reinflect.paper.grid import Grid, kinds
from reinflect.score.baseline import Baseline
from reinflect.score.scores import Evaluation, MacroEvaluation, Score, digest_of_forms, right_forms

BASELINE = "baseline"
COMPARED = ("ensemble-7", "average")
"""Beside the seven runs: Run 6 as it was at high, of seven models; and its members' probabilities averaged."""
WITHOUT = "best without "
"""Before a kind of model: `best` of the other kinds."""
SPLITS = ("dev", "test")

Forms = Mapping[str, Sequence[str]]
"""The forms of a system by split, in the order of the items."""
Kept = Mapping[tuple[str, str], Sequence[str]]
"""Forms by the name of a model and by split."""
Changes = Counter[tuple[str, str]]
"""How many outputs the filter for repeats replaces by the lemma, by split and by whose they are: `single` models, or
the `voted` forms E(·) of models that are not filtered before they vote, which the paper counts."""


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


def has_files(system: str) -> bool:
    """Whether the predictions of a system are written: not those of systems that are only compared."""
    return system not in (*COMPARED, *WAYS) and not system.startswith(WITHOUT)


def kept_forms(corpus: Lesson, models: Iterable[TrainedModel], known: dict[str, int]) -> Kept:
    """The forms of models after the filter for repeats."""
    lemmas = {"dev": [item.lemma for item in corpus.dev], "test": [item.lemma for item in corpus.asked]}
    return {
        (model.name, split): filtered_all(_predictions(model, split).forms, lemmas[split], known)
        for model in models
        for split in SPLITS
    }


def forms_by_rules(corpus: Lesson) -> Forms:
    rules = Baseline.learn(corpus.train)
    asked = {"dev": corpus.dev, "test": corpus.asked}
    return {split: [rules.inflect(item.lemma, item.features) for item in items] for split, items in asked.items()}


def combine(
    corpus: Lesson, grid: Grid, models: Iterable[TrainedModel], pool: Pool | None = None, *, leave_out: bool = False
) -> Combined:
    """All predictions for a corpus that can be made of the models there are.

    `pool` has every model's probability of every candidate; with `leave_out`, the best way is also found without each
    kind of model.

    An ensemble or strategy needs all models of the grid that may take part in it. Models that diverged count as
    trained, but take no part.
    """
    found, known, right = list(models), known_runs(corpus.train), right_forms(corpus.dev, "last")
    voters = {model.name: Voter.of(model, corpus.dev, known, right) for model in found if model.usable}
    kept = kept_forms(corpus, [voter.model for voter in voters.values()], known)
    trained = Counter(model.kind for model in found)
    systems = {entry.kind: entry.system for entry in grid}
    wanted, of_paper = kinds(grid, corpus.setting), {entry.kind for entry in grid if not entry.variant}
    complete = [kind for kind, seeds in wanted.items() if trained[kind] >= seeds]
    made: dict[tuple[int, tuple[str, ...]], Forms] = {}  # a run is often the vote of a kind, or another run

    def together(strategy: Strategy, names: Sequence[str]) -> Forms:
        mark = id(strategy.combine), tuple(names)
        if mark not in made:
            made[mark] = {
                split: strategy.combine_all(
                    [kept[name, split] for name in names],
                    [_predictions(voters[name].model, split).log_probabilities for name in names],
                )
                for split in SPLITS
            }
        return made[mark]

    # The runs are the paper's: models that are set apart from the paper's take no part in them.
    theirs = [voter for voter in voters.values() if not voter.model.variant]
    votes = choices(theirs, COMPARED) if theirs else {}
    by_rules = forms_by_rules(corpus)
    everybody = best_first(list(voters.values()))
    of_kind = {kind: [voter for voter in everybody if voter.kind == kind] for kind in complete}
    forms = {kind: together(STRATEGIES["vote"], [voter.name for voter in own]) for kind, own in of_kind.items() if own}
    chosen: dict[str, list[str]] = {}
    ours = {strategy.name for strategy in RUNS} | {"vote", "max", *COMPARED}
    others = [strategy for strategy in STRATEGIES.values() if strategy.name not in ours]  # of other packages
    for strategy in (*RUNS, *map(find_strategy, COMPARED), *others):
        needed = {kind for kind in wanted if kind in of_paper and strategy.may_vote(systems[kind])}
        if strategy.name in votes and needed and needed <= set(complete):
            chosen[strategy.name] = [voter.name for voter in votes[strategy.name]]
            forms[strategy.name] = together(strategy, chosen[strategy.name])
    if voters and set(wanted) <= set(complete):
        chosen[BEST] = [voter.name for voter in everybody]
        forms |= _weighed(corpus, everybody, kept, by_rules, pool)
        for kind in (*of_kind, RULES) if leave_out else ():
            if some := [voter for voter in everybody if voter.kind != kind]:
                rest = None if kind == RULES else by_rules
                forms[f"{WITHOUT}{kind}"] = _weighed(corpus, some, kept, rest, pool)[BEST]
    forms[BASELINE] = by_rules
    changed: dict[str, Changes] = {}
    for kind, own in of_kind.items():
        for split, items in (("dev", corpus.dev), ("test", corpus.asked)) if own else ():
            changed.setdefault(systems[kind], Counter()).update(_changes(own, split, kept, items, known))
    return Combined(corpus, forms, chosen, changed)


def _weighed(
    corpus: Lesson, voters: Sequence[Voter], kept: Kept, by_rules: Forms | None, pool: Pool | None
) -> Mapping[str, Forms]:
    """The forms of all voters, weighed by kind in each way, and by the best way; rules are a kind, too."""
    kinds, bundles = [voter.kind for voter in voters], {item.features.cell for item in corpus.train}
    kinds += [RULES] if by_rules else []
    ballots, seen = {}, {}
    for split, items in (("dev", corpus.dev), ("test", corpus.asked)):
        forms = [kept[voter.name, split] for voter in voters]
        scores = [_predictions(voter.model, split).log_probabilities for voter in voters]
        if by_rules:
            forms.append(by_rules[split])
            scores.append([0.0] * len(items))
        rows = [pool.models.index(voter.model.key) for voter in voters] if pool else []
        pooled = (pool.candidates[split], pool.scores[split][rows]) if pool else None
        ballots[split] = Ballots.of(kinds, (forms, scores), pooled)
        seen[split] = [item.features.cell in bundles for item in items]
    answers = right_forms(corpus.dev, "last")
    gold = [answers[item.lemma, item.features.spelling] for item in corpus.dev]
    return cross_fitted(kinds, ballots, gold, seen, [item.lemma for item in corpus.dev])


def _predictions(model: TrainedModel, split: str) -> Predictions:
    return model.dev if split == "dev" else model.asked


def _changes(voters: Sequence[Voter], split: str, kept: Kept, items: Sequence[Item], known: dict[str, int]) -> Changes:
    """What the filter changes in the forms of one kind."""
    filters = [(_predictions(voter.model, split).forms, kept[voter.name, split]) for voter in voters]
    places = [place for before, after in filters for place, form in enumerate(before) if form != after[place]]
    changes: Changes = Counter({("single", split): len(places)})
    for place in set(places):  # the filter changes no vote on other items
        form = vote([before[place] for before, _ in filters])
        changes["voted", split] += form is None or filtered(form, items[place].lemma, known) != form
    return changes


Evaluations = Mapping[str, Mapping[str, Evaluation]]
"""Of one language in one setting, by split and system; without cells."""


def evaluations(combined: Combined, gold: Sequence[Item]) -> Evaluations:
    """The scores of every system on dev and, if the right forms of the test items are given, on test."""
    corpus, bundles = combined.corpus, {item.features.cell for item in combined.corpus.train}
    found: dict[str, dict[str, Evaluation]] = {}
    for split, right, asked in (("dev", corpus.dev, corpus.dev), ("test", gold, corpus.asked)):
        if right and asked:
            cells = [(item.lemma, item.features.spelling) for item in asked]
            answers = right_forms(right, "last")
            seen = {item.features.spelling for item in right if item.features.cell in bundles}
            of_seen = {cell: own for cell, own in answers.items() if cell[1] in seen}
            mark = digest_of_forms(answers)
            known: dict[int, Evaluation] = {}  # many systems share their forms
            for forms in combined.forms.values():
                if id(forms[split]) not in known:
                    said = dict(zip(cells, forms[split], strict=True))
                    score, part = vars(Score.counted(answers, said)), Score.counted(of_seen, said)
                    known[id(forms[split])] = Evaluation(
                        **score, name=corpus.language, cells=[], variants="last", gold_digest=mark, seen=part
                    )
            found[split] = {system: known[id(forms[split])] for system, forms in combined.forms.items()}
    return found


def averages(evaluated: Iterable[tuple[Lesson, Evaluations]]) -> Scores:
    """Macro averages over the languages of each setting."""
    languages: dict[tuple[str, str, str], dict[str, Evaluation]] = {}
    for corpus, own in evaluated:
        for split, systems in own.items():
            for system, evaluation in systems.items():
                languages.setdefault((split, corpus.setting, system), {})[corpus.language] = evaluation
    scores: Scores = {split: {} for split in SPLITS}
    for (split, setting, system), of_system in languages.items():
        macro = MacroEvaluation(f"{setting}-{split}", of_system)
        scores[split].setdefault(setting, {})[system] = Average.of(macro)
    return scores
