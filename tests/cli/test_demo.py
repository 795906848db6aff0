import re
from collections.abc import Callable, Sequence

import pytest
from click.testing import Result

from reinflect.baseline import Baseline
from reinflect.cli import COMMANDS, demo
from reinflect.data.features import Bundle
from reinflect.data.german import read_split
from reinflect.data.items import Item
from reinflect.evaluation import Judged

Reinflect = Callable[..., Result]


@pytest.fixture
def shown(reinflect: Reinflect) -> str:
    result = reinflect("demo")
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def section(shown: str, first: str) -> list[list[str]]:
    """The rows of the table whose header begins with `first`; its columns are two blanks apart or more."""
    lines = shown.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{first} "))
    end = next(i for i, line in enumerate(lines) if i > start and not line)
    return [re.split(" {2,}", line) for line in lines[start + 1 : end] if not line.startswith("data:")]


def test_the_table_gives_what_counting_by_hand_gives(shown: str) -> None:
    rows = section(shown, "system")
    assert [row[0] for row in rows] == ["rule baseline", "rule baseline"]
    for row, split in zip(rows, ["train-low", "train-medium"], strict=True):
        examples, asked = read_split(split), read_split("test")
        baseline = Baseline.learn(examples)
        right = sum(baseline.inflect(item.lemma, item.features) == item.form for item in asked)
        assert int(row[1].replace(",", "")) == len(examples)
        assert float(row[2]) == round(100 * right / len(asked), 2)
    assert "data:german-verbs-test|items:300|" in shown


def test_the_inflections_are_predictions_for_cells_never_seen_in_training(shown: str) -> None:
    examples = read_split("train-medium")
    seen = {(item.lemma, item.features.spelling) for item in examples}
    right = {(item.lemma, item.features.spelling): item.form for item in read_split("test")}
    baseline = Baseline.learn(examples)
    rows = section(shown, "lemma")
    assert len(rows) == demo.SHOWN == len({row[0] + row[1] for row in rows})
    for lemma, features, predicted, verdict in rows:
        assert (lemma, features) not in seen
        assert predicted == baseline.inflect(lemma, Bundle(features))
        form = right[lemma, features]
        assert verdict == ("right" if predicted == form else f"wrong: {form}")


def test_fliegen_in_the_past_tense_comes_first(shown: str) -> None:
    assert section(shown, "lemma")[0][:2] == ["fliegen", "V;IND;PST;3;SG"]


def test_it_ends_with_two_lines_of_commands_that_exist(shown: str, reinflect: Reinflect) -> None:
    following = shown.splitlines()[-2:]
    for line in following:
        named = re.findall(r"reinflect (\w+)", line)
        assert named
        assert set(named) <= set(COMMANDS)
    assert "reinflect oracle fliegen flog" in following[1]
    assert reinflect("oracle", "fliegen", "flog").exit_code == 0


def test_another_system_is_another_row_and_sees_no_answers(
    monkeypatch: pytest.MonkeyPatch, reinflect: Reinflect
) -> None:
    def unchanged(examples: Sequence[Item], asked: Sequence[Item]) -> list[Item]:
        assert len(examples) == 100
        assert all(item.covered for item in asked)
        return [Item(item.lemma, item.features, item.lemma) for item in asked]

    monkeypatch.setattr(demo, "SYSTEMS", (*demo.SYSTEMS, demo.System("the lemma itself", "train-low", unchanged)))
    shown = reinflect("demo").stdout
    right = sum(item.lemma == item.form for item in read_split("test"))
    assert section(shown, "system")[2][:3] == ["the lemma itself", "100", f"{100 * right / 300:.2f}"]
    assert section(shown, "lemma")[0][2:] == ["fliegen", "wrong: flog"]


@pytest.mark.parametrize("count", [1, 2, 9, 10, 11, 300])
def test_a_shorter_list_is_shown_as_far_as_it_goes(count: int) -> None:
    cells = [Judged(f"word{number}", Bundle("N"), "a", "b", 1, False) for number in range(count)]
    found = demo.chosen(cells)
    assert len(found) == len(set(found)) == min(count, len(found))
    assert set(found) <= set(cells)
    assert 0 < len(found) <= demo.SHOWN
