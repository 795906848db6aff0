"""From what single models say to predictions of ensembles, runs and the rule baseline, and their scores."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reinflect.baseline import Baseline
from reinflect.data.items import Item
from reinflect.decoding.repeats import filtered, filtered_all, longest_runs
from reinflect.ensembles.vote import RUNS, Run, Voter, choices, kind_of, strategy, vote
from reinflect.evaluation.cells import Cell, right_forms
from reinflect.evaluation.scores import Evaluation, MacroEvaluation, Score
from reinflect.evaluation.signature import digest_of_forms
from reinflect.execution.corpora import Corpus
from reinflect.execution.grid import Grid, kinds
from reinflect.execution.results import ModelResult

BASELINE = "baseline"
COMPARED = ("ensemble-7", "average")
"""Beside the seven runs: Run 6 as it was at high, of seven models; and its members' probabilities averaged."""
SPLITS = ("dev", "test")

Forms = Mapping[str, Sequence[str]]
"""The forms of a system by split, in the order of the items."""


@dataclass(frozen=True)
class Combined:
    """One language in one setting: what each system says, and how it came about."""

    corpus: Corpus
    forms: Mapping[str, Forms]
    """By the name of a system: a kind of model (the vote of its seeds), a run, the baseline."""
    chosen: Mapping[str, Sequence[str]]
    """The members that vote in a run, such as `haem-naive-3`, best first."""
    accuracies: Mapping[str, float]
    """The dev accuracy of every usable model, filtered."""
    changed: Mapping[str, "Changes"]
    """What the filter for repeats did, by system."""


@dataclass
class Changes:
    """How many outputs the filter for repeats replaces by the lemma, by split."""

    single: Counter[str] = field(default_factory=Counter)
    """Of single models."""
    voted: Counter[str] = field(default_factory=Counter)
    """Of the votes E(·), had the models not been filtered before they voted: as the paper counts."""

    def add(self, other: "Changes") -> None:
        self.single += other.single
        self.voted += other.voted


@dataclass(frozen=True)
class _Model:
    """A usable model, its outputs filtered."""

    result: ModelResult
    voter: Voter
    said: Mapping[str, tuple[list[str], list[float]]]

    @property
    def name(self) -> str:
        return f"{self.voter.kind}-{self.voter.seed}"


def combine(corpus: Corpus, grid: Grid, models: Iterable[ModelResult]) -> Combined:
    """All that can be said of a corpus with the models there are.

    An ensemble or run is there when all models of the grid that may take part in it are trained, be it in vain: models
    that diverged take no part.
    """
    found = list(models)
    asked = {"dev": corpus.split.dev, "test": corpus.split.asked}
    known = longest_runs(word for item in corpus.split.train for word in (item.lemma, item.form))
    lemmas = {split: [item.lemma for item in items] for split, items in asked.items()}
    right = right_forms(corpus.split.dev, "last")
    usable = {
        model.name: model
        for one in found
        if one.usable
        for model in [_model(one, corpus.split.dev, lemmas, known, right)]
    }
    trained = Counter(kind_of(one.system, one.alignment) for one in found)
    wanted = kinds(grid, corpus.setting)
    complete = [kind for kind, seeds in wanted.items() if trained[kind] >= seeds]

    forms: dict[str, Forms] = {}
    chosen: dict[str, list[str]] = {}
    made: dict[tuple[bool, tuple[str, ...]], Forms] = {}  # a run is often the vote of a kind, or another run

    def together(run: Run, names: Sequence[str]) -> Forms:
        mark = run.averaged, tuple(names)
        if mark not in made:
            made[mark] = _combined(run, [usable[name] for name in names])
        return made[mark]

    votes = choices([model.voter for model in usable.values()], COMPARED) if usable else {}
    for kind in complete:
        own = [voter for voter in votes.get("vote", ()) if voter.kind == kind]
        if own:
            forms[kind] = together(strategy("vote"), [_name(voter) for voter in own])
    for run in (*RUNS, *map(strategy, COMPARED)):
        needed = {kind for kind in wanted if run.systems is None or kind.partition("-")[0] in run.systems}
        if run.name in votes and needed and needed <= set(complete):
            chosen[run.name] = [_name(voter) for voter in votes[run.name]]
            forms[run.name] = together(run, chosen[run.name])
    forms[BASELINE] = _rules(corpus, asked)
    ordered = [usable[_name(voter)] for voter in votes.get("vote", ())]
    accuracies = {name: model.voter.dev_accuracy for name, model in usable.items()}
    return Combined(corpus, forms, chosen, accuracies, _changes(asked, known, ordered, complete))


