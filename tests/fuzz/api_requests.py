"""Requests to the server, as its event loop hands them over: the address, the headers and the body can be anything."""

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import BufferingHandler
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from reinflect.web.app import create_app
from tests.fuzz import json_values, texts, tiny_models
from tests.fuzz.campaign import Attempt, Kind

ADDRESSES = ("inflect", "nbest", "paradigm", "trace", "batch")
MEMBERS = ("hacm-naive-1", "haem-smart-2", "soft-3", None)
KNOWN = ("/", "/api/models", "/api/models/tiny", "/static/app.js", "/static/style.css", "/api/inflect", "/api/batch")
OTHER_HEADERS = {
    b"host": [b"", *b"example.org 127.0.0.1 [::1]:80 [ localhost: localhost:x \xff".split(), b"a" * 5000],
    b"content-type": [
        *(b"", b"text/plain", b"application/json; charset=utf-16", b"APPLICATION/JSON", b"application/json;" * 99),
        *(b"multipart/form-data", b"\xff\xfe", b"application/json\x00", b";", b"application/jsonx"),
    ],
    b"origin": b"null http://localhost:8000 http://evil.example http://[ \xff http://localhost:8000/x".split(),
    b"content-length": [b"0", b"-1", b"5", b"99999999999999999999", b"9" * 5000, b"abc", b"1e3", b"\xb2"],
    b"accept": [b"text/html", b"*/*", b"\xff"],
    b"expect": [b"100-continue", b"x"],
}
STATUSES = {200, 400, 403, 404, 405, 408, 413, 415}


class Request(NamedTuple):
    method: str
    target: str
    """Path and query, with whatever is not ASCII as per cent signs and numbers."""
    headers: list[tuple[bytes, bytes]]
    pieces: list[bytes]
    """The body, in the pieces it comes in."""
    cut: bool = False
    """Whether the client goes away before the end of it."""


def question(rng: Random, address: str) -> dict[str, Any]:
    """A good one."""
    said: dict[str, Any] = {"model": rng.choice([None, "tiny"])} if rng.random() < 0.3 else {}
    if address == "batch":
        rows = range(rng.choice([1, 2, 3, 20]))
        return said | {"rows": [{"lemma": texts.word(rng), "features": _features(rng)} for _ in rows]}
    said["lemma"] = texts.word(rng)
    if address == "paradigm":
        return said | ({"bundles": [_features(rng) for _ in range(rng.randrange(4))]} if rng.random() < 0.6 else {})
    said["features"] = _features(rng)
    if address == "nbest" and rng.random() < 0.7:
        said["n"] = rng.randrange(1, 5)
    if address == "trace" and rng.random() < 0.7:
        said["member"] = rng.choice(MEMBERS)
    return said


def _features(rng: Random) -> str:
    return rng.choice(["V;PST", "N;PL", "PL;N", "past", "V", "X;Y", "V ; PST", "PST;PST"])


def body(rng: Random, address: str) -> bytes:
    """The body of a request: mostly JSON that is nearly right."""
    good = question(rng, address)
    if rng.random() < 0.85:
        return json_values.document(rng, good)
    return rng.choice(
        [
            rng.randbytes(rng.randrange(200)),
            b'{"rows":[' * rng.choice([50, json_values.DEEP]),
            b'{"lemma": "a", "features": "V", "n": ' + b"9" * rng.choice([20, 400, 6000]) + b"}",
            json.dumps(good).encode(rng.choice(["utf-16", "utf-32", "utf-8-sig", "utf-7"])),
            b'{"lemma": "' + b"a" * rng.choice([200, 201, 999_000, 1_100_000]) + b'", "features": "V"}',
            b'{"rows": [' + b",".join([b'{"lemma":"a","features":"V"}'] * rng.choice([30, 1001])) + b"]}",
            b'{"lemma": "a", "bundles": [' + b",".join([b'"V"'] * rng.choice([30, 2001])) + b"]}",
            json.dumps(good).encode().replace(b'"lemma"', b'"lemma": "b", "lemma"'),
        ]
    )


