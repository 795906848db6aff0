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

from msgspec import structs

from bench.common import run, trained, training_parser
from bench.pairs import holm
from reinflect.assemble import known_runs
from reinflect.data.items import Item
from reinflect.decode.search import Predictions
from reinflect.ensemble.strategies import Trained, Voter, choices, combined, find_strategy
from reinflect.errors import InputError
from reinflect.files import make_folder, write_text
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import read_index
from reinflect.learn.lesson import Lesson, ModelSpec, Start, specs
from reinflect.paper.corpora import languages_in, read_corpora
from reinflect.run.store import Store
from reinflect.score.scores import Evaluation, MacroEvaluation, evaluate
from reinflect.score.significance import FEWEST, LEVEL, Comparison, compare
from reinflect.start import Relative, best_few, relatives
from reinflect.systems.kind import Plan, Wish, make_plan
from reinflect.text import Side, table

FAMILIES = Path(__file__).with_name("families.tsv")
ALONE, ISOLATES = "alone in their branch", "isolates, and languages alone in their family"
NO_START = ""


@dataclass(frozen=True)
class Language:
    """A language with its relatives, best first, and its models by what they start from."""

    lesson: Lesson
    relatives: Sequence[Relative]
    specs: Mapping[str, Sequence[ModelSpec]]
    """By the name of a way to start; those without a start have none."""


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


def planned(lesson: Lesson, pocket: Sequence[Start], plan: Plan, given: argparse.Namespace) -> Language:
    own = [start for start in pocket if start.name != lesson.language]
    found = relatives(lesson.train, own, plan.systems)
    ways = {NO_START: list[Start]()}
    ways |= {f"best-{number}": [one.start for one in best_few(found, number)] for number in given.relatives}
    models = {
        way: [
            replace(spec, kind=structs.replace(spec.kind, label=spec.kind.label and f"from-{way}"))
            for spec in specs(plan, [lesson], starts)
            if (spec.start is not None) == (way != NO_START)
        ]
        for way, starts in ways.items()
    }
    return Language(lesson, found, models)


def halves(dev: Sequence[Item]) -> list[set[str]]:
    """Two halves of the lemmas."""
    lemmas = sorted({item.lemma for item in dev})
    return [set(lemmas[0::2]), set(lemmas[1::2])]


def voter(model: Trained, lesson: Lesson, lemmas: set[str] | None = None) -> Voter:
    """A model as a voter on all dev items, or on those of some lemmas."""
    pairs = zip(lesson.dev, model.dev.forms, model.dev.log_probabilities, strict=True)
    kept = [pair for pair in pairs if lemmas is None or pair[0].lemma in lemmas]
    own = replace(model, dev=Predictions([form for _, form, _ in kept], [score for *_, score in kept]))
    return Voter.of(own, [item for item, *_ in kept], known_runs(lesson.train))


def voted(lesson: Lesson, models: Iterable[Trained], name: str, *, crossed: bool) -> Evaluation:
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


def train_languages(languages: Sequence[Language], given: argparse.Namespace) -> dict[tuple[str, str], list[Trained]]:
    """The models by language and way to start, all trained as one experiment."""
    specs = {spec.digest: spec for one in languages for own in one.specs.values() for spec in own}
    models = trained(list(specs.values()), Store.inside(make_folder(given.out)), given)
    return {
        (one.lesson.language, way): [replace(models[own.digest], variant=own.kind.label) for own in specs]
        for one in languages
        for way, specs in one.specs.items()
    }


def verdict(made: Comparison, corrected: float) -> str:
    if corrected >= LEVEL or made.won + made.lost < FEWEST:
        return ""
    return "better" if made.difference > 0 else "WORSE"


