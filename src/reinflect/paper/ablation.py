"""Compare values of a setting: train models with each value, and test whether the differences are real."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from reinflect.data.items import grouped
from reinflect.ensemble.confidence import seen_cells
from reinflect.ensemble.member import TrainedModel
from reinflect.ensemble.strategies import STRATEGIES, Voter, best_first, dev_accuracy
from reinflect.errors import InputError, ReinflectError, StoppedError, quoted
from reinflect.inflector.assemble import voters_of
from reinflect.learn.lesson import Lesson, Preparation, alignments_of
from reinflect.paper.grid import Entry, specs_of
from reinflect.run.execute import train_specs
from reinflect.run.folder import WorkFolder
from reinflect.run.resources import Resources
from reinflect.score.scores import DECIMALS, right_forms
from reinflect.score.significance import FEWEST, LEVEL, PairedDifference, compare_pairs, holm
from reinflect.settings import Settings, changed, is_list

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


def factors(varied: Iterable[str], settings: Mapping[str, Settings]) -> list[Factor]:
    """The factors that `key=a,b,c` names in each system, or `haem.key=a,b,c` in one."""
    made: list[Factor] = []
    for text in varied:
        name, found, values = text.partition("=")
        system, dot, key = name.strip().rpartition(".")
        if not found or not key:
            remedy = "write key=a,b,c, or haem.key=a,b,c to vary it in one system only"
            raise InputError(f"found {OPTION} {quoted(text)}", remedy)
        if dot and system not in settings:
            remedy = "name one of these before the dot, or change --systems"
            raise InputError(
                f"found {OPTION} {quoted(text)}, but only {' and '.join(settings)} would be trained", remedy
            )
        for own in [system] if dot else settings:
            if any((factor.system, factor.key) == (own, key) for factor in made):
                raise InputError(f"found {OPTION} with {quoted(key)} twice", f"give all its values in one {OPTION}")
            made.append(_factor(own, key, values, settings[own]))
    if not made:
        raise InputError(f"found no {OPTION}", "name a setting and its values, such as --vary dropout=0.3,0.5")
    return made


def _factor(system: str, key: str, values: str, settings: Settings) -> Factor:
    variants: dict[str, Settings] = {}
    for value in filter(None, (value.strip() for value in values.split(","))):
        # Commas separate the values, so that a value that is itself a list is written with plus signs.
        spelled = value.replace("+", ",") if is_list(type(settings), key) else value
        own = changed({system: settings}, [f"{key}={spelled}"], OPTION)[system]
        if own not in variants.values():
            variants[f"{key}={value}"] = own
    if len(variants) < 2:
        found = f"found {OPTION} {quoted(f'{key}={values}')}, which has fewer than two values of {key}"
        raise InputError(found, "give two or more that differ, separated by commas")
    base = next((name for name, own in variants.items() if own == settings), next(iter(variants)))
    return Factor(system, key, variants, base)


@dataclass(frozen=True)
class Scored:
    """A trained model with its accuracy."""

    model: TrainedModel
    accuracy: float
    """On dev items; 0 if the model diverged each time it was started."""
    unseen: float | None
    """On dev items whose bundle no training item has, if there are any."""
    voter: Voter | None
    pack: str

    @property
    def place(self) -> tuple[str, str, int]:
        return self.model.language, self.model.alignment, self.model.seed


@dataclass(frozen=True)
class Variant:
    """The figures of a variant over all languages."""

    system: str
    key: str
    variant: str
    settings: Settings
    is_base: bool
    votes: Mapping[str, float]
    """The mean accuracy of the vote E, by alignment."""
    best_vote: float
    """MAX: of each language the vote of the better alignment."""
    single: float
    unseen: float | None
    """Of single models, on bundles that no training item has."""
    best_epoch: float
    seconds: float
    shared: bool
    """Whether other variants were trained in the same fleets, so that the seconds are theirs too."""
    against_base: PairedDifference | None
    corrected: float | None
    """The p-value, corrected for the number of comparisons."""

    @property
    def verdict(self) -> str:
        """One or two words for readers who do not know p-values."""
        if self.against_base is None or self.corrected is None:
            return "base"
        found = self.against_base
        if not found.unequal:
            return "the same"
        if not found.enough:
            return "too few pairs"
        if found.p_value >= LEVEL:
            return "may be chance"
        word = "better" if found.difference > 0 else "worse"
        return word if self.corrected < LEVEL else f"perhaps {word}"


@dataclass(frozen=True)
class Ablation:
    """The results of a comparison."""

    languages: Sequence[str]
    rows: Sequence[Variant]
    models: Sequence[Scored]
    seconds: Mapping[str, float]
    """By pack."""
    diverged: int
    """Models that diverged; they count as 0."""
    interrupted: bool


def ablate(
    corpora: Sequence[Lesson],
    compared: Sequence[Factor],
    preparation: Preparation,
    folder: WorkFolder,
    resources: Resources,
    *,
    seeds: int = 5,
) -> Ablation:
    """Train all variants of all factors with each corpus, alignment and seed, and compare them.

    After Ctrl-C only languages are compared whose models are all trained. The same call with the same folder, which
    the caller holds, resumes the training.
    """
    aligned = {factor.system: alignments_of(factor.system, list(preparation.aligners)) for factor in compared}
    pairs = len(corpora) * min(map(len, aligned.values())) * seeds
    if pairs < FEWEST:
        raise InputError(
            f"found languages, alignments and seeds for {pairs} pair{'s'[: pairs > 1]} of models, which are too few to "
            "distinguish a difference from chance",
            f"give more --seeds or --languages, for {FEWEST} pairs at least",
        )
    plain = [replace(corpus, asked=()) for corpus in corpora]  # models are scored on dev items only
    wanted = dict.fromkeys(
        (factor.system, alignment, own)
        for factor in compared
        for alignment in aligned[factor.system]
        for own in factor.variants.values()
    )
    per_setting = {corpus.setting: seeds for corpus in plain}
    grid = tuple(Entry(system, alignment, per_setting, own) for system, alignment, own in wanted)
    specs = specs_of(plain, grid, {}, preparation)
    execution = train_specs(specs, preparation, folder, resources)
    if execution.failed:
        raise ReinflectError(execution.failed)
    packs = {model.key: result for result in execution.results for model in result.models}
    unfinished = {spec.lesson.label for spec in specs if spec.digest not in packs}
    complete = [corpus for corpus in plain if corpus.label not in unfinished]
    if not complete:
        raise StoppedError(
            "stopped before all models of a language were trained; there is nothing to compare yet; the same command "
            "resumes if it has --out FILE"
        )
    models: list[Scored] = []
    for corpus in complete:
        own = [execution.models[spec.digest] for spec in specs if spec.lesson.label == corpus.label]
        voters = {voter.model.key: voter for voter in voters_of(own, corpus.train, corpus.dev)}
        seen = seen_cells(corpus.train, corpus.dev)
        others = {cell: forms for cell, forms in right_forms(corpus.dev, "last").items() if cell not in seen}
        for model in own:
            voter = voters.get(model.key)
            right = [(voter.predictions[cell][0] in forms if voter else False) for cell, forms in others.items()]
            unseen = 100 * fmean(right) if right else None
            models.append(Scored(model, voter.dev_accuracy if voter else 0.0, unseen, voter, packs[model.key].pack))
    seconds = {result.pack: round(result.seconds, 1) for result in packs.values()}
    return Ablation(
        languages=[corpus.language for corpus in complete],
        rows=rows(compared, models, seconds),
        models=models,
        seconds=seconds,
        diverged=sum(one.voter is None for one in models),
        interrupted=bool(unfinished),
    )


def rows(compared: Sequence[Factor], models: Sequence[Scored], seconds: Mapping[str, float]) -> list[Variant]:
    """A row for each variant, the base of each factor first."""
    by_settings = grouped(models, lambda one: (one.model.system, one.model.settings))
    named = [(one, name) for one in compared for name in sorted(one.variants, key=lambda name: name != one.base)]
    against = {}
    for factor, name in named:
        if name != factor.base:
            own, base = (by_settings[factor.system, factor.variants[each]] for each in (name, factor.base))
            against[factor.system, name] = compare_pairs(_differences(own, base))
    corrected = dict(zip(against, holm([one.p_value for one in against.values()]), strict=True))
    made = []
    for factor, name in named:
        settings = factor.variants[name]
        own = by_settings[factor.system, settings]
        packs = {one.pack for one in own}
        unseen = [one.unseen for one in own if one.unseen is not None]
        votes: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for alignment, language in dict.fromkeys((one.model.alignment, one.model.language) for one in own):
            votes[alignment][language] = _vote(one for one in own if one.place[:2] == (language, alignment))
        best = [max(by_alignment) for by_alignment in zip(*(each.values() for each in votes.values()), strict=True)]
        made.append(
            Variant(
                system=factor.system,
                key=factor.key,
                variant=name,
                settings=settings,
                is_base=name == factor.base,
                votes={alignment: round(fmean(each.values()), DECIMALS) for alignment, each in votes.items()},
                best_vote=round(fmean(best), DECIMALS),
                single=round(fmean(one.accuracy for one in own), DECIMALS),
                unseen=round(fmean(unseen), DECIMALS) if unseen else None,
                best_epoch=round(fmean(one.model.best_epoch for one in own), 1),
                seconds=round(sum(seconds[pack] for pack in packs), 1),
                shared=any(one.pack in packs and one.model.settings != settings for one in models),
                against_base=against.get((factor.system, name)),
                corrected=corrected.get((factor.system, name)),
            )
        )
    return made


def _vote(models: Iterable[Scored]) -> float:
    voters = best_first(one.voter for one in models if one.voter)
    return dev_accuracy(STRATEGIES["vote"], voters) if voters else 0.0


def _differences(own: Sequence[Scored], base: Sequence[Scored]) -> dict[str, list[float]]:
    """The differences between models of the same language, alignment and seed, by language."""
    places = {one.place: one.accuracy for one in base}
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for one in own:
        # Rounded, as sums of hundredths that should be zero are not exactly zero, which matters for the test.
        groups[one.model.language].append(round(one.accuracy - places[one.place], DECIMALS))
    return groups
