"""The server on a real socket: broken, slow, large and chunked requests, many connections, and the shutdown."""

import asyncio
import json
import math
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

import pytest

from bench import load
from reinflect.data.items import Item
from reinflect.ensemble.confidence import Answer
from reinflect.inflector.inflector import Inflector
from reinflect.web import server
from reinflect.web.requests import LIMITS
from tests.fuzz import tiny_models
from tests.web.made_up import VERBS, MadeUp, german
from tests.web.running import PATIENCE, Running, head, post, reply, running, until

PAST = "V;IND;PST;3;SG"
HOST = b"Host: 127.0.0.1\r\n"
GET = b"GET /api/models HTTP/1.1\r\n" + HOST + b"\r\n"
CHUNKED = head("inflect", "127.0.0.1", "Transfer-Encoding: chunked")


class Slow(MadeUp):
    """Waits for an event before it answers, and records the lemmas of each batch."""

    def __init__(self) -> None:
        super().__init__(VERBS, cut="en")
        self.begun, self.go_on = threading.Semaphore(0), threading.Event()
        self.batches: list[list[str]] = []

    def answers(self, items: Sequence[Item], *, attested: bool = False) -> list[Answer]:
        self.batches.append([item.lemma for item in items])
        self.begun.release()
        assert self.go_on.wait(PATIENCE)
        return super().answers(items, attested=attested)


@pytest.fixture(scope="module")
def here() -> Iterator[Running]:
    with running({"german": german()}) as started:
        yield started


@pytest.fixture
def slow() -> Iterator[Slow]:
    model = Slow()
    yield model
    model.go_on.set()


def serving(model: Slow) -> Any:
    return running({"german": cast(Inflector, model)})


def answered(here: Running) -> bool:
    return bool(here.ask("inflect", lemma="machen", features=PAST).content["answer"]["form"] == "machte")


def ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize(
    "path",
    "/api/nothing /api/inflect/ /static /static/ /static/nothing.js /static/../app.py /static/../static/app.js "
    "/static/%2e%2e/app.py /static/..%2fapp.py /static/%2e%2e%2fapp.py /static/..%5capp.py //static/app.js /../app.py "
    "/static//etc/passwd /static/%2fetc%2fpasswd /static/app.js%00 /static/%00 /static/app.js/ /static/APP.JS "
    f"/static/%252e%252e%252fapp.py /static/%ff%fe /static/{'a' * 5000} *".split(),
)
def test_other_files_cannot_be_read(here: Running, path: str) -> None:
    """Sent verbatim: most clients would normalise the path first."""
    response = here.send(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    assert (response.status, response.content["code"]) == (404, "no_such_address")


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"GET / HTTP/1.0\r\n\r\n", "wrong_host"),
        (b"GET / HTTP/1.1\r\n\r\n", "wrong_host"),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "wrong_host"),
        (b"GET / HTTP/1.1\r\n" + HOST + b"Host: evil.example\r\n\r\n", "wrong_host"),
        (b"what is this?\r\n\r\n", "broken_request"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "broken_request"),
        (b"?" * 100_000, "broken_request"),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", "broken_request"),  # the start of a TLS connection
        (GET[:-2] + b"X: " + b"x" * 400_000, "broken_request"),
        (GET[:-2] + b"X: " + b"x" * server.MOST_HEAD_BYTES + b"\r\n\r\n", "broken_request"),
        (head("inflect", "127.0.0.1", "Content-Length: 1", "Content-Length: 2"), "broken_request"),
        (head("inflect", "127.0.0.1", "Content-Length: -1"), "broken_request"),
        (head("inflect", "127.0.0.1", "Content-Length: 9", "Transfer-Encoding: chunked"), "broken_request"),
        (head("inflect", "127.0.0.1", f"Content-Length: {'9' * 5000}"), "broken_request"),
        (head("inflect", "127.0.0.1", f"Content-Length: {10**15}"), "body_too_large"),
        (head("inflect", "127.0.0.1", f"Content-Length: {10**7}", "Expect: 100-continue"), "body_too_large"),
        (head("inflect", "127.0.0.1", "Content-Length: 3000000") + b" " * 3_000_000, "body_too_large"),
        (CHUNKED, "no_length"),
        (CHUNKED + b"no number\r\n", "no_length"),
        (CHUNKED + b"1\r\n{\r\n" * 100_000, "no_length"),
    ],
)
def test_what_cannot_be_read_is_refused_at_once(here: Running, sent: bytes, code: str) -> None:
    """Also to clients that receive only after they have sent everything."""
    response = here.send(sent)
    assert response.content["code"] == code
    assert "content-security-policy" in response.headers
    assert response.headers["connection"] == "close"
    assert here.send(GET).status == 200


