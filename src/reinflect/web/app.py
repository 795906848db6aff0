"""The app: static files for the page, and the JSON interface of docs/api-web.md."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reinflect import __version__
from reinflect.data.features import SEPARATOR, Bundle
from reinflect.data.items import Item
from reinflect.decode.forms import WIDTH
from reinflect.errors import InputError, ReinflectError, printable
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import load
from reinflect.score.baseline import Baseline
from reinflect.text import nearest
from reinflect.web import requests
from reinflect.web.guard import INTERNAL_ERROR, Guard, json_response, log, refusal
from reinflect.web.hosts import Hosts
from reinflect.web.inventory import inventory, summary
from reinflect.web.queue import CHUNK_COST, Answer, Operation, Question, Queue, decoding_cost
from reinflect.web.requests import LIMITS, RequestError

STATIC = Path(__file__).parent / "static"
PALETTE = Path(__file__).parents[1] / "report" / "palette.css"
"""The colours that the page shares with reports."""
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
UNKNOWN = 20
"""Unknown features, and combinations, that a response names, at most: the search for similar ones takes time."""
IDLE_SECONDS = 600.0
CHANGED = "the file of this model has changed since it was loaded; answers are of the model as it was loaded"


def create_app(models: Mapping[str, Inflector | Path], hosts: Hosts | None = None, queue: Queue | None = None) -> Guard:
    """The page and the interface for models by name; requests that name no model get the first.

    A model given as a file is loaded when a request names it, and dropped after `IDLE_SECONDS` without one. `hosts` are
    the admitted host names; by default the local names of this computer.
    """
    queue = queue or Queue()
    api = Api(models, queue)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        queue.close()

    app = Starlette(
        routes=[
            Route("/", api.file),
            Route("/static/{name}", api.file),
            Route("/api/models", api.models_list),
            Route("/api/models/{name:path}", api.model),
            *(
                Route(f"/api/{answer.__name__}", answer, methods=["POST"])
                for answer in (api.inflect, api.nbest, api.paradigm, api.trace, api.batch, api.rules, api.reload)
            ),
        ],
        exception_handlers=dict.fromkeys((RequestError, ReinflectError, HTTPException, Exception), error_response),
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return Guard(app, hosts or Hosts())


class Api:
    """Answers the requests for each address."""

    def __init__(self, models: Mapping[str, Inflector | Path], queue: Queue) -> None:
        self.models, self.queue = dict(models), queue
        self._files_of = {name: own for name, own in models.items() if isinstance(own, Path)}
        """The files of models that are loaded for requests, and dropped when they are idle."""
        self._timers: dict[str, asyncio.TimerHandle] = {}
        # Files are read once and looked up by name, so that no request can reach another file.
        self._files = {path.name: (path.read_bytes(), TYPES[path.suffix]) for path in (*STATIC.iterdir(), PALETTE)}
        self._inventories: dict[str, tuple[Inflector, Response]] = {}
        self._rules: dict[str, tuple[Inflector, Baseline]] = {}
        self._told: dict[str, Inflector] = {}
        """The models whose file has changed, after the terminal has said so."""

    async def file(self, request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in self._files:
            raise HTTPException(404)
        content, media_type = self._files[name]
        return Response(content, media_type=media_type)

    async def models_list(self, _request: Request) -> Response:
        known = [summary(*own) | {"changed": self._changed(*own)} for own in self.models.items()]
        return json_response({"version": __version__, "models": known, "limits": LIMITS})

    async def model(self, request: Request) -> Response:
        name, inflector = await self._model(request, request.path_params["name"])
        if self._inventories.get(name, (None,))[0] is not inflector:
            made = await self._alone(request, name, "inventory", lambda: json_response(inventory(name, inflector)))
            self._inventories[name] = inflector, made
        return self._inventories[name][1]

    async def inflect(self, request: Request) -> Response:
        asked, key, inflector = await self._read(request, requests.InflectRequest)
        [answer] = await self._answers(request, forms(key, inflector), [Item(asked.lemma, Bundle(asked.features))])
        return json_response(item(asked) | {"answer": answer} | unseen(inflector, [asked.features]))

    async def nbest(self, request: Request) -> Response:
        asked, key, inflector = await self._read(request, requests.NbestRequest)
        operation: Operation[Item, list[Any]] = Operation(
            key,
            f"nbest {asked.n}",
            lambda items: inflector.nbest_many(items, asked.n, attested=True),
            lambda item: decoding_cost(item.lemma, max(WIDTH, asked.n)),
        )
        [answers] = await self._answers(request, operation, [Item(asked.lemma, Bundle(asked.features))])
        return json_response(item(asked) | {"answers": answers} | unseen(inflector, [asked.features]))

    async def paradigm(self, request: Request) -> Response:
        asked, key, inflector = await self._read(request, requests.ParadigmRequest)
        bundles = asked.bundles
        if bundles is None:  # in a thread: sorting a hundred thousand takes a second
            bundles = await asyncio.to_thread(inflector.usual_bundles)
        requests.check_number(bundles, LIMITS.paradigm_cells, "bundles")
        items = [Item(asked.lemma, Bundle(features)) for features in bundles]
        answers = await self._answers(request, forms(key, inflector), items)
        cells = [{"features": features, "answer": answer} for features, answer in zip(bundles, answers, strict=True)]
        return json_response({"lemma": asked.lemma, "cells": cells} | unseen(inflector, bundles))

    async def rules(self, request: Request) -> Response:
        """What the rule baseline says; it learns from the attested forms when it is first asked."""
        asked, key, inflector = await self._read(request, requests.ParadigmRequest)
        if not inflector.attested:
            message = "this model keeps no attested forms to learn rules from; train it without --no-attested"
            raise RequestError("cannot_answer", message, "model")
        learnt = partial(self._learnt, self._name(asked.model), inflector)
        baseline = await self._alone(request, key, "rules", learnt)
        bundles = list(baseline.rules) if asked.bundles is None else asked.bundles
        requests.check_number(bundles, LIMITS.paradigm_cells, "bundles")
        found = [baseline.inflect(asked.lemma, own) if baseline.knows(own) else None for own in map(Bundle, bundles)]
        cells = [{"features": own, "form": form} for own, form in zip(bundles, found, strict=True)]
        return json_response({"lemma": asked.lemma, "cells": cells, "items": len(inflector.attested)})

    def _learnt(self, name: str, inflector: Inflector) -> Baseline:
        if self._rules.get(name, (None,))[0] is not inflector:
            self._rules[name] = inflector, Baseline.learn(inflector.attested)
        return self._rules[name][1]

    async def trace(self, request: Request) -> Response:
        asked, key, inflector = await self._read(request, requests.TraceRequest)
        trace = partial(inflector.trace, asked.lemma, Bundle(asked.features), asked.member)
        return json_response(await self._alone(request, key, "trace", trace))

    async def batch(self, request: Request) -> Response:
        asked, key, inflector = await self._read(request, requests.BatchRequest)
        items = [Item(one.lemma, Bundle(one.features)) for one in asked.rows]
        answers = await self._answers(request, forms(key, inflector), items)
        rows = [item(one) | {"answer": answer} for one, answer in zip(asked.rows, answers, strict=True)]
        return json_response({"rows": rows} | unseen(inflector, [one.features for one in asked.rows]))

    async def reload(self, request: Request) -> Response:
        """Load the file of a model again, if it has changed; if the new one cannot be used, the model stays."""
        asked, key, _ = await self._read(request, requests.ModelRequest)
        name = self._name(asked.model)
        await self._alone(request, key, "load", partial(self._load, name))
        return json_response(summary(name, self.models[name]) | {"changed": self._changed(name, self.models[name])})

    def _load(self, name: str) -> Inflector:
        """A model, after its file was read if it is not loaded or has changed; a file that cannot be used is not."""
        path, stays = self.models[name], ""
        if not isinstance(path, Path):
            if path.source is None or not path.source.changed:
                return path
            path, stays = path.source.path, "; the model stays as it was loaded"
        try:
            self.models[name] = loaded = load(path)
        except InputError as error:
            log.warning("note: %s; the model %s cannot be used%s", error, printable(name), stays)
            message = f"the file of this model cannot be used now ({error.found}){stays}"
            raise RequestError("cannot_answer", message, "model") from None
        return loaded

    def _drop(self, name: str) -> None:
        """Leave a model and all that was made of it to be collected; requests under way still have it."""
        self.models[name] = self._files_of[name]
        for kept in (self._inventories, self._rules, self._told, self._timers):
            kept.pop(name, None)

    def _changed(self, name: str, inflector: Inflector | Path) -> str | None:
        """A sentence if the file of a model is not the one that was loaded; the terminal says it once."""
        if isinstance(inflector, Path) or inflector.source is None or not inflector.source.changed:
            return None
        if self._told.get(name) is not inflector:
            self._told[name] = inflector
            where = printable(str(inflector.source.path))
            log.warning("note: %s has changed since it was loaded; the page offers to load it again", where)
        return CHANGED

    async def _read(
        self, request: Request, kind: type[requests.AnyRequest]
    ) -> tuple[requests.AnyRequest, str, Inflector]:
        await self.queue.refuse_if_full()
        asked = await requests.read(request, kind)
        name, inflector = await self._model(request, asked.model)
        self._changed(name, inflector)
        asked.prepare(inflector.features_of)
        # The queue merges questions to the same model: not those from before a reload with those after it.
        return asked, f"{name} {id(inflector)}", inflector

    def _name(self, name: str | None) -> str:
        name = next(iter(self.models)) if name is None else name
        if name not in self.models:
            known = nearest(name[: LIMITS.lemma_characters], self.models, f"the models are {', '.join(self.models)}")
            raise RequestError("no_such_model", f"there is no model with this name; {known}", "model")
        return name

    async def _model(self, request: Request, named: str | None) -> tuple[str, Inflector]:
        """The name and the model; one that is dropped when idle is loaded first if need be."""
        name = self._name(named)
        found = self.models[name]
        try:
            if isinstance(found, Path):
                found = await self._alone(request, name, "load", partial(self._load, name))
        finally:  # also if the client has disconnected: the model may still be loaded then
            if timer := self._timers.get(name):
                timer.cancel()
            if name in self._files_of:
                self._timers[name] = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._drop, name)
        return name, found

    async def _alone(self, request: Request, model: str, kind: str, answer: Callable[[], Answer]) -> Answer:
        """What the model answers in a chunk of its own."""
        alone: Operation[None, Answer] = Operation(model, kind, lambda _: [answer()], lambda _: CHUNK_COST)
        [answered] = await self._answers(request, alone, [None])
        return answered

    async def _answers(
        self, request: Request, operation: Operation[Question, Answer], questions: Sequence[Question]
    ) -> list[Answer]:
        """The answers of the model; given up when the client disconnects."""
        answers = asyncio.create_task(self.queue.ask(operation, questions))
        disconnected = asyncio.create_task(_disconnected(request))
        try:
            await asyncio.wait({answers, disconnected}, return_when=asyncio.FIRST_COMPLETED)
            if not answers.done():
                raise RequestError("cut_off", "the client has disconnected")
            return answers.result()
        finally:
            answers.cancel()
            disconnected.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def forms(key: str, inflector: Inflector) -> Operation[Item, Any]:
    """The forms of lemmas with features; words, paradigms and batches share this operation."""
    answers = partial(inflector.answers, attested=True)
    return Operation(key, "forms", answers, lambda item: decoding_cost(item.lemma))


def item(asked: requests.InflectRequest | requests.BatchItem) -> dict[str, Any]:
    return {"lemma": asked.lemma, "features": asked.features}


def unseen(inflector: Inflector, bundles: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """The features that the model does not know, and combinations of features that are new to it, with near ones."""
    known = frozenset(inflector.atoms)
    atoms = dict.fromkeys(atom for features in dict.fromkeys(bundles) for atom in Bundle(features).among(known))
    new = islice((atom for atom in atoms if atom not in known), UNKNOWN)
    unknown = [{"feature": atom, "nearest": near} for atom, near in inflector.unknown_features(SEPARATOR.join(new))]
    combined = ((features, inflector.nearest_bundles(features)) for features in dict.fromkeys(bundles))
    found = ({"features": features, "nearest": near} for features, near in combined if near)
    return {"unknown": unknown, "unseen": list(islice(found, UNKNOWN))}


async def error_response(request: Request, error: Exception) -> Response:
    if isinstance(error, RequestError):
        return refusal(error)
    if isinstance(error, ReinflectError):
        return refusal(RequestError("cannot_answer", str(error)))
    if not isinstance(error, HTTPException):
        return refusal(INTERNAL_ERROR)
    if error.status_code != 405:
        return refusal(RequestError("no_such_address", "there is nothing at this address"))
    response = refusal(RequestError("wrong_method", f"this address does not support {request.method}"))
    response.headers.update(error.headers or {})
    return response
