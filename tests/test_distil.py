"""`bench.distil`: from a teacher's forms to pocket models."""

import json
import lzma
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from bench import distil
from bench.distil import agreed, students_of, train_students
from click.testing import CliRunner

from reinflect.cli import main as cli
from reinflect.data.features import Bundle
from reinflect.data.items import Item, write_items
from reinflect.ensemble.cell_forms import CellForms
from reinflect.ensemble.member import UNALIGNED
from reinflect.errors import INTERRUPTED, InputError
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import VARIABLE, read_index
from reinflect.learn.cells import cells_of
from reinflect.learn.fleet import Fleet
from reinflect.learn.lesson import Preparation
from reinflect.paper.benchmark import Benchmark, BenchmarkPlan, run_benchmark
from reinflect.paper.corpora import read_corpora
from reinflect.paper.grid import GRIDS, Entry, kinds
from reinflect.run.packing import needs
from reinflect.run.packs import by_key, read_result, read_results, write_result
from reinflect.run.resources import Resources
from tests.learn.tiny import language, small, spec_for

GRID = (
    Entry("haem", "naive", {"medium": 2, "high": 2}),
    Entry("soft", UNALIGNED, {"medium": 1, "high": 1}),
)
LANGUAGES = ("german", "turkish")
CELLS = 4
TINY = [f"{key}={value}" for key, value in {"embedding": 5, "hidden": 6, "history_hidden": 4, "epochs": 2}.items()]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for name in LANGUAGES:
        items = language(name)
        write_items(folder / f"{name}-dev", items[::9])
        write_items(folder / f"{name}-covered-test", [Item(item.lemma, item.features) for item in items[1::9]])
        left = [item for place, item in enumerate(items) if place % 9 > 1]
        # Turkish is the language without `high`; every third item is left for the teacher.
        kept = [item for place, item in enumerate(left) if place % 3]
        write_items(folder / f"{name}-train-{'high' if name == 'german' else 'medium'}", kept)
    return folder


def teach(data: Path, out: Path, cells: int = CELLS, **options: object) -> Benchmark:
    presets = {"haem": small("haem", epochs=2), "soft": small("soft", epochs=2)}
    plan = BenchmarkPlan(data=data, out=out, grid=GRID, presets={"medium": presets, "high": presets}, cells=cells)
    return run_benchmark(replace(plan, **options))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def taught(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Benchmark]:
    out = tmp_path_factory.mktemp("teacher")
    return out, teach(data, out)


def test_every_model_of_a_teacher_inflects_the_cells_of_its_language(taught: tuple[Path, Benchmark]) -> None:
    out, made = taught
    assert len(made.trained) == 6
    models = by_key(read_results(out / "packs"))
    for spec in made.specs:
        model, lesson = models[spec.digest], spec.lesson
        cells = cells_of(lesson.train, (*lesson.dev, *lesson.asked), CELLS)
        assert 0 < len(cells) <= CELLS
        assert len(model.cells.forms(cells)) == len(cells)
        assert (len(model.dev.forms), len(model.asked.forms)) == (len(lesson.dev), len(lesson.asked))
    assert {len(model.cells.which) for model in models.values()} == {CELLS, 3}


def test_the_forms_of_cells_are_those_that_the_model_gives(data: Path, tmp_path: Path) -> None:
    made = teach(data, tmp_path, save_models=True, languages=["german"])
    for spec in made.specs:
        model = made.folder.with_parameters(made.found[spec.digest])
        inflector = Inflector((model,), {}, "vote", {"vote": (model.name,)})
        [(forms, _)] = inflector.predictions([model], spec.lesson.further_cells)
        said = model.cells.forms(spec.lesson.further_cells)
        assert [form for form in said if form is not None] == [
            form for form, own in zip(forms, said, strict=True) if own is not None
        ]


def test_a_model_without_cells_keeps_its_key_and_is_another_model_than_one_with_them(
    data: Path, taught: tuple[Path, Benchmark], tmp_path: Path
) -> None:
    _, made = taught
    plain = teach(data, tmp_path, cells=0, time_limit=0)
    assert {spec.digest for spec in plain.specs}.isdisjoint(spec.digest for spec in made.specs)
    one = plain.specs[0]
    assert one.digest == replace(one, lesson=replace(one.lesson, cells=0)).digest
    with pytest.raises(InputError, match="found no models that inflected further cells; train them"):
        students_of(tmp_path, data)


