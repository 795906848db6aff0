"""Requests to the server, their limits, and the errors that refuse them."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from reinflect.data.features import Bundle
from reinflect.errors import printable

Translate = Callable[[str], str]


class Limits(msgspec.Struct):
    """The limits that docs/api-web.md lists."""

    body_bytes: int = 1_000_000
    body_seconds: float = 10
    answer_seconds: float = 30
    lemma_characters: int = 200
    features_characters: int = 500
    batch_rows: int = 1000
    paradigm_cells: int = 2000
    answers: int = 20
    waiting: int = 64
    """Requests that may wait for the models; more are refused."""


LIMITS = Limits()
DISCARDED_BYTES = 8 * LIMITS.body_bytes
"""A body that is too large is read up to this size: many clients read no response before they have sent everything."""
SHOWN = 200
"""Characters of an error message that may quote the request."""

CODES = {
    code: status
    for status, codes in {
        400: "broken_request broken_json wrong_question cannot_answer cut_off no_lemma lemma_too_long lemma_unusable "
        "no_features features_too_long features_unusable no_rows too_many_rows too_many_bundles too_many_answers",
        403: "wrong_host wrong_origin",
        404: "no_such_model no_such_address",
        405: "wrong_method",
        408: "body_too_slow",
        413: "body_too_large",
        415: "not_json",
        500: "our_fault",
        503: "busy too_slow ending",
    }.items()
    for code in codes.split()
}
"""The HTTP status of each error code. Programs rely on the codes: they do not change."""
CLOSING_CODES = frozenset({"body_too_slow", "body_too_large"})
"""Errors that close the connection, because the rest of the request would have to be read otherwise."""


class RequestError(Exception):
    """A request that is refused: a code of `CODES`, a message of one line, and the field that is wrong."""

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.field = code, message, field
        self.status = CODES[code]


class ModelRequest(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The body of a request. Every request may name a model; the default is the first."""

    model: str | None = None

    def prepare(self, to_features: Translate) -> None:
        """Refuse values that cannot be used, and replace the user's labels by features."""


class BatchItem(msgspec.Struct, forbid_unknown_fields=True):
    """One of the `rows` of a batch."""

    lemma: str
    features: str


class InflectRequest(ModelRequest):
    """`/api/inflect`: one lemma with its features."""

    lemma: str
    features: str

    def prepare(self, to_features: Translate) -> None:
        prepare_item(self, to_features)


class NbestRequest(InflectRequest):
    """`/api/nbest`: the n best forms."""

    n: int = 5

    def prepare(self, to_features: Translate) -> None:
        super().prepare(to_features)
        if self.n < 1:
            raise RequestError("wrong_question", "n is less than 1; ask for at least one form", "n")
        if self.n > LIMITS.answers:
            raise RequestError("too_many_answers", f"n is too large; ask for at most {LIMITS.answers} forms", "n")


class TraceRequest(InflectRequest):
    """`/api/trace`: the steps of one member; the default is the best voter."""

    member: str | None = None


class ParadigmRequest(ModelRequest):
    """`/api/paradigm` and `/api/rules`: all forms of a lemma, or the forms of some bundles."""

    lemma: str
    bundles: list[str] | None = None

    def prepare(self, to_features: Translate) -> None:
        check_text("lemma", self.lemma)
        check_number(self.bundles or [], LIMITS.paradigm_cells, "bundles")
        for number, features in enumerate(self.bundles or (), start=1):
            check_text("features", features, f"bundles, number {number}: ", "bundles")
        self.bundles = None if self.bundles is None else list(map(to_features, self.bundles))


class BatchRequest(ModelRequest):
    """`/api/batch`: many lemmas, each with its features."""

    rows: list[BatchItem]

    def prepare(self, to_features: Translate) -> None:
        if not self.rows:
            raise RequestError("no_rows", "there are no rows; give at least one lemma with its features", "rows")
        check_number(self.rows, LIMITS.batch_rows, "rows")
        for number, item in enumerate(self.rows, start=1):
            prepare_item(item, to_features, f"row {number}: ", "rows")


AnyRequest = TypeVar("AnyRequest", bound=ModelRequest)


async def read(request: Request, kind: type[AnyRequest]) -> AnyRequest:
    """The body of a request, decoded."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise RequestError("not_json", "the body must be JSON; send it with the header Content-Type: application/json")
    body = await _body(request)
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        found = printable(str(error))[:SHOWN]  # may quote the name of an unknown field
        raise RequestError("wrong_question", f"not a valid request: {found}; see docs/api-web.md") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RequestError("broken_json", "the body is not valid JSON; check quotes, commas and brackets") from None


async def _body(request: Request) -> bytes:
    body, length, most = bytearray(), 0, LIMITS.body_bytes
    too_large = RequestError("body_too_large", f"the request is too large; send at most {most:,} bytes at once")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > DISCARDED_BYTES:  # int() refuses 5,000 digits
        raise too_large
    try:
        async with asyncio.timeout(LIMITS.body_seconds):
            async for piece in request.stream():
                length += len(piece)
                if length <= most:
                    body += piece
                elif length > DISCARDED_BYTES:
                    break
    except TimeoutError:
        message = f"the body did not arrive within {LIMITS.body_seconds} seconds; send less at once"
        raise RequestError("body_too_slow", message) from None
    except ClientDisconnect:
        raise RequestError("cut_off", "the connection ended before the request was complete; send it again") from None
    if length > most:
        raise too_large
    return bytes(body)


def check_text(name: Literal["lemma", "features"], text: str, place: str = "", field: str | None = None) -> None:
    """Refuse a lemma or features that are too long, empty, or do not fit on a line of a file."""
    subject, field = f"{place}{'the lemma is' if name == 'lemma' else 'the features are'}", field or name
    limit = LIMITS.lemma_characters if name == "lemma" else LIMITS.features_characters
    if len(text) > limit:
        raise RequestError(f"{name}_too_long", f"{subject} too long; give at most {limit} characters", field)
    if not (text.strip() if name == "lemma" else Bundle(text).atoms):
        remedy = "give a word to inflect" if name == "lemma" else "give some, joined by semicolons (V;PST)"
        raise RequestError(f"no_{name}", f"{subject} empty; {remedy}", field)
    if any(character in "\t\n\r" or "\ud800" <= character <= "\udfff" for character in text):
        message = f"{subject} not on one line, or not valid text; remove tabs, line ends and lone surrogates"
        raise RequestError(f"{name}_unusable", message, field)


def prepare_item(
    item: InflectRequest | BatchItem, to_features: Translate, place: str = "", field: str | None = None
) -> None:
    check_text("lemma", item.lemma, place, field)
    check_text("features", item.features, place, field)
    item.features = to_features(item.features)


def check_number(values: Sequence[object], most: int, field: str) -> None:
    if len(values) > most:
        raise RequestError(f"too_many_{field}", f"found {len(values):,} {field}; send at most {most:,} at once", field)
