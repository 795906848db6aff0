"""Models that are served from files: loaded when they are asked for, dropped when idle, and files that change."""

import gc
import logging
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import pocket_models
from reinflect.web import app
from reinflect.web.app import CHANGED, create_app
from tests.fuzz import tiny_models
from tests.web.running import until
from tests.web.test_app import HERE, ask, refusal

QUERY: dict[str, Any] = {"lemma": "gehen", "features": "V;PST"}
UNKNOWN = dict.fromkeys(("members", "voters", "bundles", "attested", "dictionary", "changed"))


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were loaded."""
    names: list[str] = []
    load = Inflector.load

    def noted(path: Path) -> Inflector:
        names.append(path.stem)
        return load(path)

    monkeypatch.setattr(Inflector, "load", noted)
    return names


@pytest.fixture
def client(pocket: Path, loads: list[str]) -> Iterator[TestClient]:
    """Of a server with three languages that are loaded when they are asked for."""
    assert pocket.is_dir()
    assert not loads
    with TestClient(create_app(pocket_models()), base_url=HERE) as opened:
        yield opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    tiny_models.inflector().save(tmp_path / "verbs.reinflect")
    return tmp_path / "verbs.reinflect"


@pytest.fixture
def verbs(path: Path) -> Iterator[TestClient]:
    """Of a server with one model, which was loaded at the start."""
    with TestClient(create_app({"verbs": Inflector.load(path)}), base_url=HERE) as opened:
        yield opened


def listed(client: TestClient) -> dict[str, Any]:
    return {model.pop("name"): model for model in client.get("/api/models").json()["models"]}


def other() -> Inflector:
    """A model with one member only."""
    whole = tiny_models.inflector()
    return replace(whole, members=whole.members[:1], choices={}, confidences={}, strategy="vote")


def spoil(path: Path) -> None:
    """Write over a file in its place, as a copying program does."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.write(b"\xff" * size)


def test_a_model_is_loaded_by_the_first_request_and_once(client: TestClient, loads: list[str]) -> None:
    assert listed(client) == dict.fromkeys(("finnish", "german", "norwegian-bokmal"), UNKNOWN)
    assert loads == []
    for _ in range(2):
        assert ask(client, "inflect", model="german", **QUERY)["answer"]["form"] == "ging"
    assert client.get("/api/models/german").json()["voter_names"]
    assert loads == ["german"]
    assert listed(client)["german"]["members"] == 3
    assert listed(client)["finnish"] == UNKNOWN
    ask(client, "inflect", **QUERY)
    assert loads == ["german", "finnish"]


def test_an_idle_model_is_dropped(client: TestClient, loads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "IDLE_SECONDS", 0.2)
    ask(client, "inflect", model="german", **QUERY)
    guard: Any = client.app
    inflector = weakref.ref(guard.app.loaded["german"].inflector)
    client.get("/api/models/german")
    ask(client, "rules", model="german", lemma="gehen")
    until(lambda: listed(client)["german"]["members"] is None)
    until(lambda: gc.collect() >= 0 and inflector() is None)
    assert ask(client, "inflect", model="german", **QUERY)["answer"]["form"] == "ging"
    assert loads == ["german", "german"]


def test_each_request_puts_off_the_end_of_a_model(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "IDLE_SECONDS", 0.2)
    ask(client, "inflect", model="german", **QUERY)
    monkeypatch.setattr(app, "IDLE_SECONDS", 600.0)
    ask(client, "inflect", model="german", **QUERY)
    monkeypatch.setattr(app, "IDLE_SECONDS", 0.4)
    ask(client, "inflect", model="finnish", **QUERY)
    until(lambda: listed(client)["finnish"]["members"] is None)
    assert listed(client)["german"]["members"] == 3


def test_models_that_were_named_are_never_dropped(pocket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "IDLE_SECONDS", 0.0)
    named = Inflector.load(pocket / "german.reinflect")
    with TestClient(create_app({"named": named, "finnish": pocket / "finnish.reinflect"}), base_url=HERE) as client:
        ask(client, "inflect", model="named", **QUERY)
        ask(client, "inflect", model="finnish", **QUERY)
        until(lambda: listed(client)["finnish"]["members"] is None)
        assert listed(client)["named"]["members"] == 3


def test_an_unknown_name_is_one_line(client: TestClient, loads: list[str]) -> None:
    message = refusal(client, "inflect", 404, model="finish", **QUERY)
    assert message == "there is no model with this name; did you mean finnish?"
    message = refusal(client, "inflect", 404, model="xyzzy" * 9000, **QUERY)
    assert message == "there is no model with this name; the models are finnish, german, norwegian-bokmal"
    assert client.get("/api/models/latin").status_code == 404
    assert client.get("/api/models/..%2Fgerman").status_code == 404
    assert loads == []


def test_a_file_may_be_damaged_and_mended(client: TestClient, pocket: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = pocket / "german.reinflect"
    path.write_bytes(b"no model")
    with caplog.at_level(logging.WARNING):
        message = refusal(client, "inflect", 400, model="german", **QUERY)
    assert message.startswith("the file of this model cannot be used now (not a valid reinflect model (")
    assert str(pocket) not in message
    assert str(path) in caplog.text
    assert ask(client, "inflect", model="finnish", **QUERY)["answer"]["form"] == "ging"
    path.write_bytes(tiny_models.model_file())
    assert ask(client, "inflect", model="german", **QUERY)["answer"]["form"] == "ging"


@pytest.mark.parametrize("damage", [spoil, lambda path: path.write_bytes(b""), Path.unlink])
def test_answers_stay_when_the_file_is_overwritten_cut_or_removed(
    verbs: TestClient, path: Path, damage: Callable[[Path], object], caplog: pytest.LogCaptureFixture
) -> None:
    before = ask(verbs, "inflect", **QUERY)
    assert listed(verbs)["verbs"]["changed"] is None
    damage(path)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert ask(verbs, "inflect", **QUERY) == before
        assert caplog.messages == [f"note: {path} has changed since it was loaded; the page offers to load it again"]
        assert listed(verbs)["verbs"]["changed"] == CHANGED
        message = refusal(verbs, "reload", 400, model="verbs")
    assert message.startswith("the file of this model cannot be used now (")
    assert message.endswith("; the model stays as it was loaded")
    assert str(path.parent) not in message
    assert str(path) in caplog.messages[-1]
    assert ask(verbs, "inflect", **QUERY) == before
    other().save(path)
    assert ask(verbs, "reload")["members"] == 1


def test_a_new_file_is_loaded_on_request(verbs: TestClient, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, about = ask(verbs, "inflect", **QUERY), verbs.get("/api/models/verbs").json()
    assert len(about["voter_names"]) > 1
    other().save(path)
    assert verbs.get("/api/models/verbs").json() == about
    loaded = ask(verbs, "reload", model="verbs")
    assert (loaded["name"], loaded["members"], loaded["changed"]) == ("verbs", 1, None)
    assert listed(verbs)["verbs"]["changed"] is None
    assert len(verbs.get("/api/models/verbs").json()["voter_names"]) == 1
    after = ask(verbs, "inflect", **QUERY)
    assert (after["answer"]["voters"], before["answer"]["voters"] > 1) == (1, True)
    monkeypatch.setattr(Inflector, "load", lambda _: pytest.fail("read again"))
    assert ask(verbs, "reload")["changed"] is None
