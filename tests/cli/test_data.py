"""`reinflect data`: output, downloaded files, and one-line errors."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.data import catalog
from reinflect.data.german import SPLITS, read_split
from reinflect.data.items import read_items
from tests.cli import Reinflect, succeeded
from tests.data.test_catalog import TEXTS, Mirror, data_set_of, files_below, serving


@pytest.fixture(autouse=True)
def _away_from_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(catalog.URL_VARIABLE, raising=False)
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "127.0.0.1")
    monkeypatch.setattr("time.sleep", lambda _seconds: None)


@pytest.fixture(name="mirror")
def running_mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A server with a toy data set, which takes the place of conll2017 in the catalog."""
    real = catalog.catalog()
    with serving(dict(TEXTS)) as mirror:
        toy = data_set_of(TEXTS, mirror.url, "conll2017")
        monkeypatch.setattr(catalog, "catalog", lambda: {**real, "conll2017": toy})
        yield mirror


def refused(result: Result) -> str:
    """The one line on stderr of a command that ended with 2 and printed nothing else."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("reinflect: ")
    return line


def test_list_describes_every_data_set(reinflect: Reinflect) -> None:
    result = succeeded(reinflect("data", "list"))
    printed = " ".join(result.stdout.split())
    for data_set in catalog.catalog().values():
        for fact in (data_set.name, data_set.title, data_set.licence, data_set.source, data_set.citation):
            assert fact in printed
    assert "52 languages, 259 files, 25.9 MB" in printed
    for split in SPLITS:
        assert f"{split} {len(read_split(split))}" in printed


@pytest.mark.parametrize("split", SPLITS)
def test_show_prints_a_split_that_reads_back(reinflect: Reinflect, split: str, tmp_path: Path) -> None:
    printed = reinflect("data", "show", "german-verbs", "--split", split)
    written = reinflect("data", "show", "german-verbs", "--split", split, "--output", tmp_path / "items")
    assert (printed.exit_code, written.exit_code, written.stdout) == (0, 0, "")
    assert (tmp_path / "items").read_bytes() == printed.stdout_bytes
    assert [(i.lemma, i.features, i.form) for i in read_items(tmp_path / "items")] == [
        (i.lemma, i.features, i.form) for i in read_split(split)
    ]


def test_fetch_prints_folder_and_licence(reinflect: Reinflect, mirror: Mirror, tmp_path: Path) -> None:
    result = succeeded(reinflect("data", "fetch", "conll2017", "--languages", "german", "--into", "here"))
    assert files_below(tmp_path / "here") == {name: TEXTS[name] for name in mirror.asked}
    assert result.stdout.startswith("conll2017: 2 files of 1 language (")
    assert "2 downloaded), in here\nlicence: CC0\n" in result.stdout
    downloaded = [line.split(" (")[0] for line in result.stderr.splitlines()]
    assert downloaded == ["downloaded german-train-low", "downloaded german-dev"]


def test_fetch_goes_into_the_cache_once(reinflect: Reinflect, mirror: Mirror, tmp_path: Path) -> None:
    first, second = reinflect("data", "fetch", "conll2017"), reinflect("data", "fetch", "conll2017")
    assert f"in {tmp_path / 'cache' / 'conll2017'}\n" in first.stdout
    assert files_below(tmp_path / "cache" / "conll2017") == TEXTS
    assert mirror.asked == list(TEXTS)
    assert "6 there already" in second.stdout
    assert second.stderr == ""


def test_fetch_replaces_files_only_with_force(reinflect: Reinflect, mirror: Mirror, tmp_path: Path) -> None:
    (tmp_path / "german-dev").write_text("mine")
    asked = ("data", "fetch", "conll2017", "--languages", "german", "--into", ".")
    assert "give --force to replace it" in refused(reinflect(*asked))
    assert (tmp_path / "german-dev").read_text() == "mine"
    assert mirror.asked == []
    succeeded(reinflect(*asked, "--force"))
    assert (tmp_path / "german-dev").read_bytes() == TEXTS["german-dev"]


def test_fetch_fails_with_one_line_and_leaves_nothing(reinflect: Reinflect, mirror: Mirror, tmp_path: Path) -> None:
    for fault in (404, 500, "cut"):
        mirror.faults["finnish-train-low"] = [fault] * (1 + catalog.RETRIES)
        line = refused(reinflect("data", "fetch", "conll2017", "--into", "here"))
        assert line.startswith(f"reinflect: {mirror.url}/finnish-train-low: ")
        mirror.faults.clear()
    mirror.files["finnish-train-low"] = b"something else"
    assert "the file has the wrong checksum" in refused(reinflect("data", "fetch", "conll2017", "--into", "here"))
    assert files_below(tmp_path) == {}


def test_a_split_is_ready_for_a_benchmark(reinflect: Reinflect) -> None:
    lines = [f"lemma{n}\tform{n}{m}\tN;{m}\n" for n in range(40) for m in ("SG", "PL", "DU")]
    Path("xxx").write_text("\n".join(lines), encoding="utf-8")  # UniMorph has blank lines between lemmas
    asked = ("data", "split", "xxx", "--into", "made")
    done = succeeded(reinflect(*asked))
    assert "written: made/xxx.dev (12 items)" in done.stderr
    parts = {part: {item.lemma for item in read_items(f"made/xxx.{part}")} for part in ("trn", "dev", "tst")}
    assert sum(map(len, parts.values())) == len(set.union(*parts.values())) == 40
    first = Path("made/xxx.dev").read_bytes()
    assert "give --force to replace it" in refused(reinflect(*asked))
    assert reinflect(*asked, "--force").exit_code == 0
    assert Path("made/xxx.dev").read_bytes() == first
    assert reinflect(*asked, "--force", "--seed", 2).exit_code == 0
    assert Path("made/xxx.dev").read_bytes() != first


def test_the_example_of_fetch_runs(reinflect: Reinflect, mirror: Mirror) -> None:
    program, *words = reinflect("data", "fetch", "--help").stdout.splitlines()[-1].split()
    assert program == "reinflect"
    assert reinflect(*words).exit_code == 0
    assert mirror.asked
