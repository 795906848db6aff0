"""A small part of `bench.load`: the real program, with more clients than may wait, and others that disturb."""

import asyncio
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

from bench import load
from tests.fuzz import tiny_models


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_each_request_gets_the_right_answer_or_a_refusal(tmp_path: Path) -> None:
    tiny_models.inflector().save(tmp_path / "tiny.reinflect")
    with load.served(tmp_path / "tiny.reinflect") as server:
        others = get_context("spawn").Process(target=load.disturb, args=(server.port, dict.fromkeys(load.OTHERS, 2)))
        others.start()
        for clients in (1, 8, 100):
            row = dict(zip(load.HEADER, asyncio.run(load.measure(server, load.words(3), clients, 1.0)), strict=True))
            assert (row["clients"], row["wrong"]) == (str(clients), "0")
            assert row["median ms"] != "–", "an answer"
        assert others.is_alive()
        others.kill()
        assert server.memory() > 1
