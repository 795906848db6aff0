"""From a form back to lemma and features: by a model that copies lemmas, and from attested forms."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.labels import Labels
from reinflect.data.lexicon import Lexicon
from reinflect.inflector.analyse import CELLS, analyse
from reinflect.inflector.card import describe_training
from reinflect.inflector.inflector import Inflector
from tests.inflector.test_inflector import a_member

Reinflect = Callable[..., Result]
ITEMS = [Item("gen", Bundle("V;A"), "gen"), Item("gen", Bundle("V;B"), "gan"), Item("eng", Bundle("N;A"), "eng")]


@pytest.fixture(scope="module")
def copying() -> Inflector:
    """HAEM that copies the lemma and stops, whatever the features."""
    member = a_member("haem", "naive", accuracy=60.0)
    for array in member.parameters.values():
        array[:] = 0
    member.parameters["output.bias"][:5] = [3.0, 1.0, 30.0, 0.5, 0.2]
    training = describe_training(ITEMS, None, source="x", accuracy=60.0, scored=3, interrupted=False)
    return Inflector((member,), {}, "vote", {"vote": ("haem-naive-1",)}, training=training)


def found(inflector: Inflector, form: str, lexicon: Lexicon, n: int = 9) -> list[tuple[str, str, bool]]:
    return [(own.lemma, own.features, own.answer is None) for own in analyse(inflector, form, lexicon, n)]


def test_cells_for_which_the_model_predicts_the_form_are_its_analyses(copying: Inflector) -> None:
    lexicon = Lexicon(("ab", "gen", "gens", "eng"))
    assert found(copying, "gen", lexicon)[:3] == [("gen", own, False) for own in ("V;A", "V;B", "N;A")]
    assert found(copying, "gen", lexicon, n=2) == [("gen", own, False) for own in ("V;A", "V;B")]
    others = analyse(copying, "gen", lexicon, 9)[3:]
    assert all(own.answer is not None and own.answer.votes == 0 for own in others), "alternatives of near lemmas"
    assert found(copying, "genug", lexicon) == []
    assert found(copying, "gen", Lexicon(("ab",))) == []


def test_attested_forms_come_first_and_exclude_their_cell_where_they_are_others(copying: Inflector) -> None:
    lexicon = Lexicon(("gen", "eng"), tuple(ITEMS))
    assert found(copying, "gan", lexicon) == [("gen", "V;B", True)]
    assert found(copying, "gen", lexicon) == [("gen", "V;A", True)], "V;B has another form, and verbs have no N;A"
    kept = replace(copying, attested=tuple(ITEMS))
    assert found(kept, "gan", Lexicon(())) == [("gen", "V;B", True)]
    assert found(kept, "gen", Lexicon(("gene",)))[0] == ("gen", "V;A", True)


def test_the_lemma_is_found_among_thousands(copying: Inflector) -> None:
    """More cells than are inflected: those of the lemmas nearest to the form are."""
    letters = "abcdefghij"
    lemmas = [f"{a}{b}{c}{d}" for a in letters for b in letters for c in letters for d in letters[:5]]
    assert len(lemmas) * 3 > 5 * CELLS
    assert ("cafe", "V;A", False) in found(copying, "cafe", Lexicon((*lemmas, "cafe")))


def test_the_command(copying: Inflector, reinflect: Reinflect, tmp_path: Path) -> None:
    model, lemmas = tmp_path / "copies.reinflect", tmp_path / "lemmas.txt"
    replace(copying, labels=Labels((("the first", "V;A"),))).save(model)
    lemmas.write_text("gen\nab\n", encoding="utf-8")
    ran = reinflect("analyse", model, "gen", "--lemmas", lemmas, "--n", "2")
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.splitlines() == [
        "lemma  features   confidence",
        "gen    the first         1/1",
        "gen    V;B               1/1",
    ]
    items = tmp_path / "items.tsv"
    items.write_text("gen\tgan\tV;B\n", encoding="utf-8")
    ran = reinflect("analyse", model, "gan", "--lemmas", items)
    assert ran.stdout.splitlines()[1].split() == ["gen", "V;B", "attested"]
    made = json.loads(reinflect("analyse", model, "gen", "--lemmas", lemmas, "--json", "--n", "1").stdout)
    assert made["form"] == "gen"
    assert [(own["lemma"], own["features"], own["answer"]["form"]) for own in made["analyses"]] == [
        ("gen", "V;A", "gen")
    ]
    ran = reinflect("analyse", model, "genug", "--lemmas", lemmas)
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert ran.stderr == "note: the model predicts 'genug' for no cell of the 2 known lemmas\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gen"], "found no lemmas to choose from; name a file of them with --lemmas"),
        (["", "--lemmas", "lemmas.txt"], "found an empty form; give one with at least one letter"),
        (["gen", "--lemmas", "nowhere"], "nowhere"),
        (["g" * 5000, "--lemmas", "lemmas.txt"], "shorten it"),
    ],
)
def test_misuse(
    copying: Inflector,
    reinflect: Reinflect,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    copying.save("copies.reinflect")
    Path("lemmas.txt").write_text("gen\n", encoding="utf-8")
    ran = reinflect("analyse", "copies.reinflect", *arguments)
    assert ran.exit_code == 2
    assert message in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
