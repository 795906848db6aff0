"""The server: a page of static files, and the JSON interface that it uses (docs/api-web.md)."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reinflect import __version__
from reinflect.data.features import SEPARATOR
from reinflect.errors import ReinflectError
from reinflect.web import requests
from reinflect.web.inventory import inventory, summary
from reinflect.web.requests import LIMITS, RequestError
from reinflect.web.work import Work

if TYPE_CHECKING:
    from reinflect.inflector import Inflector

STATIC = Path(__file__).parent / "static"
HEADERS = {
    # Nothing comes from elsewhere, nothing runs that is not a file of ours, and nobody puts the page into theirs.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


def create_app(models: "Mapping[str, Inflector]") -> ASGIApp:
    """The page and the interface for models by their names; the first is the one that is meant if none is named."""
    desk = Desk(models)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        desk.work.close()

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/api/models", desk.models_list),
            Route("/api/models/{name:path}", desk.model),
            Route("/api/inflect", desk.inflect, methods=["POST"]),
            Route("/api/nbest", desk.nbest, methods=["POST"]),
            Route("/api/paradigm", desk.paradigm, methods=["POST"]),
            Route("/api/trace", desk.trace, methods=["POST"]),
            Route("/api/batch", desk.batch, methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        exception_handlers={
            RequestError: refused,
            ReinflectError: not_usable,
            HTTPException: no_such,
            Exception: failed,
        },
        lifespan=lifespan,
    )
    return WithHeaders(app)  # around everything, even the answer to an error of our own


class Desk:
    """Takes what is asked, has the models do it, and hands out what they say."""

    def __init__(self, models: "Mapping[str, Inflector]") -> None:
        self.models = dict(models)
        self.work = Work()
        self._inventories: dict[str, Response] = {}

    async def models_list(self, _request: Request) -> Response:
        known = [summary(name, inflector) for name, inflector in self.models.items()]
        return json_response({"version": __version__, "models": known, "limits": LIMITS})

    async def model(self, request: Request) -> Response:
        name = request.path_params["name"]
        inflector = self._model(name)
        if name not in self._inventories:
            self._inventories[name] = await self.work.do(lambda: json_response(inventory(name, inflector)))
        return self._inventories[name]

    async def inflect(self, request: Request) -> Response:
        asked, inflector = await self._asked(request, requests.OneWord)
        [answer] = await self.work.do(lambda: inflector.answers([(asked.lemma, asked.features)]))
        return json_response(word(asked) | {"answer": answer, "unknown": unknown(inflector, [asked.features])})

    async def nbest(self, request: Request) -> Response:
        asked, inflector = await self._asked(request, requests.BestForms)
        answers = await self.work.do(lambda: inflector.nbest(asked.lemma, asked.features, asked.n))
        return json_response(word(asked) | {"answers": answers, "unknown": unknown(inflector, [asked.features])})

    async def paradigm(self, request: Request) -> Response:
        asked, inflector = await self._asked(request, requests.WholeParadigm)
        bundles = inflector.usual_bundles() if asked.bundles is None else asked.bundles
        requests.check_many(bundles, requests.PARADIGM_CELLS, "bundles")
        cells = await self.work.do(lambda: inflector.paradigm(asked.lemma, bundles))
        return json_response({"lemma": asked.lemma, "cells": cells, "unknown": unknown(inflector, bundles)})

    async def trace(self, request: Request) -> Response:
        asked, inflector = await self._asked(request, requests.Steps)
        return json_response(await self.work.do(lambda: inflector.trace(asked.lemma, asked.features, asked.member)))

    async def batch(self, request: Request) -> Response:
        asked, inflector = await self._asked(request, requests.Batch)
        items = [(row.lemma, row.features) for row in asked.rows]
        answers = await self.work.do(lambda: inflector.answers(items))
        rows = [
            {"lemma": lemma, "features": features, "answer": answer}
            for (lemma, features), answer in zip(items, answers, strict=True)
        ]
        return json_response({"rows": rows, "unknown": unknown(inflector, [features for _, features in items])})

    async def _asked(self, request: Request, kind: type[requests.AnyAsked]) -> "tuple[requests.AnyAsked, Inflector]":
        asked = await requests.read(request, kind)
        inflector = self._model(asked.model)
        asked.translate(inflector.labels.to_features)
        return asked, inflector

    def _model(self, name: str | None) -> "Inflector":
        if name is None:
            return next(iter(self.models.values()))
        if name not in self.models:
            raise RequestError(404, f"there is no model of that name here; there is {', '.join(self.models)}", "model")
        return self.models[name]


def word(asked: requests.OneWord) -> dict[str, Any]:
    return {"lemma": asked.lemma, "features": asked.features}


def unknown(inflector: "Inflector", bundles: Iterable[str]) -> list[dict[str, Any]]:
    """The features that the model has never seen, each with the nearest that it has."""
    together = SEPARATOR.join(dict.fromkeys(bundles))
    return [{"feature": atom, "nearest": near} for atom, near in inflector.unknown_features(together)]


async def page(_request: Request) -> Response:
    return FileResponse(STATIC / "index.html")


def json_response(content: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(content), status, media_type="application/json")


def problem(status: int, message: str, field: str | None = None) -> Response:
    return json_response({"error": message, "field": field}, status)


async def refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return problem(error.status, error.message, error.field)


async def not_usable(_request: Request, error: Exception) -> Response:
    return problem(400, str(error))


async def no_such(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = {404: "there is nothing at this address", 405: f"this address does not take {request.method}"}
    return problem(error.status_code, said.get(error.status_code, error.detail))


async def failed(_request: Request, _error: Exception) -> Response:
    return problem(500, "something went wrong here; the window in which reinflect serve runs says what")


class WithHeaders:
    """Puts our headers on every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, sending if scope["type"] == "http" else send)
