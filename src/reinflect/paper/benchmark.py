"""A benchmark: train the models that are not trained yet, combine and score all, and write the files of the folder."""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from reinflect import __version__
from reinflect.assemble import Keep, assemble, voters_of
from reinflect.data.items import Item, grouped, read_items
from reinflect.data.layouts import parts_in
from reinflect.ensemble.strategies import Trained
from reinflect.errors import InputError, OutputError, ReinflectError, counted, quoted
from reinflect.files import check_writable, make_folder, read_bytes, write_bytes, write_text
from reinflect.inflector.inflector import Inflector
from reinflect.learn.lesson import Lesson, ModelSpec, specs
from reinflect.paper.combine import Combined, Scores, averages, finish
from reinflect.paper.corpora import languages_in, layout_note, read_corpora
from reinflect.paper.page import COMMANDS, DETAILS, RESULTS, languages_chart
from reinflect.paper.published import claims
from reinflect.paper.tables import page
from reinflect.report.drawing import svg_file
from reinflect.run.driver import train_specs
from reinflect.run.packs import ENDING, PackResult, by_key, read_result
from reinflect.run.store import Store
from reinflect.run.watch import Resources
from reinflect.run.work import map_in_processes
from reinflect.systems.kind import Plan, default_strategy

PREDICTIONS = "predictions"
FILES = (RESULTS, "results.md", DETAILS, COMMANDS)
WORTH_PROCESSES = 1_000_000
"""Predictions to combine that take some seconds: as long as processes take to start."""


@dataclass(frozen=True)
class Account:
    """Models trained by a command, and its seconds and failures; a line of `commands.jsonl` has these."""

    trained: int
    seconds: Mapping[str, float]
    """Of preparing (reading, aligning), training (and decoding), and combining (scoring, writing)."""
    interrupted: bool
    retried: Sequence[str]
    """Failures that were dealt with."""
    failed: str | None
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


@contextmanager
def store_in(out: Path, *, save_models: bool = False) -> Iterator[Store]:
    """The store of a benchmark's folder, which one process has to itself while it works there.

    What would prevent the results from being written is an error now.
    """
    with Store.inside(out, numbers=save_models).held() as store:
        for path in (out / PREDICTIONS, out / "models"):
            if path.exists() and not path.is_dir():
                raise OutputError(path, "this is a file, not a folder", "remove it, or choose another --out")
        for name in FILES:
            check_writable(out / name)
        yield store


def run_benchmark(
    data: Path,
    plans: Mapping[str, Plan],
    store: Store,
    resources: Resources,
    *,
    languages: Sequence[str] | None = None,
    time_limit: float | None = None,
    gold: Path | None = None,
    merge: Sequence[Path] = (),
) -> Benchmark:
    """Train the models of `plans` (by setting) that are not trained yet, combine and score all, write predictions.

    Every finished pack is a file in `OUT/packs`; `OUT/training.state` has the checkpoints of unfinished ones. `gold` is
    a folder with the right forms of test items, `merge` are output folders of other benchmarks, whose packs are copied.
    A `time_limit` is in seconds; with 0, nothing is trained.
    """
    started, note = time.monotonic(), resources.watcher.note
    names = languages_in(data, languages)
    corpora, absent = read_corpora(data, names, list(plans))
    if not corpora:
        raise InputError(f"found no training items for {', '.join(plans)}", "choose other --settings", path=data)
    right = read_gold(gold, corpora) if gold else {}
    wanted = [spec for corpus in corpora for spec in specs(plans[corpus.setting], [corpus])]
    for other in merge:
        _copy_packs(other, make_folder(store.packs), wanted, note)
    if absent:
        note(f"note: no training items for {', '.join(absent)}; left out")

    def enough() -> bool:
        return time_limit is not None and time.monotonic() - started >= time_limit

    seconds = {"preparing": time.monotonic() - started}
    execution = train_specs(wanted, store, replace(resources, enough=enough), about=layout_note(data, names))
    seconds["preparing"] += execution.preparing
    if execution.training:
        seconds["training"] = execution.training
    interrupted, before = not (execution.finished or execution.failed or enough()), time.monotonic()
    finished = by_key(store.finished)
    models = {digest: model for digest, model in store.get(wanted).items() if digest in finished}
    groups = grouped(models.values(), lambda model: f"{model.language}-{model.setting}")
    jobs = [
        (corpus, groups.get(corpus.label, []), right.get(corpus.language, ()), plans[corpus.setting].kinds)
        for corpus in corpora
    ]
    predictions = sum(len(model.dev.forms) + len(model.asked.forms) for model in models.values())
    workers = resources.workers if predictions >= WORTH_PROCESSES else 1
    finish_in = partial(finish, folder=make_folder(store.out / PREDICTIONS))
    combined = map_in_processes(finish_in, *zip(*jobs, strict=True), workers=workers)
    by_corpus = dict(zip(corpora, combined, strict=True))
    results = []
    for result in store.finished:
        if kept := [model for model in result.models if model.key in models]:  # with their share of its time
            seconds_of_kept = result.seconds * len(kept) / len(result.models)
            results.append(replace(result, models=kept, seconds=seconds_of_kept))
    scores = averages((corpus, systems.evaluations) for corpus, systems in by_corpus.items())
    seconds["combining"] = time.monotonic() - before
    trained = sum(spec.digest in models for pack in execution.packs for spec in pack.specs)
    account = Account(trained, seconds, interrupted, execution.retried, execution.failed)
    return Benchmark(wanted, models, results, by_corpus, scores, absent, account, store)