def test_a_head_may_come_byte_by_byte_and_two_requests_at_once(here: Running) -> None:
    with here.connect() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in GET:
            connection.sendall(bytes([byte]))
        assert reply(connection).status == 200
        connection.sendall(GET + CHUNKED)
        assert reply(connection).status == 200


def test_clients_that_send_byte_by_byte_do_not_keep_others_waiting(here: Running) -> None:
    """One-byte chunks are not read; a body in one-byte segments is, while others are answered."""
    stop = threading.Event()

    def send_chunks() -> None:
        while not stop.is_set():
            with here.connect() as connection:
                try:
                    connection.sendall(CHUNKED + b"1\r\n{\r\n" * 100_000)
                    assert reply(connection).status == 411
                except ConnectionError:
                    continue

    body = json.dumps({"lemma": "machen", "features": PAST}).encode()
    with ThreadPoolExecutor(4) as chunkers, here.connect() as connection:
        for _ in range(4):
            chunkers.submit(send_chunks)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(head("inflect", "127.0.0.1", f"Content-Length: {len(body)}"))
        for number in range(len(body)):
            connection.sendall(body[number : number + 1])
            if number % 10 == 0:
                assert answered(here)
        assert reply(connection).content["answer"]["form"] == "machte"
        stop.set()


LONG_BATCH = post("batch", {"rows": [{"lemma": "machen" + "x" * 180, "features": PAST}] * 1000})


@pytest.mark.parametrize("sent", [CHUNKED, b""], ids=["an endless body", "a client that receives nothing"])
def test_who_sends_without_end_is_cut_off(here: Running, sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "WAIT_SECONDS", 0.2)
    with here.connect() as connection:
        connection.sendall(sent)
        with pytest.raises(ConnectionError):
            list(map(connection.sendall, repeat(b"1\r\n{\r\n" * 20_000 if sent else LONG_BATCH)))


def test_a_slow_body_is_refused(here: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LIMITS, "body_seconds", 0.2)
    with here.connect() as connection:
        connection.sendall(head("inflect", "127.0.0.1", "Content-Length: 40") + b'{"lemma"')
        response = reply(connection)
    assert (response.status, response.content["code"]) == (408, "body_too_slow")
    assert response.headers["connection"] == "close"
    assert answered(here)


@pytest.mark.parametrize("sent", [b"", GET[:30], GET, GET + b"GET", GET + b"\r\n\r\n"])
def test_an_idle_connection_is_closed(here: Running, sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "WAIT_SECONDS", 0.2)
    with here.connect() as connection:
        connection.sendall(sent)
        if GET in sent:
            assert reply(connection).status == 200
        assert ended(connection)


def test_many_idle_and_slow_connections_keep_no_other_out(here: Running) -> None:
    begun = head("inflect", "127.0.0.1", "Content-Length: 100") + b"{"
    with ExitStack() as stack:
        for sent in [b""] * 300 + [begun] * 300:
            stack.enter_context(here.connect()).sendall(sent)
        assert answered(here)


@pytest.mark.skipif(sys.platform == "win32", reason="needs ulimit")
def test_clients_wait_without_a_traceback_when_no_more_files_may_be_open(tmp_path: Path) -> None:
    tiny_models.inflector().save(tmp_path / "tiny.reinflect")
    serve = f"ulimit -n 100; exec {sys.executable} -u -m reinflect serve {tmp_path / 'tiny.reinflect'} --port 0"
    with (
        (tmp_path / "errors").open("wb") as errors,
        subprocess.Popen(["sh", "-c", serve], stdout=subprocess.PIPE, stderr=errors, text=True) as program,
        ExitStack() as stack,
    ):
        stack.callback(program.terminate)
        assert program.stdout
        port = int(program.stdout.readline().split(" at ")[1].split("/")[2].rsplit(":", 1)[1])
        with ExitStack() as clients:
            for _ in range(200):
                clients.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            late = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            late.sendall(GET)
        assert reply(late).status == 200
    assert (tmp_path / "errors").read_text() == ""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_each_request_gets_the_right_answer_or_a_refusal(tmp_path: Path) -> None:
    """A small part of `bench.load`: more clients than may wait, and others that disturb."""
    tiny_models.inflector().save(tmp_path / "tiny.reinflect")
    with load.served(tmp_path / "tiny.reinflect") as program:
        others = get_context("spawn").Process(target=load.disturb, args=(program.port, dict.fromkeys(load.OTHERS, 2)))
        others.start()
        for clients in (1, 8, 100):
            row = dict(zip(load.HEADER, asyncio.run(load.measure(program, load.words(3), clients, 1.0)), strict=True))
            assert (row["clients"], row["wrong"]) == (str(clients), "0")
            assert row["median ms"] != "–", "an answer"
        assert others.is_alive()
        others.kill()
        assert program.memory() > 1


