"""From items to an inflector: plan the models, train them, assemble the inflector, save it."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec

from reinflect.align import ALIGNERS
from reinflect.data.corrections import question
from reinflect.data.items import Item, Normalisation, as_items, normalised
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.data.sheets import sheet_bundles
from reinflect.data.words import WordList
from reinflect.ensemble.member import kind_of
from reinflect.ensemble.strategies import default_strategy, find_strategy
from reinflect.errors import InputError, OutputError, ReinflectError, StoppedError, quoted
from reinflect.files import has_content
from reinflect.inflector.assemble import assemble
from reinflect.inflector.card import Training
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.start import Start, Startable, find_starts, taken_over, variant_of
from reinflect.learn.augmentation import AUGMENTATIONS
from reinflect.learn.lesson import Lesson, ModelSpec, Preparation, alignments_of, plain_lessons
from reinflect.run.execute import train_specs
from reinflect.run.folder import WorkFolder
from reinflect.run.resources import Resources
from reinflect.settings import Settings, changed, preset_for
from reinflect.systems import PAPER_ALIGNMENTS, PAPER_SYSTEMS, SYSTEMS, USUAL_FOR, Usual
from reinflect.systems.symbols import load_preset
from reinflect.text import nearest


def parts_of(kinds: Sequence[str]) -> dict[str, list[str]]:
    """The systems, alignments and augmentations in the names of kinds, such as `hacm-smart+made-up`, each once."""
    systems, alignments, augmentations = dict[str, None](), dict[str, None](), dict[str, None]()
    for kind in kinds:
        base, *more = kind.split("+")
        system, _, alignment = (base, "", "") if base in SYSTEMS or "-" not in base else base.rpartition("-")
        SYSTEMS.check(system)
        systems[system] = None
        alignments |= {alignment: None} if alignment else {}
        augmentations |= dict.fromkeys(more)
    return {"systems": [*systems], "alignments": [*alignments], "augmentations": [*augmentations]}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is trained: models of some kinds, one for each seed."""

    settings: Mapping[str, msgspec.Struct]
    """By the names of systems; also of aligners and augmentations that do not have their defaults."""
    systems: Sequence[str] = PAPER_SYSTEMS
    alignments: Sequence[str] = PAPER_ALIGNMENTS
    augmentations: Sequence[str] = ()
    kinds: Sequence[str] = ()
    """Such as `hacm-smart+made-up`, of these systems, alignments and augmentations; by default every system with every
    alignment, and all augmentations."""
    seeds: int = 5
    first_seed: int = 1
    starts: Sequence[Start] = ()
    """Models of a kind of their own start from these, one seed from the first, the next from the second, and so on."""
    strategy: str | None = None
    """By default that of `default_strategy`."""

    @property
    def used_strategy(self) -> str:
        return self.strategy or default_strategy(self.systems)

    def check(self) -> None:
        for name in self.systems:
            SYSTEMS.check(name)
        for name in self.alignments:
            ALIGNERS.check(name)
        for name in self.augmentations:
            AUGMENTATIONS.check(name)
        every = self._every
        for kind in self.kinds:
            if kind not in every:
                remedy = nearest(kind, every, f"with these names there are {', '.join(every)}")
                raise InputError(f"found the kind {quoted(kind)}", remedy)
        strategy = find_strategy(self.used_strategy)
        if not any(map(strategy.may_vote, self.systems)):
            whose = " and ".join(strategy.systems or ())
            remedy = f"train that system too, or choose another strategy, such as {default_strategy(self.systems)}"
            raise InputError(f"found the strategy {strategy.name}, in which only models of {whose} vote", remedy)
        if self.seeds < 1:
            raise InputError(f"found {self.seeds} seeds", "train with at least one")

    @property
    def preparation(self) -> Preparation:
        return Preparation.of(self.settings, self.alignments, self.augmentations)

    @property
    def models(self) -> int:
        """The number of models."""
        return self.seeds * len(self._kinds)

    @property
    def _every(self) -> dict[str, "_Kind"]:
        """All kinds that can be named, by name."""
        pairs = [(system, alignment) for system in self.systems for alignment in alignments_of(system, self.alignments)]
        variants = [("", ()), *((name, (name,)) for name in self.augmentations)]
        return {kind_of(*pair, variant): _Kind(*pair, variant, names) for pair in pairs for variant, names in variants}

    @property
    def _kinds(self) -> list["_Kind"]:
        """Those that are trained: without and, where there are any, with starts."""
        every, common, found = self._every, tuple(self.augmentations), []
        named = [every[kind] for kind in dict.fromkeys(self.kinds)]
        for kind in named or [own._replace(augmentations=common) for own in every.values() if not own.variant]:
            found.append(kind)
            if starts := [start for start in self.starts if start.member(kind.system)]:
                variant = "+".join(filter(None, (kind.variant, variant_of(starts))))
                found.append(kind._replace(variant=variant, starts=starts))
        return found

    def specs(self, lessons: Sequence[Lesson], preparation: Preparation) -> list[ModelSpec]:
        """All models; `lessons` has one for each seed."""
        made, planned = [], dict[tuple[int, str, tuple[str, ...], int], Lesson]()
        for system, alignment, variant, names, starts in self._kinds:
            settings = self.settings[system]
            assert isinstance(settings, Settings)
            for number, lesson in enumerate(lessons):
                seed = self.first_seed + number
                mark = id(lesson), alignment, names, seed if preparation.per_seed(names) else 0
                if mark not in planned:
                    planned[mark] = preparation.planned(lesson, alignment, seed, names)
                start = starts[number % len(starts)].member(system, alignment) if starts else None
                made.append(ModelSpec(planned[mark], system, settings, seed, start, variant))
        return made

    def started(self, specs: Sequence[ModelSpec]) -> dict[str, tuple[str, ModelSpec]]:
        """The name of each model that some specs start from, and one of these specs, by its fingerprint."""
        names = {own.fingerprint: start.name for start in self.starts for own in start.members}
        return {mark: (names[mark], spec) for spec in specs if spec.start and (mark := spec.start.fingerprint)}


