"""The app: static files for the page, and the JSON interface of docs/api-web.md."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router

from reinflect import __version__
from reinflect.data.features import SEPARATOR, Bundle
from reinflect.data.items import Item
from reinflect.errors import InputError, nearest, printable
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import load
from reinflect.score.baseline import Baseline
from reinflect.web.guard import Guard, Hosts, log
from reinflect.web.inventory import inventory, summary
from reinflect.web.queue import Queue
from reinflect.web.requests import LIMITS, RequestError, Row, body_of, check_text, json_response, read, use_each

STATIC = Path(__file__).parent / "static"
PALETTE = Path(__file__).parents[1] / "report" / "palette.css"
"""The colours that the page shares with reports."""
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
UNKNOWN = 20
"""Unknown features, and combinations, that a response names, at most: the search for similar ones takes time."""
IDLE_SECONDS = 600.0
Result = TypeVar("Result")
CHANGED = "the file of this model has changed since it was loaded; answers are of the model as it was loaded"


def create_app(models: Mapping[str, Inflector | Path], hosts: Hosts | None = None, queue: Queue | None = None) -> Guard:
    """The page and the interface for models by name; requests that name no model get the first.

    A model given as a file is loaded when a request names it, and dropped after `IDLE_SECONDS` without one. `hosts` are
    the admitted host names; by default the local names of this computer.
    """
    return Guard(Api(models, queue or Queue()), hosts or Hosts())


@dataclass(eq=False)
class Loaded:
    """A model in memory, and what is computed from it once."""

    name: str
    inflector: Inflector
    change_noted: bool = False

    @cached_property
    def inventory(self) -> Response:
        return json_response(inventory(self.name, self.inflector))

    @cached_property
    def rules(self) -> Baseline:
        return Baseline.learn(self.inflector.attested)

    @cached_property
    def with_marks(self) -> "Loaded":
        return Loaded(self.name, self.inflector.with_marks())

    def changed(self) -> str | None:
        """A sentence if the file is no longer the one that was loaded; the terminal says it once."""
        source = self.inflector.source
        if source is None or not source.changed:
            return None
        if not self.change_noted:
            path = printable(str(source.path))
            log.warning("note: %s has changed since it was loaded; the page offers to load it again", path)
        self.change_noted = True
        return CHANGED

    def features(self, text: str) -> str:
        """Features, or those of a label."""
        check_text("features", text)
        return self.inflector.features_of(text)

    def item(self, lemma: str, features: str) -> Item:
        check_text("lemma", lemma)
        return Item(lemma, Bundle(self.features(features)))

    def items(self, lemma: str, bundles: Sequence[str] | None, usual: Callable[[], list[str]]) -> list[Item]:
        """A lemma with these bundles, or with the usual ones."""
        check_text("lemma", lemma)
        spellings, translate = (usual(), str) if bundles is None else (bundles, self.features)
        translated = use_each("bundles", spellings, LIMITS.paradigm_cells, translate)
        return [Item(lemma, Bundle(features)) for features in translated]

    def unseen(self, items: Sequence[Item]) -> dict[str, list[dict[str, Any]]]:
        """Features that the model does not know, and combinations of features that are new to it, with near ones."""
        atoms, bundles = frozenset(self.inflector.atoms), {item.features.spelling: item.features for item in items}
        new = dict.fromkeys(atom for bundle in bundles.values() for atom in bundle.among(atoms) if atom not in atoms)
        unknown = self.inflector.unknown_features(SEPARATOR.join(islice(new, UNKNOWN)))
        combined = ((features, self.inflector.nearest_bundles(features)) for features in bundles)
        unseen = ({"features": features, "nearest": near} for features, near in combined if near)
        return {
            "unknown": [{"feature": atom, "nearest": near} for atom, near in unknown],
            "unseen": list(islice(unseen, UNKNOWN)),
        }


class Api(Router):
    """Answers the requests for each address."""

    def __init__(self, models: Mapping[str, Inflector | Path], queue: Queue) -> None:
        routes = [
            Route("/", self.file),
            Route("/static/{name}", self.file),
            Route("/api/models", self.models_list),
            Route("/api/models/{name:path}", self.model),
            *(Route(f"/api/{name}", partial(self.post, name), methods=["POST"]) for name in POSTS),
        ]
        super().__init__(routes, redirect_slashes=False)
        self.names, self.queue = list(models), queue
        self.loaded = {name: Loaded(name, model) for name, model in models.items() if not isinstance(model, Path)}
        self.files = {name: model for name, model in models.items() if isinstance(model, Path)}
        """Of models that are loaded for requests, and dropped when they are idle."""
        self._timers: dict[str, asyncio.TimerHandle] = {}
        # Files are read once and looked up by name, so that no request can reach another file.
        self._static = {
            path.name: Response(path.read_bytes(), media_type=TYPES[path.suffix])
            for path in (*STATIC.iterdir(), PALETTE)
        }

    async def file(self, request: Request) -> Response:
        if response := self._static.get(request.path_params.get("name", "index.html")):
            return response
        raise HTTPException(404)

    async def models_list(self, _request: Request) -> Response:
        return json_response({"version": __version__, "models": list(map(self._summary, self.names)), "limits": LIMITS})

    def _summary(self, name: str) -> dict[str, Any]:
        loaded = self.loaded.get(name)
        inflector, changed = (loaded.inflector, loaded.changed()) if loaded else (None, None)
        return summary(name, inflector) | {"changed": changed}

    async def model(self, request: Request) -> Response:
        loaded = await self._find(request.path_params["name"])
        return await self._alone(lambda: loaded.inventory)

    async def post(self, name: str, request: Request) -> Response:
        await self.queue.refuse_if_full()
        fields = await read(request, POSTS[name])
        marks = fields.pop("marks")

        async def answer() -> Response:
            loaded = await self._find(fields.pop("model"))
            answered = await getattr(self, name)(loaded.with_marks if marks else loaded, **fields)
            loaded.changed()
            return json_response(answered)

        return await while_connected(request, answer())

    async def inflect(self, loaded: Loaded, lemma: str, features: str) -> dict[str, Any]:
        [row], unseen = await self._rows(loaded, [loaded.item(lemma, features)])
        return row | unseen

    async def batch(self, loaded: Loaded, rows: list[Row]) -> dict[str, Any]:
        if not rows:
            raise RequestError("no_rows", "there are no rows; give at least one lemma with its features", "rows")
        items = use_each("rows", rows, LIMITS.batch_rows, lambda row: loaded.item(row.lemma, row.features))
        answered, unseen = await self._rows(loaded, items)
        return {"rows": answered} | unseen

    async def paradigm(self, loaded: Loaded, lemma: str, bundles: list[str] | None = None) -> dict[str, Any]:
        # In a thread: sorting a hundred thousand takes a second.
        items = await asyncio.to_thread(loaded.items, lemma, bundles, partial(loaded.inflector.usual_bundles, lemma))
        rows, unseen = await self._rows(loaded, items)
        return {
            "lemma": lemma,
            "cells": [{"features": row["features"], "answer": row["answer"]} for row in rows],
        } | unseen

    async def nbest(
        self, loaded: Loaded, lemma: str, features: str, n: Annotated[int, msgspec.Meta(ge=1)] = 5
    ) -> dict[str, Any]:
        item = loaded.item(lemma, features)
        if n > LIMITS.answers:
            raise RequestError("too_many_answers", f"n is too large; ask for at most {LIMITS.answers} forms", "n")
        nbest = partial(loaded.inflector.nbest_many, n=n, attested=True)
        [answers] = await self.queue.ask((loaded, n), nbest, [item])
        return {"lemma": lemma, "features": item.features.spelling, "answers": answers} | loaded.unseen([item])

    async def rules(self, loaded: Loaded, lemma: str, bundles: list[str] | None = None) -> dict[str, Any]:
        """What the rule baseline says; it learns from the attested forms when it is first asked."""
        if not loaded.inflector.attested:
            message = "this model keeps no attested forms to learn rules from; train it without --no-attested"
            raise RequestError("cannot_answer", message, "model")
        rules = await self._alone(lambda: loaded.rules)
        features = [item.features for item in loaded.items(lemma, bundles, lambda: list(rules.rules))]
        forms = [rules.inflect(lemma, bundle) if rules.knows(bundle) else None for bundle in features]
        cells = [{"features": bundle.spelling, "form": form} for bundle, form in zip(features, forms, strict=True)]
        return {"lemma": lemma, "cells": cells, "items": len(loaded.inflector.attested)}

    async def lemmas(self, loaded: Loaded, beginning: str) -> dict[str, Any]:
        """The first lemmas of the dictionary that begin like this."""
        check_text("lemma", beginning)
        dictionary = loaded.inflector.dictionary
        return {"lemmas": dictionary.starting(beginning, LIMITS.lemmas) if dictionary else []}

    async def trace(self, loaded: Loaded, lemma: str, features: str, member: str | None = None) -> Any:
        """The steps of a member, by default the best voter."""
        item = loaded.item(lemma, features)
        return await self._alone(partial(loaded.inflector.trace, lemma, item.features, member))

    async def reload(self, loaded: Loaded) -> dict[str, Any]:
        """Load the file of a model again, if it has changed; if the new one cannot be used, the model stays."""
        await self._alone(partial(self._load, loaded.name))
        return self._summary(loaded.name)

    async def _rows(self, loaded: Loaded, items: Sequence[Item]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Items with their forms, and what is unseen; words, paradigms and batches are answered together."""
        forms = partial(loaded.inflector.answers, attested=True)
        answered = zip(items, await self.queue.ask((loaded, "forms"), forms, items), strict=True)
        rows = [
            {"lemma": item.lemma, "features": item.features.spelling, "answer": answer} for item, answer in answered
        ]
        return rows, loaded.unseen(items)

    async def _alone(self, answer: Callable[[], Result]) -> Result:
        """What a function returns that may not run beside the models."""
        [result] = await self.queue.ask(answer, lambda _: [answer()], [None])
        return result

    async def _find(self, name: str | None) -> Loaded:
        """The model of a name, or the first; one that is dropped when idle is loaded first if need be."""
        name = self.names[0] if name is None else name
        if name not in self.names:
            names = nearest(name[: LIMITS.lemma_characters], self.names, f"the models are {', '.join(self.names)}")
            raise RequestError("no_such_model", f"there is no model with this name; {names}", "model", status=404)
        try:
            if name in self.loaded:
                return self.loaded[name]
            return await self._alone(partial(self._load, name))
        finally:  # also if the client has disconnected: the model may still be loaded then
            if name in self.files:
                if timer := self._timers.get(name):
                    timer.cancel()
                self._timers[name] = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.loaded.pop, name, None)

    def _load(self, name: str) -> Loaded:
        """A model, after its file was read if it is not loaded or has changed; a file that cannot be used is not."""
        loaded = self.loaded.get(name)
        if loaded and not loaded.changed():
            return loaded
        source = loaded and loaded.inflector.source
        try:
            self.loaded[name] = Loaded(name, load(source.path if source else self.files[name]))
        except InputError as error:
            outcome = "; the model stays as it was loaded" if loaded else ""
            log.warning("note: %s; the model %s cannot be used%s", error, printable(name), outcome)
            message = f"the file of this model cannot be used now ({error.found}){outcome}"
            raise RequestError("cannot_answer", message, "model") from None
        return self.loaded[name]


POSTS = {name: body_of(getattr(Api, name)) for name in "inflect nbest paradigm trace batch rules lemmas reload".split()}
"""The requests of the addresses `/api/…`, which the methods of these names answer."""


async def while_connected(request: Request, answer: Coroutine[Any, Any, Result]) -> Result:
    """An answer, given up when the client disconnects."""

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    answering, watching = asyncio.create_task(answer), asyncio.create_task(disconnected())
    try:
        await asyncio.wait({answering, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise ClientDisconnect
        return answering.result()
    finally:
        answering.cancel()
        watching.cancel()
