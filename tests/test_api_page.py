"""The examples in docs/api.md and in docstrings of the inflector give the output they show."""

import doctest
from collections.abc import Iterator
from inspect import getmembers
from pathlib import Path
from typing import Any

import pytest

from reinflect.inflector.inflector import Inflector

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
OPTIONS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def run(name: str, text: str, names: dict[str, Any]) -> None:
    # The fences that close a block would be taken for output.
    example = doctest.DocTestParser().get_doctest(text.replace("```", ""), names, name, name, 0)
    output: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    found = runner.run(example, out=output.append, clear_globs=False)
    names.update(example.globs)
    assert found.attempted > 0, name
    assert not found.failed, "".join(output)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The names that the page has defined at its end."""
    names: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("api"))
        run("api.md", PAGE.read_text(encoding="utf-8"), names)
        yield names


def test_the_page_runs(page: dict[str, Any]) -> None:
    assert isinstance(page["inflector"], Inflector)


@pytest.mark.parametrize(
    "name", [name for name, own in getmembers(Inflector, callable) if ">>>" in (own.__doc__ or "")]
)
def test_examples_in_docstrings_run(name: str, page: dict[str, Any]) -> None:
    run(name, getattr(Inflector, name).__doc__, {"inflector": page["inflector"]})
