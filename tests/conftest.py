"""Fixtures of many rooms, and which tests `make quick` leaves out."""

import os
import shutil
import signal
import tarfile
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from click.testing import CliRunner, Result

# The tests run side by side, a process a core: threads of torch's own would only get in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Model files bear their date, and some tests compare them byte by byte, at midnight too.
os.environ.setdefault("SOURCE_DATE_EPOCH", "1500000000")
# How long something takes depends on what else the machine does, and on whether the compiler's work is still there.
hypothesis.settings.register_profile("reinflect", deadline=None)
hypothesis.settings.load_profile("reinflect")

# Tests send Ctrl-C to commands, which ignore it if they are started with it ignored, as in the background of a shell.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SLOW = Path(__file__).with_name("slow.txt")
"""Folders, files and tests that `make quick` leaves out. `--record-slow` adds those that take long: a whole file where
a fixture does."""
SLOW_SECONDS = 0.4
"""With all that are faster, `make quick` takes less than a minute on two cores."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-slow", action="store_true", help=f"add tests above {SLOW_SECONDS} s to tests/slow.txt")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    names = SLOW.read_text(encoding="utf-8").split()
    folders = tuple(name for name in names if "::" not in name)
    for item in items:
        if item.nodeid.partition("[")[0] in names or item.nodeid.startswith(folders):
            item.add_marker("slow")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if terminalreporter.config.getoption("--record-slow"):
        names = set(SLOW.read_text(encoding="utf-8").split())
        for report in terminalreporter.getreports("") + terminalreporter.getreports("passed"):
            if report.duration > SLOW_SECONDS:
                names.add(report.nodeid.partition("::" if report.when == "setup" else "[")[0])
        folders = [name for name in names if "::" not in name]
        kept = [name for name in names if not any(name.startswith(folder) for folder in folders if folder != name)]
        SLOW.write_text("".join(f"{name}\n" for name in sorted(kept)), encoding="utf-8")


CONLL2017 = Path(__file__).parents[2] / "shared" / "data" / "conll2017"


@pytest.fixture(scope="session")
def conll2017() -> Path:
    """The folder of the shared task's data, which is not part of this repository."""
    if not CONLL2017.is_dir():
        pytest.skip("the CoNLL 2017 data is not at ../shared/data/conll2017")
    return CONLL2017


@pytest.fixture(scope="session")
def shared_sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the data of 2018 and 2023, unpacked from archives beside this repository."""
    folder = tmp_path_factory.mktemp("shared-sets")
    for name in ("conll2018", "sigmorphon2023"):
        packed = CONLL2017.parent / f"{name}.tar.xz"
        if not packed.is_file():
            pytest.skip(f"there is no ../shared/data/{packed.name}")
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="session")
def two_languages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two tiny languages as in the shared task; one of them has a training file of the size high."""
    from reinflect.data.items import Item, write_items
    from tests.learn.tiny import language

    folder = tmp_path_factory.mktemp("two-languages")
    for name in ("german", "turkish"):
        items = language(name)
        write_items(folder / f"{name}-dev", items[:4])
        write_items(folder / f"{name}-covered-test", [Item(item.lemma, item.features) for item in items[4:9]])
        write_items(folder / f"{name}-uncovered-test", items[4:9])
        write_items(folder / f"{name}-train-low", items[9:])
    write_items(folder / "german-train-high", language("german")[4::2])
    return folder


@pytest.fixture(scope="session")
def tiny_pocket_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pocket models that have learnt nothing."""
    from reinflect.inflector.pocket import add_model
    from tests.fuzz import tiny_models

    folder = tmp_path_factory.mktemp("pocket")
    (folder / "tiny").write_bytes(tiny_models.model_file())
    for language in ("norwegian-bokmal", "finnish", "german"):
        add_model(folder / "models", folder / "tiny", language, tiny_models.ITEMS, command="made for a test")
    return folder / "models"


@pytest.fixture
def pocket(tiny_pocket_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of pocket models of one's own, which are installed, and an empty folder to work in."""
    shutil.copytree(tiny_pocket_models, tmp_path / "pocket")
    monkeypatch.setenv("REINFLECT_MODELS", str(tmp_path / "pocket"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "pocket"


@pytest.fixture
def no_pocket(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pocket models are installed."""
    monkeypatch.delenv("REINFLECT_MODELS", raising=False)
    monkeypatch.setattr("reinflect.inflector.pocket.find_spec", lambda _name: None)


@pytest.fixture
def reinflect() -> Callable[..., Result]:
    """Runs a command in this process: reinflect("evaluate", gold, predicted)."""
    from reinflect.cli import main

    def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)

    return run
