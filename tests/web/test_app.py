"""The JSON interface, with made-up models behind it."""

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from reinflect.data.features import Bundle, Labels
from reinflect.data.items import Item
from reinflect.inflector.inflector import Inflector
from reinflect.score.baseline import Baseline
from reinflect.web.app import PALETTE, POSTS, STATIC, UNKNOWN, create_app
from reinflect.web.guard import LOCAL, Hosts, host_name
from reinflect.web.inventory import example_lemmas, inventory
from reinflect.web.requests import LIMITS
from tests.web.made_up import MEMBERS, VERBS, MadeUp, german, hebrew

PAST = "V;IND;PST;3;SG"
FIRST = "V;IND;PST;1;SG"
HERE = "http://127.0.0.1:8000"
INTERFACE = (Path(__file__).parents[2] / "docs" / "api-web.md").read_text(encoding="utf-8")
CODES = {
    code: int(status) for code, status in re.findall(r"\| `(\w+)` \| (\d{3}) \|", INTERFACE.partition("## Errors")[2])
}
"""The HTTP status of each error code. Programs rely on the codes: they do not change."""
GLYPHS = re.compile("[\u2190-\u21ff\u2300-\u23ff\u2460-\u2bff\u00d7\ufe0f\U0001f000-\U0001faff]")
"""Arrows, signs and emoji, which fonts draw differently or not at all."""
NOTATION = "\u2423\u25cc"
"""A blank made visible, and the ground of a combining mark."""


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app({"german": german(), "hebrew": hebrew()}), base_url=HERE) as opened:
        yield opened


def ask(client: TestClient, name: str, status: int = 200, **body: object) -> dict[str, Any]:
    response = client.post(f"/api/{name}", json=body)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    return cast(dict[str, Any], response.json())


def refused(client: TestClient, name: str, status: int = 400, **body: object) -> dict[str, Any]:
    content = ask(client, name, status, **body)
    assert content.keys() == {"error", "code", "field"}
    assert "\n" not in content["error"]
    assert len(content["error"]) < 300
    assert CODES[content["code"]] == status
    return content


def refusal(client: TestClient, name: str, status: int = 400, **body: object) -> str:
    return cast(str, refused(client, name, status, **body)["error"])


def row(lemma: str, features: str = PAST) -> dict[str, object]:
    return {"lemma": lemma, "features": features}


def test_models_are_listed_with_the_limits(client: TestClient) -> None:
    listed = client.get("/api/models").json()
    assert [model["name"] for model in listed["models"]] == ["german", "hebrew"]
    assert listed["models"][0]["members"] == len(MEMBERS)
    assert listed["limits"] == msgspec.to_builtins(LIMITS)


def test_the_inventory_has_features_tables_an_example_and_the_facts_of_the_card(client: TestClient) -> None:
    model = client.get("/api/models/german").json()
    dimensions = {dimension["name"]: [atom["atom"] for atom in dimension["atoms"]] for dimension in model["dimensions"]}
    assert dimensions["tense"] == ["PRS", "PST"]
    assert dimensions["part of speech"] == ["V", "V.PTCP"]
    assert {bundle["features"] for bundle in model["bundles"]} == set(VERBS)
    [verbs] = model["paradigms"]
    assert verbs["example"] == "sehen"
    cells = [cell for table in verbs["tables"] for line in table["rows"] for cell in line["cells"] if cell]
    assert sorted(cells) == sorted(VERBS)
    assert "haem-smart-1" in model["about"]
    assert model["card"]["members"][0] == {"name": "haem-smart-1", "dev_accuracy": 80.0, "votes": True}
    assert model["card"]["training"] is None
    assert [part["example"] for part in client.get("/api/models/hebrew").json()["paradigms"]] == [None]


def test_the_example_has_most_attested_forms_and_a_gap() -> None:
    every = ("V;NFIN", "V;PST", "V.PTCP;PST")
    lemmas = {"full": every, "some": every[:2], "few": every[:1], "x" * 300: every[:2]}
    lemmas |= dict.fromkeys(("noun", "both"), ("N;SG",))
    items = tuple(Item(lemma, Bundle(features), "x") for lemma, cells in lemmas.items() for features in cells)
    assert example_lemmas(cast(Inflector, MadeUp(VERBS, attested=items))) == {"V": "some", "N": "noun"}


def test_the_inventory_has_labels_of_single_features_and_the_atoms_of_bundles_with_layers() -> None:
    model = MadeUp({"V;NOM(1,SG)": "x", "V;NFIN": ""}, labels=Labels((("verb", "V"),)))
    content = inventory("m", cast(Inflector, model))
    atoms = {atom["atom"]: atom for dimension in content["dimensions"] for atom in dimension["atoms"]}
    assert atoms["V"] == {"atom": "V", "meaning": "verb", "label": "verb"}
    assert atoms["NFIN"]["label"] is None
    bundles = {bundle["features"]: bundle["atoms"] for bundle in content["bundles"]}
    assert bundles == {"V;NOM(1,SG)": ("V", "NOM(1)", "NOM(SG)"), "V;NFIN": None}
    assert [dimension["name"] for dimension in content["dimensions"]][-2:] == ["person (NOM)", "number (NOM)"]


