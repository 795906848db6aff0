"""`reinflect report`: a page, or a one-line error."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.inflector.inflector import Inflector
from tests.inflector.test_inflector import a_member
from tests.report.pages import Page

Reinflect = Callable[..., Result]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "small.reinflect"
    Inflector((a_member("haem"), a_member("hacm")), {}).save(path)
    return path


def test_a_model_with_its_log_and_items(model: Path, tmp_path: Path, reinflect: Reinflect) -> None:
    (tmp_path / "dev.tsv").write_text("ab\tabc\tV;PST\nabc\tab\tN\n", encoding="utf-8")
    log = '{"model": "haem-naive-1", "epoch": 1, "loss": 2.5, "dev_accuracy": 10.0, "best": 10.0}\n'
    (tmp_path / "small.reinflect.log.jsonl").write_text(log, encoding="utf-8")
    out = tmp_path / "page.html"
    result = reinflect("report", model, "--dev", tmp_path / "dev.tsv", "--out", out)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert f"written: {out}" in result.stderr
    page = Page(out.read_text(encoding="utf-8"))
    assert "Report on small.reinflect" in page.text
    assert {"by-features", "commonest-mistakes", "learning-curves"} <= set(page.titles)


def test_a_page_on_standard_output(model: Path, reinflect: Reinflect) -> None:
    result = reinflect("report", model, "--out", "-")
    assert result.stdout.startswith("<!doctype html>")
    assert result.stderr == ""


def test_the_default_name_of_the_page(model: Path, monkeypatch: pytest.MonkeyPatch, reinflect: Reinflect) -> None:
    monkeypatch.chdir(model.parent)
    assert reinflect("report", model).exit_code == 0
    assert Path("report.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.reinflect", "--out", "page.html"], "nothing.reinflect: there is no such file"),
        (["empty", "--out", "page.html"], "empty: there is no results.json in it"),
        (["small.reinflect", "--dev", "nothing.tsv", "--out", "page.html"], "nothing.tsv: there is no such file"),
        (["small.reinflect", "--dev", "bad.tsv", "--out", "page.html"], "bad.tsv, line 1:"),
        (["small.reinflect", "--out", "nowhere/page.html"], "there is no folder nowhere"),
        (["empty", "--dev", "bad.tsv", "--out", "page.html"], "bad.tsv: this is not a folder"),
        (["small.reinflect", "--out", "page.pdf"], "page.pdf: a report is an HTML page"),
    ],
)
def test_misuse_is_one_line(
    arguments: list[str], message: str, model: Path, monkeypatch: pytest.MonkeyPatch, reinflect: Reinflect
) -> None:
    monkeypatch.chdir(model.parent)
    Path("empty").mkdir()
    Path("bad.tsv").write_text("only two\tcolumns\n", encoding="utf-8")
    result = reinflect("report", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(Path().glob("page.*"))