def read_gold(folder: Path, corpora: Sequence[Lesson]) -> dict[str, list[Item]]:
    """The right forms of test items, for those languages that have a file of them."""
    parts, names = parts_in(folder), [corpus.language for corpus in corpora]
    paths = {name: parts[name].get("gold") or parts[name].get("test") for name in names if name in parts}
    gold = {name: read_items(path) for name, path in paths.items() if path}
    if not gold:
        files = f"{names[0]}-uncovered-test, {names[0]}-test or {names[0]}.gold"
        raise InputError("found no right forms of test items", f"it needs files such as {files}", path=folder)
    for corpus in corpora:  # gold of other cells would score as if nothing had been predicted
        both = (corpus.asked, gold.get(corpus.language, ()))
        covered, right = ({(item.lemma, item.features.spelling) for item in items} for items in both)
        if covered and right and covered != right:
            what = f"the test items of {quoted(corpus.language)} are not those of its covered file"
            raise InputError(what, "give the uncovered files of the same data", path=folder)
    return gold


def _copy_packs(source: Path, target: Path, specs: Sequence[ModelSpec], note: Callable[[str], None]) -> None:
    """Copy the packs of another output folder, or of its folder of packs."""
    folder = source / "packs" if (source / "packs").is_dir() else source
    paths = sorted(folder.glob(f"*{ENDING}"))
    if not paths:
        raise InputError("found no finished packs here", "name a folder that reinflect benchmark wrote", path=source)
    lessons = {spec.digest: spec.lesson for spec in specs}
    for path in (path for path in paths if read_result(target / path.name) is None):
        result = read_result(path)
        if result is None:
            note(f"note: {path} is damaged, or of another version; not copied")
        elif any(
            model.usable and (len(model.dev.forms), len(model.asked.forms)) != (len(lesson.dev), len(lesson.asked))
            for model in result.models
            if (lesson := lessons.get(model.key))
        ):
            remedy = "copy the file again from where it was made, or leave it out"
            raise InputError("its predictions are not for the items of --data", remedy, path=path)
        else:
            write_bytes(target / path.name, read_bytes(path))


