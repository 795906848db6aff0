"""Who may ask: host names, pages of other servers, and the headers of every response."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from reinflect.web.app import POSTS, create_app
from reinflect.web.guard import LOCAL, Hosts, host_name
from tests.web.made_up import german
from tests.web.test_app import HERE, PAST


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app({"german": german()}), base_url=HERE) as opened:
        yield opened


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "127.0.0.2"])
def test_at_a_loopback_address_only_local_names_are_admitted(address: str) -> None:
    assert Hosts.at(address) == Hosts(LOCAL | {address}, any_address=False)


def test_at_other_addresses_any_address_but_not_any_name_is_admitted() -> None:
    hosts = Hosts.at("0.0.0.0", ["Words.Example.org."])
    for host in ("192.168.1.5:8000", "[fe80::1]:80", "[2001:db8::5]", "words.example.org", "WORDS.example.org:1"):
        assert hosts.admit(host), host
    for host in ("example.org", "1.2.3.4.example.org", "1.2.3", "0x7f.1", "words.example.org.evil", "fe80::1"):
        assert not hosts.admit(host), host


@given(st.text() | st.sampled_from(["", ":80", "a b", "a/b", "a@b", "a:b", "a:", "a:123456", "[a]", "[::1]x", "a\n"]))
def test_any_text_can_be_checked(host: str) -> None:
    name = host_name(host)
    assert Hosts().admit(host) == (name in LOCAL)
    assert name is None or not set(name) & set(" /@\n")


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "LOCALHOST.:1", "[::1]:8000", "[::1]"])
def test_local_host_names_are_admitted(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.1.1", "0.0.0.0",
     "127.0.0.1:8000:8000", "evil@127.0.0.1", "127.0.0.1/", "[::1", "::1", "", "localhost:", "a" * 5000],
)  # fmt: skip
def test_foreign_host_names_are_refused(client: TestClient, host: str) -> None:
    """For files too: a foreign name must not show our page."""
    responses = [client.get(path, headers={"host": host}) for path in ("/", "/static/app.js", "/api/models")]
    responses.append(client.post("/api/inflect", json={"lemma": "machen", "features": PAST}, headers={"host": host}))
    for response in responses:
        assert (response.status_code, response.json()["code"]) == (403, "wrong_host")
        assert len(response.text) < 300


@pytest.mark.parametrize("origin", [None, HERE, "https://127.0.0.1:8000"])
def test_our_page_and_programs_are_admitted(client: TestClient, origin: str | None) -> None:
    headers = {} if origin is None else {"origin": origin}
    response = client.post("/api/inflect", json={"lemma": "machen", "features": PAST}, headers=headers)
    assert response.status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:3000", "http://localhost:8000",
     "http://127.0.0.1:8000.evil.example", "http://evil@127.0.0.1:8000", "file://", "http://[", "127.0.0.1:8000"],
)  # fmt: skip
def test_foreign_pages_are_refused(client: TestClient, origin: str) -> None:
    for name in POSTS:
        response = client.post(f"/api/{name}", json={"lemma": "a", "features": "V"}, headers={"origin": origin})
        assert (response.status_code, response.json()["code"]) == (403, "wrong_origin")


def test_every_response_has_the_security_headers(client: TestClient) -> None:
    for response in (
        client.get("/"),
        client.get("/api/models"),
        client.get("/static/app.js"),
        client.get("/nothing"),
        client.get("/", headers={"host": "evil.example"}),
        client.post("/api/nbest", json={"lemma": "kaputt", "features": "V"}),
    ):
        policy = dict(part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";"))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in response.headers
        api = response.url.path.startswith("/api/")
        assert response.headers["cache-control"] == ("no-store" if api else "no-cache")
