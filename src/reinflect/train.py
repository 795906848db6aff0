"""Train: from items and a wish to an inflector. `train_model` is the walk that every command which trains goes."""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from reinflect.assemble import Keep, assemble
from reinflect.data.items import Item, Normalisation, as_items, normalised
from reinflect.data.lexicon import WordList
from reinflect.data.sheets import sheet_bundles
from reinflect.ensemble.strategies import find_strategy
from reinflect.errors import InputError, OutputError, ReinflectError, StoppedError, counted, source_name
from reinflect.files import has_content, kind_of_sheet
from reinflect.inflector.card import Training
from reinflect.inflector.inflector import Inflector
from reinflect.learn.lesson import lessons_of, specs
from reinflect.start import Startable, describe_starts, find_starts, started_models
from reinflect.systems.kind import Plan, Wish, default_strategy, make_plan
from reinflect.text import table

if TYPE_CHECKING:
    from reinflect.run.watch import Resources


def train(
    items: Any,
    dev: Any = None,
    *,
    preset: str = "auto",
    changes: Sequence[str] = (),
    kinds: Sequence[str] = (),
    systems: Sequence[str] | None = None,
    alignments: Sequence[str] | None = None,
    augment: Sequence[str] = (),
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
    """Train an inflector on items or a file of them; `changes` are settings such as `hidden=200` or `smart.sweeps=5`.

    The number of items decides on the kinds of models, unless you give these (`hacm-smart+made-up`), or systems,
    alignments and augmentations, every one of which is trained with every other, or `start`.

    Items may also be a list of dicts or a pandas frame with lemma, features and form. `normalise` encodes lemmas and
    forms, and later the lemmas that are asked for, in one way: `nfc` or `nfd`. The inflector keeps the forms; with
    `attested=False` it can be shared without them. `start` has inflectors, files or languages that some models start
    from, or `auto`, which chooses languages. `words` is a word list, or its file, as evidence for forms; it is not kept
    (see `Inflector.with_words`).

    Most programs need only this: `train("verbs.tsv").inflect("gehen", "V;PST")`. `train_model` has more options.
    """
    check_torch()
    from reinflect.run.watch import Resources

    path = items if isinstance(items, (Path, str)) else None
    wish = Wish(
        kinds, systems, alignments, augment, preset, changes, seeds, strategy=strategy,
        starts=(start,) if isinstance(start, Startable) else start,
    )  # fmt: skip
    keep = Keep(
        attested=attested,
        cells=sheet_bundles(path) if path and kind_of_sheet(path) else (),
        words=WordList.read(words) if isinstance(words, (Path, str)) else words,
        normalisation=normalise,
    )
    return train_model(
        normalised(as_items(items), normalise),
        None if dev is None else normalised(as_items(dev), normalise),
        wish,
        keep,
        Resources(device=device, workers=workers),
        source=Path(path).name if path else "items given to reinflect.train",
        out=None if out is None else Path(out),
    ).inflector


def train_model(
    train_items: Sequence[Item],
    dev_items: Sequence[Item] | None,
    wish: Wish,
    keep: Keep,
    resources: "Resources",
    *,
    source: Path | str = "training data",
    out: Path | None = None,
    force: bool = True,
) -> "Outcome":
    """Train the models of a wish, and assemble their inflector. Without dev items each seed holds out a fold.

    With `out`, the inflector is saved there. A later call resumes an interrupted one from the folder `OUT.state`; until
    it is finished, a finished model at `out` stays there. Without `force`, a model at `out` is an error, unless this
    call resumes an interrupted one. `OUT.log.jsonl` has a line for each epoch of each model. Several workers are
    processes: a script that uses them must be safe to import (`if __name__ == "__main__":`). Ctrl-C ends the training
    early with the best models so far.
    """
    check_torch()
    from reinflect.run.driver import train_specs
    from reinflect.run.store import Store

    note = resources.watcher.note
    if not train_items or (dev_items is not None and not dev_items):
        raise InputError(f"found no {'dev' if train_items else 'training'} items", "give some", path=source)
    plan = make_plan(wish, len(train_items))
    if wish.strategy:
        check_strategy(plan)
    starts = find_starts(wish.starts, train_items, plan.systems, note) if wish.starts else []
    model_specs = specs(plan, lessons_of(train_items, dev_items, wish.seeds, source), starts)
    models = f"{len(model_specs)} models" if len(model_specs) > 1 else "a model"
    note(f"training {models} on {counted(len(train_items), 'item')} of {source_name(source)}, preset {plan.preset}")
    started = started_models(starts, model_specs) if starts else {}
    for text in describe_starts(starts, started, dev_items or train_items) if starts else ():
        note(text)
    with ExitStack() as stack:
        path = out or Path(stack.enter_context(TemporaryDirectory())) / "model"
        if not force:
            check_replaceable(path)
        store = stack.enter_context(Store.beside(path).held())
        if not store.begin(model_specs, alone=not force and has_content(path)):
            raise would_replace(path)
        earlier = _training_of(path) if has_content(path) else None
        finished_before = earlier is not None and not earlier.interrupted
        if finished_before:
            note(f"note: {out} is a finished model; it is replaced when this training is finished")
        execution = train_specs(model_specs, store, resources)
        if execution.failed:
            raise ReinflectError(execution.failed)
        trained = store.get(model_specs)
        usable = [
            (model, store.member(spec, model))
            for spec in model_specs
            if (model := trained.get(spec.digest)) and model.usable
        ]
        if not usable and not execution.finished:
            raise StoppedError("stopped before any model had learnt anything; there is no inflector yet")
        if not usable:
            raise ReinflectError("every model diverged, even when started again; try a smaller step (--set step=0.1)")
        inflector = assemble(
            usable,
            train_items,
            dev_items,
            keep,
            strategy=plan.strategy,
            # The model file does not say in which folder the training file was.
            source=Path(source).name if Path(source).is_file() else str(source),
            interrupted=not execution.finished,
            starts={key: name for key, (name, _) in started.items()},
        )
        outcome = Outcome(
            inflector,
            restarted=tuple(model.name for model in trained.values() if model.restarts),
            failed=tuple(model.name for model in trained.values() if not model.usable),
            retried=tuple(execution.retried),
            written=execution.finished or not finished_before,
        )
        if out and outcome.written:
            store.join_logs(model_specs, execution.packs)
            inflector.save(out, half=keep.half)
            if execution.finished:
                store.remove()
        return outcome


@dataclass(frozen=True)
class Outcome:
    """An inflector and the course of its training."""

    inflector: Inflector
    restarted: tuple[str, ...]
    """Models that diverged and were started again with another seed."""
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

    def table(self) -> str:
        """The accuracies of all models and of their vote."""
        vote = "vote of all" if self.inflector.strategy == "vote" else f"vote ({self.inflector.strategy})"
        rows = [(member.name, f"{member.dev_accuracy:.2f}") for member in self.inflector.members]
        header = "model", "held-out accuracy" if self.training.held_out else "dev accuracy"
        return table(header, [*rows, (vote, f"{self.training.accuracy:.2f}")], sides=("left", "right"))

    def expectation(self, out: str) -> str:
        """How many forms the model at `out` will get right."""
        scored = counted(self.training.scored, f"{'held-out' if self.training.held_out else 'dev'} form")
        text = f"Expect about {self.training.accuracy:.0f} % right, estimated on {scored}"
        if words := self.inflector.words:
            text += f"\nWith {words.name} about {words.accuracy:.0f} %: reinflect inflect {out} --words FILE …"
        return text

    def notes(self, out: str, keep: Keep) -> list[str]:
        """What a user should know of the model at `out`."""
        inflector, notes = self.inflector, [f"note: {text}" for text in self.retried]
        if len(inflector.voters) < len(inflector.members):
            voters = f"{len(inflector.voters)} of {len(inflector.members)} models"
            notes.append(f"note: {voters} vote; inflect --strategy chooses others")
        if keep.attested and not inflector.attested:
            notes.append("note: the forms are too many to be kept in the model as attested ones")
        if keep.words and not inflector.words:
            items = "held-out forms" if self.training.held_out else "dev forms"
            notes.append(f"note: too few {items} to learn what {keep.words.name} is worth; the model does not use it")
        if self.restarted:
            notes.append(f"note: diverged and started again with another seed: {', '.join(self.restarted)}")
        if self.failed:
            notes.append(f"note: left out (learnt nothing, or diverged): {', '.join(self.failed)}")
        if self.training.interrupted:
            model = "has the best models so far" if self.written else "is still the earlier model"
            notes.append(f"note: interrupted; {out} {model}; the same command resumes this training")
        return notes


def check_torch() -> None:
    """Refuse to train where only what inflecting needs is installed."""
    with suppress(ImportError):
        if find_spec("torch") is not None:
            return
    raise InputError("training needs torch", "pip install 'reinflect[train]'")


def check_strategy(plan: Plan) -> None:
    """Refuse a strategy in which no model of a plan may vote."""
    strategy = find_strategy(plan.strategy)
    if not any(map(strategy.may_vote, plan.systems)):
        finding = (
            f"found the strategy {strategy.name}, in which only models of {' and '.join(strategy.systems or ())} vote"
        )
        other = default_strategy(plan.systems)
        raise InputError(finding, f"train that system too, or choose another strategy, such as {other}")


def check_replaceable(out: Path) -> None:
    """Refuse to replace a model that no unfinished training belongs to."""
    from reinflect.run.store import Store

    if has_content(out) and not Store.beside(out).state.is_dir():
        raise would_replace(out)


def would_replace(out: Path) -> OutputError:
    """The error that names a model in the place of a new one."""
    model = "a model of this name exists"
    if about := _training_of(out):
        model += f" ({about.items} items of {about.source}, about {about.accuracy:.0f} % right, {about.date})"
    return OutputError(out, model, "choose another --out, or give --force to replace it")


def _training_of(path: Path) -> Training | None:
    """That of the model at a path; None if there is no model."""
    with suppress(ReinflectError):
        return Inflector.load(path).training
    return None
