"""Models that are served from their files: loaded when they are asked for, dropped when they are idle."""

import gc
import logging
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import pocket_models
from reinflect.web import app
from reinflect.web.app import create_app
from tests.fuzz import tiny_models
from tests.web.test_app import HERE, ask, refusal

ASKED: dict[str, Any] = {"lemma": "gehen", "features": "V;PST"}


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were loaded."""
    found: list[str] = []
    load = Inflector.load

    def noticed(path: Path | str) -> Inflector:
        found.append(Path(path).stem)
        return load(path)

    monkeypatch.setattr(Inflector, "load", noticed)
    return found


@pytest.fixture
def client(pocket: Path, loads: list[str]) -> Iterator[TestClient]:
    assert pocket.is_dir()
    assert not loads
    with TestClient(create_app(pocket_models()), base_url=HERE) as made:
        yield made


def listed(client: TestClient) -> dict[str, Any]:
    return {own.pop("name"): own for own in client.get("/api/models").json()["models"]}


def until(done: Any) -> None:
    end = time.monotonic() + 20
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_model_is_loaded_by_the_first_request_and_once(client: TestClient, loads: list[str]) -> None:
    unknown = dict.fromkeys(("members", "voters", "bundles", "attested", "changed"))
    assert listed(client) == dict.fromkeys(("finnish", "german", "norwegian-bokmal"), unknown)
    assert loads == []
    for _ in range(2):
        content = ask(client, "inflect", model="german", **ASKED)
        assert content["answer"]["form"] == "ging"
    assert client.get("/api/models/german").json()["voter_names"]
    assert loads == ["german"]
    assert listed(client)["german"]["members"] == 3
    assert listed(client)["finnish"] == unknown
    ask(client, "inflect", **ASKED)
    assert loads == ["german", "finnish"]


def test_an_idle_model_is_dropped_and_loaded_again(
    client: TestClient, loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = weakref.WeakSet[Inflector]()
    init = Inflector.__post_init__

    def noticed(self: Inflector) -> None:
        init(self)
        kept.add(self)

    monkeypatch.setattr(Inflector, "__post_init__", noticed)
    monkeypatch.setattr(Inflector, "__hash__", object.__hash__)
    monkeypatch.setattr(Inflector, "__eq__", object.__eq__)
    monkeypatch.setattr(app, "IDLE_SECONDS", 0.2)
    ask(client, "inflect", model="german", **ASKED)
    client.get("/api/models/german")
    ask(client, "rules", model="german", lemma="gehen")
    assert kept
    until(lambda: listed(client)["german"]["members"] is None)
    gc.collect()
    until(lambda: gc.collect() >= 0 and not kept)
    assert ask(client, "inflect", model="german", **ASKED)["answer"]["form"] == "ging"
    assert loads == ["german", "german"]


def test_a_model_that_is_asked_for_stays(client: TestClient, loads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    timers: list[float] = []
    monkeypatch.setattr(app.Api, "_drop", lambda _self, _name: timers.append(time.monotonic()))
    monkeypatch.setattr(app, "IDLE_SECONDS", 1.0)
    start = time.monotonic()
    for _ in range(4):
        ask(client, "inflect", model="german", **ASKED)
        last = time.monotonic()
        time.sleep(0.1)
    until(lambda: timers)
    assert loads == ["german"]
    assert len(timers) == 1
    assert timers[0] - last > 0.8
    assert start < last


def test_models_that_were_named_are_never_dropped(pocket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "IDLE_SECONDS", 0.0)
    given: dict[str, Inflector | Path] = {
        "own": Inflector.load(pocket / "german.reinflect"),
        "finnish": pocket / "finnish.reinflect",
    }
    with TestClient(create_app(given), base_url=HERE) as client:
        ask(client, "inflect", model="own", **ASKED)
        ask(client, "inflect", model="finnish", **ASKED)
        until(lambda: listed(client)["finnish"]["members"] is None)
        assert listed(client)["own"]["members"] == 3


def test_an_unknown_name_is_one_line(client: TestClient, loads: list[str]) -> None:
    message = refusal(client, "inflect", 404, model="finish", **ASKED)
    assert message == "there is no model with this name; did you mean finnish?"
    message = refusal(client, "inflect", 404, model="xyzzy" * 9000, **ASKED)
    assert message == "there is no model with this name; the models are finnish, german, norwegian-bokmal"
    assert client.get("/api/models/latin").status_code == 404
    assert client.get("/api/models/..%2Fgerman").status_code == 404
    assert loads == []


def test_a_file_that_cannot_be_used_is_one_line_and_may_be_mended(
    client: TestClient, pocket: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = pocket / "german.reinflect"
    path.write_bytes(b"no model")
    with caplog.at_level(logging.WARNING):
        message = refusal(client, "inflect", 400, model="german", **ASKED)
    assert message.startswith("the file of this model cannot be used now (not a valid reinflect model (")
    assert str(pocket) not in message
    assert str(path) in caplog.text
    assert ask(client, "inflect", model="finnish", **ASKED)["answer"]["form"] == "ging"
    path.write_bytes(tiny_models.model_file())
    assert ask(client, "inflect", model="german", **ASKED)["answer"]["form"] == "ging"


def test_a_changed_file_of_a_loaded_model_is_loaded_on_request(client: TestClient, pocket: Path) -> None:
    ask(client, "inflect", model="german", **ASKED)
    tiny_models.inflector().using("vote").save(pocket / "german.reinflect")
    assert listed(client)["german"]["changed"]
    assert ask(client, "reload", model="german")["changed"] is None
    assert client.get("/api/models/german").json()["strategy"] == "vote"