def test_tables_have_only_as_many_cells_as_may_be_asked_for() -> None:
    """Of a hundred thousand bundles, tables took half a minute, in which no form was made."""
    endings = {f"V;PST;{number}": "te" for number in range(LIMITS.paradigm_cells + 500)} | {"N;SG": "", "N;PL": "n"}
    content = inventory("many", cast(Inflector, MadeUp(endings)))
    assert len(content["bundles"]) == len(endings)
    verbs, nouns = content["paradigms"]
    cells = [cell for table in verbs["tables"] for line in table["rows"] for cell in line["cells"] if cell]
    assert sorted(cells) == sorted(list(endings)[: LIMITS.paradigm_cells])
    assert (verbs["left_out"], nouns["left_out"]) == (500, 0)


def test_inflect_gives_one_form_of_the_named_model(client: TestClient) -> None:
    content = ask(client, "inflect", lemma="machen", features=PAST)
    assert content["answer"]["form"] == "machte"
    assert 0 < content["answer"]["confidence"] < 1
    assert content["unknown"] == content["unseen"] == []
    content = ask(client, "inflect", model="hebrew", lemma="סוס", features="N;PL;DEF")
    assert content["answer"]["form"] == "הסוסים"


def test_nbest_gives_distinct_forms_best_first(client: TestClient) -> None:
    answers = ask(client, "nbest", lemma="machen", features=PAST, n=3)["answers"]
    assert answers[0]["form"] == "machte"
    assert len({answer["form"] for answer in answers}) == 3
    assert [answer["confidence"] for answer in answers] == sorted((a["confidence"] for a in answers), reverse=True)


def test_a_paradigm_has_all_bundles_or_the_requested_ones(client: TestClient) -> None:
    every = ask(client, "paradigm", lemma="machen")["cells"]
    assert [cell["features"] for cell in every] == list(VERBS)
    some = ask(client, "paradigm", lemma="machen", bundles=["V;NFIN", PAST])["cells"]
    assert [(cell["features"], cell["answer"]["form"]) for cell in some] == [("V;NFIN", "machen"), (PAST, "machte")]


def test_a_batch_keeps_the_order(client: TestClient) -> None:
    content = ask(client, "batch", rows=[row(f"mach{letter}en") for letter in "cab"])["rows"]
    assert [answered["answer"]["form"] for answered in content] == ["machcte", "machate", "machbte"]


def test_a_trace_equals_that_of_the_inflector(client: TestClient) -> None:
    content = ask(client, "trace", lemma="machen", features=PAST)
    assert content == json.loads(msgspec.json.encode(german().trace("machen", PAST)))
    assert ask(client, "trace", lemma="machen", features=PAST, member=MEMBERS[1])["member"] == MEMBERS[1]


def test_attested_forms_beat_predictions_and_are_marked(client: TestClient) -> None:
    cells = {cell["features"]: cell["answer"] for cell in ask(client, "paradigm", lemma="sehen")["cells"]}
    assert (cells[FIRST]["form"], cells[FIRST]["attested"], cells[FIRST]["confidence"]) == ("sah", True, None)
    assert [features for features, answer in cells.items() if answer["attested"]] == [FIRST]
    assert ask(client, "inflect", lemma="sehen", features=FIRST)["answer"] == cells[FIRST]
    listed = ask(client, "nbest", lemma="sehen", features=FIRST)["answers"]
    assert [(answer["form"], answer["attested"]) for answer in listed[:2]] == [("sah", True), ("sehte", False)]
    assert client.get("/api/models/german").json()["attested"] == 1


def test_the_rules_are_learnt_once_and_from_attested_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    learn = Mock(wraps=Baseline.learn)
    monkeypatch.setattr(Baseline, "learn", learn)
    with TestClient(create_app({"german": german(), "hebrew": hebrew()}), base_url=HERE) as client:
        for _ in range(2):
            content = ask(client, "rules", lemma="stehen", bundles=[FIRST, PAST])
            assert content["cells"] == [{"features": FIRST, "form": "stah"}, {"features": PAST, "form": None}]
            assert content["items"] == 1
        assert ask(client, "rules", lemma="stehen")["cells"] == content["cells"][:1]
        learn.assert_called_once_with(german().attested)
        assert "no attested forms" in refusal(client, "rules", model="hebrew", lemma="סוס")


