"""A whole benchmark: what is not trained yet is trained, and everything is combined, scored and written."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec

from reinflect.data.items import Item, read_items
from reinflect.errors import InputError, ReinflectError, quoted
from reinflect.execution.cluster import Where
from reinflect.execution.corpora import Corpus, align_corpora, languages_in, read_corpora
from reinflect.execution.engines import Engine, Places, engine
from reinflect.execution.execute import Watcher
from reinflect.execution.grid import Grid
from reinflect.execution.packs import Wanted, groups_with_work, packs_of, wanted_models, weight
from reinflect.execution.results import ENDING, ModelResult, PackResult, by_key, read_result, read_results
from reinflect.execution.side import side_processes, start
from reinflect.execution.state import State
from reinflect.experiments.combine import Changes, Scores, averages
from reinflect.experiments.finish import PREDICTIONS, Finished, Work, finish_all
from reinflect.files import atomic_path, cannot_write
from reinflect.settings import Settings
from reinflect.training.checkpoint import SECONDS_BETWEEN
from reinflect.training.lesson import Pack, stem

PACKS, LOGS, PARAMETERS = "packs", "logs", "parameters"
GOLD_ENDINGS = ("uncovered-test", "test")


@dataclass
class Account:
    """What a command did, and how long it took."""

    trained: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    """By what was done: preparing (reading and aligning), training (and decoding), combining (scoring, writing)."""
    interrupted: bool = False
    retried: list[str] = field(default_factory=list)
    """What went wrong on the way, and what was done about it."""
    failed: str | None = None
    """What nothing could be done about; all else was trained."""


@dataclass(frozen=True)
class Benchmark:
    """All that tables, predictions and figures are made of."""

    grid: Grid
    wanted: Sequence[Wanted]
    found: Mapping[str, ModelResult]
    """By key; models of other benchmarks may be among them."""
    results: Sequence[PackResult]
    """Packs with models that are wanted."""
    finished: Mapping[Corpus, Finished]
    """Every language in every setting, with whatever is trained of it."""
    scores: Scores
    absent: Sequence[str]
    """Languages without training items in a setting."""
    account: Account

    @property
    def trained(self) -> list[ModelResult]:
        return [self.found[one.key] for one in self.wanted if one.key in self.found]

    @property
    def changes(self) -> dict[str, dict[str, Changes]]:
        """What the filter for repeats did, by setting and system."""
        found: dict[str, dict[str, Changes]] = {}
        for corpus, one in self.finished.items():
            for system, own in one.changed.items():
                found.setdefault(corpus.setting, {}).setdefault(system, Changes()).add(own)
        return found


def run_benchmark(
    data: Path,
    out: Path,
    *,
    grid: Grid,
    presets: Mapping[str, Mapping[str, Settings]],
    languages: Sequence[str] | None = None,
    device: str = "cpu",
    workers: int = 1,
    trainers: int | None = None,
    cluster: Where | None = None,
    pack_memory: int | None = None,
    time_limit: float | None = None,
    save_models: bool = False,
    gold: Path | None = None,
    merge: Sequence[Path] = (),
    watcher: Watcher | None = None,
    alignment_cache: Path | None = None,
    checkpoint_seconds: float = SECONDS_BETWEEN,
) -> Benchmark:
    """Train what is left of a grid, then combine and score all there is, and write the predictions.

    `workers` are processes for everything; `trainers` are those of them that train, all on a CPU and one on a GPU
    unless this says otherwise. With a `cluster` its workers train, and `device` may be auto. `pack_memory` are the
    bytes that a pack may take of a GPU, unless that is to be found out from the GPU.

    `presets` are the settings of each system, by the name of the setting (low, medium, high): those are trained.
    Everything that is done is a file in `OUT/packs`; while models train, `OUT/training.state` has what is needed to
    take them up again. `merge` are such folders `OUT` from elsewhere, whose packs are copied. With a time limit of
    nothing, nothing is trained.
    """
    watcher, account, started = watcher or Watcher(), Account(), time.monotonic()
    names = languages_in(data, languages)
    corpora, absent = read_corpora(data, names, list(presets))
    if not corpora:
        raise InputError(f"found no training items for {', '.join(presets)}", "choose other --settings", path=data)
    right = read_gold(gold, names) if gold else {}
    _check_gold(gold, right, corpora)
    wanted = wanted_models(corpora, grid, presets)
    packs = _made(out / PACKS)
    for folder in merge:
        _copy_packs(folder, packs, watcher.note)
    results = read_results(packs, watcher.note)
    done = by_key(results)
    left = [one for one in wanted if one.key not in done]
    state = State(out / "training")
    if state.folder.is_dir():  # of a run that was stopped, or ended before it could remove it
        with state.held():
            for result in results:
                state.forget(stem(result.pack, result.mark))
    if absent:
        watcher.note(f"note: there is nothing to learn from for {', '.join(absent)}; left out")

    account.seconds["preparing"] = time.monotonic() - started

    def enough() -> bool:
        return time_limit is not None and time.monotonic() - started >= time_limit

    with side_processes(workers) as processes:
        if left and not enough():
            usual = 1 if device == "cuda" else workers
            with engine(cluster, device=device, trainers=trainers or usual, budget=pack_memory) as trained_by:
                work = groups_with_work(wanted, done)
                methods = dict.fromkeys((one.corpus, one.entry.alignment) for one in work)
                shown = partial(watcher.aligning, "all files")
                lessons = align_corpora(methods, cache=alignment_cache, workers=workers, progress=shown)
                where = trained_by.device
                plan = packs_of(work, done, lessons, device=where, budget=trained_by.budget, state=state)
                account.seconds["preparing"] = time.monotonic() - started
                weights = {pack.name: weight(pack, where) for pack in plan}
                watcher.expect(len(wanted) - len(left), len(wanted), weights)
                if processes and where == "cuda":  # which leaves cores idle
                    start(processes, workers)
                places = Places(
                    packs=packs,
                    logs=_made(out / LOGS),
                    parameters=_made(out / PARAMETERS) if save_models else None,
                    state=state,
                    seconds_between=checkpoint_seconds,
                )
                with state.held():
                    _train(trained_by, plan, places, account, watcher, enough)
            account.seconds["training"] = time.monotonic() - started - account.seconds["preparing"]
            results = read_results(packs)
        before = time.monotonic()
        found = by_key(results)
        account.trained = sum(one.key in found for one in left)
        of_corpus: dict[Corpus, list[ModelResult]] = {corpus: [] for corpus in corpora}
        for one in wanted:
            if one.key in found:
                of_corpus[one.corpus].append(found[one.key])
        finished = finish_all(
            [Work(corpus, models, right.get(corpus.language, ())) for corpus, models in of_corpus.items()],
            grid,
            data,
            _made(out / PREDICTIONS),
            processes,
        )
    keys = {one.key for one in wanted}
    benchmark = Benchmark(
        grid=grid,
        wanted=wanted,
        found=found,
        results=[own for one in results if (own := _part(one, keys)).models],
        finished=finished,
        scores=averages((corpus, one.evaluations) for corpus, one in finished.items()),
        absent=absent,
        account=account,
    )
    account.seconds["combining"] = time.monotonic() - before
    return benchmark


def _part(result: PackResult, keys: Collection[str]) -> PackResult:
    """What a pack has of these models, with their share of its time."""
    models = [model for model in result.models if model.key in keys]
    seconds = result.seconds * len(models) / max(1, len(result.models))
    return msgspec.structs.replace(result, models=models, seconds=seconds)


def _train(
    trained_by: Engine,
    plan: Sequence[Pack],
    places: Places,
    account: Account,
    watcher: Watcher,
    enough: Callable[[], bool],
) -> None:
    """Train packs, each of which leaves a file, and put down what came of it."""
    try:
        ran = trained_by.train(plan, places, watcher, enough)
    except ReinflectError as error:  # what is done is kept
        account.failed = str(error)
        return
    ended = all(one and one.ended for one in ran)
    account.interrupted = not ended and not enough()
    account.retried = [text for one in ran if one for text in one.retried]
    if ended:  # which is no reason to forget what other commands have begun here
        for pack in plan:
            places.state.forget(pack.stem)


def read_gold(folder: Path, languages: Sequence[str]) -> dict[str, list[Item]]:
    """The right forms of test items, for those languages that have a file of them."""
    found = {}
    for language in languages:
        for ending in GOLD_ENDINGS:
            path = folder / f"{language}-{ending}"
            if path.exists():
                found[language] = read_items(path)
                break
    if not found:
        raise InputError(
            "found no right forms of test items",
            f"it needs files such as {languages[0]}-{GOLD_ENDINGS[0]} or {languages[0]}-{GOLD_ENDINGS[1]}",
            path=folder,
        )
    return found


def _check_gold(folder: Path | None, gold: Mapping[str, Sequence[Item]], corpora: Sequence[Corpus]) -> None:
    """Gold that asks for other cells than the covered items would score as if nothing had been predicted."""
    for corpus in corpora:
        asked = {(item.lemma, item.features.spelling) for item in corpus.split.asked}
        right = {(item.lemma, item.features.spelling) for item in gold.get(corpus.language, ())}
        if right and asked and right != asked:
            raise InputError(
                f"the test items of {quoted(corpus.language)} are not those of its covered file",
                "give the uncovered files of the same data",
                path=folder,
            )


def _copy_packs(source: Path, target: Path, note: Callable[[str], None]) -> None:
    """Take over the packs of another folder of results, or of its folder of packs."""
    folder = source / PACKS if (source / PACKS).is_dir() else source
    paths = sorted(folder.glob(f"*{ENDING}")) if folder.is_dir() else []
    if not paths:
        raise InputError("found no finished packs here", "name a folder that reinflect benchmark wrote", path=source)
    for path in paths:
        if (target / path.name).exists() and read_result(target / path.name) is not None:
            continue
        if read_result(path) is None:
            note(f"note: {path} is damaged or of another version, and not taken over")
            continue
        with atomic_path(target / path.name) as part:
            part.write_bytes(path.read_bytes())


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    return folder
