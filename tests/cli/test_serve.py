import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import Request, urlopen

import pytest
from click.testing import Result
from starlette.testclient import TestClient

from reinflect import __version__
from reinflect.cli import demo, serve
from reinflect.inflector.inflector import Inflector
from reinflect.web.app import create_app
from reinflect.web.guard import LOCAL, Hosts
from reinflect.web.server import Server
from tests.cli import Reinflect, refused, succeeded
from tests.learn.tiny import small_inflector
from tests.web.running import head, reply

PAST = "V;PST"


def three_models() -> Inflector:
    return small_inflector("hacm-naive", "haem-naive", "soft", strategy="vote")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("serve") / "verbs.reinflect"
    three_models().save(path)
    return path


def test_a_port_in_use_is_an_error(reinflect: Reinflect, model: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = reinflect("serve", model, "--port", taken.getsockname()[1])
    refused(result, "a free port with --port")


def test_answers_are_sent_without_delay() -> None:
    """By default the end of an answer waits until the client has confirmed the beginning, which takes 40 ms."""

    async def sent_at_once() -> int:
        met = asyncio.get_running_loop().create_future()

        def meet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            met.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = serve._listening("127.0.0.1", 0)
        async with await asyncio.start_server(meet, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            no_delay: int = await met
            writer.close()
            return no_delay

    assert asyncio.run(sent_at_once())


def test_a_missing_extra_is_named(reinflect: Reinflect, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    refused(reinflect("serve", model), "pip install 'reinflect[web]'")


def test_models_are_named_after_their_files() -> None:
    names = serve.model_names(["a/verbs.reinflect", "nouns.v2.reinflect", "b/verbs.reinflect"])
    assert names == ["verbs", "nouns.v2", "verbs (2)"]


def test_each_kind_of_model_can_be_traced(model: Path) -> None:
    inflector = Inflector.load(model)
    with TestClient(create_app({"verbs": inflector}), base_url="http://127.0.0.1") as client:
        for member in inflector.members:
            body = {"lemma": "loßen", "features": PAST, "member": member.name}
            trace = client.post("/api/trace", json=body).json()
            assert trace["system"] == member.system
            assert "ß" in trace["source"]
            assert {step["position"] for step in trace["steps"]} <= set(range(-1, len(trace["source"]) + 1))


def test_a_trace_is_what_the_command_prints(reinflect: Reinflect, model: Path) -> None:
    printed = reinflect("trace", model, "loben", PAST, "--json")
    with TestClient(create_app({"verbs": Inflector.load(model)}), base_url="http://127.0.0.1") as client:
        response = client.post("/api/trace", json={"lemma": "loben", "features": PAST})
    assert response.json() == json.loads(printed.stdout)


@contextmanager
def program(*models: Path) -> Iterator["tuple[subprocess.Popen[str], int]"]:
    """The real program, and its port."""
    call = [sys.executable, "-m", "reinflect", "serve", *map(str, models), "--port", "0"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as started:
        try:
            assert started.stdout
            address = started.stdout.readline().split(" at ")[1].split(" ")[0]
            assert address.startswith("http://127.0.0.1:")
            yield started, int(address.rsplit(":", 1)[1].strip("/"))
        finally:
            started.kill()


posix = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Ctrl-C is sent in another way on Windows")


def inflected(port: int, lemma: str = "loben", features: str = PAST) -> Any:
    question = json.dumps({"lemma": lemma, "features": features}).encode()
    asked = Request(f"http://127.0.0.1:{port}/api/inflect", question, {"Content-Type": "application/json"})
    with urlopen(asked) as answer:
        return json.load(answer)


@posix
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_the_server_runs_until_a_signal_and_answers_open_requests(model: Path, ending: signal.Signals) -> None:
    body = json.dumps({"rows": [{"lemma": "loben", "features": PAST}] * 60}).encode()
    with program(model) as (started, port), ExitStack() as open_ones:
        with urlopen(f"http://127.0.0.1:{port}/") as page:
            assert b"<title>reinflect</title>" in page.read()
        assert inflected(port)["lemma"] == "loben"  # the first answer takes seconds, in which bodies would be late
        sockets = (socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(5))
        connections = [open_ones.enter_context(connection) for connection in sockets]
        for connection in connections:
            connection.sendall(head("batch", "127.0.0.1", f"Content-Length: {len(body)}", "Expect: 100-continue"))
            assert connection.recv(1000).startswith(b"HTTP/1.1 100")  # the server has begun to read
        connections[0].sendall(body)
        started.send_signal(ending)
        while True:  # until the server accepts no more connections
            try:
                socket.create_connection(("127.0.0.1", port), timeout=60).close()
            except ConnectionError:
                break
            time.sleep(0.02)
        for connection in connections[1:]:
            connection.sendall(body)
        for connection in connections:
            response = reply(connection)
            assert response.status == 200
            assert len(response.content["rows"]) == 60
        _, complaints = started.communicate(timeout=60)
    assert complaints == ""
    assert started.returncode in (0, -ending)


def served(
    reinflect: Reinflect, monkeypatch: pytest.MonkeyPatch, *arguments: object
) -> tuple[Result, dict[str, Any], Hosts]:
    """The result of the command, and the models and host names of its server."""
    servers: list[tuple[dict[str, Any], Hosts]] = []
    monkeypatch.setattr(Server, "__init__", lambda _self, models, hosts: servers.append((models, hosts)))
    monkeypatch.setattr(Server, "run", lambda _self, **_sockets: None)
    result = succeeded(reinflect("serve", "--port", 0, *arguments))
    return result, *servers[0]


def test_without_a_model_all_are_served(reinflect: Reinflect, pocket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result, models, _ = served(reinflect, monkeypatch)
    assert result.stdout.startswith("serving finnish, german, norwegian-bokmal at http://")
    assert models == {name: pocket / f"{name}.reinflect" for name in ("finnish", "german", "norwegian-bokmal")}
    result, models, _ = served(reinflect, monkeypatch, "german")
    assert result.stdout.startswith("serving german at http://")
    assert {name: type(model) for name, model in models.items()} == {"german": Inflector}
    monkeypatch.setattr(serve, "NAMED", 2)
    assert served(reinflect, monkeypatch)[0].stdout.startswith("serving 3 languages at http://")


@posix
@pytest.mark.usefixtures("pocket")
def test_the_program_serves_all_languages() -> None:
    with program() as (started, port):
        assert inflected(port)["answer"]["voters"] == 2
        started.send_signal(signal.SIGTERM)
        _, complaints = started.communicate(timeout=60)
    assert complaints == ""


def test_who_can_reach_it(reinflect: Reinflect, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result, _, hosts = served(reinflect, monkeypatch, model)
    assert (hosts, result.stderr) == (Hosts(), "")
    *_, hosts = served(reinflect, monkeypatch, model, "--allow-host", "Words.example.org", "--allow-host", "10.0.0.1")
    assert hosts.names == LOCAL | {"words.example.org", "10.0.0.1"}
    assert not hosts.any_address
    result, _, hosts = served(reinflect, monkeypatch, model, "--host", "0.0.0.0")
    assert "note: anyone who can reach this computer" in result.stderr
    assert hosts.admit("192.168.1.5:8000")
    assert hosts.admit(socket.gethostname())
    assert not hosts.admit("evil.example")


def test_the_demo_is_trained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path))
    inflector, trained = three_models(), []

    def train(*_: object, out: Path, **__: object) -> SimpleNamespace:
        trained.append(out)
        inflector.save(out)
        return SimpleNamespace(inflector=inflector, training=SimpleNamespace(interrupted=False, accuracy=90, scored=10))

    monkeypatch.setattr(sys.modules["reinflect.train"], "train_model", train)
    path = tmp_path / "models" / f"german-verbs-{__version__}.reinflect"
    assert demo.served_model() is inflector
    again = demo.served_model()
    assert trained == [path]
    assert again.inflect("loben", PAST) == inflector.inflect("loben", PAST)
    path.write_bytes(path.read_bytes()[:-100])
    demo.served_model()
    assert trained == [path, path]