@pytest.mark.parametrize("name", ["inflect", "nbest", "batch", "paradigm"])
def test_labels_and_features_that_are_unknown_or_new_together(client: TestClient, name: str) -> None:
    def asked(features: str) -> dict[str, Any]:
        word: dict[str, Any] = row("machen", features)
        if name == "batch":
            return ask(client, name, rows=[word] * 2)
        return ask(client, name, **({"lemma": "machen", "bundles": [features]} if name == "paradigm" else word))

    unknown, new = asked("V;IND;PTS;3;SG"), asked("V;IND;SG")
    assert (unknown["unknown"], unknown["unseen"]) == ([{"feature": "PTS", "nearest": ["PST"]}], [])
    assert new["unseen"] == [{"features": "V;IND;SG", "nearest": ["V;IND;PRS;1;SG", "V;IND;PRS;2;SG"]}]
    for content in map(asked, ("participle", "Participle")):
        assert (content["unknown"], content["unseen"]) == ([], [])
        [translated, *_] = content.get("rows") or content.get("cells") or [content]
        assert translated["features"] == "V.PTCP;PRS"
        assert (translated.get("answer") or translated["answers"][0])["form"] == "machend"


def test_the_number_of_unknown_features_is_limited(client: TestClient) -> None:
    """The search for similar features blocks the server."""
    rows = [row("machen", ";".join(f"X{number}Y{n}" for n in range(60))) for number in range(900)]
    assert len(ask(client, "batch", rows=rows)["unknown"]) == UNKNOWN


def test_characters_are_not_changed(client: TestClient) -> None:
    lemma = "e\u0301 ”<b>&'"
    assert ask(client, "inflect", lemma=lemma, features="V;X")["lemma"] == lemma


@pytest.mark.parametrize(
    ("name", "code", "body"),
    [
        *(("inflect", "no_lemma", row(lemma)) for lemma in ("", "  ")),
        *(("inflect", "lemma_unusable", row(lemma)) for lemma in ("a\tb", "a\nb")),
        ("inflect", "lemma_too_long", row("x" * 201)),
        *(("inflect", "no_features", row("a", features)) for features in ("", " ", ";;")),
        *(("inflect", "features_unusable", row("a", features)) for features in ("V\t;PST", "V\n")),
        ("inflect", "features_too_long", row("a", "V" * 501)),
        ("inflect", "wrong_question", {"lemma": "a"}),
        ("inflect", "wrong_question", {**row("a"), "a\nb" * 1000: 1}),
        *(("nbest", "wrong_question", {**row("a"), "n": n}) for n in (-1, 0, 1.5)),
        *(("nbest", "too_many_answers", {**row("a"), "n": n}) for n in (21, 10**18)),
        ("batch", "no_rows", {"rows": []}),
        ("batch", "too_many_rows", {"rows": [row("a")] * 1001}),
        ("batch", "lemma_unusable", {"rows": [row("a"), row("b\n")]}),
        ("paradigm", "too_many_bundles", {"lemma": "a", "bundles": ["V"] * 2001}),
        ("paradigm", "no_features", {"lemma": "a", "bundles": ["V", ";"]}),
        ("rules", "too_many_bundles", {"lemma": "a", "bundles": ["V"] * 2001}),
        ("trace", "cannot_answer", {**row("a"), "member": "haem-smart-99"}),
        ("inflect", "no_such_model", {**row("a"), "model": "latin"}),
        ("nbest", "our_fault", row("kaputt")),
    ],
)
def test_errors_have_codes_and_places(client: TestClient, name: str, code: str, body: dict[str, object]) -> None:
    content = refused(client, name, CODES[code], **body)
    assert content["code"] == code
    in_list = ("rows" in body or "bundles" in body) and "many" not in code and code != "no_rows"
    assert not in_list or ", number 2: " in content["error"]
    assert content["field"] is None or content["field"] in (*body, "model")
    if code in ("no_such_model", "cannot_answer"):
        assert re.search("the models are german, hebrew|choose from", content["error"])


@pytest.mark.parametrize("name", POSTS)
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'"x"', b'{"lemma": 1}', b'{"colour": "red"}', b"\xff", b"[" * 100_000, b'{"lemma": "\\ud800"}'],
)
def test_invalid_bodies_are_refused(client: TestClient, name: str, body: bytes) -> None:
    response = client.post(f"/api/{name}", content=body, headers={"content-type": "application/json"})
    assert (response.status_code, response.json()["code"] in ("broken_json", "wrong_question")) == (400, True)


def test_other_content_types_and_methods_are_refused(client: TestClient) -> None:
    """A form on a foreign page can send plain text, but not JSON."""
    response = client.post("/api/inflect", content=b'{"lemma": "machen", "features": "V"}')
    assert (response.status_code, response.json()["code"]) == (415, "not_json")
    response = client.get("/api/inflect")
    assert (response.status_code, response.json()["code"], response.headers["allow"]) == (405, "wrong_method", "POST")
    assert client.post("/").json()["code"] == "wrong_method"


