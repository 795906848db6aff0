"""The queue: how the questions of many requests become batches."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reinflect.web import queue
from reinflect.web.queue import BATCH, Queue
from reinflect.web.requests import LIMITS, RequestError

Batch = tuple[str, list[str]]


class Models:
    """Answer in capitals and record the batches; questions that begin with `!` raise an error."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []

    def answers(self, kind: str) -> Callable[[Sequence[str]], Iterator[str]]:
        def answer(questions: Sequence[str]) -> Iterator[str]:
            self.batches.append((kind, list(questions)))
            if any(question.startswith("!") for question in questions):
                raise ValueError("on purpose")
            return map(str.upper, questions)

        return answer

    def together(self, *requests: tuple[str, Sequence[str]]) -> list[Any]:
        """The answers to, or errors of, requests that arrive at the same time, each of a kind."""

        async def gathered() -> list[Any]:
            waiting = Queue()
            asked = (waiting.ask(kind, self.answers(kind), questions) for kind, questions in requests)
            try:
                return await asyncio.gather(*asked, return_exceptions=True)
            finally:
                waiting.close()

        with no_more_than(len(requests)):
            return asyncio.run(gathered())


@contextmanager
def no_more_than(waiting: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LIMITS, "waiting", waiting)
        patch.setattr(queue, "REFUSAL_SECONDS", 0.0)
        yield


questions = st.lists(st.text("ab!", min_size=1, max_size=3), max_size=8)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from("kl"), questions), max_size=10), st.integers(1, 20))
def test_each_request_gets_the_answers_it_would_get_alone(requests: list[tuple[str, list[str]]], batch: int) -> None:
    models = Models()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queue, "BATCH", batch)
        results = models.together(*requests)
    for (_, wanted), result in zip(requests, results, strict=True):
        if any(question.startswith("!") for question in wanted):
            assert isinstance(result, ValueError)
        else:
            assert result == [question.upper() for question in wanted]
    assert all(0 < len(answered) <= batch for _, answered in models.batches)


@pytest.mark.parametrize(
    ("requests", "batches"),
    [
        ([("k", [letter]) for letter in "abcdef"], [("k", list("abcdef"))]),
        ([("k", ["long"] * 2 * BATCH), ("k", ["word"])], [("k", ["long", "word"] + ["long"] * (BATCH - 2))]),
        ([("k", ["x"] * 3 * BATCH), ("l", ["y"])], [("k", ["x"] * BATCH), ("l", ["y"]), ("k", ["x"] * BATCH)]),
    ],
    ids=["merged", "a word does not wait for a long list", "kinds take turns"],
)
def test_batches(requests: list[tuple[str, list[str]]], batches: list[Batch]) -> None:
    models = Models()
    models.together(*requests)
    assert models.batches[: len(batches)] == batches


def test_questions_gather_while_a_batch_is_answered() -> None:
    async def in_two_parts() -> list[list[str]]:
        waiting, batches = Queue(), []
        loop, begun, released = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

        def answer(questions: Sequence[str]) -> Sequence[str]:
            batches.append(list(questions))
            loop.call_soon_threadsafe(begun.set)
            if len(batches) == 1:
                asyncio.run_coroutine_threadsafe(released.wait(), loop).result(60)
            return questions

        first = asyncio.create_task(waiting.ask("k", answer, ["a"]))
        await begun.wait()  # starts at once, without waiting for others
        others = [asyncio.create_task(waiting.ask("k", answer, [letter])) for letter in "bcde"]
        await asyncio.sleep(0)
        others.pop().cancel()
        released.set()
        assert [await task for task in (first, *others)] == [["a"], ["b"], ["c"], ["d"]]
        waiting.close()
        return batches

    assert asyncio.run(in_two_parts()) == [["a"], ["b", "c", "d"]]


def test_requests_beyond_the_limit_are_refused_and_may_retry() -> None:
    async def code(waiting: Queue, letter: str) -> str | None:
        try:
            await waiting.ask("k", list, [letter])
        except RequestError as error:
            return error.code
        return None

    async def four_and_one() -> list[str | None]:
        waiting = Queue()
        codes = await asyncio.gather(*(code(waiting, letter) for letter in "abcd"))
        waiting.end(-1)
        codes.append(await code(waiting, "e"))
        waiting.close()
        return codes

    with no_more_than(2):
        assert asyncio.run(four_and_one()) == [None, None, "busy", "busy", "ending"]
