"""Compare values of a setting, and test whether they differ: `python -m bench.ablate --data DATA --vary dropout=0,0.5`.

Models are trained with every value, language, system, alignment and seed. A value is compared with that of the preset,
or with the first one, by pairs of models that share everything else, also their first random numbers. *E* is the vote
of the seeds, *MAX* that of the better alignment of each language; *single* is the mean of single models, *unseen* that
on bundles that no training item has; *epoch* is the mean best one. A difference is *better* or *worse* if chance hardly
explains it, even among so many comparisons (*Holm*); *perhaps* means that it is so only by itself.

Ctrl-C compares the languages whose models are all trained. With --out DIR the same command resumes later, and
DIR/ablation.json has the rows and each model's accuracy.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import structs, to_builtins

from bench.common import execute, run, training_parser
from bench.pairs import PairedDifference, compare_pairs, holm
from reinflect.assemble import voters_of
from reinflect.data.items import grouped
from reinflect.ensemble.confidence import seen_cells
from reinflect.ensemble.strategies import STRATEGIES, Trained, Voter, best_first, dev_accuracy
from reinflect.errors import InputError, StoppedError, quoted
from reinflect.files import make_folder, write_text
from reinflect.learn.lesson import Lesson, ModelSpec, specs
from reinflect.paper.corpora import SETTINGS, languages_in, read_corpora
from reinflect.run.store import Store
from reinflect.score.scores import DECIMALS, right_forms
from reinflect.score.significance import FEWEST, LEVEL
from reinflect.settings import Settings, changed, is_list
from reinflect.systems.kind import PAPER_ALIGNMENTS, PAPER_SYSTEMS, Kind, Plan, crossed, settings_of
from reinflect.text import Side, table

OPTION = "--vary"


@dataclass(frozen=True)
class Factor:
    """A setting of one system whose values are compared; all other settings stay the same."""

    system: str
    key: str
    variants: Mapping[str, Settings]
    """By names such as `dropout=0.3`."""
    base: str
    """The variant that the others are compared with: the value of the preset, or else the first."""

    def change(self, name: str) -> str:
        """What makes the settings of a variant; commas separate values, so those within a list are plus signs."""
        return _spelled(self.variants[name], name)


def _spelled(settings: Settings, change: str) -> str:
    return change.replace("+", ",") if is_list(type(settings), change.partition("=")[0]) else change


def factors(varied: Iterable[str], settings: Mapping[str, Settings]) -> list[Factor]:
    """The factors that `key=a,b,c` names in each system, or `haem.key=a,b,c` in one."""
    result: list[Factor] = []
    for text in varied:
        name, equals, values = text.partition("=")
        system, dot, key = name.strip().rpartition(".")
        if not equals or not key:
            remedy = "write key=a,b,c, or haem.key=a,b,c to vary it in one system only"
            raise InputError(f"found {OPTION} {quoted(text)}", remedy)
        if dot and system not in settings:
            what = f"found {OPTION} {quoted(text)}, but only {' and '.join(settings)} would be trained"
            raise InputError(what, "name one of these before the dot, or change --systems")
        for owner in [system] if dot else settings:
            if any((factor.system, factor.key) == (owner, key) for factor in result):
                raise InputError(f"found {OPTION} with {quoted(key)} twice", f"give all its values in one {OPTION}")
            result.append(_factor(owner, key, values, settings[owner]))
    return result


def _factor(system: str, key: str, values: str, settings: Settings) -> Factor:
    variants: dict[str, Settings] = {}
    for value in filter(None, (value.strip() for value in values.split(","))):
        variant = changed({system: settings}, [_spelled(settings, f"{key}={value}")], OPTION)[system]
        if variant not in variants.values():
            variants[f"{key}={value}"] = variant
    if len(variants) < 2:
        what = f"found {OPTION} {quoted(f'{key}={values}')}, which has fewer than two values of {key}"
        raise InputError(what, "give two or more that differ, separated by commas")
    base = next((name for name, variant in variants.items() if variant == settings), next(iter(variants)))
    return Factor(system, key, variants, base)


@dataclass(frozen=True)
class Scored:
    """A trained model with its accuracy."""

    model: Trained
    settings: Settings
    accuracy: float
    """On dev items; 0 if the model diverged each time it was started."""
    unseen: float | None
    """On dev items whose bundle no training item has, if there are any."""
    voter: Voter | None
    seconds: float
    """Its share of the time of its pack."""

    @property
    def pair(self) -> tuple[str, str, int]:
        """What it shares with the models that it is compared with."""
        return self.model.language, self.model.alignment, self.model.seed


@dataclass(frozen=True)
class Variant:
    """The figures of a variant over all languages."""

    system: str
    key: str
    variant: str
    votes: Mapping[str, float]
    """The mean accuracy of the vote E, by alignment."""
    best_vote: float
    """MAX: of each language the vote of the better alignment."""
    single: float
    unseen: float | None
    best_epoch: float
    seconds: float
    against_base: PairedDifference | None = None
    corrected: float | None = None
    """The p-value, corrected for the number of comparisons."""

    @property
    def verdict(self) -> str:
        """One or two words for readers who do not know p-values."""
        if self.against_base is None or self.corrected is None:
            return "base"
        if not self.against_base.unequal:
            return "the same"
        if not self.against_base.enough:
            return "too few pairs"
        if self.against_base.p_value >= LEVEL:
            return "may be chance"
        word = "better" if self.against_base.difference > 0 else "worse"
        return word if self.corrected < LEVEL else f"perhaps {word}"


def specs_of(
    lessons: Sequence[Lesson], compared: Sequence[Factor], base: Sequence[Kind], settings: Mapping[str, Any], seeds: int
) -> list[ModelSpec]:
    """Each model once: factors of one system share their base."""
    kinds = [
        structs.replace(kind, changes=(factor.change(name),))
        for factor in compared
        for kind in base
        if kind.system == factor.system
        for name in factor.variants
    ]
    lowest = len(lessons) * seeds * min(sum(kind.system == factor.system for kind in base) for factor in compared)
    if lowest < FEWEST:
        what = f"found {lowest} pairs of models, which are too few to distinguish a difference from chance"
        raise InputError(what, f"give more --seeds or --languages, for {FEWEST} pairs at least")
    plan = Plan(dict.fromkeys(kinds, seeds), settings)
    return list({spec.digest: spec for lesson in lessons for spec in specs(plan, [lesson])}.values())


def scored(lesson: Lesson, models: Mapping[ModelSpec, Trained], seconds: Mapping[str, float]) -> list[Scored]:
    """The models of a language with their accuracies; `seconds` are by the models' keys."""
    voters = {voter.model.key: voter for voter in voters_of([*models.values()], lesson.train, lesson.dev)}
    seen = seen_cells(lesson.train, lesson.dev)
    unseen = {cell: forms for cell, forms in right_forms(lesson.dev, "last").items() if cell not in seen}
    result = []
    for spec, model in models.items():
        voter = voters.get(model.key)
        right = [(voter.predictions[cell][0] in forms if voter else False) for cell, forms in unseen.items()]
        accuracy = voter.dev_accuracy if voter else 0.0
        on_unseen = 100 * fmean(right) if right else None
        result.append(Scored(model, spec.settings, accuracy, on_unseen, voter, seconds[model.key]))
    return result