def _name(voter: Voter) -> str:
    return f"{voter.kind}-{voter.seed}"


def _model(
    result: ModelResult,
    dev: Sequence[Item],
    lemmas: Mapping[str, Sequence[str]],
    known: dict[str, int],
    right: Mapping[Cell, tuple[str, ...]],
) -> _Model:
    answers = {"dev": result.dev, "test": result.test}
    said = {
        split: (filtered_all(answers[split].forms, own, known), answers[split].log_probabilities)
        for split, own in lemmas.items()
    }
    kind = kind_of(result.system, result.alignment)
    return _Model(result, Voter.of(kind, result.seed, dev, *said["dev"], gold=right), said)


def _combined(run: Run, voters: Sequence[_Model]) -> Forms:
    return {
        split: run.combine([voter.said[split][0] for voter in voters], [voter.said[split][1] for voter in voters])
        for split in SPLITS
    }


def _rules(corpus: Corpus, asked: Mapping[str, Sequence[Item]]) -> Forms:
    baseline = Baseline.learn(corpus.split.train)
    return {split: [baseline.inflect(item.lemma, item.features) for item in items] for split, items in asked.items()}


def _changes(
    asked: Mapping[str, Sequence[Item]], known: dict[str, int], models: Sequence[_Model], complete: Sequence[str]
) -> dict[str, Changes]:
    """By system, over its alignments. Models come best first."""
    changes: dict[str, Changes] = {}
    for kind in complete:
        own = changes.setdefault(kind.partition("-")[0], Changes())
        for split, items in asked.items():
            of_kind = [model for model in models if model.voter.kind == kind]
            raw = [getattr(model.result, split).forms for model in of_kind]
            touched: set[int] = set()  # of the other items the filter changes no vote either
            for model, forms in zip(of_kind, raw, strict=True):
                kept = model.said[split][0]
                places = [] if forms == kept else [k for k, form in enumerate(forms) if form != kept[k]]
                own.single[split] += len(places)
                touched.update(places)
            for place in touched:
                form = vote([forms[place] for forms in raw])
                own.voted[split] += form is None or filtered(form, items[place].lemma, known) != form
    return changes


Evaluations = Mapping[str, Mapping[str, Evaluation]]
"""Of one language in one setting, by split and system; their figures alone, without cells."""


def evaluations(combined: Combined, gold: Sequence[Item]) -> Evaluations:
    """How good every system is on dev and, if the right forms of the test items are given, on test."""
    split = combined.corpus.split
    found: dict[str, dict[str, Evaluation]] = {}
    for name, right, asked in (("dev", split.dev, split.dev), ("test", gold, split.asked)):
        if right and asked:
            cells = [(item.lemma, item.features.spelling) for item in asked]
            answers = right_forms(right, "last")
            mark, known = digest_of_forms(answers), dict[int, Score]()
            for forms in combined.forms.values():
                if id(forms[name]) not in known:
                    known[id(forms[name])] = Score.counted(answers, dict(zip(cells, forms[name], strict=True)))
            found[name] = {
                system: Evaluation(combined.corpus.language, [], "last", mark, known[id(forms[name])])
                for system, forms in combined.forms.items()
            }
    return found


Scores = Mapping[str, Mapping[str, Mapping[str, MacroEvaluation]]]
"""By split, setting and system."""


def averages(evaluated: Iterable[tuple[Corpus, Evaluations]]) -> Scores:
    """The same over all languages of a setting."""
    languages: dict[str, dict[str, dict[str, dict[str, Evaluation]]]] = {split: {} for split in SPLITS}
    for corpus, own in evaluated:
        for split, systems in own.items():
            for system, evaluation in systems.items():
                by_system = languages[split].setdefault(corpus.setting, {})
                by_system.setdefault(system, {})[corpus.language] = evaluation
    return {
        split: {
            setting: {system: MacroEvaluation(f"{setting}-{split}", own) for system, own in by_system.items()}
            for setting, by_system in by_setting.items()
        }
        for split, by_setting in languages.items()
    }