def test_cells_resume_and_merge_with_their_packs_and_a_damaged_file_is_trained_again(
    data: Path, taught: tuple[Path, Benchmark], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = taught
    with monkeypatch.context() as patch:
        patch.setattr(Fleet, "update", lambda *_: pytest.fail("trained again"))
        assert teach(data, whole).account.trained == 0
        assert teach(data, tmp_path / "merged", merge=[whole]).account.trained == 0
    kept = {key: model.cells for key, model in by_key(read_results(whole / "packs")).items()}
    merged = tmp_path / "merged" / "packs"
    assert {key: model.cells for key, model in by_key(read_results(merged)).items()} == kept
    damaged = sorted(merged.glob("*.pack.xz"))[0]
    result = read_result(damaged)
    assert result is not None
    plain = json.loads(lzma.decompress(damaged.read_bytes()))
    plain["models"][0]["cells"]["which"] = "~"
    damaged.write_bytes(lzma.compress(json.dumps(plain).encode()))
    assert read_result(damaged) is None
    assert teach(data, tmp_path / "merged").account.trained == len(result.models)
    assert {key: model.cells for key, model in by_key(read_results(merged)).items()} == kept


def test_a_pack_of_an_earlier_version_has_no_cells(taught: tuple[Path, Benchmark], tmp_path: Path) -> None:
    path = sorted((taught[0] / "packs").glob("*.pack.xz"))[0]
    plain = json.loads(lzma.decompress(path.read_bytes()))
    for model in plain["models"]:
        del model["cells"]
    (tmp_path / path.name).write_bytes(lzma.compress(json.dumps(plain).encode()))
    result = read_result(tmp_path / path.name)
    assert result is not None
    assert {model.cells for model in result.models} == {CellForms()}


def test_a_cell_counts_if_enough_models_agree_on_a_form() -> None:
    cells = [Item(lemma, Bundle("V")) for lemma in "abcd"]
    forms: Sequence[Sequence[str | None]] = (
        ["ax", "bx", None, ""],
        ["ax", "by", None, ""],
        ["ax", "by", "cx", ""],
    )
    assert [item.form for item in agreed(cells, forms, 2)] == ["ax", "by"]
    assert agreed(cells, forms, 3) == (Item("a", Bundle("V"), "ax"),)
    assert agreed([], [[], []], 1) == ()


def agree(taught: Path, out: Path) -> Path:
    """A teacher whose models of HAEM put -en behind every lemma; that of soft attention says something else."""
    (out / "packs").mkdir(parents=True)
    for path in (taught / "packs").glob("*.pack.xz"):
        result = read_result(path)
        assert result is not None
        models = []
        for model in result.models:
            change = ("", 0, 0, "en" if model.system == "haem" else "x")
            said = CellForms((change,), " " * len(model.cells.which), model.cells.cells)
            models.append(replace(model, cells=said))
        write_result(out / "packs" / path.name, replace(result, models=models))
    return out


def test_a_student_learns_from_gold_items_and_agreed_cells(
    data: Path, taught: tuple[Path, Benchmark], tmp_path: Path
) -> None:
    folder = agree(taught[0], tmp_path / "teacher")
    german, turkish = students_of(folder, data)
    assert [own.corpus.label for own in (german, turkish)] == ["german-high", "turkish-medium"]
    assert [len(own.agreed) for own in (german, turkish)] == [CELLS, 3]
    assert all(item.form == f"{item.lemma}en" for item in german.agreed)
    assert german.source == (
        "german-train-high and 4 further cells, on which at least 2 of 3 models agree (haem-naive ×2, soft ×1)"
    )
    none, _ = students_of(folder, data, least=3)
    assert (none.agreed, none.source) == ((), "german-train-high")
    preparation = Preparation.of({}, ["smart"])
    spec = german.spec("imitation", preparation)
    assert spec.lesson.train == (*german.corpus.train, *german.agreed)
    assert (spec.lesson.dev, spec.lesson.asked) == (german.corpus.dev, ())
    assert (spec.settings.hidden, spec.settings.epochs, spec.settings.patience) == (100, 60, 20)
    other = turkish.spec("haem", preparation, ["dropout=0.3"])
    assert (str(other.kind), other.settings.hidden, other.settings.batch) == ("haem-smart", 100, 4)
    assert other.settings.dropout == 0.3


def test_students_have_one_of_a_few_sizes(
    data: Path, taught: tuple[Path, Benchmark], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, preparation = agree(taught[0], tmp_path / "teacher"), Preparation.of({}, ["smart"])
    all_of_it, _ = students_of(folder, data)
    gold = all_of_it.corpus.train
    monkeypatch.setattr(distil, "SIZES", (len(gold) + 2, 4 * len(gold)))
    german, turkish = students_of(folder, data)
    assert german.agreed == (all_of_it.agreed[0], all_of_it.agreed[2]), "two of four cells, spread evenly"
    assert german.spec("haem", preparation).lesson.train == (*gold, *german.agreed)
    assert len(turkish.agreed) == 3, "without high, all cells"
    monkeypatch.setattr(distil, "SIZES", (len(gold) + CELLS + 2,))
    german, turkish = students_of(folder, data)
    filled = german.spec("haem", preparation)
    assert filled.lesson.train == (*gold, *german.agreed, *gold[:2]), "gold items come twice"
    assert len(german.agreed) == CELLS
    monkeypatch.setattr(distil, "MANY", 5)
    monkeypatch.setattr(distil, "UPDATES", len(filled.lesson.train))
    many = german.spec("haem", preparation).settings
    assert (many.batch, many.epochs, many.patience) == (32, 32, 10)


def test_other_data_than_the_teachers(data: Path, taught: tuple[Path, Benchmark], tmp_path: Path) -> None:
    for path in data.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(InputError, match="found no models of finnish that inflected"):
        students_of(taught[0], data, ["german", "finnish"])
    write_items(tmp_path / "german-train-high", language("german")[::2])
    with pytest.raises(InputError, match="the models of german-high inflected other cells"):
        students_of(taught[0], tmp_path)
    (tmp_path / "german-train-high").unlink()
    with pytest.raises(InputError, match="found no files of german-high"):
        students_of(taught[0], tmp_path)


def run_program(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["distil", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        distil.main()
    return ended.value.code


def test_from_a_teacher_to_pocket_models(
    data: Path,
    taught: tuple[Path, Benchmark],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = agree(taught[0], tmp_path / "teacher")
    into, changes = tmp_path / "models", [word for change in TINY for word in ("--set", change)]
    options = ["--data", data, "--teacher", folder, "--out", tmp_path / "out", "--into", into]
    options += ["--device", "cpu", "--workers", 1, *changes]
    assert run_program(monkeypatch, *options, "--time-limit", 0) == INTERRUPTED
    assert "2 of 2 students are not trained yet" in capsys.readouterr().out
    assert run_program(monkeypatch, *options) == 0
    shown = capsys.readouterr()
    assert "high: " in shown.out
    assert "medium: 0.00 % of dev items right on average, pocket models: 1\n" in shown.out
    assert "german learns from german-train-high and 4 further cells" in shown.err
    index = read_index(into)
    assert set(index) == set(LANGUAGES)
    before = {path.name: path.read_bytes() for path in into.iterdir()}
    assert sorted(before) == ["german.reinflect", "german.txt", "index.json", "turkish.reinflect", "turkish.txt"]
    card = " ".join(before["german.txt"].decode().split())
    assert ", from german-train-high and 4 further cells, on which at least 2 of 3 models" in card
    assert "Command: runs/pocket.sh DATA OUT --system haem --set embedding=5" in card
    with monkeypatch.context() as patch:
        patch.setattr(Fleet, "update", lambda *_: pytest.fail("trained again"))
        assert run_program(monkeypatch, *options) == 0
    assert {path.name: path.read_bytes() for path in into.iterdir()} == before

    inflector = Inflector.load(into / "german.reinflect")
    assert [member.name for member in inflector.members] == ["haem-smart-1"]
    assert inflector.members[0].dev_accuracy == pytest.approx(index["german"].accuracy)
    assert inflector.rounded("eighth").members[0].fingerprint == inflector.members[0].fingerprint, "of 8-bit numbers"
    monkeypatch.setenv(VARIABLE, str(into))
    ran = CliRunner().invoke(cli, ["inflect", "german", "sagen", "V;PST"])
    assert ran.exit_code == 0
    assert ran.stdout.strip() == inflector.inflect("sagen", "V;PST")


@pytest.mark.long
def test_haem_with_smart_alignments_in_processes(data: Path, taught: tuple[Path, Benchmark], tmp_path: Path) -> None:
    students = students_of(agree(taught[0], tmp_path / "teacher"), data)
    made: list[str] = []
    train_students(
        students,
        tmp_path / "out",
        tmp_path / "models",
        Resources(workers=2),
        command="test",
        system="haem",
        changes=TINY,
        added=lambda name, _: made.append(name),
    )
    assert made == list(LANGUAGES)
    assert Inflector.load(tmp_path / "models" / "turkish.reinflect").members[0].kind == "haem-smart"


def test_a_wrong_folder_is_one_line(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--data", data, "--teacher", tmp_path, "--out", tmp_path / "out", "--into", tmp_path / "models"]
    assert run_program(monkeypatch, *options, "--device", "cpu") == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path}: found no models that inflected further cells")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("environment", "asked"),
    [
        (
            {},
            [
                "benchmark --data data --languages all --settings high --grid teacher --cells 60000 --device auto "
                "--out out/teacher",
                "benchmark --data data --languages scottish-gaelic --settings medium --grid teacher --cells 60000 "
                "--device auto --out out/teacher",
                "-m bench.distil --data data --teacher out/teacher --out out/students --into models/reinflect_models "
                "--device auto --least 4",
            ],
        ),
        (
            {"LANGUAGES": "welsh,scottish-gaelic", "DEVICE": "cuda", "WORKERS": "3", "INTO": "here"},
            [
                "benchmark --data data --languages welsh --settings high --grid teacher --cells 60000 --device cuda "
                "--workers 3 --out out/teacher",
                "benchmark --data data --languages scottish-gaelic --settings medium --grid teacher --cells 60000 "
                "--device cuda --workers 3 --out out/teacher",
                "-m bench.distil --data data --teacher out/teacher --out out/students --into here --device cuda "
                "--workers 3 --languages welsh,scottish-gaelic --least 4",
            ],
        ),
        ({"LANGUAGES": "scottish-gaelic"}, ["--languages scottish-gaelic --settings medium", "-m bench.distil"]),
        ({"LANGUAGES": "welsh"}, ["--languages welsh --settings high", "-m bench.distil"]),
    ],
)
def test_the_script_that_rebuilds_all(tmp_path: Path, environment: dict[str, str], asked: list[str]) -> None:
    for folder in ("runs", ".venv/bin", "data"):
        (tmp_path / folder).mkdir(parents=True)
    script = tmp_path / "runs" / "pocket.sh"
    script.write_bytes((Path(__file__).parents[1] / "runs" / "pocket.sh").read_bytes())
    for name in ("reinflect", "python"):
        stub = tmp_path / ".venv" / "bin" / name
        stub.write_text('#!/bin/sh\necho "$@"\n')
        stub.chmod(0o755)
    ran = subprocess.run(
        ["sh", script, "data", "out", "--least", "4"],
        env={"PATH": os.environ["PATH"], **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    lines = ran.stdout.splitlines()
    assert len(lines) == len(asked)
    assert all(text in line for text, line in zip(asked, lines, strict=True)), lines


def test_packing_makes_room_for_cells(data: Path) -> None:
    [corpus], _ = read_corpora(data, ["german"], ["high"])
    spec = spec_for(Preparation.of({}, []).prepared(corpus), "imitation")
    more = replace(spec, lesson=replace(spec.lesson, cells=1000))
    assert needs([more]).items > 50 * needs([spec]).items


def test_the_teacher_is_part_of_the_best_grid() -> None:
    assert kinds(GRIDS["teacher"], "high") == {"soft+deep": 5}
    assert tuple(entry for entry in GRIDS["best"] if entry.teaches) == GRIDS["teacher"]
