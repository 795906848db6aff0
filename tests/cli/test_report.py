"""`reinflect report`: a page."""

from pathlib import Path

from tests.cli import Reinflect
from tests.cli.test_transcripts import GOLDEN
from tests.report.pages import Page


def test_a_model_with_its_log_and_items(tmp_path: Path, reinflect: Reinflect) -> None:
    model = tmp_path / "small.reinflect"
    model.write_bytes((GOLDEN / "files" / "words.reinflect").read_bytes())
    on_screen = reinflect("report", model, "--out", "-")
    assert on_screen.stdout.startswith("<!doctype html>")
    assert on_screen.stderr == ""
    (tmp_path / "dev.tsv").write_text("ab\tabc\tV;PRS;1;SG\nabc\tab\tN;PL\n", encoding="utf-8")
    log = '{"model": "haem-naive-1", "epoch": 1, "loss": 2.5, "dev_accuracy": 10.0, "best": 10.0}\n'
    (tmp_path / "small.reinflect.log.jsonl").write_text(log, encoding="utf-8")
    out = tmp_path / "page.html"
    result = reinflect("report", model, "--dev", tmp_path / "dev.tsv", "--out", out)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    assert f"written: {out}" in result.stderr
    page = Page(out.read_text(encoding="utf-8"))
    assert "Report on small.reinflect" in page.text
    assert {"by-features", "commonest-mistakes", "learning-curves"} <= set(page.titles)
