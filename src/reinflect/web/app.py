"""The server: a page of static files, and the JSON interface that it uses (docs/api-web.md)."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reinflect import __version__
from reinflect.data.features import SEPARATOR, Bundle
from reinflect.decoding.beam import WIDTH
from reinflect.errors import ReinflectError
from reinflect.web import requests
from reinflect.web.door import Door, json_response, our_fault, refusal
from reinflect.web.hosts import Hosts
from reinflect.web.inventory import inventory, summary
from reinflect.web.pages import Pages
from reinflect.web.requests import LIMITS, RequestError
from reinflect.web.work import ROOM, Answer, Question, Trade, Work, letters

if TYPE_CHECKING:
    from reinflect.inflector.inflector import Inflector

Word = tuple[str, str]
"""A lemma and features."""
UNKNOWN = 20
"""So many features that a model has never seen are named, at most: to look for the nearest takes time."""


def create_app(models: "Mapping[str, Inflector]", hosts: Hosts | None = None, work: Work | None = None) -> Door:
    """The page and the interface for models by their names; the first is the one that is meant if none is named.

    Unless others are given, `hosts` are the names of this computer for itself.
    """
    work = work or Work()
    desk, pages = Desk(models, work), Pages()

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        work.close()

    app = Starlette(
        routes=[
            Route("/", pages.first),
            Route("/static/{name}", pages.part),
            Route("/api/models", desk.models_list),
            Route("/api/models/{name:path}", desk.model),
            Route("/api/inflect", desk.inflect, methods=["POST"]),
            Route("/api/nbest", desk.nbest, methods=["POST"]),
            Route("/api/paradigm", desk.paradigm, methods=["POST"]),
            Route("/api/trace", desk.trace, methods=["POST"]),
            Route("/api/batch", desk.batch, methods=["POST"]),
        ],
        exception_handlers={
            RequestError: refused,
            ReinflectError: not_usable,
            HTTPException: no_such,
            Exception: failed,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return Door(app, hosts or Hosts())


class Desk:
    """Takes what is asked, has the models do it, and hands out what they say."""

    def __init__(self, models: "Mapping[str, Inflector]", work: Work) -> None:
        self.models, self.work = dict(models), work
        self._inventories: dict[str, Response] = {}

    async def models_list(self, _request: Request) -> Response:
        known = [summary(name, inflector) for name, inflector in self.models.items()]
        return json_response({"version": __version__, "models": known, "limits": LIMITS})

    async def model(self, request: Request) -> Response:
        name, inflector = self._model(request.path_params["name"])
        if name not in self._inventories:
            told: Trade[str, Response] = Trade(
                name, "inventory", lambda names: [json_response(inventory(own, inflector)) for own in names], alone
            )
            [self._inventories[name]] = await self._answers(request, told, [name])
        return self._inventories[name]

    async def inflect(self, request: Request) -> Response:
        asked, name, inflector = await self._asked(request, requests.OneWord)
        [answer] = await self._answers(request, forms(name, inflector), [(asked.lemma, asked.features)])
        return json_response(word(asked) | {"answer": answer, "unknown": unknown(inflector, [asked.features])})

    async def nbest(self, request: Request) -> Response:
        asked, name, inflector = await self._asked(request, requests.BestForms)
        lists: Trade[Word, list[Any]] = Trade(
            name,
            f"nbest {asked.n}",
            lambda items: inflector.nbest_many(items, asked.n),
            lambda item: letters(item[0], max(WIDTH, asked.n)),
        )
        [answers] = await self._answers(request, lists, [(asked.lemma, asked.features)])
        return json_response(word(asked) | {"answers": answers, "unknown": unknown(inflector, [asked.features])})

    async def paradigm(self, request: Request) -> Response:
        asked, name, inflector = await self._asked(request, requests.WholeParadigm)
        bundles = inflector.usual_bundles() if asked.bundles is None else asked.bundles
        requests.check_many(bundles, requests.PARADIGM_CELLS, "bundles")
        items = [(asked.lemma, features) for features in bundles]
        answers = await self._answers(request, forms(name, inflector), items)
        cells = [{"features": features, "answer": answer} for features, answer in zip(bundles, answers, strict=True)]
        return json_response({"lemma": asked.lemma, "cells": cells, "unknown": unknown(inflector, bundles)})

    async def trace(self, request: Request) -> Response:
        asked, name, inflector = await self._asked(request, requests.Steps)
        steps: Trade[tuple[str, str, str | None], Any] = Trade(
            name, "trace", lambda items: [inflector.trace(*item) for item in items], alone
        )
        [trace] = await self._answers(request, steps, [(asked.lemma, asked.features, asked.member)])
        return json_response(trace)

    async def batch(self, request: Request) -> Response:
        asked, name, inflector = await self._asked(request, requests.Batch)
        items = [(row.lemma, row.features) for row in asked.rows]
        answers = await self._answers(request, forms(name, inflector), items)
        rows = [
            {"lemma": lemma, "features": features, "answer": answer}
            for (lemma, features), answer in zip(items, answers, strict=True)
        ]
        return json_response({"rows": rows, "unknown": unknown(inflector, [features for _, features in items])})

    async def _asked(
        self, request: Request, kind: type[requests.AnyAsked]
    ) -> "tuple[requests.AnyAsked, str, Inflector]":
        await self.work.check_room()
        asked = await requests.read(request, kind)
        name, inflector = self._model(asked.model)
        asked.translate(inflector.labels.to_features)
        return asked, name, inflector

    def _model(self, name: str | None) -> "tuple[str, Inflector]":
        if name is None:
            return next(iter(self.models.items()))
        if name not in self.models:
            message = f"there is no model of that name here; there is {', '.join(self.models)}"
            raise RequestError("no_such_model", message, "model")
        return name, self.models[name]

    async def _answers(
        self, request: Request, trade: Trade[Question, Answer], questions: Sequence[Question]
    ) -> list[Answer]:
        """What the models say, for as long as somebody is there to hear it."""
        answers = asyncio.create_task(self.work.ask(trade, questions))
        gone = asyncio.create_task(_gone(request))
        try:
            await asyncio.wait({answers, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not answers.done():
                raise RequestError("cut_off", "nobody waits for the answer any more")
            return answers.result()
        finally:
            answers.cancel()
            gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def forms(name: str, inflector: "Inflector") -> Trade[Word, Any]:
    """A model's forms; it is all the same whether they are of a word, a paradigm or a batch."""
    return Trade(name, "forms", inflector.answers, lambda item: letters(item[0]))


def alone(_question: object) -> int:
    return ROOM


def word(asked: requests.OneWord) -> dict[str, Any]:
    return {"lemma": asked.lemma, "features": asked.features}


def unknown(inflector: "Inflector", bundles: Iterable[str]) -> list[dict[str, Any]]:
    """The features that the model has never seen, each with the nearest that it has."""
    known = frozenset(inflector.atoms)
    atoms = dict.fromkeys(atom for features in dict.fromkeys(bundles) for atom in Bundle(features).atoms)
    new = islice((atom for atom in atoms if atom not in known), UNKNOWN)
    return [{"feature": atom, "nearest": near} for atom, near in inflector.unknown_features(SEPARATOR.join(new))]


async def refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return refusal(error)


async def not_usable(_request: Request, error: Exception) -> Response:
    return refusal(RequestError("cannot_answer", str(error)))


async def no_such(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        response = refusal(RequestError("wrong_method", f"this address does not take {request.method}"))
        response.headers.update(error.headers or {})
        return response
    return refusal(RequestError("no_such_address", "there is nothing at this address"))


async def failed(_request: Request, _error: Exception) -> Response:
    return refusal(our_fault())