def api_request(rng: Random) -> Request:
    headers = {b"host": b"localhost:8000", b"content-type": b"application/json"}
    if rng.random() < 0.85:
        address = rng.choice(ADDRESSES)
        method, target = "POST", f"/api/{address}"
        sent = body(rng, address)
    else:
        method = rng.choice("GET GET GET HEAD POST PUT DELETE OPTIONS TRACE CONNECT X get".split())
        target, sent = path(rng), rng.choice([b"", b"{}", rng.randbytes(20)])
    if rng.random() < 0.15:
        name = rng.choice(list(OTHER_HEADERS))
        headers[name] = rng.choice(OTHER_HEADERS[name])
    given = [(name, value) for name, value in headers.items() if value]
    if rng.random() < 0.03:
        given += rng.choice([given, [(b"x" * 5000, b"y")], [(b"", b"")], [(b"\xff", b"\xff\x00")]])
    pieces = [sent]
    if rng.random() < 0.1:
        size = rng.choice([1, 7, 1000]) if len(sent) < 2000 else 100_000
        pieces = [sent[start : start + size] for start in range(0, len(sent), size)] + [b""]
    return Request(method, target, given, pieces, cut=rng.random() < 0.01)


def path(rng: Random) -> str:
    chosen = rng.choice(KNOWN)
    how = rng.randrange(6)
    if how < 2:
        return chosen + rng.choice(["", "", "?", "?model=tiny", "?a=%00", "?" + "x" * 3000, "#a"])
    if how == 2:
        return chosen + rng.choice("/ // /.. /../.. /%2e%2e/%2e%2e/etc/passwd %00 /%2f ;x \\..\\x %".split())
    if how == 3:
        return "/static/" + rng.choice([*". .. ../app.py %2e%2e/app.py ..%2fapp.py %00 C:%5c".split(), "", "x" * 3000])
    if how == 4:
        return "/" + quote(texts.any_text(rng, ""), safe=rng.choice(["", "/", "/%.?"]))
    odd = rng.choice([*texts.ODD, *texts.WORDS, "%ff", "%c0%80", "%ed%a0%80", "x" * 5000])
    return "/api/models/" + quote(odd, safe="%")


class Answered(NamedTuple):
    status: int
    headers: dict[bytes, bytes]
    body: bytes


async def asked(app: Any, request: Request) -> Answered:
    """Hand a request over as a server does, and collect the answer."""
    raw, _, query = request.target.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "server": ("127.0.0.1", 8000),
        "client": ("127.0.0.1", 50000),
        "scheme": "http",
        "method": request.method,
        "root_path": "",
        "path": unquote(raw),
        "raw_path": raw.encode("ascii"),
        "query_string": query.encode("ascii"),
        "headers": request.headers,
    }
    left = list(request.pieces[: len(request.pieces) // 2] if request.cut else request.pieces)
    answer: list[Any] = []

    async def receive() -> dict[str, Any]:
        if left:
            piece = left.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(left) or request.cut}
        if not request.cut:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        answer.append(message)

    await app(scope, receive, send)
    assert [message["type"] for message in answer[:1]] == ["http.response.start"], "there was no answer"
    sent = b"".join(message.get("body", b"") for message in answer[1:])
    return Answered(answer[0]["status"], dict(answer[0]["headers"]), sent)


@contextmanager
def _serving(_folder: Path) -> Iterator[Attempt]:
    loop, errors, log = asyncio.new_event_loop(), BufferingHandler(100), logging.getLogger("reinflect.web")
    app = create_app({"tiny": tiny_models.inflector()})
    log.addHandler(errors)
    log.propagate = False

    def attempt(made: Request) -> str:
        errors.flush()
        answer = loop.run_until_complete(asked(app, made))
        for record in errors.buffer:
            raise (record.exc_info and record.exc_info[1]) or AssertionError(record.getMessage())
        assert answer.status in STATUSES, f"the status is {answer.status}: {answer.body[:300]!r}"
        kind = answer.headers.get(b"content-type", b"")
        if made.method != "HEAD" and (made.target.startswith("/api/") or answer.status != 200):
            assert kind == b"application/json", f"{kind!r} is no JSON: {answer.body[:300]!r}"
            said = json.loads(answer.body)
            if answer.status != 200:
                assert isinstance(said["error"], str)
                assert said["error"].isprintable(), said["error"]
                assert len(said["error"]) < 1000
        return "used" if answer.status == 200 else "refused"

    try:
        yield attempt
    finally:
        log.propagate = True
        log.removeHandler(errors)
        loop.close()


REQUESTS = (Kind("requests", 20_000, api_request, _serving),)
