"""The queue: how the questions of many requests become chunks."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reinflect.web.queue import CHUNK_COST, REFUSALS_PER_SECOND, Operation, Queue
from reinflect.web.requests import LIMITS, RequestError

Chunk = tuple[str, str, list[str]]


class Models:
    """Answer in capitals and record the chunks; questions that begin with `!` raise an error."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []

    def operation(self, model: str = "m", kind: str = "k", cost: Callable[[str], int] = len) -> Operation[str, str]:
        def answer(questions: Sequence[str]) -> Iterator[str]:
            self.chunks.append((model, kind, list(questions)))
            if any(question.startswith("!") for question in questions):
                raise ValueError("on purpose")
            return map(str.upper, questions)

        return Operation(model, kind, answer, cost)


@contextmanager
def no_more_than(waiting: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LIMITS, "waiting", waiting)
        yield


def together(*asked: tuple[Operation[str, str], Sequence[str]]) -> list[Any]:
    """The answers to, or errors of, requests that arrive at the same time."""

    async def all_of_them() -> list[Any]:
        queue = Queue()
        try:
            return await asyncio.gather(*(queue.ask(*one) for one in asked), return_exceptions=True)
        finally:
            queue.close()

    with no_more_than(len(asked)):
        return asyncio.run(all_of_them())


questions = st.lists(st.text("ab!", min_size=1, max_size=3), max_size=8)
asked = st.lists(st.tuples(st.sampled_from("mn"), st.sampled_from("kl"), questions), max_size=10)


@settings(max_examples=100)
@given(asked=asked, cost=st.integers(1, 400))
def test_each_request_gets_the_answers_it_would_get_alone(asked: list[tuple[str, str, list[str]]], cost: int) -> None:
    models = Models()
    found = together(*((models.operation(model, kind, lambda _: cost), own) for model, kind, own in asked))
    for (_, _, own), result in zip(asked, found, strict=True):
        if any(question.startswith("!") for question in own):
            assert isinstance(result, ValueError)
        else:
            assert result == [question.upper() for question in own]


@settings(max_examples=100)
@given(asked=asked, costs=st.lists(st.integers(1, 3 * CHUNK_COST), min_size=1))
def test_no_chunk_is_too_large_or_empty(asked: list[tuple[str, str, list[str]]], costs: list[int]) -> None:
    models = Models()

    def cost(question: str) -> int:
        return costs[len(question) % len(costs)]

    together(*((models.operation(model, kind, cost), own) for model, kind, own in asked))
    for _, _, chunk in models.chunks:
        assert chunk
        assert len(chunk) == 1 or sum(map(cost, chunk)) <= CHUNK_COST


def test_questions_of_one_operation_are_merged() -> None:
    models = Models()
    together(*((models.operation(), [letter]) for letter in "abcdef"))
    assert models.chunks == [("m", "k", list("abcdef"))]


def test_models_take_turns() -> None:
    models = Models()
    busy, quiet = models.operation("busy", cost=lambda _: CHUNK_COST), models.operation("quiet")
    other = models.operation("busy", "other kind", cost=lambda _: CHUNK_COST)
    together((busy, list("abcd")), (other, list("efgh")), (quiet, ["z"]), (busy, ["i"]))
    assert models.chunks[:2] == [("busy", "k", ["a"]), ("quiet", "k", ["z"])]
    assert [kind for model, kind, _ in models.chunks if model == "busy"][:6] == ["k", "other kind"] * 3


def test_a_word_does_not_wait_for_a_whole_batch() -> None:
    models = Models()
    operation = models.operation(cost=lambda _: CHUNK_COST // 4)
    together((operation, ["batch"] * 100), (operation, ["word"]), (operation, ["word"]))
    assert models.chunks[0][2] == ["batch", "batch", "word", "word"]


def test_a_costly_question_does_not_wait_for_a_whole_batch() -> None:
    models = Models()
    operation = models.operation(cost=lambda question: CHUNK_COST if question == "large" else CHUNK_COST // 10)
    together((operation, ["small"] * 100), (operation, ["large"]))
    assert [len(chunk) for _, _, chunk in models.chunks[:2]] == [10, 1]
    assert models.chunks[1][2] == ["large"]


def test_questions_gather_while_a_chunk_is_answered() -> None:
    async def in_two_parts() -> list[int]:
        queue, sizes = Queue(), []
        loop, begun = asyncio.get_running_loop(), asyncio.Event()
        released = asyncio.Event()

        def answer(questions: Sequence[str]) -> Sequence[str]:
            sizes.append(len(questions))
            loop.call_soon_threadsafe(begun.set)
            if len(sizes) == 1:
                asyncio.run_coroutine_threadsafe(_wait(released), loop).result(60)
            return questions

        operation: Operation[str, str] = Operation("m", "k", answer, len)
        first = asyncio.create_task(queue.ask(operation, ["a"]))
        await begun.wait()  # starts at once, without waiting for others
        others = [asyncio.create_task(queue.ask(operation, [letter])) for letter in "bcde"]
        await asyncio.sleep(0)
        cancelled = others.pop()
        cancelled.cancel()
        released.set()
        assert [await task for task in (first, *others)] == [["a"], ["b"], ["c"], ["d"]]
        queue.close()
        return sizes

    assert asyncio.run(in_two_parts()) == [1, 3]


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


def code_of(asking: Coroutine[Any, Any, object]) -> Coroutine[Any, Any, str | None]:
    async def found() -> str | None:
        try:
            await asking
        except RequestError as error:
            return error.code
        return None

    return found()


def test_requests_beyond_the_limit_are_refused_and_may_retry() -> None:
    async def four() -> list[str | None]:
        queue, operation = Queue(), Models().operation()
        result = await asyncio.gather(*(code_of(queue.ask(operation, [letter])) for letter in "abcd"))
        result.append(await code_of(queue.ask(operation, ["e"])))
        queue.close()
        return result

    with no_more_than(2):
        assert asyncio.run(four()) == [None, None, "busy", "busy", None]


def test_refusals_are_delayed_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that retry at once must leave time for the models; all are refused in the end."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await pause(0)

    async def ten() -> list[str | None]:
        queue, operation = Queue(), Models().operation()
        result = await asyncio.gather(*(code_of(queue.ask(operation, [letter])) for letter in "abcdefghij"))
        queue.close()
        return result

    pause = asyncio.sleep
    monkeypatch.setattr("reinflect.web.queue.asyncio.sleep", sleep)
    with no_more_than(0):
        assert asyncio.run(ten()) == ["busy"] * 10
        assert asyncio.run(ten()) == ["busy"] * 10
    assert slept == [number / REFUSALS_PER_SECOND for number in range(1, 11)] * 2
