"""Whole commands with a bad file or argument: they do what they should, or say one line and write nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from click.testing import CliRunner

from reinflect.cli import main
from reinflect.errors import ReinflectError
from tests.fuzz import item_files, model_files, texts, tiny_models
from tests.fuzz.campaign import Attempt, Kind, refusal

GOOD = "gehen\tging\tV;PST\nsehen\tsah\tV;PST\nhand\thände\tN;PL\n"
FROM_FILES = (
    "baseline --train BAD --input GOOD -o OUT",
    "baseline --train GOOD --input BAD -o OUT",
    "evaluate BAD GOOD --errors 3 --by features",
    "evaluate GOOD BAD --json",
    "evaluate GOOD GOOD --against BAD",
    "align BAD --method naive",
    "align BAD --sweeps 5 --no-cache --stats",
    "oracle gehen ging --pairs BAD --sweeps 5 --no-cache",
    "inflect MODEL --input BAD -o OUT",
    "inflect MODEL --input BAD -o OUT --json",
    "inflect MODEL --input GOOD --labels BAD -o OUT",
    "suggest MODEL --lemmas BAD -o OUT",
    "suggest MODEL --lemmas GOOD --known BAD -o OUT",
    "paradigm MODEL gehen --features BAD -o OUT",
    "train --train BAD --dev GOOD --out OUT --set hidden=x",
    "train --train GOOD --add BAD --out OUT --set hidden=x",
)
FROM_WORDS = (
    "inflect MODEL WORD V;PST",
    "inflect MODEL gehen WORD --n-best 2",
    "paradigm MODEL WORD -o OUT",
    "trace MODEL WORD V;PST",
    "trace MODEL gehen WORD --member haem-smart-2",
    "trace MODEL gehen V --member WORD",
    "oracle WORD ging --system hacm --method naive",
    "oracle gehen WORD --method naive --json",
)
FROM_PLACES = ("info WORD", "report WORD --out OUT", "evaluate GOOD WORD")
FROM_MODELS = ("info BAD", "inflect BAD gehen V;PST", "report BAD --out OUT --dev GOOD")


class Command(NamedTuple):
    """A command, and what takes the place of BAD or WORD in it."""

    line: str
    bad: bytes = b""
    ending: str = ".tsv"
    word: str = ""


def command(rng: Random) -> Command:
    how = rng.randrange(10)
    if how < 6:
        ending = rng.choice([".tsv", ".tsv", ".csv"])
        made = item_files.item_file(rng) if ending == ".tsv" else item_files.sheet_file(rng)
        return Command(rng.choice(FROM_FILES), made.content, ending)
    if how < 9:
        word = texts.word(rng)
        for _ in range(rng.choice([0, 1, 2])):
            word = rng.choice(texts.OF_TEXT)(rng, word)
        line = rng.choice(FROM_WORDS + FROM_PLACES)
        return Command(line, word=word[:100] if line in FROM_PLACES else word)
    return Command(rng.choice(FROM_MODELS), model_files.altered_model(rng), ".reinflect")


@contextmanager
def _running(folder: Path) -> Iterator[Attempt]:
    good, model, out, runner = folder / "good.tsv", folder / "tiny.reinflect", folder / "out", CliRunner()
    good.write_text(GOOD, encoding="utf-8")
    model.write_bytes(tiny_models.model_file())

    def attempt(made: Command) -> str:
        bad = folder / f"bad{made.ending}"
        bad.write_bytes(made.bad)
        out.unlink(missing_ok=True)
        before = sorted(folder.iterdir())
        places = {"BAD": str(bad), "GOOD": str(good), "MODEL": str(model), "OUT": str(out), "WORD": made.word}
        name, *words = [places.get(word, word) for word in made.line.split()]
        done = runner.invoke(main, [name, *words])
        bad.unlink(missing_ok=True)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code in (0, 2), done.output
        if done.exit_code == 0:
            return "used"
        *_, last = done.stderr.rstrip("\n").split("\n")
        assert not out.exists()
        assert sorted(folder.iterdir()) == [path for path in before if path != bad], "something was left behind"
        refusal(ReinflectError(last))
        assert last.startswith("reinflect: "), done.stderr
        return "refused"

    yield attempt


COMMANDS = (Kind("commands", 2_000, command, _running),)