def rows(compared: Sequence[Factor], models: Sequence[Scored]) -> list[Variant]:
    """A row for each variant, the base of each factor first."""
    by_settings = grouped(models, lambda model: (model.model.system, model.settings))
    result = []
    for factor in compared:
        base = by_settings[factor.system, factor.variants[factor.base]]
        for name in sorted(factor.variants, key=lambda name: name != factor.base):
            of_variant = by_settings[factor.system, factor.variants[name]]
            row = _row(factor, name, of_variant)
            if name != factor.base:
                row = replace(row, against_base=compare_pairs(_differences(of_variant, base)))
            result.append(row)
    tested = [number for number, row in enumerate(result) if row.against_base]
    p_values = holm([row.against_base.p_value for row in result if row.against_base])
    for number, corrected in zip(tested, p_values, strict=True):
        result[number] = replace(result[number], corrected=corrected)
    return result


def _row(factor: Factor, name: str, models: Sequence[Scored]) -> Variant:
    votes: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (language, alignment), group in grouped(models, lambda model: model.pair[:2]).items():
        voters = best_first(model.voter for model in group if model.voter)
        votes[alignment][language] = dev_accuracy(STRATEGIES["vote"], voters) if voters else 0.0
    best = [max(by_alignment) for by_alignment in zip(*(each.values() for each in votes.values()), strict=True)]
    unseen = [model.unseen for model in models if model.unseen is not None]
    return Variant(
        system=factor.system,
        key=factor.key,
        variant=name,
        votes={alignment: round(fmean(each.values()), DECIMALS) for alignment, each in votes.items()},
        best_vote=round(fmean(best), DECIMALS),
        single=round(fmean(model.accuracy for model in models), DECIMALS),
        unseen=round(fmean(unseen), DECIMALS) if unseen else None,
        best_epoch=round(fmean(model.model.best_epoch for model in models), 1),
        seconds=round(sum(model.seconds for model in models), 1),
    )


def _differences(models: Sequence[Scored], base: Sequence[Scored]) -> dict[str, list[float]]:
    """The differences between models of the same language, alignment and seed, by language."""
    accuracies = {model.pair: model.accuracy for model in base}
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for model in models:
        # Rounded, as sums of hundredths that should be zero are not exactly zero, which matters for the test.
        groups[model.model.language].append(round(model.accuracy - accuracies[model.pair], DECIMALS))
    return groups


