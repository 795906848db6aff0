"""The server on a real socket: slow, large, chunked and broken requests, and the shutdown."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, cast

import pytest

from reinflect.data.items import Item
from reinflect.inflector.answers import Answer
from reinflect.inflector.inflector import Inflector
from reinflect.web import guard, server
from reinflect.web.queue import Operation, Queue
from reinflect.web.requests import LIMITS, RequestError
from tests.web.made_up import VERBS, MadeUp, german
from tests.web.running import PATIENCE, Running, head, post, reply, running

PAST = "V;IND;PST;3;SG"


class Slow(MadeUp):
    """Waits for an event before it answers, and records the lemmas of each chunk."""

    def __init__(self) -> None:
        super().__init__(VERBS, cut="en")
        self.begun, self.go_on = threading.Semaphore(0), threading.Event()
        self.chunks: list[list[str]] = []

    def answers(self, items: Sequence[Item | tuple[str, str]], *, attested: bool = False) -> list[Answer]:
        self.chunks.append([item.lemma for item in items if isinstance(item, Item)])
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


def until(condition: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(100 * PATIENCE):
        if condition():
            return
        waiting.wait(0.01)
    raise AssertionError("the condition was never true")


@pytest.mark.parametrize(
    "path",
    [
        "/api/nothing",
        "/api/inflect/",
        "/static",
        "/static/",
        "/static/nothing.js",
        "/static/../app.py",
        "/static/../static/app.js",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e%2fapp.py",
        "/static/..%5capp.py",
        "/static/%252e%252e%252fapp.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/app.js%00",
        "/static/%00",
        "/static/app.js/",
        "/static/APP.JS",
        "/static/%ff%fe",
        "/static/" + "a" * 5000,
        "//static/app.js",
        "/../app.py",
        "http://127.0.0.1/static/app.js",
        "*",
    ],
)
def test_other_files_cannot_be_read(here: Running, path: str) -> None:
    """Sent verbatim: most clients would normalise the path first."""
    response = here.send(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    assert (response.status, response.content["code"]) == (404, "no_such_address")


def test_files_of_the_page_are_served(here: Running) -> None:
    response = here.send(b"GET /static/app.js HTTP/1.1\r\nHost: localhost:1\r\n\r\n")
    assert (response.status, response.headers["content-type"]) == (200, "text/javascript; charset=utf-8")


@pytest.mark.parametrize("request_head", ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"])
def test_requests_for_other_hosts_are_refused(here: Running, request_head: str) -> None:
    response = here.send(request_head.encode())
    assert (response.status, response.content["code"]) == (403, "wrong_host")
    assert response.headers["connection"] == "close"


def test_two_host_headers_are_refused(here: Running) -> None:
    response = here.send(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n")
    assert response.content["code"] == "broken_request"


@pytest.mark.parametrize(
    "sent",
    [
        b"what is this?\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",  # the start of a TLS connection
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 100_000,
        b"GET / HTTP/1.1\r\n\r\n",
        head("inflect", "127.0.0.1", "Transfer-Encoding: chunked") + b"no number\r\n",
        head("inflect", "127.0.0.1", "Content-Length: 1", "Content-Length: 2"),
        head("inflect", "127.0.0.1", "Content-Length: -1"),
    ],
)
def test_invalid_http_is_refused(here: Running, sent: bytes) -> None:
    response = here.send(sent)
    assert (response.status, response.content["code"]) == (400, "broken_request")
    assert "content-security-policy" in response.headers
    assert response.headers["connection"] == "close"


@pytest.mark.parametrize("more", [1, 60_000])
def test_the_limit_of_the_head_is_exact(here: Running, more: int) -> None:
    start = b"GET /api/models HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "
    room = guard.MOST_HEAD_BYTES - len(start) - len(b"\r\n")
    assert here.send(start + b"x" * room + b"\r\n\r\n").status == 200
    response = here.send(start + b"x" * (room + more) + b"\r\n\r\n")
    assert (response.status, response.content["code"]) == (400, "broken_request")
    assert response.headers["connection"] == "close"


def test_a_request_with_two_lengths_is_refused_and_its_connection_closed(here: Running) -> None:
    body = b'{"model": "german", "lemma": "sagen", "features": "V"}'
    sent = head("inflect", "127.0.0.1", f"Content-Length: {len(body)}", "Transfer-Encoding: chunked")
    with here.connect() as connection:
        connection.sendall(sent + chunks(body, 7) + b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        response = reply(connection)
        assert (response.status, response.content["code"]) == (400, "broken_request")
        assert response.headers["connection"] == "close"
        assert ended(connection)


@pytest.mark.parametrize(
    "few", [(server, "MOST_CONNECTIONS", 6), (server, "_open_files", lambda: 13)], ids=["6", "13/2"]
)
def test_connections_that_wait_make_room_for_others(here: Running, few: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Idle ones first, then those whose bodies do not arrive; a client that asks is answered."""
    monkeypatch.setattr(*few)
    with ExitStack() as stack:
        arriving = [stack.enter_context(here.connect()) for _ in range(3)]
        for connection in arriving:
            connection.sendall(head("inflect", "127.0.0.1", "Content-Length: 100") + b"{")
        open_now = here.server.server_state.connections
        until(lambda: [own._waits for own in open_now if isinstance(own, server.Connection)] == [1, 1, 1])
        idle = [stack.enter_context(here.connect()) for _ in range(3)]
        until(lambda: len(open_now) == 6)
        assert here.ask("inflect", model="german", lemma="sagen", features=PAST).status == 200
        assert ended(idle[0]), "the first of the idle ones made room"
        until(lambda: len(open_now) == 5)  # the client that asked is gone
        idle += [stack.enter_context(here.connect()) for _ in range(4)]
        until(lambda: len(open_now) == 6)
        assert here.ask("inflect", model="german", lemma="sagen", features=PAST).status == 200
        more = [stack.enter_context(here.connect()) for _ in range(2)]
        for connection in more:
            connection.sendall(head("inflect", "127.0.0.1", "Content-Length: 100") + b"{")
        assert here.ask("inflect", model="german", lemma="sagen", features=PAST).status == 200
        for connection in arriving:
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):
                connection.recv(1)
            connection.setblocking(True)