def test_internal_errors_are_logged_but_not_shown(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    response = client.post("/api/nbest?q=1", json=row("kaputt"))
    assert (response.status_code, response.json()["code"]) == (500, "our_fault")
    assert not re.search("broken on purpose|Traceback", response.text)
    [record] = caplog.records
    assert record.getMessage() == "POST /api/nbest failed"
    assert "broken on purpose" in caplog.text
    assert "kaputt" not in caplog.text


def test_the_page_loads_nothing_from_other_servers(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    for path in (*STATIC.iterdir(), PALETTE):
        text = path.read_text(encoding="utf-8")
        assert client.get(f"/static/{path.name}").text == text
        assert not re.search("https?://|innerHTML", text.replace("http://www.w3.org/2000/svg", ""))
        assert not set(GLYPHS.findall(text)) - set(NOTATION), path
    assert not re.search(r"<script>|<style| style=|\son[a-z]+=", page.text)


def test_models_work_in_one_thread_of_their_own() -> None:
    model = MadeUp(VERBS, cut="en")
    with TestClient(create_app({"german": cast(Any, model)}), base_url=HERE) as client:
        for _ in range(5):
            ask(client, "inflect", lemma="machen", features=PAST)
    assert len(model.threads) == 1
    assert threading.get_ident() not in model.threads


def test_the_interface_is_documented() -> None:
    for name in ("models", *POSTS):
        assert f"/api/{name}" in INTERFACE
    for name, limit in msgspec.structs.asdict(LIMITS).items():
        assert name in INTERFACE
        assert f"{limit:,}" in INTERFACE
    modules = [path.read_text(encoding="utf-8") for path in STATIC.parent.glob("*.py")]
    raised = [code for text in modules for code in re.findall(r'RequestError\(\s*f?"([\w{}]+)"', text)]
    patterns = [re.compile(re.sub("{[a-z]+}", "(lemma|features|rows|bundles)", code)) for code in raised]
    assert len(raised) > 15
    assert all(any(map(pattern.fullmatch, CODES)) for pattern in patterns)
    assert all(any(pattern.fullmatch(code) for pattern in patterns) for code in CODES)


# Who may ask: host names, pages of other servers, and the headers of every response


def test_which_hosts_are_admitted() -> None:
    """At a loopback address only local names; at others any address, but not any name."""
    for address in ("127.0.0.1", "::1", "127.0.0.2"):
        assert Hosts.at(address) == Hosts(LOCAL | {address}, any_address=False)
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


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.1.1", "0.0.0.0",
     "127.0.0.1:8000:8000", "evil@127.0.0.1", "127.0.0.1/", "[::1", "::1", "", "localhost:", "a" * 5000],
)  # fmt: skip
def test_foreign_host_names_are_refused(client: TestClient, host: str) -> None:
    """For files too: a foreign name must not show our page."""
    responses = [client.get(path, headers={"host": host}) for path in ("/", "/static/app.js", "/api/models")]
    responses.append(client.post("/api/inflect", json=row("machen"), headers={"host": host}))
    for response in responses:
        assert (response.status_code, response.json()["code"]) == (403, "wrong_host")
        assert len(response.text) < 300


LOCAL_HOSTS = [{"host": host} for host in ("127.0.0.1:8000", "localhost", "LOCALHOST.:1", "[::1]:8000", "[::1]")]


@pytest.mark.parametrize("headers", [{}, {"origin": HERE}, {"origin": "https://127.0.0.1:8000"}, *LOCAL_HOSTS])
def test_our_page_and_programs_are_admitted(client: TestClient, headers: dict[str, str]) -> None:
    assert client.get("/", headers=headers).status_code == 200
    assert client.post("/api/inflect", json=row("machen"), headers=headers).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:3000", "http://localhost:8000",
     "http://127.0.0.1:8000.evil.example", "http://evil@127.0.0.1:8000", "file://", "http://[", "127.0.0.1:8000"],
)  # fmt: skip
def test_foreign_pages_are_refused(client: TestClient, origin: str) -> None:
    for name in POSTS:
        response = client.post(f"/api/{name}", json=row("a"), headers={"origin": origin})
        assert (response.status_code, response.json()["code"]) == (403, "wrong_origin")


def test_every_response_has_the_security_headers(client: TestClient) -> None:
    responses = [client.get(path) for path in ("/", "/api/models", "/static/app.js", "/nothing")]
    responses.append(client.get("/", headers={"host": "evil.example"}))
    for response in (*responses, client.post("/api/nbest", json=row("kaputt"))):
        policy = dict(part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";"))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in response.headers
        caching = "no-store" if response.url.path.startswith("/api/") else "no-cache"
        assert response.headers["cache-control"] == caching
