import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.align import ALIGNERS
from reinflect.align.naive import Naive
from reinflect.align.smart import Smart
from reinflect.cli.align import SEED, SWEEPS, command

Reinflect = Callable[..., Result]
GOLDEN = Path(__file__).parents[1] / "golden"

VERBS = "".join(
    f"{stem}en\t{form}\tV\n"
    for stem in ("lob", "kauf", "such", "mach")
    for form in (f"{stem}e", f"{stem}st", f"ge{stem}t")
)
EXAMPLES = {
    # golden file: (arguments, the lines of data)
    "german-naive": (["--method", "naive"], "fliegen\tflog\tV;PST\nlegen\tgelegt\tV.PTCP;PST\nsüß\tsüßes\tADJ\n"),
    "german-smart": (["--sweeps", "20"], VERBS),
    "arabic": (["--method", "naive"], "كَتَبَ\tكَتَبْتُ\tV\n٣ب\t٤ b\tN\n"),
    "hebrew": (["--method", "naive"], "כתב\tכָּתְבוּ\tV\n"),
    "marks": (
        ["--method", "naive"],
        "ru\u0303\u0323ta\tru\u0303\u0301tų\u0301\tN\nbo\u0302r\tbɵ\u0302rsu\tV\nकर\tका\tV\n",
    ),
    "wide": (["--method", "naive"], "食べる\t食べた\tV\nabc\t日ｱＡ가\tN\n"),
    "unseen": (["--method", "naive"], "look up\tlooks up \tV\nمی\u200cرود\tرفت\tV\n∅␣\t\u00a0\u00ad\tN\n"),
}
BLANKS = (
    "note: 2 fields begin or end with a blank, which is kept as a letter (standard input/output, line 1, form: "
    "'looks up ')\n"
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keeps tests away from the user's own cache."""
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "alignments"


def split_cells(line: str) -> list[str]:
    return line.replace("\u200e", "").split()


@pytest.mark.parametrize("name", EXAMPLES)
def test_golden_layout(reinflect: Reinflect, name: str) -> None:
    arguments, data = EXAMPLES[name]
    result = reinflect("align", "-", *arguments, stdin=data)
    assert (result.exit_code, result.stderr) == (0, BLANKS if name == "unseen" else "")
    assert result.stdout == (GOLDEN / f"align-{name}.txt").read_text("utf-8")


def test_the_defaults_are_those_of_the_aligner() -> None:
    assert (SWEEPS, SEED) == (Smart().sweeps, Smart().seed) == (150, 1)
    defaults = {parameter.name: parameter.default for parameter in command.params}
    assert (defaults["method"], defaults["sweeps"], defaults["seed"]) == ("smart", 150, 1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_smart_finds_the_stem_after_a_prefix(reinflect: Reinflect, seed: int) -> None:
    shown = reinflect("align", "-", "--sweeps", 20, "--seed", seed, stdin=VERBS).stdout.split("\n\n")
    lemma, marks, form = (split_cells(line)[:5] for line in shown[2].splitlines())
    assert lemma == ["∅", "∅", "l", "o", "b"]
    assert marks == ["+", "+", "|", "|", "|"]
    assert form == ["g", "e", "l", "o", "b"]


def test_json_has_every_item_with_its_line_number(reinflect: Reinflect) -> None:
    data = "fliegen\tflog\tV;PST\n\nà la\tà las\t N ; PL\nכתב\tכתבה\tV\n"
    result = reinflect("align", "-", "--method", "naive", "--json", stdin=data)
    assert "כתב" in result.stdout  # not escaped
    items = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(item["lemma"], item["form"], item["features"], item["line"]) for item in items] == [
        ("fliegen", "flog", "V;PST", 1),
        ("à la", "à las", " N ; PL", 3),
        ("כתב", "כתבה", "V", 4),
    ]
    for item in items:
        ((*expected,),) = Naive().align([(item["lemma"], item["form"])])
        assert [tuple(pair) for pair in item["pairs"]] == expected


def test_json_of_smart_equals_the_aligner(reinflect: Reinflect) -> None:
    pairs = [(line.split("\t")[0], line.split("\t")[1]) for line in VERBS.splitlines()]
    for sweeps, seed in [(0, 1), (5, 1), (5, 3)]:
        result = reinflect("align", "-", "--json", "--sweeps", sweeps, "--seed", seed, stdin=VERBS)
        shown = [tuple(map(tuple, json.loads(line)["pairs"])) for line in result.stdout.splitlines()]
        assert shown == Smart(sweeps=sweeps, seed=seed).align(pairs)


def test_stats_count_the_shown_pairs(reinflect: Reinflect) -> None:
    arguments = ("align", "-", "--sweeps", "5")
    marks = Counter("".join(reinflect(*arguments, stdin=VERBS).stdout.split("\n")[1::4]).replace(" ", ""))
    stats = json.loads(reinflect(*arguments, "--stats", "--json", stdin=VERBS).stdout)
    assert stats["items"] == 12
    assert stats["aligner"] == Smart(sweeps=5).signature
    kinds = {"copy": "|", "substitution": "×", "insertion": "+", "deletion": "-"}
    assert {mark: stats[kind]["count"] for kind, mark in kinds.items() if stats[kind]["count"]} == marks
    for kind in kinds:
        assert stats[kind]["share"] == pytest.approx(stats[kind]["count"] / marks.total())


def test_stats_as_text(reinflect: Reinflect) -> None:
    result = reinflect("align", "-", "--method", "naive", "--stats", stdin="fliegen\tflog\tV\n")
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows == [
        ["copy", "2", "28.6", "%"],
        ["substitution", "2", "28.6", "%"],
        ["insertion", "0", "0.0", "%"],
        ["deletion", "3", "42.9", "%"],
    ]


def test_limit_shows_fewer_items_but_learns_from_all(reinflect: Reinflect) -> None:
    everything = reinflect("align", "-", "--json", "--sweeps", 5, stdin=VERBS).stdout.splitlines()
    limited = reinflect("align", "-", "--json", "--sweeps", 5, "--limit", 3, stdin=VERBS).stdout.splitlines()
    assert limited == everything[:3]
    stats = reinflect("align", "-", "--stats", "--json", "--limit", 3, "--sweeps", 5, stdin=VERBS)
    assert json.loads(stats.stdout)["items"] == 3


def test_columns_in_another_order(reinflect: Reinflect) -> None:
    usual = reinflect("align", "-", "--method", "naive", stdin="fliegen\tflog\tV;PST\n")
    other = reinflect(
        "align", "-", "--method", "naive", "--columns", "features,form,lemma", stdin="V;PST\tflog\tfliegen\n"
    )
    assert usual.stdout == other.stdout


def test_a_file_is_aligned_once(
    reinflect: Reinflect, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data.tsv"
    path.write_text(VERBS, "utf-8")
    first = reinflect("align", path, "--sweeps", 5)
    assert len(list(cache.iterdir())) == 1

    def refuse(*_: object) -> None:
        raise AssertionError("asked to align again")

    with monkeypatch.context() as patch:
        patch.setattr(Smart, "align", refuse)
        assert reinflect("align", path, "--sweeps", 5).stdout == first.stdout
        assert isinstance(reinflect("align", path, "--sweeps", 5, "--no-cache").exception, AssertionError)
        assert isinstance(reinflect("align", path, "--sweeps", 4).exception, AssertionError)


def test_no_cache_leaves_nothing(reinflect: Reinflect, cache: Path) -> None:
    assert reinflect("align", "-", "--sweeps", 2, "--no-cache", stdin=VERBS).exit_code == 0
    assert reinflect("align", "-", "--method", "naive", stdin=VERBS).exit_code == 0
    assert not cache.exists()


def test_a_cache_that_cannot_be_written_is_not_an_error(
    reinflect: Reinflect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = reinflect("align", "-", "--sweeps", 2, stdin=VERBS).stdout
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path / "file"))
    result = reinflect("align", "-", "--sweeps", 2, stdin=VERBS)
    assert (result.exit_code, result.stdout, result.stderr) == (0, expected, "")


@pytest.mark.parametrize(
    ("arguments", "data", "message"),
    [
        ([], "fliegen\tV;PST\n", "standard input/output, line 1: found 2 columns"),
        ([], "a\tb\tN\nfliegen\t\tV;PST\n", "standard input/output, line 2: found no form for 'fliegen'"),
        ([], "", "found no items"),
        (["--sweeps", "-1"], VERBS, "found -1 sweeps"),
        (["--columns", "lemma,form"], VERBS, "found the columns 'lemma,form'"),
        ([], "a\tb\tN\n\n" + "x" * 1001 + "\ty\tN\n", "line 3: found a lemma or form of 1001 characters"),
        ([], b"a\tb\tN\nx\t\xff\tN\n", "line 2: found the byte 0xFF"),
    ],
)
def test_misuse_is_one_line(reinflect: Reinflect, arguments: list[str], data: str | bytes, message: str) -> None:
    result = reinflect("align", "-", *arguments, stdin=data)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_missing_file(reinflect: Reinflect, tmp_path: Path) -> None:
    result = reinflect("align", tmp_path / "nowhere.tsv")
    assert result.exit_code == 2
    assert result.stderr == f"reinflect: {tmp_path}/nowhere.tsv: there is no such file; check the name and the folder\n"


def test_any_registered_aligner_can_be_chosen(reinflect: Reinflect) -> None:
    assert f"--method [{'|'.join(ALIGNERS)}]" in reinflect("align", "--help").stdout


def test_an_unknown_aligner_is_named_with_the_nearest(reinflect: Reinflect) -> None:
    nearest = reinflect("align", "-", "--method", "Smrt", stdin=VERBS).stderr
    assert "there is no aligner 'Smrt'; did you mean smart?" in nearest
    known = reinflect("align", "-", "--method", "clever", stdin=VERBS).stderr
    assert f"there is no aligner 'clever'; the aligners are {', '.join(ALIGNERS)}" in known


@pytest.mark.parametrize("arguments", [["--method", "clever"], ["--limit", "0"], ["--seed", "one"]])
def test_an_invalid_option_is_a_usage_error(reinflect: Reinflect, arguments: list[str]) -> None:
    result = reinflect("align", "-", *arguments, stdin=VERBS)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Invalid value for '{arguments[0]}'" in result.stderr


def test_the_naive_aligner_takes_long_strings(reinflect: Reinflect) -> None:
    result = reinflect("align", "-", "--method", "naive", stdin="x" * 1001 + "\ty\tN\n")
    assert result.exit_code == 0
    assert len(split_cells(result.stdout.splitlines()[0])) == 1001


def test_a_terminal_gets_a_progress_bar_and_the_output_stays_clean(reinflect: Reinflect, tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    path = tmp_path / "data.tsv"
    path.write_text(VERBS, "utf-8")
    ours, theirs = pty.openpty()
    run = [sys.executable, "-m", "reinflect", "align", str(path), "--sweeps", "5"]
    with (tmp_path / "output").open("wb") as output:
        program = subprocess.Popen(run, stdout=output, stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    shown = read_all(ours)  # while the program runs: writing to a terminal blocks until it is read
    assert program.wait() == 0
    assert b"aligning" in shown
    assert (tmp_path / "output").read_text("utf-8") == reinflect("align", path, "--sweeps", 5).stdout


def read_all(terminal: int) -> bytes:
    output = b""
    try:
        while part := os.read(terminal, 4096):
            output += part
    except OSError:  # raised by Linux when the other side is closed
        pass
    os.close(terminal)
    return output
