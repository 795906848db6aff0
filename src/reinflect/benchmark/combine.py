"""From what single models say to predictions of ensembles, runs and the rule baseline, and their scores."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reinflect.baseline import Baseline
from reinflect.benchmark.grid import Grid, kinds
from reinflect.benchmark.lessons import Corpus
from reinflect.benchmark.results import ModelResult, Said
from reinflect.data.items import Item
from reinflect.decoding.repeats import filtered, longest_runs
from reinflect.ensembles import RUNS, Run, Voter, choices, kind_of, strategy, vote_all
from reinflect.evaluation.scores import MacroEvaluation, evaluate

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
    usable = {model.name: model for one in found if one.usable for model in [_model(one, asked, known)]}
    trained = Counter(kind_of(one.system, one.alignment) for one in found)
    wanted = kinds(grid, corpus.setting)
    complete = [kind for kind, seeds in wanted.items() if trained[kind] >= seeds]

    forms: dict[str, Forms] = {}
    chosen: dict[str, list[str]] = {}
    votes = choices([model.voter for model in usable.values()], COMPARED) if usable else {}
    for kind in complete:
        own = [voter for voter in votes.get("vote", ()) if voter.kind == kind]
        if own:
            forms[kind] = _combined(strategy("vote"), [usable[_name(voter)] for voter in own])
    for run in (*RUNS, *map(strategy, COMPARED)):
        needed = {kind for kind in wanted if run.systems is None or kind.partition("-")[0] in run.systems}
        if run.name in votes and needed and needed <= set(complete):
            chosen[run.name] = [_name(voter) for voter in votes[run.name]]
            forms[run.name] = _combined(run, [usable[name] for name in chosen[run.name]])
    forms[BASELINE] = _rules(corpus, asked)
    ordered = [usable[_name(voter)] for voter in votes.get("vote", ())]
    accuracies = {name: model.voter.dev_accuracy for name, model in usable.items()}
    return Combined(corpus, forms, chosen, accuracies, _changes(asked, known, ordered, complete))


def _name(voter: Voter) -> str:
    return f"{voter.kind}-{voter.seed}"


def _model(result: ModelResult, asked: Mapping[str, Sequence[Item]], known: dict[str, int]) -> _Model:
    answers = {"dev": result.dev, "test": result.test}
    said = {
        split: (_filtered(items, answers[split], known), answers[split].log_probabilities)
        for split, items in asked.items()
    }
    kind = kind_of(result.system, result.alignment)
    return _Model(result, Voter.of(kind, result.seed, asked["dev"], *said["dev"]), said)


def _filtered(items: Sequence[Item], said: Said, known: dict[str, int]) -> list[str]:
    return [
        item.lemma if form is None else filtered(form, item.lemma, known)
        for item, form in zip(items, said.forms, strict=True)
    ]


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

    def count(items: Sequence[Item], forms: Sequence[str | None]) -> int:
        pairs = zip(items, forms, strict=True)
        return sum(form is None or filtered(form, item.lemma, known) != form for item, form in pairs)

    changes: dict[str, Changes] = {}
    for kind in complete:
        own = changes.setdefault(kind.partition("-")[0], Changes())
        for split, items in asked.items():
            of_kind = [model for model in models if model.voter.kind == kind]
            raw = [getattr(model.result, split).forms for model in of_kind]
            for model, forms in zip(of_kind, raw, strict=True):
                own.single[split] += sum(
                    form is None or form != kept for form, kept in zip(forms, model.said[split][0], strict=True)
                )
            if raw:
                own.voted[split] += count(items, vote_all(raw))
    return changes


def predictions(items: Sequence[Item], forms: Sequence[str]) -> list[Item]:
    """Items with the forms that were predicted."""
    return [Item(item.lemma, item.features, form) for item, form in zip(items, forms, strict=True)]


Scores = Mapping[str, Mapping[str, Mapping[str, MacroEvaluation]]]
"""By split, setting and system."""


def score(combined: Sequence[Combined], gold: Mapping[str, Sequence[Item]]) -> Scores:
    """Everything, on dev and, where the right forms of a language's test items are given, on test."""
    found: dict[str, dict[str, dict[str, MacroEvaluation]]] = {split: {} for split in SPLITS}
    for split in SPLITS:
        languages: dict[tuple[str, str], dict[str, tuple[Sequence[Item], Sequence[Item]]]] = {}
        for one in combined:
            corpus = one.corpus
            right = corpus.split.dev if split == "dev" else gold.get(corpus.language, ())
            asked = corpus.split.dev if split == "dev" else corpus.split.asked
            if right and asked:
                for system, forms in one.forms.items():
                    made = languages.setdefault((corpus.setting, system), {})
                    made[corpus.language] = (right, predictions(asked, forms[split]))
        for (setting, system), own in languages.items():
            scored = {name: evaluate(right, said, name=name) for name, (right, said) in own.items()}
            found[split].setdefault(setting, {})[system] = MacroEvaluation(f"{setting}-{split}", scored)
    return found
