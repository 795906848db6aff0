"""How the questions of many requests become pieces of work."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reinflect.web import work
from reinflect.web.requests import RequestError
from reinflect.web.work import ROOM, SENT_AWAY_A_SECOND, Trade, Work

Piece = tuple[str, str, list[str]]


class Models:
    """Say everything in capitals, and what they were asked together; what begins with `!` is too much for them."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    def trade(self, model: str = "m", kind: str = "k", room: Callable[[str], int] = len) -> Trade[str, str]:
        def answer(questions: Sequence[str]) -> Iterator[str]:
            self.pieces.append((model, kind, list(questions)))
            if any(question.startswith("!") for question in questions):
                raise ValueError("too much")
            return map(str.upper, questions)

        return Trade(model, kind, answer, room)


@contextmanager
def no_more_than(waiting: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "WAITING", waiting)
        yield


def together(*asked: tuple[Trade[str, str], Sequence[str]]) -> list[Any]:
    """What comes of requests that arrive at the same time: answers, or errors."""

    async def all_of_them() -> list[Any]:
        queue = Work()
        try:
            return await asyncio.gather(*(queue.ask(*one) for one in asked), return_exceptions=True)
        finally:
            queue.close()

    with no_more_than(len(asked)):
        return asyncio.run(all_of_them())


questions = st.lists(st.text("ab!", min_size=1, max_size=3), max_size=8)
asked = st.lists(st.tuples(st.sampled_from("mn"), st.sampled_from("kl"), questions), max_size=10)


@settings(max_examples=100)
@given(asked=asked, room=st.integers(1, 400))
def test_everybody_gets_what_they_would_get_alone(asked: list[tuple[str, str, list[str]]], room: int) -> None:
    models = Models()
    found = together(*((models.trade(model, kind, lambda _: room), own) for model, kind, own in asked))
    for (_, _, own), said in zip(asked, found, strict=True):
        if any(question.startswith("!") for question in own):
            assert isinstance(said, ValueError)
        else:
            assert said == [question.upper() for question in own]


@settings(max_examples=100)
@given(asked=asked, rooms=st.lists(st.integers(1, 3 * ROOM), min_size=1))
def test_no_piece_is_too_large_and_none_is_empty(asked: list[tuple[str, str, list[str]]], rooms: list[int]) -> None:
    models = Models()

    def room(question: str) -> int:
        return rooms[len(question) % len(rooms)]

    together(*((models.trade(model, kind, room), own) for model, kind, own in asked))
    for _, _, piece in models.pieces:
        assert piece
        assert len(piece) == 1 or sum(map(room, piece)) <= ROOM


def test_what_goes_together_is_asked_together() -> None:
    models = Models()
    together(*((models.trade(), [letter]) for letter in "abcdef"))
    assert models.pieces == [("m", "k", list("abcdef"))]


def test_models_take_turns() -> None:
    models = Models()
    busy, quiet = models.trade("busy", room=lambda _: ROOM), models.trade("quiet")
    other = models.trade("busy", "other kind", room=lambda _: ROOM)
    together((busy, list("abcd")), (other, list("efgh")), (quiet, ["z"]), (busy, ["i"]))
    assert models.pieces[:2] == [("busy", "k", ["a"]), ("quiet", "k", ["z"])]
    assert [kind for model, kind, _ in models.pieces if model == "busy"][:6] == ["k", "other kind"] * 3


def test_a_word_does_not_wait_for_all_of_a_batch() -> None:
    models = Models()
    trade = models.trade(room=lambda _: ROOM // 4)
    together((trade, ["batch"] * 100), (trade, ["word"]), (trade, ["word"]))
    assert models.pieces[0][2] == ["batch", "batch", "word", "word"]


def test_a_large_question_does_not_wait_for_all_of_a_batch() -> None:
    models = Models()
    trade = models.trade(room=lambda question: ROOM if question == "large" else ROOM // 10)
    together((trade, ["small"] * 100), (trade, ["large"]))
    assert [len(piece) for _, _, piece in models.pieces[:2]] == [10, 1]
    assert models.pieces[1][2] == ["large"]


def test_one_piece_is_at_work_while_the_next_gathers() -> None:
    async def in_two_parts() -> list[int]:
        queue, sizes = Work(), []
        loop, begun = asyncio.get_running_loop(), asyncio.Event()
        released = asyncio.Event()

        def answer(questions: Sequence[str]) -> Sequence[str]:
            sizes.append(len(questions))
            loop.call_soon_threadsafe(begun.set)
            if len(sizes) == 1:
                asyncio.run_coroutine_threadsafe(_wait(released), loop).result(60)
            return questions

        trade: Trade[str, str] = Trade("m", "k", answer, len)
        first = asyncio.create_task(queue.ask(trade, ["a"]))
        await begun.wait()  # at once, though it is alone
        others = [asyncio.create_task(queue.ask(trade, [letter])) for letter in "bcde"]
        await asyncio.sleep(0)
        gone = others.pop()
        gone.cancel()
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


def test_whoever_comes_last_is_sent_away_and_may_come_again() -> None:
    async def four() -> list[str | None]:
        queue, trade = Work(), Models().trade()
        said = await asyncio.gather(*(code_of(queue.ask(trade, [letter])) for letter in "abcd"))
        said.append(await code_of(queue.ask(trade, ["e"])))
        queue.close()
        return said

    with no_more_than(2):
        assert asyncio.run(four()) == [None, None, "busy", "busy", None]


def test_no_more_are_sent_away_than_leave_the_models_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are that ask again at once, so many a second are told to go, and all of them in the end."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await pause(0)

    async def ten() -> list[str | None]:
        queue, trade = Work(), Models().trade()
        said = await asyncio.gather(*(code_of(queue.ask(trade, [letter])) for letter in "abcdefghij"))
        queue.close()
        return said

    pause = asyncio.sleep
    monkeypatch.setattr("reinflect.web.work.asyncio.sleep", sleep)
    with no_more_than(0):
        assert asyncio.run(ten()) == ["busy"] * 10
        assert asyncio.run(ten()) == ["busy"] * 10
    assert slept == [number / SENT_AWAY_A_SECOND for number in range(1, 11)] * 2
