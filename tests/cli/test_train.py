"""`reinflect train`: what it says, what it leaves, and what it survives."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from reinflect.data.items import write_items
from reinflect.inflector.inflector import Inflector
from reinflect.run.folder import CHECKPOINT, WorkFolder
from tests.crash.trials import nobody_left, wait_for
from tests.learn.tiny import language

Reinflect = Callable[..., Result]

TINY = [
    argument
    for change in "embedding=5 hidden=6 history_hidden=4 epochs=30 patience=60 score_every=15 batch=2".split()
    for argument in ("--set", change)
]
WORK = ["--seeds", "4", "--alignments", "naive", *TINY]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    items = language("german")
    write_items(folder / "train", items[4:])
    write_items(folder / "dev", items[:4])
    write_items(folder / "all", items)
    return folder


def command(data: Path, out: Path, *more: object) -> list[str]:
    files = ["train", "--train", data / "train", "--dev", data / "dev", "--out", out, "--device", "cpu"]
    return [str(argument) for argument in (*files, *WORK, *more)]


@pytest.fixture(scope="module")
def undisturbed(data: Path) -> Path:
    """A model that was trained without any accident."""
    from click.testing import CliRunner

    from reinflect.cli import main

    result = CliRunner().invoke(main, command(data, data / "undisturbed", "--workers", 1))
    assert result.exit_code == 0, result.output
    return data / "undisturbed"


def start(data: Path, out: Path, workers: int, *more: str) -> "subprocess.Popen[str]":
    environment = os.environ | {"REINFLECT_CHECKPOINT_SECONDS": "0"}
    call = [sys.executable, "-m", "reinflect", *command(data, out, "--workers", workers, *more)]
    return subprocess.Popen(
        call, env=environment, start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def is_the_same_as(out: Path, other: Path) -> bool:
    logs = [path.with_name(f"{path.name}.log.jsonl").read_bytes() for path in (out, other)]
    return out.read_bytes() == other.read_bytes() and logs[0] == logs[1]


def test_ctrl_c_leaves_a_model_and_the_same_command_goes_on(
    data: Path, undisturbed: Path, tmp_path: Path, reinflect: Reinflect
) -> None:
    out = tmp_path / "model"
    process = start(data, out, workers=2)
    wait_for(lambda: any(WorkFolder.beside(out).state.glob(f"*{CHECKPOINT}")) or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)
    shown, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    wait_for(lambda: nobody_left(process.pid))
    assert "Traceback" not in said
    assert "interrupted" in said
    assert "% right, estimated on 4 dev forms" in shown
    assert Inflector.load(out).inflect("lachen", "V;PST") is not None
    assert WorkFolder.beside(out).state.is_dir()
    result = reinflect(*command(data, out, "--workers", 1))
    assert result.exit_code == 0, result.output
    assert "resuming an earlier training" in result.stderr
    assert is_the_same_as(out, undisturbed)


def test_a_seed_gives_the_same_model_wherever_it_comes(data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    rest = ["--workers", 1, "--systems", "haem", "--set", "epochs=3"]
    assert reinflect(*command(data, one, *rest, "--seeds", 1, "--first-seed", 4)).exit_code == 0
    assert reinflect(*command(data, two, *rest, "--seeds", 4)).exit_code == 0
    (member,) = Inflector.load(one).members
    (same,) = (other for other in Inflector.load(two).members if other.seed == 4)
    assert member.name == same.name
    for name, array in member.parameters.items():  # in a fleet of two sums may be rounded otherwise
        assert float(np.abs(array - same.parameters[name]).max()) < 1e-3


def test_the_file_says_what_it_learnt_from(undisturbed: Path) -> None:
    training = Inflector.load(undisturbed).training
    assert training is not None
    assert (training.source, training.items, training.dev_items) == ("train", 20, 4)
    assert not training.interrupted


def test_half_as_large_a_file(data: Path, undisturbed: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    result = reinflect(*command(data, tmp_path / "half.reinflect", "--workers", 1, "--half"))
    assert result.exit_code == 0, result.output
    whole, half = Inflector.load(undisturbed), Inflector.load(tmp_path / "half.reinflect")
    assert [member.name for member in half.members] == [member.name for member in whole.members]
    for member, other in zip(whole.members, half.members, strict=True):
        for name, array in member.parameters.items():
            assert (array.astype(np.float16).astype(np.float32) == other.parameters[name]).all()
    assert (tmp_path / "half.reinflect").stat().st_size < undisturbed.stat().st_size - 10_000


def test_what_it_says_at_the_end(data: Path, undisturbed: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    short = ["--workers", 1, "--systems", "haem", "--seeds", 2, "--set", "epochs=2"]
    result = reinflect(*command(data, tmp_path / "model", *short))
    assert re.fullmatch(r"Expect about \d+ % right, estimated on 4 dev forms\n", result.stdout)
    assert f"written: {tmp_path / 'model'} (and {tmp_path / 'model'}.log.jsonl)\n" in result.stderr
    assert f"next: reinflect inflect {tmp_path / 'model'}" in result.stderr
    assert "run7" not in result.stderr  # a name for those who benchmark
    *table, blank, last = reinflect(*command(data, tmp_path / "other", *short, "--verbose")).stdout.splitlines()
    assert table[0].split() == ["model", "dev", "accuracy"]
    assert {line.split()[0] for line in table[1:-1]} == {"haem-naive-1", "haem-naive-2"}
    assert table[-1].startswith("vote (run7)")
    assert (blank, last) == ("", result.stdout.rstrip())
    members = {member.name: member for member in Inflector.load(undisturbed).members}
    assert {f"{system}-naive-{seed}" for system in ("hacm", "haem") for seed in range(1, 5)} == members.keys()


def test_without_dev_the_user_is_told(data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    arguments = [
        "--train",
        data / "all",
        "--out",
        tmp_path / "m",
        "--workers",
        1,
        "--device",
        "cpu",
        "--systems",
        "haem",
    ]
    result = reinflect("train", *arguments, *WORK, "--seeds", 2, "--set", "epochs=2")
    assert result.exit_code == 0, result.output
    assert "holds out another fifth of the items and learns from the other 80 %" in result.stderr
    assert re.fullmatch(r"Expect about \d+ % right, estimated on 10 held-out forms\n", result.stdout)


def test_notes_on_the_data(data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    more = "lachen\tlachte\tV;PST\nlachen\tlacht\tV;PST\n"
    (tmp_path / "train").write_text((data / "train").read_text() + more)
    (tmp_path / "dev").write_text("legen\tleg\tV;IMP;XYZ\n")
    result = reinflect(
        "train", "--train", tmp_path / "train", "--dev", tmp_path / "dev", "--out", tmp_path / "m",
        "--workers", 1, *WORK, "--seeds", 1, "--systems", "haem", "--set", "epochs=1",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "1 cell has more than one form (such as lachen V;PST: lachte, lacht)" in result.stderr
    assert "features that no training item has: 'IMP', 'XYZ'" in result.stderr


@pytest.mark.parametrize(
    "command", [["train", "--out", "model", "--train"], ["align"], ["baseline", "--input", "swapped", "--train"]]
)
def test_columns_in_the_wrong_order_are_noticed(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reinflect: Reinflect
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("swapped").write_text("gehen\tV;PST\tging\nsehen\tV;PST\tsah\n")
    said = "note: swapped: the forms look like features; did you mean --columns lemma,features,form?"
    assert said in reinflect(*command, "swapped", "--columns", "lemma,form,features").stderr
    found = reinflect(*command, "swapped").stderr
    assert said not in found
    assert "note: swapped: its columns are read as lemma, features, form" in found


def test_a_model_is_replaced_only_by_force(data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    out = tmp_path / "model"
    short = ["--workers", 1, "--systems", "haem", "--seeds", 1, "--set", "epochs=1"]
    assert reinflect(*command(data, out, *short)).exit_code == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for more in ([], ["--set", "epochs=2"], ["--train", "missing"]):
        result = reinflect(*command(data, out, *short, *more))
        assert (result.exit_code, result.stdout) == (2, "")
        named = rf"{out}: a model of this name exists \(20 items of train, about \d+ % right, 2017-07-14\)"
        remedy = "choose another --out, or give --force to replace it"
        assert re.fullmatch(rf"reinflect: {named}; {remedy}\n", result.stderr)
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    result = reinflect(*command(data, out, *short, "--set", "epochs=2", "--force"))
    assert result.exit_code == 0, result.output
    assert out.read_bytes() != before[out]


def test_an_unfinished_training_of_another_model_is_no_leave_to_replace_one(
    data: Path, tmp_path: Path, reinflect: Reinflect
) -> None:
    out = tmp_path / "model"
    short = ["--workers", 1, "--systems", "haem", "--seeds", 1, "--set", "epochs=1"]
    assert reinflect(*command(data, out, *short)).exit_code == 0
    before = out.read_bytes()
    process = start(data, out, 1, "--force")
    wait_for(lambda: any(WorkFolder.beside(out).state.glob(f"*{CHECKPOINT}")) or process.poll() is not None)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    wait_for(lambda: nobody_left(process.pid))
    result = reinflect(*command(data, out, *short))
    assert result.exit_code == 2
    assert f"reinflect: {out}: a model of this name exists (20 items of train" in result.stderr
    assert out.read_bytes() == before
    result = reinflect(*command(data, out, "--workers", 1))
    assert result.exit_code == 0, result.output
    assert "resuming an earlier training" in result.stderr
    assert out.read_bytes() != before


def test_a_log_replaces_no_file_of_another_kind(data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    log = tmp_path / "model.log.jsonl"
    log.write_text("my notes\n")
    result = reinflect(*command(data, tmp_path / "model", "--force"))
    assert (result.exit_code, log.read_text()) == (2, "my notes\n")
    assert result.stderr == f"reinflect: {log}: a file of this name exists and is not JSON; choose another --out\n"


def test_a_second_run_of_the_same_model_is_refused(data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    with WorkFolder.beside(tmp_path / "model").held():
        result = reinflect(*command(data, tmp_path / "model"))
    assert result.exit_code == 2
    assert f"another command (process {os.getpid()}) is working on this" in result.stderr


LONG = "a" * 1001


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--train", "missing"], "missing: there is no such file"),
        (["--dev", "missing"], "missing: there is no such file"),
        (["--out", "nowhere/model"], "there is no folder nowhere"),
        (["--out", "."], "this is a folder"),
        (["--out", "-"], "name a file with --out"),
        (["--out", "train"], "this file is read from"),
        (["--out", "notes"], "a file of this name exists and is not a model"),
        (["--systems", "hacm,heam"], "found the system 'heam'; did you mean haem"),
        (["--alignments", ""], "found the alignment ''; the alignments are naive, smart"),
        (["--kinds", "hacm-naive,heam-naive"], "there is no system 'heam'; did you mean haem"),
        (["--kinds", "hacm-naive,haem"], "found the kind 'haem'; with these names there are hacm-naive, haem-naive"),
        (["--kinds", "haem-naive", "--systems", "haem"], "found --kinds beside --systems, --alignments or --augment"),
        (["--preset", "paper-lo"], "did you mean paper-low"),
        (["--preset", "gone.toml"], "gone.toml: there is no such file"),
        (["--preset", "odd.toml", "--systems", "haem"], "odd.toml [haem]: found the unknown setting 'hiden'"),
        (["--preset", "half.toml"], "half.toml: found no table [hacm]; add one, or leave hacm out with --systems"),
        (["--preset", "half.toml", "--systems", "haem,soft"], "half.toml: found no table [soft]; add one"),
        (["--set", "hiden=3"], "did you mean hidden"),
        (["--set", "hidden=many"], "found hidden = 'many', which does not fit"),
        (["--set", "soft.hidden=9"], "'soft.hidden=9'; change a setting of hacm, haem, naive, smart"),
        (["--set", "hidden"], "write key=value, or haem.key=value"),
        (["--set", "haem.schedule=cosine"], "found schedule = 'cosine' with decay = 0 and warmup = 0; set decay to"),
        (["--seeds", "0"], "0 is not in the range"),
        (["--columns", "a,b"], "found the columns 'a,b'"),
        (["--train", "-", "--dev", "-"], "standard input) more than once"),
        (["--train", "long"], "long, line 2: found a lemma or form of 1001 characters"),
        (["--dev", "long"], "long, line 2: found a lemma or form of 1001 characters"),
        (["--train", "few"], "few: found 1 different item, too few to hold some out"),
    ],
)
def test_misuse_is_found_before_any_work(
    arguments: list[str], said: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reinflect: Reinflect
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train").write_bytes((data / "train").read_bytes())
    Path("notes").write_text("my field notes")
    Path("few").write_text("a\tb\tV\n")
    Path("long").write_text(f"a\tb\tV\n{LONG}\tb\tV\n")
    Path("odd.toml").write_text("[haem]\nhiden = 3\n")
    Path("half.toml").write_text("[haem]\nhidden = 3\n")
    before = sorted(Path().iterdir())
    result = reinflect("train", "--train", "train", "--out", "model", "--device", "cpu", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") <= 4
    assert sorted(Path().iterdir()) == before
    assert Path("notes").read_text() == "my field notes"


def test_a_preset_of_ones_own(data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    (tmp_path / "mine.toml").write_text("[haem]\nhidden = 7\nembedding = 3\nepochs = 1\n")
    result = reinflect(
        "train", "--train", data / "train", "--dev", data / "dev", "--out", tmp_path / "m", "--workers", 1,
        "--preset", tmp_path / "mine.toml", "--systems", "haem", "--alignments", "naive", "--seeds", 1,
        "--set", "haem.embedding=4",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    (member,) = Inflector.load(tmp_path / "m").members
    assert (member.settings.hidden, member.settings.embedding, member.settings.epochs) == (7, 4, 1)


def test_kinds_that_the_user_names(data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    result = reinflect(
        "train", "--train", data / "train", "--dev", data / "dev", "--out", tmp_path / "m", "--workers", 1,
        "--kinds", "imitation, haem-smart+made-up", "--seeds", 1, *TINY, "--set", "epochs=1",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert {member.kind for member in Inflector.load(tmp_path / "m").members} == {"imitation", "haem-smart+made-up"}


def test_a_schedule_reaches_training(data: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    """A step that is zero from the first update on leaves a model as it began, and its losses the same."""
    schedule = ["--set", "haem.schedule=cosine", "--set", "haem.decay=1"]
    for name, more in (("still", schedule), ("moving", [])):
        small = ["--systems", "haem", "--seeds", 1, "--workers", 1, "--set", "epochs=3", "--set", "dropout=0"]
        result = reinflect(*command(data, tmp_path / name, *small, *more))
        assert result.exit_code == 0, result.output
    losses = {
        name: [json.loads(line)["loss"] for line in (tmp_path / f"{name}.log.jsonl").read_text().splitlines()]
        for name in ("still", "moving")
    }
    assert losses["still"] == pytest.approx([losses["still"][0]] * 3, rel=1e-5)
    assert losses["moving"][2] < 0.95 * losses["moving"][0]
    (member,) = Inflector.load(tmp_path / "still").members
    assert (member.settings.schedule, member.settings.decay) == ("cosine", 1)


@pytest.mark.parametrize("text", ["soon", "-1", "nan"])
def test_a_checkpoint_time_that_is_none(
    text: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reinflect: Reinflect
) -> None:
    monkeypatch.setenv("REINFLECT_CHECKPOINT_SECONDS", text)
    result = reinflect(*command(data, tmp_path / "model"))
    assert result.exit_code == 2
    assert f"REINFLECT_CHECKPOINT_SECONDS='{text}'" in result.stderr


def said(reinflect: Reinflect, folder: Path, *more: object) -> str:
    """What a short training says besides its table, in a folder with its files."""
    files = ["--train", folder / "train", "--out", folder / "m", "--force", "--device", "cpu", "--workers", 1]
    result = reinflect("train", *files, *WORK, "--seeds", 1, "--systems", "haem", "--set", "epochs=1", *more)
    assert result.exit_code == 0, result.output
    return result.stderr


@pytest.fixture
def own(data: Path, tmp_path: Path) -> Path:
    for name in ("train", "dev"):
        (tmp_path / name).write_bytes((data / name).read_bytes())
    return tmp_path


def test_additions_that_nobody_has_filled_in_yet_do_no_harm(own: Path, reinflect: Reinflect) -> None:
    (own / "ask.csv").write_text("lemma,form,features\nneuen,,V;XYZ\nneuen,,V;PRS\n")
    told = said(reinflect, own, "--add", own / "ask.csv")
    assert f"note: {own / 'ask.csv'} has no forms yet; nothing added\n" in told
    assert "XYZ" not in told
    assert "on 20 items of" in told


def test_features_of_additions_that_no_item_has_are_told(own: Path, reinflect: Reinflect) -> None:
    (own / "labels").write_text("she then\tV;PST\n")
    (own / "new.tsv").write_text("blauen\tblaute\tshe then\ngrauen\t\tshe not\n")
    unknown = f"note: {own / 'new.tsv'}: features that no training item has: 'she then'; they are learnt as new ones"
    told = said(reinflect, own, "--add", own / "new.tsv", "--add", own / "new.tsv")
    assert told.count(f"{unknown}; if they are labels of yours, give --labels\n") == 1
    assert "features that no" not in said(reinflect, own, "--add", own / "new.tsv", "--labels", own / "labels")
    (own / "odd.tsv").write_text("blauen\tblaute\tshe then;ever\n")
    told = said(reinflect, own, "--add", own / "odd.tsv", "--labels", own / "labels")
    assert "has: 'she then', 'ever'; they are learnt as new ones\n" in told


def test_a_file_with_headings_is_refused(own: Path, reinflect: Reinflect) -> None:
    (own / "train").write_text("Lemma\tForm\tFeatures\n" + (own / "train").read_text())
    result = reinflect("train", "--train", own / "train", "--out", own / "m")
    assert result.exit_code == 2
    assert f"{own / 'train'}, line 1: found the headings 'Lemma', 'Form', 'Features'" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (own / "m").exists()


def test_blanks_and_letters_in_two_spellings_are_told(own: Path, reinflect: Reinflect) -> None:
    lines = (own / "train").read_text()
    (own / "train").write_text(lines + "b\u00e4ren\tb\u00e4rte \tV;PST\n")
    (own / "dev").write_text("sa\u0308en\tsa\u0308te\tV;PST\n")
    told = said(reinflect, own, "--dev", own / "dev")
    assert f"1 field begins or ends with a blank, which is kept as a letter ({own / 'train'}, line 21, form: 'b" in told
    assert f"(U+00E4 in {own / 'train'}, line 21, lemma; U+0061 U+0308 in {own / 'dev'}, line 1, lemma)" in told


def test_dev_items_that_are_all_learnt_from_are_told(own: Path, reinflect: Reinflect) -> None:
    nothing_new = "all its items are among the training items, so the accuracies below and the confidences"
    assert f"note: {own / 'train'}: {nothing_new}" in said(reinflect, own, "--dev", own / "train")
    assert nothing_new not in said(reinflect, own, "--dev", own / "dev")
    # Among the additions, too, whatever their forms and the order of their features.
    lines = [line.split("\t") for line in (own / "dev").read_text().splitlines()]
    turned = (f"{lemma}\t{form}x\t{';'.join(reversed(features.split(';')))}\n" for lemma, form, features in lines)
    (own / "new.tsv").write_text("".join(turned))
    assert nothing_new in said(reinflect, own, "--dev", own / "dev", "--add", own / "new.tsv")


def test_one_item_is_one_item(own: Path, reinflect: Reinflect) -> None:
    (own / "train").write_text("lachen\tlachte\tV;PST\n")
    assert "training a model on 1 item of" in said(reinflect, own, "--dev", own / "dev")


def test_a_word_that_is_too_long_is_told_with_its_own_file(own: Path, reinflect: Reinflect) -> None:
    (own / "new.tsv").write_text(f"blau\tblaute\tV;PST\n{LONG}\tb\tV;PST\n")
    result = reinflect("train", "--train", own / "train", "--add", own / "new.tsv", "--out", own / "m")
    assert result.exit_code == 2
    assert f"{own / 'new.tsv'}, line 2: found a lemma or form of 1001 characters" in result.stderr