def write_all(benchmark: Benchmark, out: Path, *, about: Sequence[str], command: Mapping[str, Any]) -> None:
    """Write everything but predictions, which are written already, and models."""
    scores, results, models = benchmark.scores, benchmark.results, benchmark.models.values()
    _write_json(out / RESULTS, {split: figures for split, figures in scores.items() if figures})
    commands = out / COMMANDS
    lines = commands.read_text(encoding="utf-8").split("\n")[:-1] if commands.exists() else []
    lines.append(json.dumps({**command, **asdict(benchmark.account)}, ensure_ascii=False))
    write_text(commands, "".join(f"{line}\n" for line in lines))
    devices, versions = (sorted({getattr(result, name) for result in results}) for name in ("device", "version"))
    seconds: Counter[str] = Counter()
    for line in lines:
        seconds.update(json.loads(line)["seconds"])
    times = ", ".join(f"{name} {number:.0f} s" for name, number in seconds.items())
    restarted, diverged = sum(model.restarts > 0 for model in models), sum(not model.usable for model in models)
    about = [
        *about,
        f"{len(models)} of {len(benchmark.specs)} models trained; {restarted} were restarted, {diverged} diverged and "
        "take no part",
        f"trained on: {', '.join(devices) or 'nothing'}; reinflect {', '.join(versions or [__version__])}",
        *([f"no training items: {', '.join(benchmark.absent)}"] if benchmark.absent else []),
        f"{counted(len(lines), 'command')} in this folder, {sum(seconds.values()):.0f} s: {times}",
    ]
    changed, voters = [], defaultdict[str, dict[str, Any]](dict)
    for corpus, combined in benchmark.finished.items():
        changed.append((corpus.setting, combined.changed))
        voters[corpus.setting][corpus.language] = combined.chosen
    write_text(out / "results.md", page(scores, about=about, changed=changed, results=results))
    details = {
        "version": __version__,
        "versions": versions,
        "devices": devices,
        "absent": list(benchmark.absent),
        "voters": voters,
        "claims": {split: claims(figures) for split, figures in scores.items()},
        "models": sorted(benchmark.models),
        "packs": [
            {"pack": result.pack, "models": len(result.models), "seconds": result.seconds, "device": result.device}
            for result in results
        ],
    }
    _write_json(out / DETAILS, details)
    for split, figures in scores.items():
        if chart := languages_chart(figures, split):
            write_text(out / f"languages-{split}.svg", svg_file(chart))


def _write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(to_builtins(value), ensure_ascii=False, indent=1) + "\n")


def write_models(benchmark: Benchmark, out: Path) -> list[str]:
    """Write an inflector for every language and setting whose models are all trained; returns notes for the user."""
    notes, store = [], benchmark.store
    specs_of = grouped(benchmark.specs, lambda spec: spec.lesson.label)
    for corpus in benchmark.finished:
        models = {spec: benchmark.models.get(spec.digest) for spec in specs_of[corpus.label]}
        usable = {spec: model for spec, model in models.items() if model and model.usable}
        if not usable or None in models.values():
            continue
        path = out / "models" / corpus.setting / f"{corpus.language}.reinflect"
        files = [store.numbers_file(model) for model in usable.values()]
        if all(file.exists() for file in files):
            members = [(model, store.member(spec, model)) for spec, model in usable.items()]
            strategy = default_strategy(spec.system for spec in usable)
            keep, source = Keep(attested=False), f"{corpus.language}-train-{corpus.setting}"
            make_folder(path.parent)
            assemble(members, corpus.train, corpus.dev, keep, strategy=strategy, source=source).save(path)
        elif missing := _missing(path, usable, corpus):
            notes.append(f"note: {missing}")
            continue
        for file in files:  # also those left by a command that was killed while it removed them
            file.unlink(missing_ok=True)
    assert store.kept_numbers is not None
    with suppress(OSError):  # not empty, or never made
        store.kept_numbers.rmdir()
    return notes


def _missing(path: Path, models: Mapping[ModelSpec, Trained], corpus: Lesson) -> str:
    """What keeps a file from having these models, as far as that shows without their parameters; empty if nothing."""
    if not path.exists():
        return f"not written: {path} (some of its models were trained without --save-models)"
    settings = {model.name: spec.settings for spec, model in models.items()}
    voters = voters_of([*models.values()], corpus.train, corpus.dev)
    wanted = {(voter.name, settings[voter.name], voter.dev_accuracy) for voter in voters}
    with suppress(ReinflectError):
        members = Inflector.load(path).members
        if {(member.name, member.settings, member.dev_accuracy) for member in members} == wanted:
            return ""
    return (
        f"{path} has models of other settings or data; some of its models were now trained without --save-models, or "
        "their parameters are missing"
    )