def test_a_request_among_many_connections_that_arrive_together_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 40)
    monkeypatch.setattr(server, "ACCEPTED_AT_ONCE", 8)
    busy = threading.Event()
    with running({"german": german()}) as crowded, ExitStack() as stack:
        stack.enter_context(crowded.connect())
        until(lambda: len(crowded.server.server_state.connections) == 1)
        [first] = crowded.server.server_state.connections
        first.loop.call_soon_threadsafe(busy.wait, PATIENCE)
        asking = stack.enter_context(crowded.connect())
        asking.sendall(post("inflect", {"lemma": "sagen", "features": PAST}))
        for _ in range(60):
            stack.enter_context(crowded.connect())
        busy.set()
        assert reply(asking).status == 200


def test_slow_bodies_take_no_place_of_others(here: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MOST_REQUESTS", 2)
    with ExitStack() as stack:
        for _ in range(8):
            connection = stack.enter_context(here.connect())
            connection.sendall(head("inflect", "127.0.0.1", "Content-Length: 100") + b"{")
        assert here.ask("inflect", model="german", lemma="sagen", features=PAST).status == 200
        assert here.send(b"GET /api/models HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").status == 200


def test_a_body_that_breaks_after_its_response_is_not_logged(here: Running, caplog: pytest.LogCaptureFixture) -> None:
    with here.connect() as connection:
        connection.sendall(b"POST /api/inflect HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert reply(connection).content["code"] == "not_json"
        connection.sendall(b"no number\r\n")
        assert ended(connection)
    assert not caplog.records


def chunks(body: bytes, size: int) -> bytes:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [*pieces, b""])


def test_a_body_may_be_chunked(here: Running) -> None:
    body = json.dumps({"lemma": "machen", "features": PAST}).encode()
    response = here.send(head("inflect", "127.0.0.1", "Transfer-Encoding: chunked") + chunks(body, 7))
    assert response.content["answer"]["form"] == "machte"


@pytest.mark.parametrize("size", [LIMITS.body_bytes + 1, 3 * LIMITS.body_bytes])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_large_body_is_refused_when_it_has_arrived(here: Running, size: int, chunked: bool) -> None:
    """Most clients read the response only then."""
    body = b" " * size
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {size}"
    response = here.send(head("inflect", "127.0.0.1", length) + (chunks(body, 100_000) if chunked else body))
    assert (response.status, response.content["code"]) == (413, "body_too_large")


def test_an_endless_body_is_cut_off(here: Running) -> None:
    with here.connect() as connection:
        connection.sendall(head("inflect", "127.0.0.1", "Transfer-Encoding: chunked"))
        with pytest.raises(ConnectionError):
            send_repeatedly(connection, chunks(b" " * 100_000, 100_000).removesuffix(b"0\r\n\r\n"))


def send_repeatedly(connection: socket.socket, content: bytes) -> None:
    for _ in range(1000):
        connection.sendall(content)


def test_a_body_that_is_announced_as_huge_is_refused_at_once(here: Running) -> None:
    response = here.send(head("inflect", "127.0.0.1", f"Content-Length: {10**15}"))
    assert (response.status, response.content["code"]) == (413, "body_too_large")
    assert response.headers["connection"] == "close"


def test_a_slow_body_is_refused(here: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LIMITS, "body_seconds", 0.2)
    with here.connect() as connection:
        connection.sendall(head("inflect", "127.0.0.1", "Content-Length: 40") + b'{"lemma"')
        response = reply(connection)
    assert (response.status, response.content["code"]) == (408, "body_too_slow")
    assert response.headers["connection"] == "close"
    assert here.ask("inflect", lemma="machen", features=PAST).status == 200


@pytest.mark.parametrize("sent", [b"", b"POST /api/inflect HTTP/1.1\r\nHost: 127"])
def test_an_idle_connection_is_closed(here: Running, sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.2)
    with here.connect() as connection:
        connection.sendall(sent)
        assert ended(connection)
    with here.connect() as connection:  # also after a valid request
        connection.sendall(b"GET /api/models HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert reply(connection).status == 200
        connection.sendall(b"GET")
        assert ended(connection)


def ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_client_that_receives_nothing_is_disconnected(here: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "RECEIVE_SECONDS", 0.2)
    rows = [{"lemma": "machen" + "x" * 180, "features": PAST}] * 1000
    with here.connect() as connection, pytest.raises(ConnectionError):
        send_repeatedly(connection, post("batch", {"rows": rows}))


def test_a_slow_model_leads_to_a_refusal(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LIMITS, "answer_seconds", 0.2)
    with serving(slow) as here:
        for what in ("inflect", "inflect"):  # the first is being answered, the second waits
            response = here.ask(what, lemma="machen", features=PAST)
            assert (response.status, response.content["code"]) == (503, "too_slow")
            assert int(response.headers["retry-after"]) > 0
        slow.go_on.set()
        monkeypatch.undo()
        assert here.ask("inflect", lemma="sagen", features=PAST).content["answer"]["form"] == "sagte"
        assert slow.chunks == [["machen"], ["sagen"]]


def test_questions_of_disconnected_clients_are_dropped(slow: Slow) -> None:
    with serving(slow) as here, here.connect() as first:
        first.sendall(post("inflect", {"lemma": "machen", "features": PAST}))
        assert slow.begun.acquire(timeout=PATIENCE)
        with here.connect() as second:
            second.sendall(post("inflect", {"lemma": "sagen", "features": PAST}))
            until(lambda: len(here.server.queue._deadlines) == 2)
        until(lambda: len(here.server.queue._deadlines) == 1)
        with here.connect() as third:
            third.sendall(post("inflect", {"lemma": "fragen", "features": PAST}))
            until(lambda: len(here.server.queue._deadlines) == 2)
            slow.go_on.set()
            assert reply(first).content["answer"]["form"] == "machte"
            assert reply(third).content["answer"]["form"] == "fragte"
    assert slow.chunks == [["machen"], ["fragen"]]


def test_waiting_questions_are_answered_together(slow: Slow) -> None:
    with serving(slow) as here, ThreadPoolExecutor(20) as clients:
        first = clients.submit(here.ask, "inflect", lemma="machen", features=PAST)
        assert slow.begun.acquire(timeout=PATIENCE)
        others = [clients.submit(here.ask, "inflect", lemma=f"{n}en", features=PAST) for n in range(12)]
        others.append(clients.submit(here.ask, "paradigm", lemma="fragen", bundles=["V;NFIN", PAST]))
        others.append(clients.submit(here.ask, "batch", rows=[{"lemma": "legen", "features": PAST}] * 3))
        until(lambda: len(here.server.queue._deadlines) == 15)
        slow.go_on.set()
        assert first.result().content["answer"]["form"] == "machte"
        found = [one.result().content for one in others]
    assert [one["answer"]["form"] for one in found[:12]] == [f"{n}te" for n in range(12)]
    assert [cell["answer"]["form"] for cell in found[12]["cells"]] == ["fragen", "fragte"]
    assert [row["answer"]["form"] for row in found[13]["rows"]] == ["legte"] * 3
    assert list(map(len, slow.chunks)) == [1, 17]


def test_an_error_affects_only_its_request(slow: Slow) -> None:
    with serving(slow) as here, ThreadPoolExecutor(20) as clients:
        words = ["machen", "sagen", "kaputt", "fragen"]
        first = clients.submit(here.ask, "inflect", lemma="lernen", features=PAST)
        assert slow.begun.acquire(timeout=PATIENCE)
        responses = [clients.submit(here.ask, "inflect", lemma=lemma, features=PAST) for lemma in words]
        until(lambda: len(here.server.queue._deadlines) == 5)
        slow.go_on.set()
        assert first.result().status == 200
        assert [one.result().status for one in responses] == [200, 200, 500, 200]
        assert responses[2].result().content["code"] == "our_fault"


def test_requests_are_refused_when_too_many_wait(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LIMITS, "waiting", 3)
    with serving(slow) as here, ThreadPoolExecutor(3) as clients:
        waiting = [clients.submit(here.ask, "inflect", lemma="machen", features=PAST) for _ in range(3)]
        until(lambda: len(here.server.queue._deadlines) == 3)
        for _ in range(5):
            response = here.ask("inflect", lemma="machen", features=PAST)
            assert (response.status, response.content["code"]) == (503, "busy")
            assert response.headers["retry-after"] == "1"
        assert here.send(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").status == 200
        slow.go_on.set()
        assert [one.result().status for one in waiting] == [200] * 3
        assert here.ask("inflect", lemma="machen", features=PAST).status == 200


def test_open_requests_are_finished_at_shutdown(slow: Slow) -> None:
    with serving(slow) as here, ThreadPoolExecutor(5) as clients:
        responses = [clients.submit(here.ask, "inflect", lemma=lemma, features=PAST) for lemma in ("machen", "sagen")]
        until(lambda: len(here.server.queue._deadlines) == 2)
        here.server.should_exit = True
        until(lambda: here.server.queue._end is not None)
        with pytest.raises(ConnectionError):
            here.ask("inflect", lemma="fragen", features=PAST)
        slow.go_on.set()
        assert sorted(one.result().content["answer"]["form"] for one in responses) == ["machte", "sagte"]


def test_shutdown_does_not_wait_forever(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "ENDING_SECONDS", 0.2)
    with serving(slow) as here, ThreadPoolExecutor(1) as clients:
        response = clients.submit(here.ask, "inflect", lemma="machen", features=PAST)
        assert slow.begun.acquire(timeout=PATIENCE)
        here.server.should_exit = True
        assert (response.result().status, response.result().content["code"]) == (503, "ending")
        slow.go_on.set()


def test_requests_that_arrive_during_shutdown_have_the_same_deadline(slow: Slow) -> None:
    def answer(words: Sequence[str]) -> Sequence[str]:
        assert slow.go_on.wait(PATIENCE)
        return words

    async def ask() -> str:
        queue = Queue()
        queue.end(0.1)
        with pytest.raises(RequestError) as refused:
            await queue.ask(Operation[str, str]("german", "forms", answer, len), ["machen"])
        slow.go_on.set()
        queue.close()
        return refused.value.code

    assert asyncio.run(ask()) == "ending"


def test_more_open_files_are_allowed_as_far_as_the_system_lets_it() -> None:
    resource = pytest.importorskip("resource")
    before = soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 10, hard))
        server._allow_open_files(soft - 5)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft - 5, hard)
        server._allow_open_files(10)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft - 5, hard), "never fewer than before"
        if hard > 0:
            server._allow_open_files(hard + 1)
            assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_clients_that_do_not_receive_their_answers_make_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 3)
    started = Running({"german": german()})
    started.listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2048)  # connections have it from the listener
    started.thread.start()
    until(lambda: started.server.started)
    with ExitStack() as stack:
        stack.callback(started.end)
        for _ in range(3):
            deaf = stack.enter_context(socket.socket())
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            deaf.connect(("127.0.0.1", started.port))
            deaf.sendall(b"GET /static/style.css HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        until(lambda: sum(own.transport.is_closing() for own in started.server.server_state.connections) == 3)
        assert started.ask("inflect", model="german", lemma="sagen", features=PAST).status == 200
