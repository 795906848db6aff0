"""Requests to the server, their limits, and the errors that refuse them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any, Literal, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from reinflect.data.features import Bundle
from reinflect.errors import ReinflectError, shortened

Value = TypeVar("Value")
Used = TypeVar("Used")


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
    lemmas: int = 20
    waiting: int = 64
    """Requests that may wait for the models; more are refused."""


LIMITS = Limits()
HEADERS_OF = {503: {"retry-after": "1"}} | {status: {"connection": "close"} for status in (403, 408, 411, 413)}


class RequestError(Exception):
    """A request that is refused: a message of one line, a code that programs rely on, and the field that is wrong."""

    def __init__(self, code: str, message: str, field: str | None = None, *, status: int = 400) -> None:
        super().__init__(message)
        self.code, self.message, self.field, self.status = code, message, field, status


def refusal(error: Exception) -> Response:
    """The response to a request that failed; where a body would have to be read, it closes the connection."""
    headers = getattr(error, "headers", None)
    if isinstance(error, HTTPException) and error.status_code == 405:
        error = RequestError("wrong_method", "this address does not support this method", status=405)
    elif isinstance(error, HTTPException):
        error = RequestError("no_such_address", "there is nothing at this address", status=404)
    elif isinstance(error, ClientDisconnect):
        error = RequestError("cut_off", "the connection ended before the request was answered")
    elif isinstance(error, ReinflectError):
        error = RequestError("cannot_answer", str(error))
    elif not isinstance(error, RequestError):
        message = "internal error; the terminal in which reinflect serve runs shows details"
        error = RequestError("our_fault", message, status=500)
    content = {"error": error.message, "code": error.code, "field": error.field}
    return json_response(content, error.status, HEADERS_OF.get(error.status, headers))


def json_response(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(content), status, headers, media_type="application/json")


class Row(msgspec.Struct, forbid_unknown_fields=True):
    lemma: str
    features: str


def body_of(answer: Callable[..., object]) -> type[msgspec.Struct]:
    """The body of a request: a model, by default the first, marks in answers, and the parameters of what answers it."""
    _self, _loaded, *parameters = signature(answer).parameters.values()
    fields = [
        (each.name, each.annotation, msgspec.NODEFAULT if each.default is each.empty else each.default)
        for each in parameters
    ]
    fields += [("model", str | None, None), ("marks", bool, False)]
    return msgspec.defstruct("Body", fields, forbid_unknown_fields=True, kw_only=True)


async def read(request: Request, kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields of a request's body; the server has refused one that is too large."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        message = "the body must be JSON; send it with the header Content-Type: application/json"
        raise RequestError("not_json", message, status=415)
    try:
        async with asyncio.timeout(LIMITS.body_seconds):
            body = await request.body()
        return msgspec.structs.asdict(msgspec.json.decode(body, type=kind))
    except TimeoutError:
        message = f"the body did not arrive within {LIMITS.body_seconds} seconds; send less at once"
        raise RequestError("body_too_slow", message, status=408) from None
    except msgspec.ValidationError as error:
        finding = shortened(str(error), 200)  # may quote the name of an unknown field
        raise RequestError("wrong_question", f"not a valid request: {finding}; see docs/api-web.md") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RequestError("broken_json", "the body is not valid JSON; check quotes, commas and brackets") from None


def check_text(name: Literal["lemma", "features"], text: str) -> None:
    """Refuse a lemma or features that are too long, empty, or do not fit on a line of a file."""
    subject = "the lemma is" if name == "lemma" else "the features are"
    limit = LIMITS.lemma_characters if name == "lemma" else LIMITS.features_characters
    if len(text) > limit:
        raise RequestError(f"{name}_too_long", f"{subject} too long; give at most {limit} characters", name)
    if not (text.strip() if name == "lemma" else Bundle(text).atoms):
        remedy = "give a word to inflect" if name == "lemma" else "give some, joined by semicolons (V;PST)"
        raise RequestError(f"no_{name}", f"{subject} empty; {remedy}", name)
    if any(character in "\t\n\r" or "\ud800" <= character <= "\udfff" for character in text):
        message = f"{subject} not on one line, or not valid text; remove tabs, line ends and lone surrogates"
        raise RequestError(f"{name}_unusable", message, name)


def use_each(field: str, values: Sequence[Value], most: int, use: Callable[[Value], Used]) -> list[Used]:
    """What is made of each of at most `most` values; an error says which one is wrong."""
    if len(values) > most:
        raise RequestError(f"too_many_{field}", f"found {len(values):,} {field}; send at most {most:,} at once", field)
    used = []
    for number, value in enumerate(values, start=1):
        try:
            used.append(use(value))
        except RequestError as error:
            raise RequestError(error.code, f"{field}, number {number}: {error.message}", field) from None
    return used
