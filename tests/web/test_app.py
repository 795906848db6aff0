"""The JSON interface, with made-up models behind it."""

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.labels import Labels
from reinflect.inflector.inflector import Inflector
from reinflect.score.baseline import Baseline
from reinflect.web import guard
from reinflect.web.app import PALETTE, STATIC, UNKNOWN, create_app
from reinflect.web.hosts import Hosts
from reinflect.web.inventory import example_lemmas, inventory
from reinflect.web.requests import CODES, LIMITS
from tests.web.made_up import MEMBERS, VERBS, MadeUp, german, hebrew

PAST = "V;IND;PST;3;SG"
HERE = "http://127.0.0.1:8000"
POSTS = ("inflect", "nbest", "paradigm", "trace", "batch", "rules", "reload")
GLYPHS = re.compile("[\u2190-\u21ff\u2300-\u23ff\u2460-\u2bff\u00d7\ufe0f\U0001f000-\U0001faff]")
"""Arrows, signs and emoji, which fonts draw differently or not at all."""
NOTATION = "\u2423\u25cc"
"""A blank made visible, and the ground of a combining mark."""


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app({"german": german(), "hebrew": hebrew()}), base_url=HERE) as made:
        yield made


def ask(client: TestClient, what: str, status: int = 200, **body: object) -> dict[str, Any]:
    response = client.post(f"/api/{what}", json=body)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    return cast(dict[str, Any], response.json())


def refusal(client: TestClient, what: str, status: int = 400, **body: object) -> str:
    content = ask(client, what, status, **body)
    assert content.keys() == {"error", "code", "field"}
    assert "\n" not in content["error"]
    assert CODES[content["code"]] == status
    return cast(str, content["error"])


def test_models_are_listed_with_the_limits(client: TestClient) -> None:
    listed = client.get("/api/models").json()
    assert [model["name"] for model in listed["models"]] == ["german", "hebrew"]
    assert listed["models"][0]["members"] == len(MEMBERS)
    assert listed["limits"] == msgspec.to_builtins(LIMITS)


def test_a_model_lists_its_features_by_dimension(client: TestClient) -> None:
    model = client.get("/api/models/german").json()
    dimensions = {one["name"]: [atom["atom"] for atom in one["atoms"]] for one in model["dimensions"]}
    assert dimensions["tense"] == ["PRS", "PST"]
    assert dimensions["part of speech"] == ["V", "V.PTCP"]
    assert {bundle["features"] for bundle in model["bundles"]} == set(VERBS)
    [verbs] = model["paradigms"]
    cells = [cell for table in verbs["tables"] for row in table["rows"] for cell in row["cells"] if cell]
    assert sorted(cells) == sorted(VERBS)
    assert "haem-smart-1" in model["about"]


def test_inflect_gives_one_form(client: TestClient) -> None:
    content = ask(client, "inflect", lemma="machen", features=PAST)
    assert content["answer"]["form"] == "machte"
    assert 0 < content["answer"]["confidence"] < 1
    assert content["unknown"] == []


def test_a_request_may_name_its_model(client: TestClient) -> None:
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


def test_a_label_in_any_case_and_a_new_combination(client: TestClient) -> None:
    assert ask(client, "inflect", lemma="machen", features="Participle")["features"] == "V.PTCP;PRS"
    for what in ("inflect", "nbest"):
        content = ask(client, what, lemma="machen", features="V;IND;SG")
        assert content["unseen"] == [{"features": "V;IND;SG", "nearest": ["V;IND;PRS;1;SG", "V;IND;PRS;2;SG"]}]
        assert ask(client, what, lemma="machen", features=PAST)["unseen"] == []
    rows = [{"lemma": "machen", "features": "V;IND;SG"}]
    assert len(ask(client, "batch", rows=rows)["unseen"]) == 1
    assert len(ask(client, "paradigm", lemma="machen", bundles=["V;IND;SG"])["unseen"]) == 1