class _Kind(NamedTuple):
    system: str
    alignment: str
    variant: str
    """What sets it apart from others of its system and alignment."""
    augmentations: tuple[str, ...]
    starts: Sequence[Start] = ()


@dataclass(frozen=True)
class Outcome:
    """An inflector and the course of its training."""

    inflector: Inflector
    restarted: tuple[str, ...]
    """Members that diverged and were started again with another seed."""
    failed: tuple[str, ...]
    """Models that are not among the members: they diverged every time, or had not learnt anything when stopped."""
    retried: tuple[str, ...] = ()
    """Errors of packs that were trained again."""
    written: bool = True
    """False if training was interrupted, and a finished model stays in its place."""

    @property
    def training(self) -> Training:
        assert self.inflector.training is not None
        return self.inflector.training


def train_inflector(
    train_items: Sequence[Item],
    dev_items: Sequence[Item] | None,
    plan: Plan,
    resources: Resources | None = None,
    *,
    out: Path | None = None,
    source: Path | str = "training data",
    half: bool = False,
    labels: Labels = NO_LABELS,
    normalisation: Normalisation = "none",
    force: bool = True,
    attested: bool = True,
    cells: Sequence[str] = (),
    words: WordList | None = None,
) -> Outcome:
    """Train the models of a plan, and let them vote. Without dev items each seed holds out a fold of its own.

    With `out`, the inflector is saved there (`half`: in half precision). A later call resumes an interrupted one from
    the folder `OUT.state`; until it is finished, a finished model at `out` stays there. Without `force`, a model at
    `out` is an error, unless this call resumes an interrupted one. `OUT.log.jsonl` has a line for each epoch of each
    model. `normalisation` is how the items were encoded. Several workers are processes: a script that uses them must be
    safe to import (`if __name__ == "__main__":`). Ctrl-C ends the training early with the best models so far.

    The inflector keeps the forms of all items, which paradigms then show as attested, unless `attested` is False.
    `cells` are the bundles of a paradigm in the order in which they are to be shown. `words` is a list
    that is evidence for forms; the models themselves do not depend on it.
    """
    resources = resources or Resources()
    plan.check()
    if not train_items or (dev_items is not None and not dev_items):
        raise InputError(f"found no {'dev' if train_items else 'training'} items", "give some", path=source)
    preparation = plan.preparation
    specs = plan.specs(plain_lessons(train_items, dev_items, plan.seeds, source), preparation)
    started = plan.started(specs)
    for note in dict.fromkeys(taken_over(spec, name) for name, spec in started.values()):
        resources.watcher.note(note)
    for start in plan.starts:
        if known := start.seen.intersection(map(question, train_items if dev_items is None else dev_items)):
            high = "the accuracies below are too high, and its models may vote too often; give --dev FILE with others"
            resources.watcher.note(f"note: {start.name} has seen {len(known)} of the held-out or dev items: {high}")
    with ExitStack() as stack:
        place = out or Path(stack.enter_context(TemporaryDirectory())) / "model"
        folder = WorkFolder.beside(place)
        if not force:
            check_replaceable(place)
        stack.enter_context(folder.held())
        if not folder.begin(specs, alone=not force and has_content(place)):
            raise would_replace(place)
        before = _training_of(place)
        finished = before is not None and not before.interrupted
        if finished:
            resources.watcher.note(f"note: {out} is a finished model; it is replaced when this training is finished")
        execution = train_specs(specs, preparation, folder, resources)
        if execution.failed:
            raise ReinflectError(execution.failed)
        models = [execution.models[spec.digest] for spec in specs if spec.digest in execution.models]
        if execution.finished and len(models) < len(specs):
            raise OutputError(folder.state, "the files of trained models are gone", "run the same command again")
        usable = [folder.with_parameters(model) for model in models if model.usable]
        if not usable and not execution.finished:
            raise StoppedError("stopped before any model had learnt anything; there is no inflector yet")
        if not usable:
            raise ReinflectError("every model diverged, even when started again; try a smaller step (--set step=0.1)")
        # The model file does not say in which folder the training file was.
        name = Path(source).name if Path(source).is_file() else str(source)
        inflector = assemble(
            usable,
            train_items,
            dev_items,
            strategy=plan.used_strategy,
            source=name,
            interrupted=not execution.finished,
            labels=labels,
            attested=attested,
            cells=cells,
            starts={mark: name for mark, (name, _) in started.items()},
            words=words,
        )
        inflector = replace(inflector, normalisation=normalisation)
        outcome = Outcome(
            inflector,
            restarted=tuple(model.name for model in models if model.restarts),
            failed=tuple(model.name for model in models if not model.usable),
            retried=execution.retried,
        )
        if finished and outcome.training.interrupted:
            return replace(outcome, written=False)
        if out:
            folder.join_logs([spec.digest for spec in specs], execution.results, execution.packs)
            inflector.save(out, half=half)
            if execution.finished:
                folder.remove()
        return outcome


