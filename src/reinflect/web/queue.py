"""The queue of questions to the models, which one thread answers in chunks.

While the thread works on a chunk, questions gather; the next chunk takes some questions of each waiting request. A
single request starts at once, and many are answered together, which is much faster than one by one.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from reinflect.web.requests import LIMITS, RequestError

CHUNK_COST = 2000
"""The cost of a chunk, in lemma characters: about half a second, during which other models and a shutdown wait."""
LEAST_CHARACTERS = 20
"""A shorter lemma costs as much as one of this length."""
REFUSALS_PER_SECOND = 500
"""Of requests when the queue is full; each refusal takes a third of a millisecond from the models."""

Question = TypeVar("Question")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Operation(Generic[Question, Answer]):
    """An operation of a model that answers many questions at once; those of the same model and kind are merged."""

    model: str
    kind: str
    answer: Callable[[Sequence[Question]], Iterable[Answer]]
    cost: Callable[[Question], int]


@dataclass(eq=False)
class _Job:
    """The questions of one request, and the answers so far."""

    operation: Operation[Any, Any]
    questions: Sequence[Any]
    done: "asyncio.Future[list[Any]]"
    answers: list[Any] = field(default_factory=list)


_Chunk = dict[_Job, int]
"""Jobs of one operation, each with the number of its next questions to answer."""


class Queue:
    """Jobs by model, and one thread that answers them."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="models")
        self._jobs: dict[str, list[_Job]] = {}
        self._worker: asyncio.Task[None] | None = None
        self._deadlines: set[asyncio.Timeout] = set()
        self._refusing = 0
        self._end: float | None = None
        """The time, by the clock of the loop, when a server that is shutting down stops answering."""

    async def ask(self, operation: Operation[Question, Answer], questions: Sequence[Question]) -> list[Answer]:
        """The answers, in order. A caller that is cancelled leaves the queue, unless its chunk is being answered."""
        await self.refuse_if_full()
        if not questions:
            return []
        loop = asyncio.get_running_loop()
        job = _Job(operation, questions, loop.create_future())
        self._jobs.setdefault(operation.model, []).append(job)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        end = loop.time() + LIMITS.answer_seconds
        deadline = asyncio.timeout_at(end if self._end is None else min(end, self._end))
        self._deadlines.add(deadline)
        try:
            async with deadline:
                return await job.done
        except TimeoutError:
            if self._end is not None:
                raise RequestError("ending", "the server is shutting down; ask again when it has restarted") from None
            message = f"no answer within {LIMITS.answer_seconds} seconds; ask for less at once, or try again later"
            raise RequestError("too_slow", message) from None
        finally:
            self._deadlines.discard(deadline)

    async def refuse_if_full(self) -> None:
        """Refuse a request when too many wait.

        Refusals are delayed, so that clients that retry at once do not take all the time from the models.
        """
        if len(self._deadlines) < LIMITS.waiting:
            return
        self._refusing += 1
        try:
            await asyncio.sleep(self._refusing / REFUSALS_PER_SECOND)
        finally:
            self._refusing -= 1
        raise RequestError("busy", f"{LIMITS.waiting} requests are waiting already; try again in a moment")

    def end(self, seconds: float) -> None:
        """Stop answering in this many seconds, both waiting requests and those still arriving."""
        self._end = end = asyncio.get_running_loop().time() + seconds
        for deadline in self._deadlines:
            if not deadline.expired():
                deadline.reschedule(min(end, deadline.when() or end))

    def close(self) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def _work(self) -> None:
        while chunk := self._next():
            await self._answer(chunk)

    def _next(self) -> _Chunk:
        """The next chunk; models take turns, and so do the kinds of operations of one model."""
        while self._jobs:
            model = next(iter(self._jobs))
            jobs = [job for job in self._jobs.pop(model) if not job.done.done()]  # without cancelled ones
            same = [job for job in jobs if job.operation.kind == jobs[0].operation.kind]
            chunk = next_chunk(same)
            left = [job for job in jobs if job not in same] + [job for job in same if job not in chunk]
            left += [job for job, number in chunk.items() if len(job.answers) + number < len(job.questions)]
            if left:
                self._jobs[model] = left
            if chunk:
                return chunk
        return {}

    async def _answer(self, chunk: _Chunk) -> None:
        operation = next(iter(chunk)).operation
        questions = [one for job, number in chunk.items() for one in job.questions[len(job.answers) :][:number]]
        loop = asyncio.get_running_loop()
        try:
            answers = await loop.run_in_executor(self._thread, lambda: list(operation.answer(questions)))
            assert len(answers) == len(questions)
        except Exception as error:
            for job, number in chunk.items():
                if job.done.done():
                    continue
                if len(chunk) > 1:  # jobs are answered one by one, so that only those at fault fail
                    await self._answer({job: number})
                else:
                    job.done.set_exception(error)
            return
        start = 0
        for job, number in chunk.items():
            job.answers += answers[start : start + number]
            start += number
            if not job.done.done() and len(job.answers) == len(job.questions):
                job.done.set_result(job.answers)


def next_chunk(jobs: Sequence[_Job]) -> _Chunk:
    """One question of each job, then another, up to `CHUNK_COST`; a question that costs more is a chunk alone."""
    chunk: _Chunk = {}
    left, waiting = CHUNK_COST, deque(jobs)
    while waiting:
        job = waiting.popleft()
        number = chunk.get(job, 0)
        cost = job.operation.cost(job.questions[len(job.answers) + number])
        if cost > left and chunk:
            continue
        left -= cost
        chunk[job] = number + 1
        if len(job.answers) + number + 1 < len(job.questions):
            waiting.append(job)
    return chunk


def decoding_cost(lemma: str, width: int = 1) -> int:
    """The cost of decoding a lemma with a beam of this width."""
    return width * max(LEAST_CHARACTERS, len(lemma))
