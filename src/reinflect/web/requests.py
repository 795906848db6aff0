"""What may be asked of the server, and how much of it; what cannot be used is refused with one line that says why."""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import ClientDisconnect, Request

from reinflect.data.features import SEPARATOR, Bundle

BODY_BYTES = 1_000_000
LEMMA_CHARACTERS = 200
FEATURES_CHARACTERS = 500
BATCH_ROWS = 1000
PARADIGM_CELLS = 2000
ANSWERS = 20
LIMITS = {
    "body_bytes": BODY_BYTES,
    "lemma_characters": LEMMA_CHARACTERS,
    "features_characters": FEATURES_CHARACTERS,
    "batch_rows": BATCH_ROWS,
    "paradigm_cells": PARADIGM_CELLS,
    "answers": ANSWERS,
}


class RequestError(Exception):
    """A request that cannot be answered: an HTTP status, a line for people, and the field that it is about."""

    def __init__(self, status: int, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.field = status, message, field


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

    n: Annotated[int, Meta(ge=1, le=ANSWERS)] = 5


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
            raise RequestError(400, "there are no rows; give at least one lemma with its features", "rows")
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
        raise RequestError(415, "this takes JSON; send it with the header Content-Type: application/json")
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > BODY_BYTES:
                raise RequestError(413, f"the request is too large; send at most {BODY_BYTES:,} bytes at once")
    except ClientDisconnect:
        raise RequestError(400, "the request did not arrive whole; send it again") from None
    try:
        asked = msgspec.json.decode(bytes(body), type=kind)
    except msgspec.ValidationError as error:
        raise RequestError(400, f"this is not what the address takes: {error}; see docs/api-web.md") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RequestError(400, "this is no whole JSON text; check quotes, commas and brackets") from None
    asked.check()
    return asked


def check_lemma(lemma: str, where: str = "", field: str = "lemma") -> None:
    if not lemma.strip():
        raise RequestError(400, f"{where}there is no lemma; give a word to inflect", field)
    if len(lemma) > LEMMA_CHARACTERS:
        raise RequestError(
            400, f"{where}the lemma is too long; it may have {LEMMA_CHARACTERS} characters at most", field
        )
    if not usable(lemma):
        raise RequestError(400, f"{where}the lemma has a tab, a line end or half a character; give one word", field)


def check_features(features: str, where: str = "", field: str = "features") -> None:
    if not Bundle(features).atoms:
        raise RequestError(
            400, f"{where}there are no features; give some, joined by {SEPARATOR} (V{SEPARATOR}PST)", field
        )
    if len(features) > FEATURES_CHARACTERS:
        limit = f"they may have {FEATURES_CHARACTERS} characters at most"
        raise RequestError(400, f"{where}the features are too long; {limit}", field)
    if not usable(features):
        raise RequestError(400, f"{where}the features have a tab, a line end or half a character in them", field)


def check_many(rows: Sequence[object], most: int, field: str) -> None:
    if len(rows) > most:
        raise RequestError(400, f"found {len(rows):,} {field}; send at most {most:,} at once", field)


def usable(text: str) -> bool:
    """Whether a text fits on a line of a file: no tabs, no line ends, no halves of surrogate pairs."""
    return not any(character in "\t\n\r" or "\ud800" <= character <= "\udfff" for character in text)
