"""A model whose file changes while it is served: its answers stay, and the new file is loaded on request."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from reinflect.inflector.inflector import Inflector
from reinflect.web.app import create_app
from tests.fuzz import tiny_models
from tests.web.test_app import HERE, ask, refusal


def other() -> Inflector:
    """A model with one member only."""
    whole = tiny_models.inflector()
    return replace(whole, members=whole.members[:1], choices={}, confidences={}, strategy="vote")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    tiny_models.inflector().save(tmp_path / "verbs.reinflect")
    return tmp_path / "verbs.reinflect"


@pytest.fixture
def client(path: Path) -> Iterator[TestClient]:
    with TestClient(create_app({"verbs": Inflector.load(path)}), base_url=HERE) as made:
        yield made


def changed(client: TestClient) -> str | None:
    [model] = client.get("/api/models").json()["models"]
    return model["changed"]  # type: ignore[no-any-return]


def inflected(client: TestClient) -> dict[str, Any]:
    return ask(client, "inflect", lemma="gehen", features="V;PST")


def spoil(path: Path) -> None:
    """Write over a file in its place, as a copying program does."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.write(b"\xff" * size)


@pytest.mark.parametrize("damage", [spoil, lambda path: path.write_bytes(b""), Path.unlink])
def test_answers_stay_when_the_file_is_overwritten_cut_or_removed(
    client: TestClient, path: Path, damage: object, caplog: pytest.LogCaptureFixture
) -> None:
    before = inflected(client)
    assert changed(client) is None
    damage(path)  # type: ignore[operator]
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert inflected(client) == before
        said = changed(client)
    assert said == "the file of this model has changed since it was loaded; answers are of the model as it was loaded"
    assert caplog.messages == [f"note: {path} has changed since it was loaded; the page offers to load it again"]


def test_a_new_file_is_loaded_on_request_and_whole(client: TestClient, path: Path) -> None:
    before, about = inflected(client), client.get("/api/models/verbs").json()
    assert len(about["voter_names"]) > 1
    other().save(path)
    assert client.get("/api/models/verbs").json() == about
    loaded = ask(client, "reload", model="verbs")
    assert (loaded["name"], loaded["members"], loaded["changed"]) == ("verbs", 1, None)
    assert changed(client) is None
    assert len(client.get("/api/models/verbs").json()["voter_names"]) == 1
    after = inflected(client)
    assert (after["answer"]["voters"], before["answer"]["voters"] > 1) == (1, True)


def test_a_new_file_that_cannot_be_used_leaves_the_model_as_it_is(
    client: TestClient, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = inflected(client)
    spoil(path)
    with caplog.at_level(logging.WARNING):
        message = refusal(client, "reload", 400, model="verbs")
    assert message.startswith("the file of this model cannot be used now (not a valid reinflect model (")
    assert message.endswith("; the model stays as it was loaded")
    assert str(path.parent) not in message
    assert any(str(path) in line for line in caplog.messages)
    assert inflected(client) == before
    other().save(path)
    assert ask(client, "reload")["members"] == 1


def test_a_file_that_has_not_changed_is_not_read_again(
    client: TestClient, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Inflector, "load", lambda _: pytest.fail("read again"))
    assert ask(client, "reload")["changed"] is None
    assert path.exists()


def test_a_page_of_another_server_cannot_ask_for_it(client: TestClient, path: Path) -> None:
    other().save(path)
    response = client.post("/api/reload", json={}, headers={"origin": "http://evil.example"})
    assert response.json()["code"] == "wrong_origin"
    assert client.post("/api/reload", content=b"{}").json()["code"] == "not_json"
    assert client.get("/api/reload").status_code == 405
    assert changed(client)