def text_of(variants: Sequence[Variant]) -> str:
    """A table for each factor."""
    tables = []
    for _, group in groupby(variants, lambda row: (row.system, row.key)):
        cells = list(map(_cells, group))
        sides: list[Side] = ["left", *["right"] * (len(cells[0]) - 2), "left"]  # type: ignore[list-item]
        tables.append(table(list(cells[0]), [list(row.values()) for row in cells], sides=sides))
    return "\n".join(tables)


def _cells(row: Variant) -> dict[str, str]:
    """The cells of a row by the titles of their columns."""
    against = row.against_base
    return {
        row.system: row.variant,
        **{f"E({method})": f"{accuracy:.2f}" for method, accuracy in row.votes.items()},
        **({"MAX": f"{row.best_vote:.2f}"} if len(row.votes) > 1 else {}),
        "single": f"{row.single:.2f}",
        **({"unseen": f"{row.unseen:.2f}"} if row.unseen is not None else {}),
        "epoch": f"{row.best_epoch:.1f}",
        "seconds": f"{row.seconds:.0f}",
        "difference": f"{against.difference:+.2f}" if against else "",
        "95 %": f"{against.low:+.2f} to {against.high:+.2f}" if against else "",
        "p": f"{against.p_value:.4f}" if against and against.enough else "",
        "Holm": f"{row.corrected:.4f}" if against and against.enough else "",
        "languages": f"+{against.groups_won} -{against.groups_lost}" if against else "",
        "verdict": row.verdict,
    }


def ablate(arguments: argparse.Namespace) -> None:
    base = crossed(arguments.systems, arguments.alignments, arguments.augment)
    settings = settings_of(base, arguments.preset or arguments.setting, arguments.set)
    compared = factors(arguments.vary, {system: settings[system] for system in arguments.systems})
    corpora, absent = read_corpora(
        arguments.data, languages_in(arguments.data, arguments.languages), [arguments.setting]
    )
    if not corpora or (absent and arguments.languages):
        remedy = "leave these out, or choose another --setting"
        raise InputError(f"found no training files for {', '.join(absent)}", remedy, path=arguments.data)
    lessons = [replace(corpus, asked=()) for corpus in corpora]  # models are scored on dev items only
    wanted = specs_of(lessons, compared, base, settings, arguments.seeds)
    with TemporaryDirectory() as temporary:
        work = Store.inside(make_folder(arguments.out or Path(temporary)))
        execute(wanted, work, arguments.device, arguments.workers)
    shares = {model.key: pack.seconds / len(pack.models) for pack in work.finished for model in pack.models}
    unfinished = {spec.lesson.label for spec in wanted if spec.digest not in shares}
    complete = [lesson for lesson in lessons if lesson.label not in unfinished]
    if not complete:
        raise StoppedError("stopped before all models of a language were trained: there is nothing to compare yet")
    models: list[Scored] = []
    results = work.get(wanted)
    for lesson in complete:
        models += scored(
            lesson, {spec: results[spec.digest] for spec in wanted if spec.lesson.label == lesson.label}, shares
        )
    variants = rows(compared, models)
    print(text_of(variants), end="")
    if diverged := sum(model.voter is None for model in models):
        print(f"{diverged} of {len(models)} models diverged each time, and count as 0")
    if unfinished:
        print(f"interrupted; languages compared: {', '.join(lesson.language for lesson in complete)}")
    if arguments.out:
        plain = {
            "rows": [asdict(row) | {"verdict": row.verdict} for row in variants],
            "models": list(map(_plain, models)),
        }
        write_text(arguments.out / "ablation.json", json.dumps(to_builtins(plain), indent=1) + "\n")


def _plain(scored: Scored) -> dict[str, object]:
    names = ("language", "system", "alignment", "seed", "best_epoch")
    facts = {name: getattr(scored.model, name) for name in names}
    return facts | {"settings": scored.settings, "accuracy": scored.accuracy}


def main() -> None:
    parser = training_parser(__doc__)
    parser.add_argument(
        OPTION,
        action="append",
        required=True,
        metavar="KEY=A,B,C",
        help="a setting and its values; haem.KEY=A,B,C for one system only. Of several, one is changed at a time. "
        "A value that is a list is written with +: dropout_on=encoder,encoder+state",
    )
    parser.add_argument("--setting", choices=SETTINGS, default="low", help="the training files to learn from")
    parser.add_argument("--preset", help="the settings that all models share (default: those of --setting)")
    parser.add_argument("--systems", nargs="+", default=list(PAPER_SYSTEMS))
    parser.add_argument("--alignments", nargs="+", default=list(PAPER_ALIGNMENTS))
    parser.add_argument("--augment", nargs="+", default=[], help="augmentations")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="a folder for what is trained")
    run(parser, ablate)


if __name__ == "__main__":
    main()
