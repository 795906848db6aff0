"""A small part of `bench.load`: the real program, with more clients than may wait."""

import asyncio
import sys
from functools import partial
from operator import gt
from pathlib import Path

import pytest
from bench import load

from tests.learn.tiny import language, small_inflector


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_each_request_gets_the_right_answer_or_a_refusal(tmp_path: Path) -> None:
    items, model = language("german"), tmp_path / "verbs.reinflect"
    small_inflector("hacm-naive", "haem-naive", strategy="vote").save(model)

    async def some(server: load.Server) -> list[load.Stage]:
        asked = [load.post("inflect", {"lemma": item.lemma, "features": item.features.spelling}) for item in items]
        right = await load.alone(server.port, asked)
        assert server.memory() > 1
        return [
            await load.stage(server.port, clients, asked, right, partial(gt, number))
            for clients, number in ((1, 10), (8, 100), (100, 200))
        ]

    with load.served(model) as server:
        found = asyncio.run(some(server))
    for one, number in zip(found, (10, 100, 200), strict=True):
        assert set(one.took) <= {load.OK, load.BUSY}
        assert sum(map(len, one.took.values())) == number
        assert len(one.of(load.OK)) > 0
        assert one.wrong == 0
    assert [len(one.of(load.OK)) for one in found[:2]] == [10, 100]
    load.print_stages(found)