def test_a_slow_model_leads_to_a_refusal(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LIMITS, "answer_seconds", 0.2)
    with serving(slow) as here:
        for _ in range(2):  # the first is being answered, the second waits
            response = here.ask("inflect", lemma="machen", features=PAST)
            assert (response.status, response.content["code"]) == (503, "too_slow")
            assert int(response.headers["retry-after"]) > 0
        slow.go_on.set()
        monkeypatch.undo()
        assert answered(here)
        assert slow.batches == [["machen"], ["machen"]]


def test_waiting_questions_are_answered_together_but_for_those_of_clients_that_left(slow: Slow) -> None:
    with serving(slow) as here, ThreadPoolExecutor(20) as clients:
        first = clients.submit(here.ask, "inflect", lemma="machen", features=PAST)
        assert slow.begun.acquire(timeout=PATIENCE)
        with here.connect() as leaving:
            leaving.sendall(post("inflect", {"lemma": "gehen", "features": PAST}))
            until(lambda: len(here.server.queue.deadlines) == 2)
        until(lambda: len(here.server.queue.deadlines) == 1)
        words = [clients.submit(here.ask, "inflect", lemma=lemma, features=PAST) for lemma in ("sagen", "kaputt")]
        paradigm = clients.submit(here.ask, "paradigm", lemma="fragen", bundles=["V;NFIN", PAST])
        batch = clients.submit(here.ask, "batch", rows=[{"lemma": "legen", "features": PAST}] * 3)
        until(lambda: len(here.server.queue.deadlines) == 5)
        slow.go_on.set()
        assert first.result().content["answer"]["form"] == "machte"
        assert [response.result().status for response in words] == [200, 500]
        assert [cell["answer"]["form"] for cell in paradigm.result().content["cells"]] == ["fragen", "fragte"]
        assert [row["answer"]["form"] for row in batch.result().content["rows"]] == ["legte"] * 3
    assert list(map(len, slow.batches[:2])) == [1, 7]
    assert "gehen" not in str(slow.batches)


def test_requests_are_refused_when_too_many_wait(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LIMITS, "waiting", 3)
    with serving(slow) as here, ThreadPoolExecutor(3) as clients:
        waiting = [clients.submit(here.ask, "inflect", lemma="machen", features=PAST) for _ in range(3)]
        until(lambda: len(here.server.queue.deadlines) == 3)
        response = here.ask("inflect", lemma="machen", features=PAST)
        assert (response.status, response.content["code"], response.headers["retry-after"]) == (503, "busy", "1")
        assert here.send(GET).status == 200
        slow.go_on.set()
        assert [response.result().status for response in waiting] == [200] * 3
        assert answered(here)


@pytest.mark.parametrize("in_time", [True, False])
def test_open_requests_are_finished_at_shutdown(slow: Slow, in_time: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not in_time:
        monkeypatch.setattr(server, "ENDING_SECONDS", 0.2)
    with serving(slow) as here, ThreadPoolExecutor(5) as clients:
        responses = [clients.submit(here.ask, "inflect", lemma="machen", features=PAST) for _ in range(2)]
        until(lambda: len(here.server.queue.deadlines) == 2)
        here.server.should_exit = True
        until(lambda: here.server.queue.end_time < math.inf)
        with pytest.raises(ConnectionError):
            here.ask("inflect", lemma="fragen", features=PAST)
        if in_time:
            slow.go_on.set()
        expected = (200, None) if in_time else (503, "ending")
        for response in responses:
            assert (response.result().status, response.result().content.get("code")) == expected
        slow.go_on.set()
