"""`reinflect train`: what it says, what it leaves, and what it survives."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from reinflect.cli import main
from reinflect.data.items import write_items
from reinflect.inflector.inflector import Inflector
from reinflect.run.store import CHECKPOINT, Store
from tests.cli import Reinflect, as_options, refused, succeeded
from tests.crash.trials import nobody_left, wait_for
from tests.learn.tiny import language

TINY = as_options("embedding=5 hidden=6 history_hidden=4 epochs=30 patience=60 score_every=15 batch=2")
WORK = ["--seeds", "4", "--alignments", "naive", *TINY]
SHORT = ["--workers", 1, "--systems", "haem", "--seeds", 1, "--set", "epochs=1"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    items = language("german")
    write_items(folder / "train", items[4:])
    write_items(folder / "dev", items[:4])
    return folder


def command(data: Path, out: Path, *more: object) -> list[str]:
    files = ["train", "--train", data / "train", "--dev", data / "dev", "--out", out, "--device", "cpu"]
    return [str(argument) for argument in (*files, *WORK, *more)]


@pytest.fixture(scope="module")
def undisturbed(data: Path) -> Path:
    """A model that was trained without any accident."""
    succeeded(CliRunner().invoke(main, command(data, data / "undisturbed", "--workers", 1)))
    return data / "undisturbed"


def start(data: Path, out: Path, workers: int, *more: str) -> "subprocess.Popen[str]":
    """Start a training, and wait until it has a checkpoint."""
    environment = os.environ | {"REINFLECT_CHECKPOINT_SECONDS": "0"}
    call = [sys.executable, "-m", "reinflect", *command(data, out, "--workers", workers, *more)]
    process = subprocess.Popen(
        call, env=environment, start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_for(lambda: any(Store.beside(out).state.glob(f"*{CHECKPOINT}")) or process.poll() is not None)
    return process


def test_ctrl_c_leaves_a_model_to_go_on_with(
    data: Path, undisturbed: Path, tmp_path: Path, reinflect: Reinflect
) -> None:
    out = tmp_path / "model"
    process = start(data, out, workers=2)
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    wait_for(lambda: nobody_left(process.pid))
    assert "Traceback" not in stderr
    assert "interrupted" in stderr
    assert "% right, estimated on 4 dev forms" in stdout
    assert Inflector.load(out).inflect("lachen", "V;PST") is not None
    assert Store.beside(out).state.is_dir()
    result = succeeded(reinflect(*command(data, out, "--workers", 1)))
    assert "resuming an earlier training" in result.stderr
    for end in ("", ".log.jsonl"):
        assert Path(f"{out}{end}").read_bytes() == Path(f"{undisturbed}{end}").read_bytes()


def test_a_seed_gives_the_same_model_wherever_it_comes(data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    rest = ["--workers", 1, "--systems", "haem", "--set", "epochs=3"]
    succeeded(reinflect(*command(data, tmp_path / "one", *rest, "--seeds", 1, "--first-seed", 4)))
    succeeded(reinflect(*command(data, tmp_path / "four", *rest, "--seeds", 4)))
    (member,) = Inflector.load(tmp_path / "one").members
    (same,) = (other for other in Inflector.load(tmp_path / "four").members if other.seed == 4)
    assert member.name == same.name
    for name, array in member.parameters.items():  # in a fleet of two sums may be rounded otherwise
        assert float(np.abs(array - same.parameters[name]).max()) < 1e-3


def test_half_as_large_a_file(data: Path, undisturbed: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    succeeded(reinflect(*command(data, tmp_path / "half.reinflect", "--workers", 1, "--half")))
    whole, half = Inflector.load(undisturbed), Inflector.load(tmp_path / "half.reinflect")
    training = half.training
    assert training is not None
    assert (training.source, training.items, training.dev_items, training.interrupted) == ("train", 20, 4, False)
    for member, other in zip(whole.members, half.members, strict=True):
        assert member.name == other.name
        for name, array in member.parameters.items():
            assert (array.astype(np.float16).astype(np.float32) == other.parameters[name]).all()
    assert (tmp_path / "half.reinflect").stat().st_size < undisturbed.stat().st_size - 10_000


def test_what_it_says_at_the_end(data: Path, undisturbed: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    result = reinflect(*command(data, tmp_path / "model", *SHORT, "--seeds", 2))
    assert re.fullmatch(r"Expect about \d+ % right, estimated on 4 dev forms\n", result.stdout)
    assert f"written: {tmp_path / 'model'} (and {tmp_path / 'model'}.log.jsonl)\n" in result.stderr
    assert f"next: reinflect inflect {tmp_path / 'model'}" in result.stderr
    assert "run7" not in result.stderr  # a name for those who benchmark
    verbose = reinflect(*command(data, tmp_path / "other", *SHORT, "--seeds", 2, "--verbose"))
    *table, blank, last = verbose.stdout.splitlines()
    assert table[0].split() == ["model", "dev", "accuracy"]
    assert {line.split()[0] for line in table[1:-1]} == {"haem-naive-1", "haem-naive-2"}
    assert table[-1].startswith("vote (run7)")
    assert (blank, last) == ("", result.stdout.rstrip())
    names = {f"{system}-naive-{seed}" for system in ("hacm", "haem") for seed in range(1, 5)}
    assert {member.name for member in Inflector.load(undisturbed).members} == names


@pytest.mark.parametrize("words", ["train --out model --train", "align", "baseline --input swapped --train"])
def test_columns_in_the_wrong_order_are_noticed(words: str, reinflect: Reinflect) -> None:
    Path("swapped").write_text("gehen\tV;PST\tging\nsehen\tV;PST\tsah\n")
    note = "note: swapped: the forms look like features; did you mean --columns lemma,features,form?"
    assert note in reinflect(*words.split(), "swapped", "--columns", "lemma,form,features").stderr
    auto = reinflect(*words.split(), "swapped").stderr
    assert note not in auto
    assert "note: swapped: its columns are read as lemma, features, form" in auto


def test_a_model_is_replaced_only_by_force(data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    out = tmp_path / "model"
    assert reinflect(*command(data, out, *SHORT)).exit_code == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    refusal = rf"{out}: a model of this name exists \(20 items of train, about \d+ % right, 2017-07-14\)"
    remedy = "choose another --out, or give --force to replace it"
    for more in ([], ["--set", "epochs=2"], ["--train", "missing"]):
        result = reinflect(*command(data, out, *SHORT, *more))
        refused(result, remedy)
        assert re.fullmatch(rf"reinflect: {refusal}; {remedy}\n", result.stderr)
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    succeeded(reinflect(*command(data, out, *SHORT, "--set", "epochs=2", "--force")))
    assert out.read_bytes() != before[out]


def test_an_unfinished_training_is_no_leave_to_replace(data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    out = tmp_path / "model"
    assert reinflect(*command(data, out, *SHORT)).exit_code == 0
    before = out.read_bytes()
    process = start(data, out, 1, "--force")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    wait_for(lambda: nobody_left(process.pid))
    refused(reinflect(*command(data, out, *SHORT)), f"reinflect: {out}: a model of this name exists (20 items of train")
    assert out.read_bytes() == before
    result = succeeded(reinflect(*command(data, out, "--workers", 1)))
    assert "resuming an earlier training" in result.stderr
    assert out.read_bytes() != before


MINE = ["--preset", "mine.toml", "--systems", "haem", "--alignments", "naive", "--set", "haem.embedding=4"]
KINDS = ["--kinds", "imitation, haem-smart+made-up", *TINY, "--set", "epochs=1"]


@pytest.mark.parametrize(
    ("arguments", "kinds", "settings"),
    [(MINE, {"haem-naive"}, (7, 4, 1)), (KINDS, {"imitation", "haem-smart+made-up"}, (6, 5, 1))],
)
def test_presets_and_kinds_that_the_user_names(
    arguments: list[str], kinds: set[str], settings: tuple[int, ...], data: Path, reinflect: Reinflect
) -> None:
    Path("mine.toml").write_text("[haem]\nhidden = 7\nembedding = 3\nepochs = 1\n")
    files = ["--train", data / "train", "--dev", data / "dev", "--out", "m"]
    succeeded(reinflect("train", *files, "--workers", 1, "--seeds", 1, *arguments))
    members = {member.kind: member.settings for member in Inflector.load("m").members}
    assert members.keys() == kinds
    assert {(its.hidden, its.embedding, its.epochs) for its in members.values()} == {settings}


def test_a_schedule_reaches_training(data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    """A step that is zero from the first update on leaves a model as it began, and its losses the same."""
    schedule, losses = ["--set", "haem.schedule=cosine", "--set", "haem.decay=1"], {}
    for name, more in (("still", schedule), ("moving", [])):
        small = [*SHORT, "--set", "epochs=3", "--set", "dropout=0"]
        succeeded(reinflect(*command(data, tmp_path / name, *small, *more)))
        lines = (tmp_path / f"{name}.log.jsonl").read_text().splitlines()
        losses[name] = [json.loads(line)["loss"] for line in lines]
    assert losses["still"] == pytest.approx([losses["still"][0]] * 3, rel=1e-5)
    assert losses["moving"][2] < 0.95 * losses["moving"][0]
    (member,) = Inflector.load(tmp_path / "still").members
    assert (member.settings.schedule, member.settings.decay) == ("cosine", 1)


def notes(reinflect: Reinflect, folder: Path, *more: object) -> str:
    """What a short training says besides its table, in a folder with its files."""
    files = ["--train", folder / "train", "--out", folder / "m", "--force", "--device", "cpu"]
    result = succeeded(reinflect("train", *files, *WORK, *SHORT, *more))
    return result.stderr


@pytest.fixture
def own(data: Path, tmp_path: Path) -> Path:
    for name in ("train", "dev"):
        (tmp_path / name).write_bytes((data / name).read_bytes())
    return tmp_path


def test_without_dev_the_user_is_told(own: Path, reinflect: Reinflect) -> None:
    told = notes(reinflect, own, "--seeds", 2)
    assert "holds out another fifth of the items and learns from the other 80 %" in told
    assert "training 2 models on 20 items of" in told
    (own / "train").write_text("lachen\tlachte\tV;PST\n")
    assert "training a model on 1 item of" in notes(reinflect, own, "--dev", own / "dev")


def test_notes_on_the_data(own: Path, reinflect: Reinflect) -> None:
    lines = (own / "train").read_text()
    (own / "train").write_text(f"{lines}lachen\tlachte\tV;PST\nlachen\tlacht\tV;PST\nb\u00e4ren\tb\u00e4rte \tV;PST\n")
    (own / "dev").write_text("sa\u0308en\tsa\u0308te\tV;IMP;XYZ\n")
    told = notes(reinflect, own, "--dev", own / "dev")
    assert "1 cell has more than one form (such as lachen V;PST: lachte, lacht)" in told
    assert "features that no training item has: 'IMP', 'XYZ'" in told
    assert f"1 field begins or ends with a blank, which is kept as a letter ({own / 'train'}, line 23, form: 'b" in told
    assert f"(U+00E4 in {own / 'train'}, line 23, lemma; U+0061 U+0308 in {own / 'dev'}, line 1, lemma)" in told


def test_additions_that_nobody_has_filled_in_yet_do_no_harm(own: Path, reinflect: Reinflect) -> None:
    (own / "ask.csv").write_text("lemma,form,features\nneuen,,V;XYZ\nneuen,,V;PRS\n")
    told = notes(reinflect, own, "--add", own / "ask.csv")
    assert f"note: {own / 'ask.csv'} has no forms yet; nothing added\n" in told
    assert "XYZ" not in told
    assert "on 20 items of" in told


def test_features_of_additions_that_no_item_has_are_told(own: Path, reinflect: Reinflect) -> None:
    (own / "labels").write_text("she then\tV;PST\n")
    (own / "new.tsv").write_text("blauen\tblaute\tshe then\ngrauen\t\tshe not\n")
    unknown = f"note: {own / 'new.tsv'}: features that no training item has: 'she then'; they are learnt as new ones"
    told = notes(reinflect, own, "--add", own / "new.tsv", "--add", own / "new.tsv")
    assert told.count(f"{unknown}; if they are labels of yours, give --labels\n") == 1
    assert "features that no" not in notes(reinflect, own, "--add", own / "new.tsv", "--labels", own / "labels")
    (own / "odd.tsv").write_text("blauen\tblaute\tshe then;ever\n")
    told = notes(reinflect, own, "--add", own / "odd.tsv", "--labels", own / "labels")
    assert "has: 'she then', 'ever'; they are learnt as new ones\n" in told


def test_dev_items_that_are_all_learnt_from_are_told(own: Path, reinflect: Reinflect) -> None:
    nothing_new = "all its items are among the training items, so the accuracies below and the confidences"
    assert f"note: {own / 'train'}: {nothing_new}" in notes(reinflect, own, "--dev", own / "train")
    assert nothing_new not in notes(reinflect, own, "--dev", own / "dev")
    # Among the additions, too, whatever their forms and the order of their features.
    lines = [line.split("\t") for line in (own / "dev").read_text().splitlines()]
    turned = (f"{lemma}\t{form}x\t{';'.join(reversed(features.split(';')))}\n" for lemma, form, features in lines)
    (own / "new.tsv").write_text("".join(turned))
    assert nothing_new in notes(reinflect, own, "--dev", own / "dev", "--add", own / "new.tsv")
