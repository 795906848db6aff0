"""Languages, models and packs that nobody trained."""

from collections.abc import Mapping, Sequence

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.evaluation.scores import Evaluation, MacroEvaluation, evaluate
from reinflect.execution.corpora import Corpus
from reinflect.execution.grid import Grid, kinds
from reinflect.execution.results import ModelResult, PackResult, Said, model_key
from reinflect.experiments.combine import Combined, Scores, averages, combine, evaluations
from reinflect.settings import Settings
from reinflect.training.lesson import Split

SETTINGS = Settings(hidden=3)
BUNDLE = Bundle("V")


def corpus(language: str = "german", setting: str = "low", items: int = 4, asked: int = 3) -> Corpus:
    """Lemmas `a0 a1 …`, whose right form has an x at the end."""
    dev = tuple(Item(f"a{number}", BUNDLE, f"a{number}x") for number in range(items))
    test = tuple(Item(f"b{number}", BUNDLE) for number in range(asked))
    return Corpus(language, setting, Split((Item("c", BUNDLE, "cx"),), dev, test))


def gold(asked: int = 3) -> list[Item]:
    return [Item(f"b{number}", BUNDLE, f"b{number}x") for number in range(asked)]


def result(
    own: Corpus,
    kind: str = "hacm-naive",
    seed: int = 1,
    *,
    dev: Sequence[str | None] | None = None,
    test: Sequence[str | None] | None = None,
    right: int = 1,
    usable: bool = True,
    scores: Sequence[float] | None = None,
) -> ModelResult:
    """A model that has the first so many items right, and of the others says something of its own."""
    system, _, alignment = kind.partition("-")
    alignment = alignment or "none"

    def said(items: Sequence[Item], forms: Sequence[str | None] | None) -> Said:
        wrong = f"{kind}{seed}"
        chosen: list[str | None] = []
        if forms is not None:
            chosen += forms
        elif usable:
            chosen += [f"{item.lemma}{'x' if place < right else wrong}" for place, item in enumerate(items)]
        return Said(chosen, list(scores) if scores else [-1.0] * len(chosen))

    return ModelResult(
        key=model_key(own, system, alignment, seed, SETTINGS),
        language=own.language,
        setting=own.setting,
        system=system,
        alignment=alignment,
        seed=seed,
        restarts=0,
        usable=usable,
        dev_accuracy=0.0,
        settings=SETTINGS,
        dev=said(own.split.dev, dev),
        test=said(own.split.asked, test),
    )


def everyone(own: Corpus, grid: Grid, right: Mapping[str, int]) -> list[ModelResult]:
    """All models of a grid; those of a kind have so many items right."""
    return [
        result(own, kind, seed, right=right.get(kind, 0))
        for kind, seeds in kinds(grid, own.setting).items()
        for seed in range(1, seeds + 1)
    ]


def pack(*models: ModelResult, name: str = "german-low-hacm-naive", seconds: float = 6.0) -> PackResult:
    return PackResult(1, "0.1.0", name, models[0].system, "cpu", seconds, list(models))


def macro(**accuracies: float) -> MacroEvaluation:
    """A score with such an accuracy, in per cent, for each language (`norwegian_nynorsk` is one with a hyphen)."""
    return MacroEvaluation("made up", {name.replace("_", "-"): _evaluation(own) for name, own in accuracies.items()})


def _evaluation(accuracy: float) -> Evaluation:
    right = [Item(str(number), BUNDLE, "x") for number in range(1000)]
    said = [Item(item.lemma, BUNDLE, "x" if place < 10 * accuracy else "y") for place, item in enumerate(right)]
    return evaluate(right, said)


def combined(grid: Grid, *corpora: Corpus, right: Mapping[str, int]) -> list[Combined]:
    return [combine(own, grid, everyone(own, grid, right)) for own in corpora]


def score(found: Sequence[Combined], gold: Mapping[str, Sequence[Item]]) -> Scores:
    """With the right forms of some languages' test items."""
    return averages((one.corpus, evaluations(one, gold.get(one.corpus.language, ()))) for one in found)
