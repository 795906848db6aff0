"""Which value of a setting is better? Models with each of them, side by side, and whether the differences are real."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean

import msgspec

from reinflect.decoding.repeats import filtered, longest_runs
from reinflect.ensembles.vote import Voter, best_first, dev_accuracy, kind_of, strategy
from reinflect.errors import InputError, StoppedError, quoted
from reinflect.evaluation.scores import DECIMALS
from reinflect.evaluation.significance import FEWEST, LEVEL, PairedDifference, compare_pairs, holm
from reinflect.execution.corpora import Corpus, align_corpora
from reinflect.execution.execute import Watcher, run_packs, say_what_was_found
from reinflect.execution.packing import pack_models
from reinflect.execution.run import Results, Standing, checkpoint_of, run_pack
from reinflect.execution.state import State
from reinflect.files import atomic_path
from reinflect.settings import LISTS, Settings, alike, changed
from reinflect.training.checkpoint import Found, fingerprint
from reinflect.training.lesson import Lesson, Model, Pack, methods_of

MODELS_A_PACK = 12
"""How many share a fleet on the CPU: beyond a few there is little to gain, and small packs spread better over cores."""
OPTION = "--vary"


@dataclass(frozen=True)
class Factor:
    """A setting whose values are compared, in one system; all others are as they are."""

    system: str
    key: str
    variants: Mapping[str, Settings]
    """By names such as `dropout=0.3`."""
    base: str
    """What the others are compared with: the value that the setting has anyway, or else the first."""


def factors(varied: Iterable[str], settings: Mapping[str, Settings]) -> list[Factor]:
    """What `key=a,b,c` means for each system, or `haem.key=a,b,c` for one."""
    made: list[Factor] = []
    for text in varied:
        name, found, values = text.partition("=")
        system, dot, key = name.strip().rpartition(".")
        if not found or not key:
            raise InputError(
                f"found {OPTION} {quoted(text)}", "write key=a,b,c, or haem.key=a,b,c to vary it in one system only"
            )
        if dot and system not in settings:
            raise InputError(
                f"found {OPTION} {quoted(text)}, but only {' and '.join(settings)} would be trained",
                "name one of these before the dot, or change --systems",
            )
        for own in [system] if dot else settings:
            if any((factor.system, factor.key) == (own, key) for factor in made):
                raise InputError(f"found {OPTION} with {quoted(key)} twice", f"give all its values in one {OPTION}")
            made.append(_factor(own, key, values, settings[own]))
    if not made:
        raise InputError(f"found no {OPTION}", "say what to compare, such as --vary dropout=0.3,0.5")
    return made


def _factor(system: str, key: str, values: str, settings: Settings) -> Factor:
    variants: dict[str, Settings] = {}
    for value in filter(None, (value.strip() for value in values.split(","))):
        # The commas are between the values, so that a value that is itself a list has another sign in it.
        spelled = value.replace("+", ",") if key in LISTS else value
        own = changed({system: settings}, [f"{key}={spelled}"], OPTION)[system]
        if own not in variants.values():
            variants[f"{key}={value}"] = own
    if len(variants) < 2:
        raise InputError(
            f"found {OPTION} {quoted(f'{key}={values}')}, which is fewer than two values of {key}",
            "give two or more that differ, with commas between them",
        )
    base = next((name for name, own in variants.items() if own == settings), next(iter(variants)))
    return Factor(system, key, variants, base)


@dataclass(frozen=True)
class Scored:
    """What became of one model."""

    language: str
    system: str
    settings: Settings
    alignment: str
    seed: int
    accuracy: float
    """Of the model by itself on dev; nothing if it diverged each time it was started."""
    best_epoch: int
    voter: Voter | None
    pack: str


@dataclass(frozen=True)
class Row:
    """One variant, over all languages."""

    system: str
    key: str
    variant: str
    settings: Settings
    is_base: bool
    votes: Mapping[str, float]
    """E of each alignment."""
    best_vote: float
    """MAX: of each language that of the better alignment."""
    single: float
    best_epoch: float
    seconds: float
    shared: bool
    """Whether the time is that of other variants as well, which were trained in the same fleets."""
    against_base: PairedDifference | None
    corrected: float | None
    """The p-value, corrected for the number of comparisons."""

    @property
    def verdict(self) -> str:
        """In a word or two, for a reader who does not live by p-values."""
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
    """What was found out."""

    languages: Sequence[str]
    rows: Sequence[Row]
    models: Sequence[Scored]
    seconds: Mapping[str, float]
    """By pack."""
    diverged: int
    """Models without any accuracy; they count as 0."""
    interrupted: bool


def ablate(
    corpora: Sequence[Corpus],
    compared: Sequence[Factor],
    *,
    alignments: Sequence[str] = ("naive", "smart"),
    seeds: int = 5,
    device: str = "cpu",
    workers: int = 1,
    watcher: Watcher | None = None,
    alignment_cache: Path | None = None,
    state: State | None = None,
) -> Ablation:
    """Train all variants of all factors with each corpus, alignment and seed, and compare them.

    Variants whose settings are alike train in one fleet, others in fleets of their own. Ctrl-C ends it early; then
    those languages are compared whose models are all trained. With a `state`, which the caller holds, the same call
    goes on after any interruption.
    """
    watcher = watcher or Watcher()
    systems = list(dict.fromkeys(factor.system for factor in compared))
    wanted = {system: methods_of([system], alignments) for system in systems}
    _check_pairs(len(corpora), min(map(len, wanted.values())), seeds)
    # Models are to be scored on dev and asked nothing else.
    plain = [replace(corpus, split=replace(corpus.split, asked=())) for corpus in corpora]
    aligned = align_corpora(
        [(corpus, method) for method in methods_of(systems, alignments) for corpus in plain],
        cache=alignment_cache,
        workers=workers,
    )
    work: list[Pack] = []
    for system in systems:
        lessons = [aligned[corpus.label, method] for corpus in plain for method in wanted[system]]
        settings = [own for factor in compared if factor.system == system for own in factor.variants.values()]
        work += _packs(system, lessons, list(dict.fromkeys(settings)), seeds, device)
    if state:
        say_what_was_found([_found(pack, state) for pack in work], state, watcher)
    results = run_packs(
        work,
        partial(run_lean, state=state),
        device=device,
        workers=workers if device == "cpu" else 1,
        watcher=watcher,
        state=state,
    )
    ended = [bool(result and result.ended) for result in results]
    broken = {model.lesson.label for pack, well in zip(work, ended, strict=True) if not well for model in pack.models}
    languages = {corpus.label: corpus.language for corpus in plain if corpus.label not in broken}
    if not languages:
        kept = "the same command goes on from here" if state else "with --out FILE the same command could go on"
        raise StoppedError(
            f"stopped before the models of any language were all trained; there is nothing to compare yet; {kept}"
        )
    models = [
        one for pack, result in zip(work, results, strict=True) if result for one in _scored(pack, result, languages)
    ]
    seconds = {pack.name: round(own.seconds if own else 0.0, 1) for pack, own in zip(work, results, strict=True)}
    return Ablation(
        languages=list(languages.values()),
        rows=rows(compared, models, seconds),
        models=models,
        seconds=seconds,
        diverged=sum(one.voter is None for one in models),
        interrupted=not all(ended),
    )


def _check_pairs(languages: int, alignments: int, seeds: int) -> None:
    pairs = languages * alignments * seeds
    if pairs < FEWEST:
        raise InputError(
            f"found languages, alignments and seeds for {pairs} pair{'s'[: pairs > 1]} of models, from which no "
            "difference can be told from chance",
            f"give more --seeds or --languages, for {FEWEST} pairs at least",
        )


def _packs(system: str, lessons: Sequence[Lesson], settings: Sequence[Settings], seeds: int, device: str) -> list[Pack]:
    if device != "cpu":
        everything = [Model(lesson, seed, own) for lesson in lessons for own in settings for seed in _seeds(seeds)]
        return pack_models(system, everything)
    made = []
    for lesson in lessons:
        kinds: defaultdict[Settings, list[Model]] = defaultdict(list)
        for seed in _seeds(seeds):
            for own in settings:
                kinds[alike(own)].append(Model(lesson, seed, own))
        parts = [
            tuple(kind[first : first + MODELS_A_PACK])
            for kind in kinds.values()
            for first in range(0, len(kind), MODELS_A_PACK)
        ]
        name = f"{lesson.label}-{kind_of(system, lesson.alignment)}"
        made += [Pack(f"{name}-{number}", system, part) for number, part in enumerate(parts, start=1)]
    return made


def _seeds(seeds: int) -> range:
    return range(1, seeds + 1)


class _Kept(msgspec.Struct):
    """What became of a pack, and of which."""

    fingerprint: str
    results: Results


def run_lean(
    pack: Pack,
    report: Callable[[Standing], None],
    stop: Callable[[], bool],
    *,
    state: State | None = None,
    device: str = "cpu",
) -> Results:
    """Train a pack, unless an earlier run has done it, and keep nothing of its models but what they say."""
    if state and (kept := _kept(pack, state)):
        scored = [learnt.dev_accuracy for learnt in kept.models if learnt.usable]
        mean = fmean(scored) if scored else math.nan
        report(Standing(pack.name, len(pack.models), 0, pack.epochs, pack.epochs, mean, kept.seconds, 0.0))
        return kept

    def finish(results: Results) -> None:
        if state and results.ended:
            kept = _Kept(fingerprint(pack), _lean(results))
            with atomic_path(state.result(pack.stem)) as part:
                part.write_bytes(msgspec.json.encode(kept))
            for path in (state.checkpoint(pack.stem), state.log(pack.stem)):
                path.unlink(missing_ok=True)

    return _lean(run_pack(pack, report, stop, state=state, device=device, keep_finished=False, finish=finish))


def _lean(results: Results) -> Results:
    return replace(results, models=[replace(learnt, parameters={}) for learnt in results.models])


def _found(pack: Pack, state: State) -> Found:
    """What an earlier run left of a pack."""
    if _kept(pack, state):
        return "finished"
    check = checkpoint_of(pack, state)
    return "other" if check is None or state.result(pack.stem).exists() else check.find()


def _kept(pack: Pack, state: State) -> Results | None:
    """What an earlier run found; None if it did not come so far, or its work was other work."""
    try:
        kept = msgspec.json.decode(state.result(pack.stem).read_bytes(), type=_Kept)
    except (OSError, ValueError, RecursionError):
        return None
    if [learnt.number for learnt in kept.results.models] != list(range(len(pack.models))):
        return None
    return kept.results if kept.fingerprint == fingerprint(pack) else None


def _scored(pack: Pack, results: Results, languages: Mapping[str, str]) -> list[Scored]:
    """The models of these languages, which are by the labels of their lessons."""
    found = []
    runs: dict[Lesson, dict[str, int]] = {}
    for learnt in results.models:
        model = pack.models[learnt.number]
        lesson, dev = model.lesson, model.lesson.split.dev
        if lesson.label not in languages:
            continue
        if lesson not in runs:
            runs[lesson] = longest_runs(word for item in lesson.split.train for word in (item.lemma, item.form))
        voter = None
        if learnt.usable:
            forms = [
                item.lemma if form is None else filtered(form, item.lemma, runs[lesson])
                for item, form in zip(dev, learnt.forms, strict=True)
            ]
            kind = kind_of(pack.system, lesson.alignment)
            voter = Voter.of(kind, model.seed, dev, forms, learnt.log_probabilities)
        found.append(
            Scored(
                language=languages[lesson.label],
                system=pack.system,
                settings=model.settings,
                alignment=lesson.alignment,
                seed=model.seed,
                accuracy=voter.dev_accuracy if voter else 0.0,
                best_epoch=learnt.best_epoch,
                voter=voter,
                pack=pack.name,
            )
        )
    return found


def rows(compared: Sequence[Factor], models: Sequence[Scored], seconds: Mapping[str, float]) -> list[Row]:
    """A row for each variant, the base of each factor first."""
    by_settings: defaultdict[tuple[str, Settings], list[Scored]] = defaultdict(list)
    for one in models:
        by_settings[one.system, one.settings].append(one)
    made = []
    for factor in compared:
        for name in sorted(factor.variants, key=lambda name: name != factor.base):
            own = by_settings[factor.system, factor.variants[name]]
            base = by_settings[factor.system, factor.variants[factor.base]]
            against = None if name == factor.base else compare_pairs(_differences(own, base))
            made.append(_row(factor, name, own, against, models, seconds))
    compared_rows = [row for row in made if row.against_base]
    corrected = holm([row.against_base.p_value for row in compared_rows if row.against_base])
    by_row = {id(row): p_value for row, p_value in zip(compared_rows, corrected, strict=True)}
    return [replace(row, corrected=by_row.get(id(row))) for row in made]


def _row(
    factor: Factor,
    name: str,
    own: Sequence[Scored],
    against: PairedDifference | None,
    models: Sequence[Scored],
    seconds: Mapping[str, float],
) -> Row:
    votes: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for alignment in dict.fromkeys(one.alignment for one in own):
        for language in dict.fromkeys(one.language for one in own):
            votes[alignment][language] = _vote(
                one for one in own if (one.alignment, one.language) == (alignment, language)
            )
    best = [max(by_language) for by_language in zip(*(each.values() for each in votes.values()), strict=True)]
    packs = {one.pack for one in own}
    return Row(
        system=factor.system,
        key=factor.key,
        variant=name,
        settings=factor.variants[name],
        is_base=name == factor.base,
        votes={alignment: round(fmean(each.values()), DECIMALS) for alignment, each in votes.items()},
        best_vote=round(fmean(best), DECIMALS),
        single=round(fmean(one.accuracy for one in own), DECIMALS),
        best_epoch=round(fmean(one.best_epoch for one in own), 1),
        seconds=round(sum(seconds[pack] for pack in packs), 1),
        shared=any(one.pack in packs and one.settings != own[0].settings for one in models),
        against_base=against,
        corrected=None,
    )


def _vote(models: Iterable[Scored]) -> float:
    voters = best_first(one.voter for one in models if one.voter)
    return dev_accuracy(strategy("vote"), voters) if voters else 0.0


def _differences(own: Sequence[Scored], base: Sequence[Scored]) -> dict[str, list[float]]:
    """Of models with the same language, alignment and seed; by language."""
    places = {(one.language, one.alignment, one.seed): one.accuracy for one in base}
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for one in own:
        # Rounded, as sums of hundredths that should be zero are not quite, and zero matters for the test.
        groups[one.language].append(round(one.accuracy - places[one.language, one.alignment, one.seed], DECIMALS))
    return groups
