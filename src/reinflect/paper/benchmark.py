"""A benchmark: train the models that are not trained yet; combine and score all, and write their predictions."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from reinflect.data.items import Item, grouped, read_items
from reinflect.data.layouts import parts_in
from reinflect.ensemble.member import Trained
from reinflect.errors import InputError, OutputError, quoted
from reinflect.files import check_writable, make_folder, read_bytes, write_bytes
from reinflect.learn.lesson import Lesson, ModelSpec, specs
from reinflect.paper.combine import Changes, Combined, averages, finish
from reinflect.paper.corpora import languages_in, layout_note, read_corpora
from reinflect.paper.figures import Scores
from reinflect.run.driver import train_specs
from reinflect.run.pack_files import ENDING, PackResult, read_result
from reinflect.run.processes import map_in_processes
from reinflect.run.store import Store
from reinflect.run.watch import Resources
from reinflect.systems.kind import Plan

PREDICTIONS = "predictions"
FOLDERS = (PREDICTIONS, "models", "parameters")
FILES = ("results.json", "results.md", "details.json", "commands.jsonl")
WORTH_PROCESSES = 1_000_000
"""Predictions to combine that take some seconds: as long as processes take to start."""


@dataclass(frozen=True, kw_only=True)
class BenchmarkPlan:
    """What a benchmark trains, and where it reads and writes."""

    data: Path
    out: Path
    plans: Mapping[str, Plan]
    """What is trained, by setting (low, medium, high)."""
    languages: Sequence[str] | None = None
    """None: all languages of the folder."""
    time_limit: float | None = None
    """Seconds; with 0, nothing is trained."""
    gold: Path | None = None
    """A folder with the right forms of test items."""
    merge: Sequence[Path] = ()
    """Output folders of other benchmarks, whose packs are copied."""


@dataclass
class Account:
    """Models trained by a command, and its seconds and failures."""

    trained: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    """Of preparing (reading, aligning), training (and decoding), and combining (scoring, writing)."""
    interrupted: bool = False
    retried: list[str] = field(default_factory=list)
    """Failures that were dealt with."""
    failed: str | None = None
    """The failure that could not be dealt with; all other models were trained."""


@dataclass(frozen=True)
class Benchmark:
    """The models and scores of a benchmark."""

    specs: Sequence[ModelSpec]
    models: Mapping[str, Trained]
    """The trained models of these specs, by digest."""
    results: Sequence[PackResult]
    """Packs with models of these specs."""
    finished: Mapping[Lesson, Combined]
    """Every language in every setting, with the models trained so far."""
    scores: Scores
    absent: Sequence[str]
    """Languages without training items in a setting."""
    account: Account
    store: Store

    @property
    def changes(self) -> dict[str, dict[str, Changes]]:
        """By setting and system."""
        sums: dict[str, dict[str, Changes]] = {}
        for corpus, finished in self.finished.items():
            for system, changes in finished.changed.items():
                sums.setdefault(corpus.setting, {}).setdefault(system, Counter()).update(changes)
        return sums


@contextmanager
def store_in(out: Path, *, save_models: bool = False) -> Iterator[Store]:
    """The store of a benchmark's folder, which one process has to itself while it works there.

    What would prevent the results from being written is an error now.
    """
    with Store.inside(out, numbers=save_models).held() as store:
        for path in (out / name for name in FOLDERS):
            if path.exists() and not path.is_dir():
                raise OutputError(path, "this is a file, not a folder", "remove it, or choose another --out")
        for name in FILES:
            check_writable(out / name)
        yield store


def run_benchmark(plan: BenchmarkPlan, store: Store, resources: Resources) -> Benchmark:
    """Train the models of a grid that are not trained yet, then combine and score all, and write the predictions.

    Every finished pack is a file in `OUT/packs`; `OUT/training.state` has the checkpoints of unfinished ones.
    """
    account, started = Account(), time.monotonic()
    names = languages_in(plan.data, plan.languages)
    corpora, absent = read_corpora(plan.data, names, list(plan.plans))
    if not corpora:
        what = f"found no training items for {', '.join(plan.plans)}"
        raise InputError(what, "choose other --settings", path=plan.data)
    gold = read_gold(plan.gold, corpora) if plan.gold else {}
    wanted = [spec for corpus in corpora for spec in specs(plan.plans[corpus.setting], [corpus])]
    for other in plan.merge:
        _copy_packs(other, make_folder(store.packs), wanted, resources.watcher.note)
    if absent:
        resources.watcher.note(f"note: no training items for {', '.join(absent)}; left out")

    def enough() -> bool:
        return plan.time_limit is not None and time.monotonic() - started >= plan.time_limit

    account.seconds["preparing"] = time.monotonic() - started
    execution = train_specs(wanted, store, replace(resources, enough=enough), about=layout_note(plan.data, names))
    account.seconds["preparing"] += execution.preparing
    if execution.training:
        account.seconds["training"] = execution.training
    account.interrupted = not (execution.finished or execution.failed or enough())
    account.retried, account.failed = list(execution.retried), execution.failed
    finished_keys = {model.key for result in store.finished for model in result.models}
    models = {digest: model for digest, model in store.get(wanted).items() if digest in finished_keys}
    account.trained = sum(spec.digest in models for pack in execution.packs for spec in pack.specs)
    before = time.monotonic()
    groups = grouped(models.values(), lambda model: f"{model.language}-{model.setting}")
    of_corpus = [groups.get(corpus.label, []) for corpus in corpora]
    finished = map_in_processes(
        partial(finish, folder=make_folder(plan.out / PREDICTIONS)),
        corpora,
        of_corpus,
        [gold.get(corpus.language, ()) for corpus in corpora],
        [plan.plans[corpus.setting].kinds for corpus in corpora],
        workers=resources.workers if _predictions(of_corpus) >= WORTH_PROCESSES else 1,
    )
    by_corpus = dict(zip(corpora, finished, strict=True))
    results = []
    for result in store.finished:
        if kept := [model for model in result.models if model.key in models]:  # with their share of its time
            seconds = result.seconds * len(kept) / len(result.models)
            results.append(replace(result, models=kept, seconds=seconds))
    scores = averages((corpus, combined.evaluations) for corpus, combined in by_corpus.items())
    account.seconds["combining"] = time.monotonic() - before
    return Benchmark(wanted, models, results, by_corpus, scores, absent, account, store)


def _predictions(models: Sequence[Sequence[Trained]]) -> int:
    return sum(len(model.dev.forms) + len(model.asked.forms) for group in models for model in group)


def read_gold(folder: Path, corpora: Sequence[Lesson]) -> dict[str, list[Item]]:
    """The right forms of test items, for those languages that have a file of them."""
    parts, names = parts_in(folder), [corpus.language for corpus in corpora]
    paths = {name: parts[name].get("gold") or parts[name].get("test") for name in names if name in parts}
    gold = {name: read_items(path) for name, path in paths.items() if path}
    if not gold:
        files = f"{names[0]}-uncovered-test, {names[0]}-test or {names[0]}.gold"
        raise InputError("found no right forms of test items", f"it needs files such as {files}", path=folder)
    for corpus in corpora:  # gold of other cells would score as if nothing had been predicted
        cells = [
            {(item.lemma, item.features.spelling) for item in items}
            for items in (corpus.asked, gold.get(corpus.language, ()))
        ]
        if all(cells) and cells[0] != cells[1]:
            what = f"the test items of {quoted(corpus.language)} are not those of its covered file"
            raise InputError(what, "give the uncovered files of the same data", path=folder)
    return gold


def _copy_packs(source: Path, target: Path, specs: Sequence[ModelSpec], note: Callable[[str], None]) -> None:
    """Copy the packs of another output folder, or of its folder of packs."""
    folder = source / "packs" if (source / "packs").is_dir() else source
    paths = sorted(folder.glob(f"*{ENDING}")) if folder.is_dir() else []
    if not paths:
        raise InputError("found no finished packs here", "name a folder that reinflect benchmark wrote", path=source)
    lessons = {spec.digest: spec.lesson for spec in specs}
    for path in (path for path in paths if read_result(target / path.name) is None):
        result = read_result(path)
        if result is None:
            note(f"note: {path} is damaged, or of another version; not copied")
        elif not all(_fits(model, lessons[model.key]) for model in result.models if model.key in lessons):
            remedy = "copy the file again from where it was made, or leave it out"
            raise InputError("its predictions are not for the items of --data", remedy, path=path)
        else:
            write_bytes(target / path.name, read_bytes(path))


def _fits(model: Trained, lesson: Lesson) -> bool:
    forms = len(model.dev.forms), len(model.asked.forms)
    return forms == (len(lesson.dev), len(lesson.asked)) or not model.usable
