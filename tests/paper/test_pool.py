"""Pools: every model's probability of every candidate."""

import lzma
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from reinflect.align.naive import Naive
from reinflect.align.smart import Smart
from reinflect.data.items import Item, write_items
from reinflect.ensemble.candidates import Pool, log_probabilities
from reinflect.paper import pool as module
from reinflect.paper.benchmark import Benchmark, BenchmarkPlan, run_benchmark
from reinflect.paper.grid import Entry, Grid
from reinflect.paper.pool import ENDING, Job, read_pool
from reinflect.run.resources import Resources
from tests.learn.tiny import language, small
from tests.paper.test_benchmark import Listener

GRID: Grid = tuple(
    Entry(system, alignment, {"low": 2})
    for system, alignment in (("hacm", "naive"), ("haem", "smart"), ("soft", "none"))
)
PRESETS = {"low": {entry.system: small(entry.system, epochs=4) for entry in GRID}}
UNKNOWN = "loβen"
"""A lemma with a character that training has not."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, items = tmp_path_factory.mktemp("data"), language("german")
    write_items(folder / "german-dev", [*items[:8], Item(UNKNOWN, items[0].features, "loβte")])
    write_items(folder / "german-covered-test", [Item(item.lemma, item.features) for item in items[8:12]])
    write_items(folder / "german-train-low", items[8:])
    return folder


def run(data: Path, out: Path, *, listener: Listener | None = None, **options: object) -> Benchmark:
    plan = {"data": data, "out": out, "grid": GRID, "presets": PRESETS, "candidates": True, **options}
    return run_benchmark(BenchmarkPlan(**plan), Resources(watcher=listener or Listener()))  # type: ignore[arg-type]


def pool_of(out: Path) -> tuple[Path, Pool]:
    (path,) = (out / "packs").glob(f"*{ENDING}")
    pool = read_pool(path)
    assert pool is not None
    return path, pool


@pytest.fixture(scope="module")
def made(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Benchmark]:
    out = tmp_path_factory.mktemp("made")
    return out, run(data, out, save_models=True)


def test_every_model_scores_the_forms_of_all(made: tuple[Path, Benchmark]) -> None:
    out, benchmark = made
    _, pool = pool_of(out)
    (corpus,) = benchmark.finished
    assert sorted(pool.models) == sorted(benchmark.found)
    parts = {"dev": corpus.dev, "test": corpus.asked}
    for split, items in parts.items():
        starts = np.cumsum([0, *map(len, pool.candidates[split])])
        for place, item in enumerate(items):
            forms = pool.candidates[split][place]
            said = {getattr(model, "dev" if split == "dev" else "asked").forms[place] for model in benchmark.trained}
            assert said - {None} <= {*forms, *(form for form in said if form and len(form) > 10)}
            for row, key in enumerate(pool.models):
                model = benchmark.folder.with_parameters(benchmark.found[key])
                scores = pool.scores[split][row, starts[place] : starts[place + 1]]
                if not set(item.lemma) <= set(corpus.inventory.characters):
                    assert np.isnan(scores).all()
                    continue
                pairs = [(item.lemma, form) for form in forms]
                if model.alignment == "smart":
                    train = [(one.lemma, one.form) for one in corpus.train]
                    alignments = Smart().align_more(train, Smart().align(train), pairs)
                else:
                    alignments = Naive().align(pairs) if model.alignment == "naive" else [()] * len(pairs)
                asked = [replace(item, form=form) for form in forms]
                (alone,) = log_probabilities([model], [(asked, alignments)], [0])
                np.testing.assert_allclose(scores, np.maximum(alone, module.LEAST), rtol=2e-3, atol=2e-3)


def never(*_: object, **__: object) -> None:
    raise AssertionError("made again")


def test_a_pool_is_made_once_and_again_if_it_is_damaged(
    data: Path, made: tuple[Path, Benchmark], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, before = made
    path, _ = pool_of(out)
    content = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(module, "_make", never)
        assert run(data, out, save_models=True).scores == before.scores
    for damaged in (
        content[:-5],
        lzma.compress(b"not MessagePack"),
        lzma.compress(msgspec.msgpack.encode({"dev": [1]})),
    ):
        path.write_bytes(damaged)
        assert read_pool(path) is None
    run(data, out, save_models=True)
    assert path.read_bytes() == content


def test_other_predictions_have_another_pool(made: tuple[Path, Benchmark], tmp_path: Path) -> None:
    _, benchmark = made
    (corpus,) = benchmark.finished
    models = benchmark.trained
    own = Job.of(corpus, models, tmp_path).path
    assert Job.of(corpus, models[::-1], tmp_path).path == own
    other = replace(models[0], dev=models[0].dev._replace(forms=["other", *models[0].dev.forms[1:]]))
    assert Job.of(corpus, [other, *models[1:]], tmp_path).path != own
    assert Job.of(corpus, models[1:], tmp_path).path != own


def test_pools_travel_with_packs(data: Path, made: tuple[Path, Benchmark], tmp_path: Path) -> None:
    """Combining elsewhere needs no parameters; models trained without them are named."""
    out, benchmark = made
    listener = Listener()
    merged = run(data, tmp_path, listener=listener, merge=[out], time_limit=0.0)
    assert merged.scores == benchmark.scores
    assert not [note for note in listener.notes if "candidates" in note]
    assert "scores" in merged.scores["dev"]["low"]
    pool_of(tmp_path)[0].unlink()
    run(data, tmp_path, listener=listener, time_limit=0.0)
    assert [note for note in listener.notes if "candidates of german-low are not scored" in note]


def test_parameters_are_not_kept_for_nothing(data: Path, tmp_path: Path, made: tuple[Path, Benchmark]) -> None:
    assert run(data, tmp_path).scores == made[1].scores
    assert not (tmp_path / "parameters").exists()
    pool_of(tmp_path)
