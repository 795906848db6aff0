"""The queue: how the questions of many requests become batches."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reinflect.web import queue
from reinflect.web.queue import BATCH, Queue

Batch = tuple[str, list[str]]
Request = tuple[str, list[str]]


def together(*requests: Request, batch: int = BATCH) -> tuple[list[Any], list[Batch]]:
    """The answers to, or errors of, requests that arrive at the same time, each of a kind; and the batches.

    The models answer in capitals; questions that begin with `!` raise an error.
    """
    batches: list[Batch] = []

    def answers(kind: str) -> Callable[[Sequence[str]], Iterator[str]]:
        def answer(questions: Sequence[str]) -> Iterator[str]:
            batches.append((kind, list(questions)))
            if any(question.startswith("!") for question in questions):
                raise ValueError("on purpose")
            return map(str.upper, questions)

        return answer

    async def gathered() -> list[Any]:
        there = Queue()
        waiting = (there.ask(kind, answers(kind), questions) for kind, questions in requests)
        try:
            return await asyncio.gather(*waiting, return_exceptions=True)
        finally:
            there.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queue, "BATCH", batch)
        return asyncio.run(gathered()), batches


questions = st.lists(st.text("ab!", min_size=1, max_size=3), max_size=8)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from("kl"), questions), max_size=10), st.integers(1, 20))
def test_each_request_gets_the_answers_it_would_get_alone(requests: list[Request], batch: int) -> None:
    results, batches = together(*requests, batch=batch)
    for (_, wanted), result in zip(requests, results, strict=True):
        if any(question.startswith("!") for question in wanted):
            assert isinstance(result, ValueError)
        else:
            assert result == [question.upper() for question in wanted]
    assert all(0 < len(answered) <= batch for _, answered in batches)


@pytest.mark.parametrize(
    ("requests", "batches"),
    [
        ([("k", [letter]) for letter in "abcdef"], [("k", list("abcdef"))]),
        ([("k", ["long"] * 2 * BATCH), ("k", ["word"])], [("k", ["long", "word"] + ["long"] * (BATCH - 2))]),
        ([("k", ["x"] * 3 * BATCH), ("l", ["y"])], [("k", ["x"] * BATCH), ("l", ["y"]), ("k", ["x"] * BATCH)]),
    ],
    ids=["merged", "a word does not wait for a long list", "kinds take turns"],
)
def test_batches(requests: list[Request], batches: list[Batch]) -> None:
    assert together(*requests)[1][: len(batches)] == batches
