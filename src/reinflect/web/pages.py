"""The files of the page. They are read once: what is asked for is looked up in a table, never in a folder."""

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

STATIC = Path(__file__).parent / "static"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class Pages:
    """The page itself, and what it is made of."""

    def __init__(self) -> None:
        self._files = {path.name: (path.read_bytes(), TYPES[path.suffix]) for path in STATIC.iterdir()}

    async def first(self, _request: Request) -> Response:
        return self._file("index.html")

    async def part(self, request: Request) -> Response:
        return self._file(request.path_params["name"])

    def _file(self, name: str) -> Response:
        if name not in self._files:
            raise HTTPException(404)
        content, kind = self._files[name]
        return Response(content, media_type=kind)
