"""Languages, models and packs that nobody trained."""

from collections.abc import Mapping, Sequence
from typing import Any

from reinflect.align.pairs import Naive
from reinflect.align.smart import Smart
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decode.search import Predictions
from reinflect.ensemble.strategies import Trained
from reinflect.learn.lesson import Lesson, ModelSpec
from reinflect.paper.combine import Average, Combined, Scores, averages, combine
from reinflect.paper.grid import Grid
from reinflect.run.packs import PackResult
from reinflect.score.scores import MacroEvaluation, evaluate
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.kind import Kind

ALIGNERS = {"naive": Naive(), "smart": Smart()}
BUNDLE = Bundle("V")


def spec(lesson: Lesson, kind: str = "hacm-naive", seed: int = 1, settings: Settings | None = None) -> ModelSpec:
    parsed = Kind.parse(kind)
    plain = settings or SYSTEMS[parsed.system].settings(hidden=3)
    return ModelSpec(lesson.for_kind(parsed, ALIGNERS, seed), parsed, plain, seed)


def corpus(language: str = "german", setting: str = "low", items: int = 4, asked: int = 3) -> Lesson:
    """Lemmas `a0 a1 …`, whose right form has an x at the end."""
    dev = tuple(Item(f"a{number}", BUNDLE, f"a{number}x") for number in range(items))
    test = tuple(Item(f"b{number}", BUNDLE) for number in range(asked))
    return Lesson((Item("c", BUNDLE, "cx"),), dev, test, language, setting)


def gold(asked: int = 3) -> list[Item]:
    return [Item(f"b{number}", BUNDLE, f"b{number}x") for number in range(asked)]


def result(
    lesson: Lesson,
    kind: str = "hacm-naive",
    seed: int = 1,
    *,
    dev: Sequence[str | None] | None = None,
    test: Sequence[str | None] | None = None,
    right: int = 1,
    usable: bool = True,
    scores: Sequence[float] | None = None,
) -> Trained:
    """A model that has the first so many items right; its other forms are those of no other model."""
    planned = spec(lesson, kind, seed)

    def predictions(items: Sequence[Item], forms: Sequence[str | None] | None) -> Predictions:
        ends = [*["x"] * right, *[f"{kind}{seed}"] * len(items)]
        usual = [f"{item.lemma}{end}" for item, end in zip(items, ends, strict=False)] if usable else []
        chosen = list(usual if forms is None else forms)
        return Predictions(chosen, list(scores or [-1.0] * len(chosen)))

    facts: dict[str, Any] = {"alignment": planned.lesson.alignment, "best_epoch": 0, "dev_accuracy": 0.0}
    facts |= {"language": lesson.language, "setting": lesson.setting, "usable": usable}
    dev_forms, test_forms = predictions(lesson.dev, dev), predictions(lesson.asked, test)
    return Trained(system=planned.system, seed=seed, key=planned.digest, dev=dev_forms, asked=test_forms, **facts)


def kinds(grid: Grid, setting: str = "low") -> dict[Kind, int]:
    """The kinds that a grid trains in a setting, with the seeds of each."""
    return {kind: seeds[setting] for kind, seeds in grid.items() if setting in seeds}


def everyone(lesson: Lesson, grid: Grid, right: Mapping[str, int]) -> list[Trained]:
    """All models of a grid; those of a kind have so many items right."""
    return [
        result(lesson, str(kind), seed, right=right.get(str(kind), 0))
        for kind, seeds in kinds(grid, lesson.setting).items()
        for seed in range(1, seeds + 1)
    ]


def pack(*models: Trained, name: str = "german-low-hacm-naive", seconds: float = 6.0) -> PackResult:
    return PackResult(name, list(models), device="cpu", seconds=seconds, version="0.1.0")


def macro(**accuracies: float) -> Average:
    """A score with such an accuracy, in per cent, for each language (`norwegian_nynorsk` is one with a hyphen)."""
    gold, languages = [Item(str(number), BUNDLE, "x") for number in range(1000)], {}
    for name, accuracy in accuracies.items():
        predicted = [Item(item.lemma, BUNDLE, "x" if n < 10 * accuracy else "y") for n, item in enumerate(gold)]
        languages[name.replace("_", "-")] = evaluate(gold, predicted)
    return Average.over(MacroEvaluation("made up", languages))


def combined(
    grid: Grid, *corpora: Lesson, right: Mapping[str, int], gold: Mapping[str, Sequence[Item]] | None = None
) -> dict[Lesson, Combined]:
    """All systems; `gold` are the right forms of some languages' test items."""
    answers = gold or {}
    return {
        lesson: combine(lesson, kinds(grid, lesson.setting), models, answers.get(lesson.language, ()))
        for lesson, models in ((lesson, everyone(lesson, grid, right)) for lesson in corpora)
    }


def score(systems: Mapping[Lesson, Combined]) -> Scores:
    return averages((lesson, each.evaluations) for lesson, each in systems.items())
