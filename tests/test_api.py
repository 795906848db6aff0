"""The package by itself: a few names, each imported when it is asked for."""

import pytest

import reinflect
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.errors import InputError
from tests.cli import printed_by


def test_every_public_name_is_there_and_listed() -> None:
    for name in reinflect.__all__:
        assert getattr(reinflect, name) is not None
        assert name in dir(reinflect)


@pytest.mark.parametrize("name", ["align", "train"])
def test_a_module_does_not_replace_the_function_of_its_name(name: str) -> None:
    code = f"import reinflect, reinflect.{name}; assert reinflect.{name}.__name__ == {name!r}; import reinflect.{name}"
    printed_by("-c", f"{code}; assert callable(reinflect.{name})")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'reinflect' has no attribute 'inflate'"):
        getattr(reinflect, "inflate")  # noqa: B009


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, reinflect; print(*{m.split('.')[0] for m in sys.modules})"
    assert {"torch", "numba", "numpy", "rapidfuzz", "click", "requests"}.isdisjoint(printed_by("-c", code).split())


def test_evaluate() -> None:
    gold = [Item("gehen", Bundle("V;PST"), "ging"), Item("sehen", Bundle("V;PST"), "sah")]
    predicted = [Item("gehen", Bundle("V;PST"), "gehte"), Item("sehen", Bundle("V;PST"), "sah")]
    assert reinflect.evaluate(gold, predicted).accuracy == 50.0


def test_align() -> None:
    (alignment,) = reinflect.align(iter([("legen", "legt")]), "naive")
    assert alignment == (("l", "l"), ("e", "e"), ("g", "g"), ("e", "t"), ("n", ""))
    pairs = [(f"{stem}en", f"ge{stem}t") for stem in ("lob", "kauf", "such", "mach")]
    learnt = reinflect.align(pairs, sweeps=20, seed=3)
    assert learnt == reinflect.align(pairs, "smart", seed=3, sweeps=20)
    assert [("".join(x for x, _ in one), "".join(y for _, y in one)) for one in learnt] == pairs
    with pytest.raises(TypeError):
        reinflect.align(pairs, "naive", sweeps=20)
    for method, remedy in {"smrt": r"did you mean smart\?", "xyz": "aligners: naive, smart"}.items():
        with pytest.raises(InputError, match=f"^there is no aligner '{method}'; {remedy}$"):
            reinflect.align([("a", "b")], method)