def test_attested_forms_beat_predictions_and_are_marked(client: TestClient) -> None:
    first = "V;IND;PST;1;SG"
    cells = {cell["features"]: cell["answer"] for cell in ask(client, "paradigm", lemma="sehen")["cells"]}
    assert (cells[first]["form"], cells[first]["attested"], cells[first]["confidence"]) == ("sah", True, None)
    assert [features for features, answer in cells.items() if answer["attested"]] == [first]
    assert ask(client, "inflect", lemma="sehen", features=first)["answer"] == cells[first]
    listed = ask(client, "nbest", lemma="sehen", features=first)["answers"]
    assert [(answer["form"], answer["attested"]) for answer in listed[:2]] == [("sah", True), ("sehte", False)]
    assert client.get("/api/models/german").json()["attested"] == 1


def test_the_rules_are_learnt_once_and_from_attested_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    lessons: list[tuple[Item, ...]] = []
    learn = Baseline.learn

    def counted(items: tuple[Item, ...]) -> Baseline:
        lessons.append(items)
        return learn(items)

    monkeypatch.setattr(Baseline, "learn", counted)
    with TestClient(create_app({"german": german(), "hebrew": hebrew()}), base_url=HERE) as client:
        first, content = "V;IND;PST;1;SG", {}
        for _ in range(2):
            content = ask(client, "rules", lemma="stehen", bundles=[first, PAST])
        assert content["cells"] == [{"features": first, "form": "stah"}, {"features": PAST, "form": None}]
        assert content["items"] == 1
        assert ask(client, "rules", lemma="stehen")["cells"] == content["cells"][:1]
        assert lessons == [german().attested]
        assert "no attested forms" in refusal(client, "rules", model="hebrew", lemma="סוס")
        assert "at most" in refusal(client, "rules", lemma="x", bundles=["V"] * (LIMITS.paradigm_cells + 1))


def test_the_inventory_has_an_example_and_the_facts_of_the_card(client: TestClient) -> None:
    german_verbs = client.get("/api/models/german").json()
    assert [own["example"] for own in german_verbs["paradigms"]] == ["sehen"]
    assert german_verbs["card"]["members"][0] == {"name": "haem-smart-1", "dev_accuracy": 80.0, "votes": True}
    assert german_verbs["card"]["training"] is None
    assert [own["example"] for own in client.get("/api/models/hebrew").json()["paradigms"]] == [None]


def test_the_example_has_most_attested_forms_and_a_gap() -> None:
    def attested(lemma: str, *cells: str) -> list[Item]:
        return [Item(lemma, Bundle(features), "x") for features in cells]

    every = ("V;NFIN", "V;PST", "V.PTCP;PST")
    items = [
        *attested("full", *every),
        *attested("some", *every[:2]),
        *attested("few", every[0]),
        *attested("x" * 300, *every[:2]),
        *attested("noun", "N;SG"),
        *attested("both", "N;SG"),
    ]
    model = cast(Inflector, MadeUp(VERBS, attested=tuple(items)))
    assert example_lemmas(model) == {"V": "some", "N": "noun"}


def test_labels_of_single_features_are_in_the_inventory() -> None:
    model = cast(Inflector, MadeUp(VERBS, labels=Labels((("sg", "SG"),))))
    atoms = {atom["atom"]: atom for one in inventory("m", model)["dimensions"] for atom in one["atoms"]}
    assert atoms["SG"] == {"atom": "SG", "meaning": "singular", "label": "sg"}
    assert atoms["PL"]["label"] is None


def test_the_inventory_has_the_atoms_of_bundles_with_layers() -> None:
    model = cast(Inflector, MadeUp({"V;NOM(1,SG)": "x", "V;NFIN": ""}))
    found = inventory("m", model)
    atoms = {one["features"]: one["atoms"] for one in found["bundles"]}
    assert atoms == {"V;NOM(1,SG)": ("V", "NOM(1)", "NOM(SG)"), "V;NFIN": None}
    assert [one["name"] for one in found["dimensions"]][-2:] == ["person (NOM)", "number (NOM)"]


def test_a_trace_equals_that_of_the_inflector(client: TestClient) -> None:
    content = ask(client, "trace", lemma="machen", features=PAST)
    assert content == json.loads(msgspec.json.encode(german().trace("machen", PAST)))
    assert ask(client, "trace", lemma="machen", features=PAST, member=MEMBERS[1])["member"] == MEMBERS[1]
    assert "there is no member" in refusal(client, "trace", lemma="machen", features=PAST, member="haem-smart-99")


