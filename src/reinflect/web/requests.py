"""What may be asked of the server, and how much of it; what cannot be used is refused with one line that says why."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from reinflect.data.features import SEPARATOR, Bundle
from reinflect.errors import printable

BODY_BYTES = 1_000_000
BODY_SECONDS = 10
ANSWER_SECONDS = 30
LEMMA_CHARACTERS = 200
FEATURES_CHARACTERS = 500
BATCH_ROWS = 1000
PARADIGM_CELLS = 2000
ANSWERS = 20
WAITING = 64
"""Requests that may wait for the models; whoever comes after them is told to come back rather than kept."""
LIMITS = {
    "body_bytes": BODY_BYTES,
    "body_seconds": BODY_SECONDS,
    "answer_seconds": ANSWER_SECONDS,
    "lemma_characters": LEMMA_CHARACTERS,
    "features_characters": FEATURES_CHARACTERS,
    "batch_rows": BATCH_ROWS,
    "paradigm_cells": PARADIGM_CELLS,
    "answers": ANSWERS,
    "waiting": WAITING,
}
READ_ON_BYTES = 8 * BODY_BYTES
"""So much of a body that is too large is read and thrown away: many clients do not listen before they have sent all."""
SHOWN = 200
"""Characters of a complaint that may have something of the request in it."""

CODES = {
    "broken_request": 400,
    "not_json": 415,
    "broken_json": 400,
    "wrong_question": 400,
    "no_lemma": 400,
    "lemma_too_long": 400,
    "lemma_unusable": 400,
    "no_features": 400,
    "features_too_long": 400,
    "features_unusable": 400,
    "no_rows": 400,
    "too_many_rows": 400,
    "too_many_bundles": 400,
    "too_many_answers": 400,
    "cannot_answer": 400,
    "cut_off": 400,
    "wrong_host": 403,
    "wrong_origin": 403,
    "no_such_model": 404,
    "no_such_address": 404,
    "wrong_method": 405,
    "body_too_slow": 408,
    "body_too_large": 413,
    "our_fault": 500,
    "busy": 503,
    "too_slow": 503,
    "ending": 503,
}
"""What a program may go by, and the HTTP status of each: these names do not change."""
LAST_WORDS = frozenset({"body_too_slow", "body_too_large"})
"""After these there may be more of the request to come, which nobody wants to read: the connection is closed."""


class RequestError(Exception):
    """A request that cannot be answered: a code of `CODES`, a line for people, and the field that it is about."""

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.field = code, message, field
        self.status = CODES[code]


class Asked(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Every request may name a model; without a name it is the first."""

    model: str | None = None

    def check(self) -> None:
        """Refuse what has the right shape, but cannot be used."""

    def translate(self, to_features: Callable[[str], str]) -> None:
        """Put features in the place of the user's own labels."""


class OneWord(Asked):
    """`/api/inflect`: one lemma with its features."""

    lemma: str
    features: str

    def check(self) -> None:
        check_lemma(self.lemma)
        check_features(self.features)

    def translate(self, to_features: Callable[[str], str]) -> None:
        self.features = to_features(self.features)


class BestForms(OneWord):
    """`/api/nbest`: the n best forms."""

    n: int = 5

    def check(self) -> None:
        super().check()
        if self.n < 1:
            raise RequestError("wrong_question", "found n less than 1; ask for one form or more", "n")
        if self.n > ANSWERS:
            raise RequestError("too_many_answers", f"n is too large; ask for {ANSWERS} forms at most", "n")


class Steps(OneWord):
    """`/api/trace`: how a member, or the best of them, makes the form."""

    member: str | None = None


class WholeParadigm(Asked):
    """`/api/paradigm`: all forms of a lemma, or those of some bundles."""

    lemma: str
    bundles: list[str] | None = None

    def check(self) -> None:
        check_lemma(self.lemma)
        check_many(self.bundles or [], PARADIGM_CELLS, "bundles")
        for number, features in enumerate(self.bundles or (), start=1):
            check_features(features, f"bundles, number {number}: ", "bundles")

    def translate(self, to_features: Callable[[str], str]) -> None:
        self.bundles = None if self.bundles is None else list(map(to_features, self.bundles))


