"""`reinflect trace`: lemmas and models that goldens do not have."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.inflector.inflector import Inflector
from tests.cli.test_transcripts import GOLDEN

Reinflect = Callable[..., Result]
MODEL = GOLDEN / "files" / "words.reinflect"


def test_a_prediction_replaced_by_the_lemma_is_explained(tmp_path: Path, reinflect: Reinflect) -> None:
    member = Inflector.load(MODEL).members[0]
    member.parameters["output.bias"][3] = 50.0
    Inflector((member,), {}).save(tmp_path / "endless")
    result = reinflect("trace", tmp_path / "endless", "gen", "V")
    assert result.stdout.splitlines()[0] == "haem-naive-1: gen, V → gen"
    assert result.stdout.splitlines()[-1].startswith("The lemma is the prediction")


@pytest.mark.parametrize("lemma", ["漢字", "😀", "a\u0301e", "x" * 300, " ", "\u2028", "שלום", "-keit"])
@pytest.mark.parametrize("member", ["haem-naive-1", "hacm-naive-1", "soft-1"])
def test_unusual_lemmas(lemma: str, member: str, reinflect: Reinflect) -> None:
    result = reinflect("trace", "--member", member, "--", MODEL, lemma, "V;XX")
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines()[1:12])) < 120 + len(lemma)
    assert "never seen the feature 'XX'" in result.stderr
