"""The queue of questions to the models, which one thread answers in batches.

While the thread works on a batch, questions gather; the next batch has questions of every request that waits for the
same kind of answer. A single request starts at once, and many are answered together, which is much faster than one by
one.
"""

import asyncio
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple, TypeVar

from reinflect.web.requests import LIMITS, RequestError

BATCH = 256
"""Questions that are answered together, at most; meanwhile other models and a shutdown wait."""
REFUSAL_SECONDS = 0.5
"""Before a request is refused: clients that ask again at once would take the time of the models."""

Question = TypeVar("Question")
Answer = TypeVar("Answer")
AnswerAll = Callable[[Sequence[Question]], Iterable[Answer]]


class _Entry(NamedTuple):
    """A question of a request; of one kind, those with lower turns, then with lower numbers, are answered first."""

    turn: int
    number: int
    question: Any
    answer: "asyncio.Future[Any]"


class Queue:
    """Questions by kind of answer, and one thread that answers them."""

    def __init__(self) -> None:
        self.deadlines: set[asyncio.Timeout] = set()
        """Of the requests that wait."""
        self.end_time = math.inf
        """By the clock of the loop, when a server that is shutting down stops answering."""
        self._kinds: dict[Hashable, tuple[AnswerAll[Any, Any], list[_Entry]]] = {}
        self._numbers = count()
        self._worker: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="models")

    async def ask(
        self, kind: Hashable, answer: AnswerAll[Question, Answer], questions: Sequence[Question]
    ) -> list[Answer]:
        """The answers, in order; questions of one kind of all clients are given to `answer` together.

        A caller that is cancelled leaves the queue, unless its batch is being answered.
        """
        await self.refuse_if_full()
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Answer]] = [loop.create_future() for _ in questions]
        _, entries = self._kinds.setdefault(kind, (answer, []))
        # Each request has one question in a turn, from the next turn on: so a word does not wait for a long list.
        first = entries[0].turn if entries else 0
        for turn, (question, future) in enumerate(zip(questions, futures, strict=True), first):
            heappush(entries, _Entry(turn, next(self._numbers), question, future))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        deadline = asyncio.timeout_at(min(loop.time() + LIMITS.answer_seconds, self.end_time))
        self.deadlines.add(deadline)
        try:
            async with deadline:
                return await asyncio.gather(*futures)
        except TimeoutError:
            if self.end_time < math.inf:
                message = "the server is shutting down; ask again when it has restarted"
                raise RequestError("ending", message, status=503) from None
            message = f"no answer within {LIMITS.answer_seconds} seconds; ask for less at once, or try again later"
            raise RequestError("too_slow", message, status=503) from None
        finally:
            self.deadlines.discard(deadline)

    async def refuse_if_full(self) -> None:
        if len(self.deadlines) >= LIMITS.waiting:
            await asyncio.sleep(REFUSAL_SECONDS)
            message = f"{LIMITS.waiting} requests are waiting already; try again in a moment"
            raise RequestError("busy", message, status=503)

    def end(self, seconds: float) -> None:
        """Stop answering in this many seconds, both waiting requests and those still arriving."""
        self.end_time = asyncio.get_running_loop().time() + seconds
        for deadline in self.deadlines:
            if not deadline.expired():
                deadline.reschedule(min(self.end_time, deadline.when() or self.end_time))

    def close(self) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def _work(self) -> None:
        """Answer batch after batch; kinds take turns."""
        while self._kinds:
            kind = next(iter(self._kinds))
            answer, entries = self._kinds.pop(kind)
            batch = [heappop(entries) for _ in range(min(BATCH, len(entries)))]
            if entries:
                self._kinds[kind] = answer, entries
            await self._answer(answer, batch)

    async def _answer(self, answer: AnswerAll[Any, Any], entries: Sequence[_Entry]) -> None:
        """Answer questions; if that fails, one half and then the other, so that only those at fault fail."""
        batch = [entry for entry in entries if not entry.answer.done()]
        if not batch:  # all were cancelled
            return
        try:
            questions = [entry.question for entry in batch]
            answers = await asyncio.get_running_loop().run_in_executor(self._thread, lambda: list(answer(questions)))
            for entry, result in zip(batch, answers, strict=True):
                if not entry.answer.done():
                    entry.answer.set_result(result)
        except Exception as error:
            if len(batch) > 1:
                await self._answer(answer, batch[: len(batch) // 2])
                await self._answer(answer, batch[len(batch) // 2 :])
            elif not batch[0].answer.done():
                batch[0].answer.set_exception(error)