def test_a_batch_keeps_the_order(client: TestClient) -> None:
    rows = [{"lemma": f"mach{letter}en", "features": PAST} for letter in "cab"]
    content = ask(client, "batch", rows=rows)["rows"]
    assert [row["answer"]["form"] for row in content] == ["machcte", "machate", "machbte"]


@pytest.mark.parametrize("what", ["inflect", "nbest"])
def test_unknown_features_come_with_similar_ones(client: TestClient, what: str) -> None:
    content = ask(client, what, lemma="machen", features="V;IND;PTS;3;SG")
    assert content["unknown"] == [{"feature": "PTS", "nearest": ["PST"]}]


def test_unknown_features_of_a_batch_are_listed_once(client: TestClient) -> None:
    rows = [{"lemma": lemma, "features": "V;XYZ"} for lemma in ("machen", "sagen")]
    assert ask(client, "batch", rows=rows)["unknown"] == [{"feature": "XYZ", "nearest": []}]


def test_the_number_of_unknown_features_is_limited(client: TestClient) -> None:
    """The search for similar features blocks the server."""
    rows = [{"lemma": "machen", "features": ";".join(f"X{row}Y{n}" for n in range(60))} for row in range(900)]
    assert len(ask(client, "batch", rows=rows)["unknown"]) == UNKNOWN


def test_labels_are_translated_to_features(client: TestClient) -> None:
    content = ask(client, "inflect", lemma="machen", features="participle")
    assert (content["features"], content["answer"]["form"]) == ("V.PTCP;PRS", "machend")
    rows = ask(client, "batch", rows=[{"lemma": "machen", "features": "participle"}])["rows"]
    assert rows[0]["features"] == "V.PTCP;PRS"
    cells = ask(client, "paradigm", lemma="machen", bundles=["participle"])["cells"]
    assert cells[0]["features"] == "V.PTCP;PRS"
    labels = {one["features"]: one["label"] for one in client.get("/api/models/german").json()["bundles"]}
    assert (labels["V.PTCP;PRS"], labels["V;NFIN"]) == ("participle", None)


def test_characters_are_not_changed(client: TestClient) -> None:
    lemma = "e\u0301 ”<b>&'"
    assert ask(client, "inflect", lemma=lemma, features="V;X")["lemma"] == lemma


@pytest.mark.parametrize("lemma", ["", "  ", "a\tb", "a\nb", "x" * 201])
def test_unusable_lemmas_are_refused(client: TestClient, lemma: str) -> None:
    content = ask(client, "inflect", 400, lemma=lemma, features=PAST)
    assert content["field"] == "lemma"
    assert "lemma" in refusal(client, "batch", rows=[{"lemma": lemma, "features": PAST}])


