"""A whole benchmark, of languages that take a moment."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reinflect.align.pairs import Naive
from reinflect.align.smart import Smart
from reinflect.data.items import read_items, write_items
from reinflect.errors import InputError
from reinflect.inflector.card import fingerprint
from reinflect.inflector.inflector import Inflector
from reinflect.learn.fleet import Fleet
from reinflect.paper.benchmark import Benchmark, run_benchmark, store_in, write_all, write_models
from reinflect.paper.grid import Grid
from reinflect.run.packs import ENDING, read_results, write_result
from reinflect.run.watch import Progress, Resources, Watcher
from reinflect.score import evaluate
from reinflect.settings import Settings
from reinflect.systems.kind import Kind, Plan
from tests.learn.tiny import language, small
from tests.paper.made_up import kinds
from tests.run.test_driver import Listener

FIRST: Grid = {Kind("hacm", "naive"): {"low": 2, "high": 1}}
GRID: Grid = {**FIRST, Kind("haem", "naive"): {"low": 2, "high": 1}, Kind("haem", "smart"): {"low": 2, "high": 1}}
NAIVE: Grid = {Kind("haem", "naive"): {"low": 1, "high": 1}}
TWO: Grid = {**NAIVE, Kind("haem", "smart"): {"low": 1}}
HAEM, HACM = (small(system, epochs=6, score_every=2) for system in ("haem", "hacm"))
LONG, LONG_HACM = (msgspec.structs.replace(settings, epochs=40, patience=40) for settings in (HAEM, HACM))
Presets = Mapping[str, Mapping[str, Settings]]
PRESETS: Presets = {setting: {"hacm": HACM, "haem": HAEM} for setting in ("low", "high")}
LOW: Presets = {"low": PRESETS["low"]}
HIGH: dict[str, Any] = {"grid": TWO, "presets": {"high": {"haem": HAEM}}}
MODELS = 2 * 6 + 3


@pytest.fixture(scope="module")
def data(two_languages: Path) -> Path:
    return two_languages


class TrainedPacks(Listener):
    """Remembers trained packs too, and how far the training was at last."""

    def __init__(self) -> None:
        super().__init__()
        self.trained: list[str] = []
        self.last: Progress | None = None

    def finished(self, pack: str, seconds: float, mean_best: float, now: Progress) -> None:
        assert seconds > 0
        assert 0 <= mean_best <= 100
        self.trained.append(pack)
        self.last = now


Undisturbed = tuple[Path, Benchmark, TrainedPacks]


def run(
    data: Path,
    out: Path,
    watcher: Watcher | None = None,
    *,
    grid: Grid = GRID,
    presets: Presets = PRESETS,
    save_models: bool = False,
    workers: int = 1,
    **options: Any,
) -> Benchmark:
    aligners = {"naive": Naive(), "smart": Smart()}
    plans = {setting: Plan(kinds(grid, setting), {**systems, **aligners}) for setting, systems in presets.items()}
    resources = Resources(workers=workers, checkpoint_seconds=1000.0, watcher=watcher or Watcher())
    with store_in(out, save_models=save_models) as store:
        benchmark = run_benchmark(data, plans, store, resources, **options)
        write_all(benchmark, out, about=[], command={"command": "test"})
    return benchmark


def said(folder: Path) -> dict[str, str]:
    """All that does not depend on how long things took."""
    files = [path for path in folder.rglob("*") if path.is_file() and "predictions" in path.parts]
    texts = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in files}
    return texts | {"results": (folder / "results.json").read_text(encoding="utf-8")}


@pytest.fixture(scope="module")
def undisturbed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    out, listener = tmp_path_factory.mktemp("undisturbed"), TrainedPacks()
    made = run(data, out, listener, save_models=True, gold=data)
    assert write_models(made, out) == []
    return out, made, listener


def test_everything_is_written(undisturbed: Undisturbed) -> None:
    out, made, listener = undisturbed
    assert listener.last is not None
    assert (listener.last.trained, listener.last.models, listener.last.share) == (MODELS, MODELS, 1.0)
    assert len(listener.trained) == 9
    assert any("no training items for turkish-high" in note for note in listener.notes)
    names = "commands.jsonl details.json languages-dev.svg languages-test.svg logs models packs predictions"
    assert sorted(path.name for path in out.iterdir()) == [*names.split(), "results.json", "results.md"]
    assert len(made.models) == MODELS
    assert len(list((out / "packs").iterdir())) == len(list((out / "logs").iterdir())) == 9
    assert all(path.stat().st_size < 3000 for path in (out / "packs").iterdir())
    assert {(result.device, result.version) for result in read_results(out / "packs")} == {("cpu", "0.2.0")}
    systems = {"hacm-naive", "haem-naive", "haem-smart", "baseline", *(f"run{n}" for n in range(1, 8))}
    for setting, languages in (("low", ["german", "turkish"]), ("high", ["german"])):
        assert {path.name for path in (out / "predictions" / setting).iterdir()} == systems
        for system in systems:
            files = {path.name for path in (out / "predictions" / setting / system).iterdir()}
            assert files == {f"{name}-{split}" for name in languages for split in ("dev", "test")}


def test_predictions_are_in_the_format_of_the_data_and_score_as_said(data: Path, undisturbed: Undisturbed) -> None:
    out, _, _ = undisturbed
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert set(results) == {"dev", "test"}
    for split, gold in (("dev", "dev"), ("test", "uncovered-test")):
        for system, figures in results[split]["low"].items():
            for name, own in figures["languages"].items():
                path = out / "predictions" / "low" / system / f"{name}-{split}"
                if system in ("ensemble-7", "average", "vote"):
                    assert not path.exists()
                    continue
                scored = evaluate(read_items(data / f"{name}-{gold}"), read_items(path, forms="optional"))
                assert (own["accuracy"], own["levenshtein"]) == (scored.accuracy, scored.levenshtein)
                assert own["seen"]["items"] + own.get("unseen", {"items": 0})["items"] == scored.items
            mean = sum(own["accuracy"] for own in figures["languages"].values()) / len(figures["languages"])
            assert figures["accuracy"] == pytest.approx(mean, abs=0.01)


def test_models_that_are_kept_say_what_run_7_said(data: Path, undisturbed: Undisturbed) -> None:
    out, _, _ = undisturbed
    for setting, name in (("low", "german"), ("low", "turkish"), ("high", "german")):
        inflector = Inflector.load(out / "models" / setting / f"{name}.reinflect")
        asked = read_items(data / f"{name}-covered-test", forms="optional")
        for run_name in ("run7", "run6", "run1", "average"):
            forms = inflector.using(run_name).inflect_many(asked)
            path = out / "predictions" / setting / run_name / f"{name}-test"
            if path.exists():
                assert forms == [item.form for item in read_items(path, forms="optional")]
        assert inflector.strategy == "run7"
        assert inflector.training is not None
        assert inflector.training.fingerprint == fingerprint(read_items(data / f"{name}-train-{setting}"))
        dev = read_items(data / f"{name}-dev")
        right = [form == item.form for form, item in zip(inflector.inflect_many(dev), dev, strict=True)]
        assert inflector.training.accuracy == pytest.approx(100 * sum(right) / len(right), abs=0.01)


def stopped(monkeypatch: pytest.MonkeyPatch, data: Path, out: Path, updates: int, **options: Any) -> Benchmark:
    """A run whose time is up after so many updates: a time limit that does not depend on the machine."""
    plain, done = Fleet.update, list[Fleet]()

    def counted(fleet: Fleet, *arguments: Any) -> object:
        done.append(fleet)
        return plain(fleet, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Fleet, "update", counted)
        patch.setattr("reinflect.paper.benchmark.time.monotonic", lambda: 0.0 if len(done) < updates else 1000.0)
        return run(data, out, time_limit=500.0, **options)


def test_stopped_again_and_again_it_ends_as_if_nothing_had_been(
    data: Path, undisturbed: Undisturbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _, _ = undisturbed
    stops, trained = 0, 0
    while trained < MODELS:
        made = stopped(monkeypatch, data, tmp_path, 31, gold=data)
        assert not made.account.interrupted
        assert len(made.models) >= trained
        stops, trained = stops + 1, len(made.models)
        assert stops < 60
    assert stops > 4
    assert said(tmp_path) == said(whole)
    assert not (tmp_path / "training.state").exists()


def test_results_do_not_depend_on_the_number_of_processes(
    data: Path, undisturbed: Undisturbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, alone, _ = undisturbed
    monkeypatch.setattr("reinflect.paper.benchmark.WORTH_PROCESSES", 0)
    monkeypatch.setattr("reinflect.paper.combine.combine", lambda *_: pytest.fail("combined here"))
    made = run(data, tmp_path, workers=2, gold=data)
    assert said(tmp_path) == said(whole)
    assert [corpus.label for corpus in made.finished] == [corpus.label for corpus in alone.finished]
    assert list(made.finished.values()) == list(alone.finished.values())


def test_folders_from_several_machines_are_put_together(
    data: Path, undisturbed: Undisturbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _, _ = undisturbed
    run(data, tmp_path / "german", languages=["german"])
    run(data, tmp_path / "turkish", languages=["turkish"], presets=LOW)
    damaged = tmp_path / "german" / "packs" / "half.pack.xz"
    damaged.write_bytes(b"half of it")
    monkeypatch.setattr(Fleet, "update", lambda *_: pytest.fail("trained again"))
    listener = Listener()
    others = [tmp_path / "german", tmp_path / "turkish" / "packs"]
    made = run(data, tmp_path / "all", listener, merge=others, gold=data)
    assert len(made.models) == MODELS
    assert made.account.trained == 0
    assert said(tmp_path / "all") == said(whole)
    assert any("half.pack.xz" in note for note in listener.notes)
    with pytest.raises(InputError, match="found no finished packs"):
        run(data, tmp_path / "all", merge=[data])


def test_a_time_limit_of_nothing_trains_nothing(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fleet, "update", lambda *_: pytest.fail("trained"))
    made = run(data, tmp_path, time_limit=0)
    assert made.models == {}
    assert set(made.scores["dev"]["low"]) == {"baseline"}
    assert not (tmp_path / "languages-dev.svg").exists()
    for _ in range(2):  # a command with any letter in it is remembered
        write_all(made, tmp_path, about=[], command={"command": "--data a\u2028b\x0c\x85"})
    assert "3 commands in this folder" in (tmp_path / "results.md").read_text(encoding="utf-8")


def test_other_settings_are_other_models(data: Path, tmp_path: Path) -> None:
    fewer: dict[str, Any] = {"grid": FIRST, "languages": ["german"]}
    run(data, tmp_path, presets=LOW, **fewer)
    (note,) = write_models(run(data, tmp_path, presets=LOW, save_models=True, **fewer), tmp_path)
    assert "trained without --save-models" in note
    other = {"low": {"hacm": msgspec.structs.replace(HACM, epochs=1), "haem": HAEM}}
    made = run(data, tmp_path, presets=other, **fewer)
    assert made.account.trained == 2
    assert sum(len(one.models) for one in read_results(tmp_path / "packs")) == 4
    assert len(made.models) == 2
    assert len(made.results) == 1


def test_gold_of_other_items_is_refused(data: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold"
    gold.mkdir()
    with pytest.raises(InputError, match="found no right forms"):
        run(data, tmp_path / "out", gold=gold)
    write_items(gold / "german-test", language("greek"))
    with pytest.raises(InputError, match="'german' are not those of its covered file"):
        run(data, tmp_path / "out", gold=gold)


@pytest.mark.parametrize("limit", [0, None], ids=["looking only", "training"])
def test_what_another_command_has_begun_is_kept(
    limit: float | None, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    high: dict[str, Any] = {"grid": TWO, "presets": {"high": {"haem": LONG}}}
    low: dict[str, Any] = {"grid": TWO, "presets": LOW}
    if limit == 0:
        run(data, tmp_path, **low)
    stopped(monkeypatch, data, tmp_path, 40, **high)
    (begun,) = (tmp_path / "training.state").glob("*.checkpoint")
    before = begun.read_bytes()
    run(data, tmp_path, time_limit=limit, **low)
    assert begun.read_bytes() == before
    stopped(monkeypatch, data, tmp_path, 3, **HIGH)  # a pack of the same name
    assert begun.read_bytes() == before
    assert len(list((tmp_path / "training.state").glob("*.checkpoint"))) == 2
    run(data, tmp_path, **HIGH)
    assert begun.read_bytes() == before
    run(data, tmp_path, **high)
    assert not (tmp_path / "training.state").exists()
    run(data, tmp_path / "whole", **high)
    assert said(tmp_path / "whole")["results"] == said(tmp_path)["results"]


def test_models_of_several_settings_are_not_mixed_up(data: Path, tmp_path: Path) -> None:
    """Stopped when one of its models was there, then another with other settings, then the first again."""
    first, second = ({"low": {"haem": own}} for own in (LONG, HAEM))
    options: dict[str, Any] = {"grid": TWO, "languages": ["german"], "save_models": True}
    half: dict[str, Any] = options | {"grid": NAIVE}
    dev = read_items(data / "german-dev")
    path = tmp_path / "models" / "low" / "german.reinflect"
    for presets in (first, second):
        made = run(data, tmp_path, presets=presets, **half)
        assert len(list((tmp_path / "parameters").iterdir())) == 1 + (presets is second)
    made = run(data, tmp_path, presets=first, **options)
    assert write_models(made, tmp_path) == []
    inflector = Inflector.load(path)
    kept = {member.name: forms for member, forms in zip(inflector.members, inflector.member_forms(dev), strict=True)}
    forms = {f"haem-{model.alignment}-1": list(model.dev.forms) for model in made.models.values()}
    assert kept == forms
    assert {member.settings.epochs for member in inflector.members} == {40}
    written = path.read_bytes()
    assert write_models(run(data, tmp_path, presets=first, **options), tmp_path) == []
    assert path.read_bytes() == written
    made = run(data, tmp_path, presets=second, **options)
    assert write_models(made, tmp_path) == []
    (note,) = write_models(run(data, tmp_path, presets=first, **options), tmp_path)
    assert f"{path} has models of other settings or data" in note
    assert {member.settings.epochs for member in Inflector.load(path).members} == {HAEM.epochs}


def test_predictions_of_other_settings_do_not_stay(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path, presets=LOW)
    assert (tmp_path / "predictions" / "low" / "run7" / "german-dev").exists()
    other = {"low": {"hacm": LONG_HACM, "haem": LONG}}
    run(data, tmp_path, presets=other, languages=["german"], time_limit=0)
    left = {str(path.relative_to(tmp_path / "predictions" / "low")) for path in tmp_path.rglob("predictions/low/*/*")}
    assert {name for name in left if "german" in name} == {"baseline/german-dev", "baseline/german-test"}
    assert "run7/turkish-dev" in left, "nobody asked for Turkish"


def test_a_damaged_pack_is_replaced_by_a_whole_one(data: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        run(data, tmp_path / name, **HIGH)
    (pack,) = (tmp_path / "one" / "packs").iterdir()
    pack.write_bytes(pack.read_bytes()[:-9])
    made = run(data, tmp_path / "one", merge=[tmp_path / "two"], time_limit=0, **HIGH)
    assert len(made.models) == 1


def test_the_time_is_that_of_the_models_that_were_asked_for(data: Path, tmp_path: Path) -> None:
    """A pack may have those of other languages in it, as on a GPU it has."""
    options: dict[str, Any] = {"grid": NAIVE, "presets": LOW}
    run(data, tmp_path, **options)
    one, two = read_results(tmp_path / "packs")
    for path in (tmp_path / "packs").iterdir():
        path.unlink()
    whole = replace(one, pack="haem-low-1", models=[*one.models, *two.models], seconds=8.0)
    write_result(tmp_path / "packs" / f"{whole.stem}{ENDING}", whole)
    made = run(data, tmp_path, languages=["german"], time_limit=0, **options)
    (result,) = made.results
    assert [model.language for model in result.models] == ["german"]
    assert result.seconds == 4.0