def check_replaceable(out: Path) -> None:
    """Refuse to replace a model that no unfinished training belongs to."""
    if has_content(out) and not WorkFolder.beside(out).state.is_dir():
        raise would_replace(out)


def would_replace(out: Path) -> OutputError:
    """The error that names a model in the place of a new one."""
    model = "a model of this name exists"
    if about := _training_of(out):
        model += f" ({about.items} items of {about.source}, about {about.accuracy:.0f} % right, {about.date})"
    return OutputError(out, model, "choose another --out, or give --force to replace it")


def _training_of(path: Path) -> Training | None:
    """That of the model at a place; None if there is no model."""
    with suppress(ReinflectError):
        return Inflector.load(path).training
    return None


def train(
    items: Any,
    dev: Any = None,
    *,
    preset: str = "auto",
    changes: Sequence[str] = (),
    kinds: Sequence[str] = (),
    systems: Sequence[str] | None = None,
    alignments: Sequence[str] | None = None,
    seeds: int = 5,
    device: str = "cpu",
    workers: int = 1,
    out: Path | str | None = None,
    strategy: str | None = None,
    normalise: Normalisation = "none",
    attested: bool = True,
    start: Startable | Sequence[Startable] = (),
    words: WordList | Path | str | None = None,
) -> Inflector:
    """Train an inflector on items or a file of them; `changes` are settings such as `hidden=200`.

    The number of items decides on the kinds of models, unless you give these (`hacm-smart+made-up`), or systems and
    alignments, every one of which is trained with every other, or `start`.

    Items may also be a list of dicts or a pandas frame with lemma, features and form. `normalise` encodes lemmas and
    forms, and later the lemmas that are asked for, in one way: `nfc` or `nfd`. The inflector keeps the forms; with
    `attested=False` it can be shared without them. `start` has inflectors, files or languages that some models start
    from, or `auto`, which chooses languages. `words` is a word list, or its file, as evidence for forms; it is not kept
    (see `Inflector.with_words`).

    Most programs need only this: `train("verbs.tsv").inflect("gehen", "V;PST")`. `train_inflector` has more options.
    """
    train_items = normalised(as_items(items), normalise)
    dev_items = None if dev is None else normalised(as_items(dev), normalise)
    preset = preset_for(len(train_items)) if preset == "auto" else preset
    if kinds and (systems or alignments):
        raise InputError("found kinds beside systems or alignments", "give kinds alone: they name both")
    usual = Usual(kinds) if kinds or systems or alignments or start else USUAL_FOR.get(preset, Usual(()))
    parts: Any = {"systems": systems or PAPER_SYSTEMS, "alignments": alignments or PAPER_ALIGNMENTS}
    parts = parts_of(usual.kinds) if usual.kinds else parts
    for system in parts["systems"]:
        SYSTEMS.check(system)
    augmented: dict[str, Any] = {name: AUGMENTATIONS[name]() for name in parts.get("augmentations", ())}
    settings = changed({**load_preset(preset, parts["systems"]), **augmented}, [*usual.changes, *changes])
    plan = Plan(settings=settings, kinds=usual.kinds, seeds=seeds, strategy=strategy, **parts)
    asked = [start] if isinstance(start, Startable) else start
    plan = replace(plan, starts=find_starts(asked, train_items, plan.systems))
    return train_inflector(
        train_items,
        dev_items,
        plan,
        Resources(device=device, workers=workers),
        out=None if out is None else Path(out),
        source=Path(items).name if isinstance(items, (Path, str)) else "items given to reinflect.train",
        normalisation=normalise,
        attested=attested,
        cells=sheet_bundles(items) if isinstance(items, (Path, str)) else (),
        words=WordList.read(words) if isinstance(words, (Path, str)) else words,
    ).inflector
