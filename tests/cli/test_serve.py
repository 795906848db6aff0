import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from click.testing import Result
from starlette.testclient import TestClient

from reinflect import __version__
from reinflect.cli import serve
from reinflect.engine import train_inflector
from reinflect.inflector import Inflector
from reinflect.web.app import create_app
from tests.training.tiny import SMALL, language

Reinflect = Callable[..., Result]
PAST = "V;PST"


def small_inflector() -> Inflector:
    settings = dict.fromkeys(("hacm", "haem", "soft"), SMALL)
    items = language("german")
    return train_inflector(
        items[4:], items[:4], settings=settings, systems=list(settings), alignments=["naive"], seeds=1, strategy="vote"
    ).inflector


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("serve") / "verbs.reinflect"
    small_inflector().save(path)
    return path


def test_nothing_to_serve_is_an_error(reinflect: Reinflect) -> None:
    result = reinflect("serve")
    assert result.exit_code == 2
    assert "--demo" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_model_that_is_not_there_is_an_error(reinflect: Reinflect, tmp_path: Path) -> None:
    result = reinflect("serve", "--port", "0", tmp_path / "none.reinflect")
    assert result.exit_code == 2
    assert "there is no such file" in result.stderr


def test_a_port_that_is_taken_is_an_error(reinflect: Reinflect, model: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = reinflect("serve", model, "--port", taken.getsockname()[1])
    assert result.exit_code == 2
    assert "choose another with --port" in result.stderr


def test_a_host_that_is_not_ours_is_an_error(reinflect: Reinflect, model: Path) -> None:
    result = reinflect("serve", model, "--port", 0, "--host", "not a host")
    assert result.exit_code == 2
    assert "give an address of this computer" in result.stderr


def test_without_the_extra_it_says_how_to_install_it(
    reinflect: Reinflect, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    result = reinflect("serve", model)
    assert result.exit_code == 2
    assert "pip install 'reinflect[web]'" in result.stderr


def test_models_are_named_after_their_files() -> None:
    names = serve.model_names(["a/verbs.reinflect", "nouns.v2.reinflect", "b/verbs.reinflect"])
    assert names == ["verbs", "nouns.v2", "verbs (2)"]


def test_real_models_answer_everything(model: Path) -> None:
    inflector = Inflector.load(model)
    with TestClient(create_app({"verbs": inflector})) as client:

        def ask(what: str, **body: object) -> Any:
            response = client.post(f"/api/{what}", json=body)
            assert response.status_code == 200, response.text
            return response.json()

        known = client.get("/api/models/verbs").json()
        assert known["voter_names"] == [member.name for member in inflector.voters]
        assert {bundle["features"] for bundle in known["bundles"]} == {"V;INF", PAST, "V;PTCP;PST"}
        form = inflector.inflect("loben", PAST)
        assert ask("inflect", lemma="loben", features=PAST)["answer"]["form"] == form
        assert ask("nbest", lemma="loben", features=PAST, n=2)["answers"][0]["form"] == form
        assert {cell["features"] for cell in ask("paradigm", lemma="loben")["cells"]} == set(inflector.bundles)
        rows = ask("batch", rows=[{"lemma": "loben", "features": PAST}])["rows"]
        assert rows[0]["answer"]["form"] == form
        for member in inflector.members:
            trace = ask("trace", lemma="loßen", features=PAST, member=member.name)
            assert trace["system"] == member.system.name
            assert "ß" in trace["source"]
            attended = {step["position"] for step in trace["steps"]}
            assert attended <= set(range(-1, len(trace["source"]) + 1))
        assert ask("inflect", lemma="loben", features="V;PTS")["unknown"][0]["feature"] == "PTS"


def test_a_trace_is_what_the_command_prints(reinflect: Reinflect, model: Path) -> None:
    printed = reinflect("trace", model, "loben", PAST, "--json")
    with TestClient(create_app({"verbs": Inflector.load(model)})) as client:
        said = client.post("/api/trace", json={"lemma": "loben", "features": PAST})
    assert said.json() == json.loads(printed.stdout)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Ctrl-C is sent in another way on Windows")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_ended(model: Path, ending: signal.Signals) -> None:
    call = [sys.executable, "-m", "reinflect", "serve", str(model), "--port", "0"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as running:
        try:
            assert running.stdout
            address = running.stdout.readline().split(" at ")[1].split(" ")[0]
            assert address.startswith("http://127.0.0.1:")
            with urlopen(address) as page:
                assert b"<title>reinflect</title>" in page.read()
            question = json.dumps({"lemma": "loben", "features": PAST}).encode()
            asked = Request(f"{address}api/inflect", question, {"Content-Type": "application/json"})
            with urlopen(asked) as answer:
                assert json.load(answer)["lemma"] == "loben"
            running.send_signal(ending)
            _, complaints = running.communicate(timeout=60)
        finally:
            running.kill()
    assert complaints == ""
    assert running.returncode in (0, -ending)


def test_the_demo_is_trained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path))
    inflector, trained = small_inflector(), []

    def train(path: Path) -> Inflector:
        trained.append(path)
        inflector.save(path)
        return inflector

    monkeypatch.setattr(serve, "_trained", train)
    path = tmp_path / "models" / f"german-verbs-{__version__}.reinflect"
    assert list(serve._demo_model({})) == ["german-verbs"]
    again = serve._demo_model({"german-verbs": inflector})
    assert trained == [path]
    assert again["german-verbs (demo)"].inflect("loben", PAST) == inflector.inflect("loben", PAST)
    path.write_bytes(path.read_bytes()[:-100])
    serve._demo_model({})
    assert trained == [path, path]