def test_lone_surrogates_are_refused(client: TestClient) -> None:
    body = b'{"lemma": "\\ud800", "features": "V"}'
    response = client.post("/api/inflect", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 400


@pytest.mark.parametrize("features", ["", " ", ";;", "V\t;PST", "V;" * 300])
def test_unusable_features_are_refused(client: TestClient, features: str) -> None:
    assert ask(client, "inflect", 400, lemma="machen", features=features)["field"] == "features"
    assert "number 2" in refusal(client, "paradigm", lemma="machen", bundles=["V", features])


def test_requests_beyond_the_limits_are_refused(client: TestClient) -> None:
    rows = [{"lemma": "machen", "features": PAST}] * (LIMITS.batch_rows + 1)
    assert "send at most 1,000" in refusal(client, "batch", rows=rows)
    assert "send at most 2,000" in refusal(client, "paradigm", lemma="machen", bundles=["V"] * 2001)
    assert "there are no rows" in refusal(client, "batch", rows=[])
    for n in (-1, 0, 21, 10**30):
        refusal(client, "nbest", lemma="machen", features=PAST, n=n)
    assert "too large" in refusal(client, "inflect", 413, lemma="x" * LIMITS.body_bytes, features="V")


@pytest.mark.parametrize(
    ("what", "code", "body"),
    [
        ("inflect", "no_lemma", {"lemma": " ", "features": "V"}),
        ("inflect", "lemma_too_long", {"lemma": "x" * 201, "features": "V"}),
        ("inflect", "lemma_unusable", {"lemma": "a\tb", "features": "V"}),
        ("inflect", "no_features", {"lemma": "a", "features": ";"}),
        ("inflect", "features_too_long", {"lemma": "a", "features": "V" * 501}),
        ("inflect", "features_unusable", {"lemma": "a", "features": "V\n"}),
        ("inflect", "wrong_question", {"lemma": "a"}),
        ("inflect", "wrong_question", {"lemma": "a", "features": "V", "a\nb" * 1000: 1}),
        ("nbest", "too_many_answers", {"lemma": "a", "features": "V", "n": 21}),
        ("batch", "no_rows", {"rows": []}),
        ("batch", "too_many_rows", {"rows": [{"lemma": "a", "features": "V"}] * 1001}),
        ("paradigm", "too_many_bundles", {"lemma": "a", "bundles": ["V"] * 2001}),
        ("trace", "cannot_answer", {"lemma": "a", "features": "V", "member": "nobody"}),
    ],
)
def test_errors_have_codes(client: TestClient, what: str, code: str, body: dict[str, object]) -> None:
    content = ask(client, what, CODES[code], **body)
    assert content["code"] == code
    assert "\n" not in content["error"]
    assert len(content["error"]) < 300


@pytest.mark.parametrize("length", [10**15, "9" * 5000])
def test_an_announced_length_beyond_the_limit_is_refused(client: TestClient, length: object) -> None:
    headers = {"content-type": "application/json", "content-length": str(length)}
    response = client.post("/api/inflect", content=b"", headers=headers)
    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")


@pytest.mark.parametrize("what", POSTS)
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b'{"lemma": 1}', b'{"colour": "red"}', b"\xff", b"[" * 100_000]
)
def test_invalid_bodies_are_refused(client: TestClient, what: str, body: bytes) -> None:
    response = client.post(f"/api/{what}", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert response.json()["code"] in ("broken_json", "wrong_question")


def test_the_content_type_must_be_json(client: TestClient) -> None:
    """A form on a foreign page can send plain text, but not JSON."""
    response = client.post("/api/inflect", content=b'{"lemma": "machen", "features": "V"}')
    assert (response.status_code, response.json()["code"]) == (415, "not_json")


def test_unknown_models_and_methods_are_refused(client: TestClient) -> None:
    assert "the models are german, hebrew" in refusal(client, "inflect", 404, model="latin", lemma="a", features="V")
    assert client.get("/api/models/latin").json()["code"] == "no_such_model"
    response = client.get("/api/inflect")
    assert (response.status_code, response.json()["code"]) == (405, "wrong_method")
    assert response.headers["allow"] == "POST"
    assert client.post("/").json()["code"] == "wrong_method"


def test_internal_errors_are_logged_but_not_shown(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    response = client.post("/api/nbest?q=1", json={"lemma": "kaputt", "features": "V"})
    assert (response.status_code, response.json()["code"]) == (500, "our_fault")
    assert "broken on purpose" not in response.text
    assert "Traceback" not in response.text
    assert "content-security-policy" in response.headers
    [record] = caplog.records
    assert record.getMessage() == "POST /api/nbest failed"
    assert "broken on purpose" in caplog.text
    assert "kaputt" not in caplog.text


def test_every_response_has_the_security_headers(client: TestClient) -> None:
    foreign = {"host": "evil.example"}
    for response in (
        client.get("/"),
        client.get("/api/models"),
        client.get("/static/app.js"),
        client.get("/nothing"),
        client.get("/", headers=foreign),
        client.post("/api/nbest", json={"lemma": "kaputt", "features": "V"}),
    ):
        policy = dict(part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";"))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in response.headers


def test_responses_are_not_cached_but_files_may_be(client: TestClient) -> None:
    for path in ("/api/models", "/api/models/german", "/api/nothing"):
        assert client.get(path).headers["cache-control"] == "no-store"
    for path in ("/", "/static/app.js"):
        assert client.get(path).headers["cache-control"] == "no-cache"


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
    for path in ("/", "/static/app.js", "/api/models"):
        response = client.get(path, headers={"host": host})
        assert response.status_code == 403
        assert response.json()["code"] == "wrong_host"
        assert len(response.text) < 300
    response = client.post("/api/inflect", json={"lemma": "machen", "features": PAST}, headers={"host": host})
    assert response.json()["code"] == "wrong_host"


def test_allowed_host_names_are_admitted() -> None:
    hosts = Hosts.at("192.168.1.5", ["words.example.org"])
    with TestClient(create_app({"german": german()}, hosts), base_url="http://words.example.org") as client:
        for host in ("words.example.org:8000", "192.168.1.5", "localhost"):
            assert client.get("/", headers={"host": host}).status_code == 200
        assert client.get("/", headers={"host": "example.org"}).status_code == 403


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
    for what in POSTS:
        response = client.post(f"/api/{what}", json={"lemma": "a", "features": "V"}, headers={"origin": origin})
        assert (response.status_code, response.json()["code"]) == (403, "wrong_origin")


def test_too_many_requests_are_refused(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MOST_REQUESTS", 0)
    response = client.get("/")
    assert (response.status_code, response.json()["code"]) == (503, "busy")
    assert response.headers["retry-after"] == "1"
    monkeypatch.undo()
    assert client.get("/").status_code == 200


def test_the_page_loads_nothing_from_other_servers(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    for path in (*STATIC.iterdir(), PALETTE):
        text = path.read_text(encoding="utf-8")
        assert client.get(f"/static/{path.name}").text == text
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in text
        assert "innerHTML" not in text
        assert not set(GLYPHS.findall(text)) - set(NOTATION), path
    assert "<script>" not in page.text
    assert "<style" not in page.text
    assert " style=" not in page.text
    assert not re.search(r"\son[a-z]+=", page.text)


def test_models_work_in_one_thread_of_their_own() -> None:
    model = MadeUp(VERBS, cut="en")
    with TestClient(create_app({"german": cast(Any, model)}), base_url=HERE) as client:
        for _ in range(5):
            ask(client, "inflect", lemma="machen", features=PAST)
    assert len(model.threads) == 1
    assert threading.get_ident() not in model.threads


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False)
words = st.sampled_from(["lemma", "features"])
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner))
fields = st.sampled_from(["model", "lemma", "features", "n", "rows", "bundles", "member"])