def report(
    languages: Sequence[Language], models: Mapping[tuple[str, str], list[Trained]], strategy: str, way: str
) -> dict[str, object]:
    """Print what this way to start brings; the figures for a file."""
    kinds, scores = groups(), dict[tuple[str, bool, bool], Evaluation]()
    for one in languages:
        name = one.lesson.language
        for crossed in (False, True):
            plain, more = models[name, NO_START], models[name, way]
            scores[name, False, crossed] = voted(one.lesson, plain, strategy, crossed=crossed)
            scores[name, True, crossed] = voted(one.lesson, [*plain, *more], strategy, crossed=crossed)
    names = [one.lesson.language for one in languages]
    compared = {name: compare(scores[name, True, True], scores[name, False, True]) for name in names}
    corrected = dict(zip(names, holm([own.p_value for own in compared.values()]), strict=True))
    rows, by_group = [], defaultdict[str, list[str]](list)
    for one in languages:
        name = one.lesson.language
        by_group[kinds.get(name, "not in families.tsv")].append(name)
        used = dict.fromkeys(spec.start.fingerprint for spec in one.specs[way] if spec.start)
        known = {own.start.members[0].fingerprint: own for own in one.relatives}
        named = [f"{known[mark].start.name} {known[mark].right:.0f}" for mark in used if mark in known]
        starts = ", ".join(named) or "none"
        figures = [scores[name, started, crossed].accuracy for crossed in (False, True) for started in (False, True)]
        single = [
            fmean(model.dev_accuracy for model in own) if own else float("nan")
            for own in (_alike(models[name, NO_START], models[name, way]), models[name, way])
        ]
        tested = f"{corrected[name]:.4f}", verdict(compared[name], corrected[name])
        figures.append(figures[3] - figures[2])
        rows.append((name, *(f"{own:.2f}" for own in figures), *tested, *(f"{own:.1f}" for own in single), starts))
    header = ["language", "without", "with", "crossed: without", "with", "difference", "Holm", "verdict"]
    header += ["single: without", "with", "starts, and their % of the items"]
    sides: list[Side] = ["left" if column in (0, len(header) - 1) else "right" for column in range(len(header))]
    print(f"\nStart: {way}\n{table(header, rows, sides=sides)}")
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


def _alike(plain: Sequence[Trained], started: Sequence[Trained]) -> list[Trained]:
    """The models without a start of the systems and alignments that have models with one."""
    kinds = {(model.system, model.alignment) for model in started}
    return [model for model in plain if (model.system, model.alignment) in kinds]


def start(given: argparse.Namespace) -> None:
    if min(given.relatives) < 1:
        raise InputError("found --relatives 0", "start from one language or more")
    index = read_index(given.models)
    pocket = [Start(name, Inflector.load(given.models / own.file).members) for name, own in index.items()]
    wish = Wish(systems=given.systems, alignments=given.alignments, preset="low", changes=given.set, seeds=given.seeds)
    plan = make_plan(wish, 100)
    given.relatives = sorted(set(given.relatives))
    names = languages_in(given.data, given.languages)
    corpora, _ = read_corpora(given.data, names, ["low"])
    # No test item is asked for: the figures are those of dev items.
    lessons = [replace(lesson, asked=()) for lesson in corpora]
    languages = [planned(lesson, pocket, plan, given) for lesson in lessons]
    models = train_languages(languages, given)
    ways = list(languages[0].specs)[1:]
    found = {way: report(languages, models, plan.strategy, way) for way in ways}
    write_text(given.out / "results.json", json.dumps(found, indent=1) + "\n")


def main() -> None:
    parser = training_parser(__doc__)
    parser.add_argument("--models", type=Path, required=True, help="a folder of pocket models, with its index")
    parser.add_argument("--out", type=Path, required=True, help="a folder for what is trained")
    parser.add_argument("--relatives", type=int, nargs="+", default=[1, 3], help="numbers of languages to start from")
    parser.add_argument("--systems", nargs="+", default=["hacm", "haem"])
    parser.add_argument("--alignments", nargs="+", default=["naive", "smart"])
    parser.add_argument("--seeds", type=int, default=5)
    run(parser, start)


if __name__ == "__main__":
    main()