class Row(msgspec.Struct, forbid_unknown_fields=True):
    """One row of a batch."""

    lemma: str
    features: str


class Batch(Asked):
    """`/api/batch`: many lemmas, each with its features."""

    rows: list[Row]

    def check(self) -> None:
        if not self.rows:
            raise RequestError("no_rows", "there are no rows; give at least one lemma with its features", "rows")
        check_many(self.rows, BATCH_ROWS, "rows")
        for number, row in enumerate(self.rows, start=1):
            check_lemma(row.lemma, f"row {number}: ", "rows")
            check_features(row.features, f"row {number}: ", "rows")

    def translate(self, to_features: Callable[[str], str]) -> None:
        for row in self.rows:
            row.features = to_features(row.features)


AnyAsked = TypeVar("AnyAsked", bound=Asked)


async def read(request: Request, kind: type[AnyAsked]) -> AnyAsked:
    """The body of a request as what it should be."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise RequestError("not_json", "this takes JSON; send it with the header Content-Type: application/json")
    body = await _body(request)
    try:
        asked = msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        found = printable(str(error))[:SHOWN]  # the name of a field that is not ours may be in it
        message = f"this is not what the address takes: {found}; see docs/api-web.md"
        raise RequestError("wrong_question", message) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RequestError("broken_json", "this is no whole JSON text; check quotes, commas and brackets") from None
    asked.check()
    return asked


async def _body(request: Request) -> bytes:
    body, length = bytearray(), 0
    too_large = RequestError("body_too_large", f"the request is too large; send at most {BODY_BYTES:,} bytes at once")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > READ_ON_BYTES:  # Python reads no numbers of 5,000 digits
        raise too_large
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                length += len(piece)
                if length <= BODY_BYTES:
                    body += piece
                elif length > READ_ON_BYTES:
                    break
    except TimeoutError:
        message = f"the request did not arrive within {BODY_SECONDS} seconds; send less at once"
        raise RequestError("body_too_slow", message) from None
    except ClientDisconnect:
        raise RequestError("cut_off", "the request did not arrive whole; send it again") from None
    if length > BODY_BYTES:
        raise too_large
    return bytes(body)


def check_lemma(lemma: str, where: str = "", field: str = "lemma") -> None:
    if not lemma.strip():
        raise RequestError("no_lemma", f"{where}there is no lemma; give a word to inflect", field)
    if len(lemma) > LEMMA_CHARACTERS:
        message = f"{where}the lemma is too long; it may have {LEMMA_CHARACTERS} characters at most"
        raise RequestError("lemma_too_long", message, field)
    if not usable(lemma):
        message = f"{where}the lemma has a tab, a line end or half a character; give one word"
        raise RequestError("lemma_unusable", message, field)


def check_features(features: str, where: str = "", field: str = "features") -> None:
    if len(features) > FEATURES_CHARACTERS:
        message = f"{where}the features are too long; they may have {FEATURES_CHARACTERS} characters at most"
        raise RequestError("features_too_long", message, field)
    if not Bundle(features).atoms:
        message = f"{where}there are no features; give some, joined by {SEPARATOR} (V{SEPARATOR}PST)"
        raise RequestError("no_features", message, field)
    if not usable(features):
        message = f"{where}the features have a tab, a line end or half a character in them"
        raise RequestError("features_unusable", message, field)


def check_many(rows: Sequence[object], most: int, field: str) -> None:
    if len(rows) > most:
        message = f"found {len(rows):,} {field}; send at most {most:,} at once"
        raise RequestError(f"too_many_{field}", message, field)


def usable(text: str) -> bool:
    """Whether a text fits on a line of a file: no tabs, no line ends, no halves of surrogate pairs."""
    return not any(character in "\t\n\r" or "\ud800" <= character <= "\udfff" for character in text)