@settings(max_examples=60)
@given(body=st.dictionaries(fields, values), what=st.sampled_from(POSTS))
def test_any_json_gets_a_response(client: TestClient, body: dict[str, object], what: str) -> None:
    content = json.dumps(body).encode()
    response = client.post(f"/api/{what}", content=content, headers={"content-type": "application/json"})
    assert response.status_code in (200, 400, 404), response.text
    assert (response.status_code == 200) == ("error" not in response.json())


def test_the_interface_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "api-web.md").read_text(encoding="utf-8")
    for what in ("models", *POSTS):
        assert f"/api/{what}" in page
    for name, limit in msgspec.structs.asdict(LIMITS).items():
        assert name in page
        assert f"{limit:,}" in page
    for code, status in CODES.items():
        assert f"| `{code}` | {status} |" in page


def test_tables_have_only_as_many_cells_as_may_be_asked_for() -> None:
    """Of a hundred thousand bundles, tables took half a minute, in which no form was made."""
    endings = {f"V;PST;{number}": "te" for number in range(LIMITS.paradigm_cells + 500)} | {"N;SG": "", "N;PL": "n"}
    with TestClient(create_app({"many": cast(Inflector, MadeUp(endings))}), base_url=HERE) as client:
        model = client.get("/api/models/many").json()
    assert len(model["bundles"]) == len(endings)
    verbs, nouns = model["paradigms"]
    cells = [cell for table in verbs["tables"] for row in table["rows"] for cell in row["cells"] if cell]
    assert sorted(cells) == sorted(list(endings)[: LIMITS.paradigm_cells])
    assert (verbs["left_out"], nouns["left_out"]) == (500, 0)
