"""Where the models work: in one thread, on what all requests that wait ask of the same model, as far as it fits.

While the thread is at one piece of work, questions gather; the next piece takes some of each request. So nobody waits
for company when there is none, and the more wait, the more is done at once, which is far quicker than one by one.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from reinflect.web.requests import ANSWER_SECONDS, WAITING, RequestError

ROOM = 2000
"""How much fits into one piece of work: so many letters of lemmas, about half a second. Nothing else can be done
before it is over, neither for other models nor to end the server."""
LEAST_LETTERS = 20
"""A lemma that is shorter takes as much room as one of this length."""
SENT_AWAY_A_SECOND = 500
"""Requests, at most, when too many wait; each takes a third of a millisecond from the models."""

Question = TypeVar("Question")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Trade(Generic[Question, Answer]):
    """Something that a model does for many at once; questions of the same model and kind go together."""

    model: str
    kind: str
    answer: Callable[[Sequence[Question]], Iterable[Answer]]
    room: Callable[[Question], int]
    """How much of `ROOM` a question takes."""


@dataclass(eq=False)
class _Job:
    """What one request asks, and what is known of it so far."""

    trade: Trade[Any, Any]
    questions: Sequence[Any]
    done: "asyncio.Future[list[Any]]"
    answers: list[Any] = field(default_factory=list)

    def next(self, number: int) -> Sequence[Any]:
        return self.questions[len(self.answers) :][:number]

    def take(self, answers: Sequence[Any]) -> None:
        self.answers += answers
        if not self.done.done() and len(self.answers) == len(self.questions):
            self.done.set_result(self.answers)

    def fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)


_Piece = dict[_Job, int]
"""How many of its next questions are answered of each job; all have the same trade."""


class Work:
    """Lines of requests, one for each kind of question to each model, with one thread behind them.

    Models take turns, and so do the kinds of questions to one of them.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="models")
        self._lines: dict[str, dict[str, list[_Job]]] = {}
        self._going: asyncio.Task[None] | None = None
        self._deadlines: set[asyncio.Timeout] = set()
        self._going_away = 0
        self._last: float | None = None
        """When all has to be over, by the clock of the loop."""

    async def ask(self, trade: Trade[Question, Answer], questions: Sequence[Question]) -> list[Answer]:
        """The answers, in order. Whoever stops waiting for them is forgotten, unless their turn has come."""
        await self.check_room()
        if not questions:
            return []
        loop = asyncio.get_running_loop()
        job = _Job(trade, questions, loop.create_future())
        self._lines.setdefault(trade.model, {}).setdefault(trade.kind, []).append(job)
        if self._going is None or self._going.done():
            self._going = asyncio.create_task(self._go())
        enough = loop.time() + ANSWER_SECONDS
        deadline = asyncio.timeout_at(enough if self._last is None else min(enough, self._last))
        self._deadlines.add(deadline)
        try:
            async with deadline:
                return await job.done
        except TimeoutError:
            if self._last is not None:
                raise RequestError("ending", "the server is being ended; ask again when it runs again") from None
            message = f"there was no answer within {ANSWER_SECONDS} seconds; ask for less at once, or try again later"
            raise RequestError("too_slow", message) from None
        finally:
            self._deadlines.discard(deadline)

    async def check_room(self) -> None:
        """Send away whoever comes when too many wait, before anything has been done for them.

        But not at once: whoever asks again and again would leave the models no time.
        """
        if len(self._deadlines) < WAITING:
            return
        self._going_away += 1
        try:
            await asyncio.sleep(self._going_away / SENT_AWAY_A_SECOND)
        finally:
            self._going_away -= 1
        raise RequestError("busy", f"{WAITING} requests are waiting already; try again in a moment")

    def end(self, seconds: float) -> None:
        """From now on there is so much time, for those that wait and for those that are still arriving."""
        self._last = last = asyncio.get_running_loop().time() + seconds
        for deadline in self._deadlines:
            if not deadline.expired():
                deadline.reschedule(min(last, deadline.when() or last))

    def close(self) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def _go(self) -> None:
        while piece := self._next():
            await self._do(piece)

    def _next(self) -> _Piece:
        """The next piece of work; what nobody waits for any more is dropped."""
        while self._lines:
            model, lines = _turn(self._lines)
            kind, jobs = _turn(lines)
            waiting = [job for job in jobs if not job.done.done()]
            piece = fitting(waiting)
            # Those whose turn did not come are the first next time.
            lines[kind] = [job for job in waiting if job not in piece]
            lines[kind] += [job for job, number in piece.items() if len(job.answers) + number < len(job.questions)]
            if not lines[kind]:
                del lines[kind]
            if not lines:
                del self._lines[model]
            if piece:
                return piece
        return {}

    async def _do(self, piece: _Piece) -> None:
        trade = next(iter(piece)).trade
        questions = [question for job, number in piece.items() for question in job.next(number)]
        try:
            answers = await asyncio.get_running_loop().run_in_executor(self._thread, _answered, trade, questions)
        except Exception as error:  # whose fault it is shows when each is asked alone
            if len(piece) == 1:
                next(iter(piece)).fail(error)
                return
            for job, number in piece.items():
                if not job.done.done():
                    await self._do({job: number})
            return
        start = 0
        for job, number in piece.items():
            job.take(answers[start : start + number])
            start += number


def fitting(jobs: Sequence[_Job]) -> _Piece:
    """One question of everybody, then another, for as long as there is room; one that is too large goes alone."""
    piece: _Piece = {}
    room, going = ROOM, deque(jobs)
    while going:
        job = going.popleft()
        number = piece.get(job, 0)
        needed = job.trade.room(job.questions[len(job.answers) + number])
        if needed > room and piece:
            continue
        room -= needed
        piece[job] = number + 1
        if len(job.answers) + number + 1 < len(job.questions):
            going.append(job)
    return piece


def letters(lemma: str, width: int = 1) -> int:
    """The room that a lemma takes whose forms are looked for in so many ways at once."""
    return width * max(LEAST_LETTERS, len(lemma))


Key = TypeVar("Key")
Value = TypeVar("Value")


def _turn(line: dict[Key, Value]) -> tuple[Key, Value]:
    """Whose turn it is; they go to the end of the line."""
    key = next(iter(line))
    line[key] = value = line.pop(key)
    return key, value


def _answered(trade: Trade[Any, Any], questions: Sequence[Any]) -> list[Any]:
    answers = list(trade.answer(questions))
    assert len(answers) == len(questions)
    return answers
