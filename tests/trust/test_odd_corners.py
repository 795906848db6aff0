"""Names, signals, links, clocks and limits that are rare, and meet users all the same."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from reinflect.data.items import read_items, write_items
from reinflect.decode.search import Predictions
from reinflect.errors import InputError, OutputError
from reinflect.files import read_text, write_text
from reinflect.inflector.card import describe_training
from reinflect.inflector.inflector import Inflector
from reinflect.learn.loop import fingerprint_of
from reinflect.paper.benchmark import _copy_packs
from reinflect.report.drawing import learning_curves, read_log
from reinflect.run.packs import ENDING, read_result, write_result
from reinflect.run.store import Store
from reinflect.run.watch import Watcher, on_interrupt
from reinflect.web.guard import Hosts
from reinflect.web.server import Server
from tests.cli import Reinflect, succeeded
from tests.fuzz.tiny_models import inflector, model_file
from tests.learn.tiny import language
from tests.paper import made_up

NOT_UTF8 = os.fsdecode(b"w\xff")
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such thing")


@posix
def test_a_file_name_that_is_not_utf8_goes_into_a_model_and_a_page(tmp_path: Path, reinflect: Reinflect) -> None:
    training = describe_training(language("german"), None, source=NOT_UTF8, accuracy=1.0, scored=1, interrupted=False)
    path = tmp_path / f"{NOT_UTF8}.reinflect"
    replace(inflector(), training=training).save(path)
    assert Inflector.load(path).card["training"]["source"] == r"w\udcff"
    page = tmp_path / f"{NOT_UTF8}.html"
    succeeded(reinflect("report", path, "--out", page))
    assert r"w\udcff.reinflect" in page.read_text(encoding="utf-8")


@posix
def test_ctrl_c_that_is_ignored_stays_ignored_while_training_and_serving() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background of a shell
    try:
        with on_interrupt(lambda: pytest.fail("stopped"), Watcher()):
            os.kill(os.getpid(), signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        server = Server({}, Hosts.at("127.0.0.1", ["127.0.0.1"]))
        server.handle_exit(signal.SIGINT, None)
        assert not server.should_exit
        server.handle_exit(signal.SIGTERM, None)
        assert server.should_exit
    finally:
        signal.signal(signal.SIGINT, before)


INTERRUPTED = """
import importlib.abc, os, runpy, signal, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["reinflect", "oracle", "fliegen", "flog"]
runpy.run_module("reinflect", run_name="__main__")
"""


@posix
@pytest.mark.parametrize("module", ["reinflect.cli", "click", "reinflect.cli.align", "reinflect.systems"])
def test_ctrl_c_while_the_program_starts(module: str) -> None:
    program = [sys.executable, "-c", INTERRUPTED.format(module=module)]
    ran = subprocess.run(program, capture_output=True, text=True, check=False)
    assert ran.returncode == 130, ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_second_command_through_a_link_meets_the_same_lock(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real" / "model")
    with Store.beside(tmp_path / "real" / "model").held():
        for other in (tmp_path / "link", tmp_path / "folder" / "model"):
            with pytest.raises(OutputError, match="is working on this"), Store.beside(other).held():
                pytest.fail("two at once")


WRITE = """
import sys; from reinflect.files import write_text
for number in range(150):
    write_text(sys.argv[1], f"{number:09}" * 1000)
"""


def test_writers_of_one_file_do_not_fail_because_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "one"
    command = [sys.executable, "-c", WRITE, str(path)]
    programs = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [program.communicate()[1] for program in programs] == [""] * 4
    assert len(path.read_text()) == 9000
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("now", [0.0, 1e10])
def test_a_sheet_has_no_date(now: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: now)
    items = language("german")
    write_items(tmp_path / "a.xlsx", items)
    assert [item.form for item in read_items(tmp_path / "a.xlsx")] == [item.form for item in items]
    with zipfile.ZipFile(BytesIO((tmp_path / "a.xlsx").read_bytes())) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_merged_pack_of_other_items_is_refused_before_it_is_copied(tmp_path: Path) -> None:
    corpus, (source, target) = made_up.corpus(), (tmp_path / "source", tmp_path / "target")
    source.mkdir()
    target.mkdir()
    good, spec = made_up.result(corpus), made_up.spec(corpus)
    assert spec.digest == good.key
    for number, model in enumerate((good, replace(good, asked=Predictions(["x"], [0.0])))):
        write_result(source / f"{number}{ENDING}", made_up.pack(model))
    with pytest.raises(InputError, match=r"1\.pack\.xz: its predictions are not for the items of --data; copy the"):
        _copy_packs(source, target, [spec], lambda _: None)
    assert [path.name for path in target.iterdir()] == [f"0{ENDING}"]
    _copy_packs(source, target, [], lambda _: None)  # with other data it is not used


GOOD = b'{"model": "german-low-haem-smart-1", "epoch": 1, "loss": 2.0, "dev_accuracy": 30.0, "best": 40.0}\n'
REPLACED = [(b"2.0", b"1.7e308"), (b"2.0", b"-2.0"), (b"30.0", b"-1e308"), (b"40.0", b"1e308"), (b"haem", b"h\xffem")]
REPLACED += [(b"1,", b"-9223372036854775808,"), (b"1,", b"9223372036854775807,"), (GOOD[30:], b"")]


@pytest.mark.parametrize(("part", "damaged"), REPLACED)
def test_a_damaged_line_of_a_log_is_left_out(part: bytes, damaged: bytes, tmp_path: Path) -> None:
    log = tmp_path / "a.log.jsonl"
    log.write_bytes(GOOD.replace(part, damaged) + b"\n" + GOOD)
    (model,) = read_log(log)
    assert model.points("loss") == [(1, 2.0)]
    learning_curves([model])


@contextmanager
def no_more_files() -> Iterator[None]:
    before, taken = resource.getrlimit(resource.RLIMIT_NOFILE), list[int]()
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, before[1]))
    try:
        with suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        yield
    finally:
        for handle in taken:
            os.close(handle)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@posix
def test_too_many_open_files_are_not_taken_for_damage(tmp_path: Path) -> None:
    packed, model, text = tmp_path / f"one{ENDING}", tmp_path / "model", tmp_path / "text"
    write_result(packed, made_up.pack(made_up.result(made_up.corpus())))
    model.write_bytes(model_file())
    text.write_text("text")
    for read in (lambda: read_result(packed), lambda: Inflector.load(model), lambda: fingerprint_of(packed)):
        with pytest.raises(OSError, match="Too many open files") as raised, no_more_files():
            read()
        assert raised.value.errno == errno.EMFILE
    told = r"\(Too many open files\); allow more open files"
    with pytest.raises(InputError, match=told), no_more_files():
        read_text(text)
    with pytest.raises(OutputError, match=told), no_more_files():
        write_text(text, "new")


@posix
def test_a_command_with_too_many_open_files_says_so(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(model_file())
    code = (
        "import sys; from reinflect.cli import main, models\n"
        "import reinflect.inflector.inflector, reinflect.inflector.pocket\n"
        "from tests.trust.test_odd_corners import no_more_files\n"
        "with no_more_files():\n    main(['info', sys.argv[1]])"
    )
    ran = subprocess.run([sys.executable, "-c", code, tmp_path / "model"], capture_output=True, text=True, check=False)
    remedy = "allow more open files (ulimit -n), or use fewer --workers"
    assert (ran.returncode, ran.stderr) == (2, f"reinflect: {tmp_path / 'model'}: Too many open files; {remedy}\n")
