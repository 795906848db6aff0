"""What a start from pocket models of other languages brings: `reinflect train --from auto`, without one's own language.

    python -m bench.start --data ../shared/data/conll2017 --models models/reinflect_models --out FOLDER --device cuda

For each language, models of all kinds learn from the 100 items of its low training file; further ones of the systems
that the pocket models have start from those languages that inflect the 100 items best, its own left out. Compared are
the votes (Run 7) of the first alone and of all together, on dev items. Early stopping and the choice of voters use dev
items, as in `train --dev`; *crossed* figures have voters that were chosen on the other half of the lemmas, and these
are tested: a paired bootstrap for each language, with Holm's correction. `--relatives 1 3` compares two numbers of
languages to start from. FOLDER keeps what is trained: the same command resumes, and a second call only counts.
`families.tsv` has family and branch of each language.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from reinflect.cli.progress import display
from reinflect.data.items import Item
from reinflect.decoding.forms import Predictions
from reinflect.ensembles.member import TrainedModel
from reinflect.ensembles.strategies import Voter, choices, combined, default_strategy, find_strategy
from reinflect.errors import InputError, ReinflectError
from reinflect.evaluation.scores import Evaluation, MacroEvaluation, evaluate
from reinflect.evaluation.significance import FEWEST, LEVEL, Comparison, compare, holm
from reinflect.execution.execute import train_specs
from reinflect.execution.folder import WorkFolder
from reinflect.execution.resources import Resources
from reinflect.experiments.corpora import languages_in, read_corpora
from reinflect.files import make_folder, write_text
from reinflect.inflector.assemble import known_runs
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import read_index
from reinflect.inflector.start import Relative, Start, best_few, relatives
from reinflect.inflector.train import Plan
from reinflect.settings import changed
from reinflect.systems.presets import load_preset
from reinflect.text import Side, table
from reinflect.training.lesson import Lesson, ModelSpec, Preparation

FAMILIES = Path(__file__).with_name("families.tsv")
ALONE, ISOLATES = "alone in their branch", "isolates, and languages alone in their family"


@dataclass(frozen=True)
class Language:
    """A language with its relatives, best first, and its models: without a start, and by the number of relatives."""

    lesson: Lesson
    relatives: Sequence[Relative]
    specs: Mapping[int, Sequence[ModelSpec]]
    """Those without a start have the number 0."""


def groups() -> dict[str, str]:
    """The branch of each language; those alone in their branch or family are groups of their own."""
    rows = [line.split("\t") for line in FAMILIES.read_text(encoding="utf-8").splitlines()]
    families, branches = [family for _, family, _ in rows], [branch for *_, branch in rows]
    return {
        language: branch
        if branches.count(branch) > 1
        else ALONE
        if families.count(family) > 1 and family != "isolate"
        else ISOLATES
        for language, family, branch in rows
    }


def planned(lesson: Lesson, pocket: Sequence[Start], plan: Plan, numbers: Sequence[int]) -> Language:
    own = [start for start in pocket if start.name != lesson.language]
    found = relatives(lesson.train, own, plan.systems)
    preparation = Preparation.of(plan.settings, plan.alignments)
    lessons, specs = [lesson] * plan.seeds, dict[int, Sequence[ModelSpec]]()
    for number in (0, *numbers):
        starts = [one.start for one in best_few(found, number)]
        made = replace(plan, starts=starts).specs(lessons, preparation)
        specs[number] = [
            replace(spec, variant=spec.variant and f"from-best-{number}")
            for spec in made
            if (spec.start is not None) == bool(number)
        ]
    return Language(lesson, found, specs)


def halves(dev: Sequence[Item]) -> list[set[str]]:
    """Two halves of the lemmas."""
    lemmas = sorted({item.lemma for item in dev})
    return [set(lemmas[0::2]), set(lemmas[1::2])]


def voter(model: TrainedModel, lesson: Lesson, lemmas: set[str] | None = None) -> Voter:
    """A model as a voter on all dev items, or on those of some lemmas."""
    pairs = zip(lesson.dev, model.dev.forms, model.dev.log_probabilities, strict=True)
    kept = [pair for pair in pairs if lemmas is None or pair[0].lemma in lemmas]
    own = replace(model, dev=Predictions([form for _, form, _ in kept], [score for *_, score in kept]))
    return Voter.of(own, [item for item, *_ in kept], known_runs(lesson.train))


def voted(lesson: Lesson, models: Iterable[TrainedModel], name: str, *, crossed: bool) -> Evaluation:
    """The vote of some models on the dev items; `crossed`: of voters that were chosen on the other half."""
    usable = [model for model in models if model.usable]
    whole = {model.name: voter(model, lesson) for model in usable}
    forms: dict[tuple[str, str], str] = {}
    for part in halves(lesson.dev) if crossed else [set[str]()]:
        others = {item.lemma for item in lesson.dev} - part
        chosen = choices([voter(model, lesson, others) for model in usable], [name])[name]
        said = combined(find_strategy(name), [whole[own.name] for own in chosen])
        forms |= {cell: form for cell, form in said.items() if not crossed or cell[0] in part}
    predicted = [replace(item, form=forms[item.lemma, item.features.spelling]) for item in lesson.dev]
    return evaluate(lesson.dev, predicted, name=lesson.language)


def trained(
    languages: Sequence[Language], plan: Plan, folder: Path, given: argparse.Namespace
) -> dict[tuple[str, int], list[TrainedModel]]:
    """The models by language and number of relatives, all trained as one experiment."""
    specs = {spec.digest: spec for one in languages for own in one.specs.values() for spec in own}
    work, preparation = WorkFolder.inside(folder), Preparation.of(plan.settings, plan.alignments)
    with work.held(), display() as shown:
        resources = Resources(device=given.device, workers=given.workers, watcher=shown)
        execution = train_specs(list(specs.values()), preparation, work, resources)
    if execution.failed or not execution.finished:
        raise ReinflectError(execution.failed or "stopped; the same command resumes the training")
    return {
        (one.lesson.language, number): [replace(execution.models[own.digest], variant=own.variant) for own in specs]
        for one in languages
        for number, specs in one.specs.items()
    }


def verdict(made: Comparison, corrected: float) -> str:
    if corrected >= LEVEL or made.won + made.lost < FEWEST:
        return ""
    return "better" if made.difference > 0 else "WORSE"


def report(
    languages: Sequence[Language], models: Mapping[tuple[str, int], list[TrainedModel]], strategy: str, number: int
) -> dict[str, object]:
    """Print what starts from this number of relatives bring; the figures for a file."""
    kinds, scores = groups(), dict[tuple[str, bool, bool], Evaluation]()
    for one in languages:
        name = one.lesson.language
        for crossed in (False, True):
            plain, more = models[name, 0], models[name, number]
            scores[name, False, crossed] = voted(one.lesson, plain, strategy, crossed=crossed)
            scores[name, True, crossed] = voted(one.lesson, [*plain, *more], strategy, crossed=crossed)
    names = [one.lesson.language for one in languages]
    compared = {name: compare(scores[name, True, True], scores[name, False, True]) for name in names}
    corrected = dict(zip(names, holm([own.p_value for own in compared.values()]), strict=True))
    rows, by_group = [], defaultdict[str, list[str]](list)
    for one in languages:
        name = one.lesson.language
        by_group[kinds.get(name, "not in families.tsv")].append(name)
        starts = ", ".join(f"{own.start.name} {own.right:.0f}" for own in best_few(one.relatives, number)) or "none"
        figures = [scores[name, started, crossed].accuracy for crossed in (False, True) for started in (False, True)]
        single = [
            fmean(model.dev_accuracy for model in own) if own else float("nan")
            for own in (_alike(models[name, 0], models[name, number]), models[name, number])
        ]
        tested = f"{corrected[name]:.4f}", verdict(compared[name], corrected[name])
        figures.append(figures[3] - figures[2])
        rows.append((name, *(f"{own:.2f}" for own in figures), *tested, *(f"{own:.1f}" for own in single), starts))
    header = ["language", "without", "with", "crossed: without", "with", "difference", "Holm", "verdict"]
    header += ["single: without", "with", "starts, and their % of the items"]
    sides: list[Side] = ["left" if column in (0, len(header) - 1) else "right" for column in range(len(header))]
    print(f"\nStart from the best, at most {number}:\n{table(header, rows, sides=sides)}")
    means = dict[str, list[float]]()
    for group, own in {"all": names, **dict(sorted(by_group.items()))}.items():
        means[group] = [
            fmean(scores[name, started, crossed].accuracy for name in own)
            for crossed in (False, True)
            for started in (False, True)
        ]
        without, started, *cross = means[group]
        print(
            f"{group} ({len(own)}): {without:.2f} -> {started:.2f} ({started - without:+.2f}); "
            f"crossed {cross[0]:.2f} -> {cross[1]:.2f} ({cross[1] - cross[0]:+.2f})"
        )
    macro = [MacroEvaluation("dev", {name: scores[name, started, True] for name in names}) for started in (True, False)]
    overall = compare(*macro)
    worse = [name for name in names if verdict(compared[name], corrected[name]) == "WORSE"]
    print(
        f"all, crossed: {overall.difference:+.2f} ({overall.low:+.2f} to {overall.high:+.2f}), p {overall.p_value:.4f}"
    )
    print(f"significantly worse: {', '.join(worse) or 'no language'}")
    return {"header": header, "rows": rows, "means": means, "worse": worse}


def _alike(plain: Sequence[TrainedModel], started: Sequence[TrainedModel]) -> list[TrainedModel]:
    """The models without a start of the systems and alignments that have models with one."""
    kinds = {(model.system, model.alignment) for model in started}
    return [model for model in plain if (model.system, model.alignment) in kinds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True, help="a folder of pocket models, with its index")
    parser.add_argument("--out", type=Path, required=True, help="a folder for what is trained")
    parser.add_argument("--languages", nargs="+", help="all of the data by default")
    parser.add_argument("--relatives", type=int, nargs="+", default=[1, 3], help="numbers of languages to start from")
    parser.add_argument("--systems", nargs="+", default=["hacm", "haem"])
    parser.add_argument("--alignments", nargs="+", default=["naive", "smart"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="changes to the preset low")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    if min(given.relatives) < 1:
        raise InputError("found --relatives 0", "start from one language or more")
    index = read_index(given.models)
    pocket = [Start(name, Inflector.load(given.models / own.file).members) for name, own in index.items()]
    settings = changed(load_preset("low", given.systems), given.set)
    plan = Plan(settings=settings, systems=given.systems, alignments=given.alignments, seeds=given.seeds)
    corpora, _ = read_corpora(given.data, languages_in(given.data, given.languages), ["low"])
    # No test item is asked for: the figures are those of dev items.
    lessons = [replace(lesson, asked=()) for lesson in corpora]
    numbers = sorted(set(given.relatives))
    languages = [planned(lesson, pocket, plan, numbers) for lesson in lessons]
    models = trained(languages, plan, make_folder(given.out), given)
    strategy = default_strategy(plan.systems)
    found = {number: report(languages, models, strategy, number) for number in numbers}
    write_text(given.out / "results.json", json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except ReinflectError as error:
        raise SystemExit(str(error)) from None
