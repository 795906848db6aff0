"""The known data sets, and how pooch brings their files from the web to a cache and to the user's folder.

Nothing is downloaded twice, and files are complete or absent, never partial.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from reinflect.data.layouts import part_of
from reinflect.errors import FetchError, InputError, OutputError, ReinflectError, cannot_write, nearest, quoted
from reinflect.files import CACHE_VARIABLE, cache_folder, check_writable, make_folder, read_bytes, write_bytes

URL_VARIABLE = "REINFLECT_DATA_URL"
EVERY_LANGUAGE = "all"
RETRIES = 2
TIMEOUT_SECONDS = 30

Way = Literal["downloaded", "cached", "kept"]
"""How a file came to its place: from the web, from the cache, or it was there before."""


@dataclass(frozen=True, slots=True)
class DataFile:
    path: str
    """Below the address of its data set, such as `surprise/german-dev`."""
    size: int
    sha256: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def language(self) -> str:
        return part_of(self.name)[0]

    def matches(self, path: Path) -> bool:
        try:
            same_size = path.is_file() and path.stat().st_size == self.size
        except OSError:  # in a folder that may not be opened
            return False
        return same_size and hashlib.sha256(read_bytes(path)).hexdigest() == self.sha256


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set. One without a `base_url` comes with the package, or is only described."""

    name: str
    title: str
    description: str
    licence: str
    source: str
    citation: str = ""
    base_url: str = ""
    files: tuple[DataFile, ...] = ()
    described: bool = False

    @property
    def bundled(self) -> bool:
        return not self.base_url and not self.described

    @property
    def languages(self) -> list[str]:
        return list(dict.fromkeys(file.language for file in self.files))

    def files_of(self, languages: str = EVERY_LANGUAGE) -> tuple[DataFile, ...]:
        """The files of some languages, with commas between them, or of `all`."""
        wanted = [name.strip().lower() for name in languages.split(",") if name.strip()]
        if not wanted:
            raise InputError(f"found no language in {quoted(languages)}", f"name some, or {EVERY_LANGUAGE}")
        for name in wanted:
            if name not in (EVERY_LANGUAGE, *self.languages):
                remedy = nearest(name, self.languages, f"`reinflect data show {self.name}` lists them")
                raise InputError(f"there is no language {quoted(name)}", remedy)
        return tuple(file for file in self.files if file.language in wanted or EVERY_LANGUAGE in wanted)


class Fetched(NamedTuple):
    """The folder of a data set's files, and how each came there."""

    folder: Path
    files: tuple[DataFile, ...]
    ways: tuple[Way, ...]


@cache
def catalog() -> dict[str, DataSet]:
    """Every data set by its name; a table has the files of each that can be fetched."""
    import tomllib

    folder, data_sets = resources.files("reinflect.data"), {}
    for name, about in tomllib.loads((folder / "catalog.toml").read_text("utf-8")).items():
        lines = (folder / f"{name}.tsv").read_text("utf-8").splitlines()[1:] if "base_url" in about else ()
        files = (DataFile(path, int(size), digest) for path, size, digest in (line.split("\t") for line in lines))
        data_sets[name] = DataSet(name, **about, files=tuple(files))
    return data_sets


def find(name: str) -> DataSet:
    data_sets = catalog()
    if name not in data_sets:
        remedy = nearest(name, data_sets, f"the known data sets are {', '.join(data_sets)}")
        raise InputError(f"there is no data set {quoted(name)}", remedy)
    return data_sets[name]


def fetch(
    data_set: DataSet,
    languages: str = EVERY_LANGUAGE,
    into: Path | None = None,
    *,
    force: bool = False,
    arrived: Callable[[DataFile, Way], None] = lambda _file, _way: None,
) -> Fetched:
    """Bring a data set's files into a folder (by default the cache), downloading only those that are missing.

    Another file of the same name may be the user's own work: without `force` nothing at all is fetched.
    """
    import pooch
    import requests

    if data_set.described:
        remedy = f"get them from {data_set.source} into a folder: every command that needs data takes it"
        raise InputError(f"the files of {data_set.name} are not known here", remedy)
    if data_set.bundled:
        raise InputError(f"{data_set.name} comes with reinflect", f"see `reinflect data show {data_set.name}`")
    files = data_set.files_of(languages)
    address = os.environ.get(URL_VARIABLE, "").strip() or data_set.base_url
    if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).netloc:
        remedy = "give an address that starts with https:// or http://"
        raise InputError(f"{URL_VARIABLE} is {quoted(address, 80)}", remedy)
    cached = cache_folder() / data_set.name
    folder = into or cached
    absent = [file for file in files if not file.matches(folder / file.name)]
    if into and absent:
        make_folder(into)
        others = [folder / file.name for file in absent if (folder / file.name).exists()]
        if others and not force:
            more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
            problem = f"this file exists already and differs from the data set's{more}"
            raise OutputError(others[0], problem, "give --force to replace it, or choose another folder")
        check_writable(into / absent[0].name)
    pooch.get_logger().setLevel("ERROR")
    urls = {file.name: f"{address.rstrip('/')}/{file.path}" for file in files}
    registry = {file.name: file.sha256 for file in files}
    store = pooch.create(cached, "", registry=registry, urls=urls, retry_if_failed=RETRIES)
    ways: list[Way] = []

    def download(url: str, part: str, _store: object) -> None:
        response = session.get(url, timeout=TIMEOUT_SECONDS)
        response.raise_for_status()
        Path(part).unlink()  # which pooch made for this user only; labs share caches
        Path(part).write_bytes(response.content)

    with requests.Session() as session:
        for file in files:
            way: Way = "kept" if file not in absent else "cached" if file.matches(cached / file.name) else "downloaded"
            if way == "downloaded":
                try:
                    store.fetch(file.name, downloader=download)
                except (OSError, ValueError) as error:
                    raise _failure(error, urls[file.name], cached / file.name) from None
            if into and way != "kept":
                write_bytes(into / file.name, read_bytes(cached / file.name))
            ways.append(way)
            arrived(file, way)
    return Fetched(folder, files, tuple(ways))


def _failure(error: Exception, url: str, path: Path) -> ReinflectError:
    import requests
    from requests.exceptions import ChunkedEncodingError, ContentDecodingError

    again = "run the same command again (what has arrived is kept)"
    by_hand = "copy the files into a folder by hand: every command that needs data accepts a plain folder"
    match error:
        case requests.HTTPError(response=requests.Response(status_code=status, reason=reason)):
            problem = f"the server answered {status} ({reason}); check the address ({URL_VARIABLE} names another one)"
        case requests.Timeout():
            problem = f"no answer in {TIMEOUT_SECONDS} seconds; {again}, or {by_hand}"
        case ChunkedEncodingError() | ContentDecodingError():
            problem = f"the connection broke before the file was complete; {again}"
        case requests.RequestException():
            problem = f"cannot reach {urlsplit(url).netloc}; check the network and {again}, or {by_hand}"
        case OSError():
            return cannot_write(path, error, f"check the disk or name another place in the variable {CACHE_VARIABLE}")
        case _:
            discarded = "the file has the wrong checksum and was discarded"
            problem = f"{discarded}; {again}, or name another source in {URL_VARIABLE}"
    return FetchError(f"{url}: {problem}")
