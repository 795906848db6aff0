"""The known data sets, and how their files get from the web to the user's folder.

A data set is plain data: its files with their sizes and checksums, and their address on the web. Files pass through a
cache, so that nothing is downloaded twice, and are complete or absent, never partial.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from reinflect.data.layouts import part_of
from reinflect.errors import FetchError, InputError, OutputError, quoted
from reinflect.files import cannot_write, make_folder, read_bytes, write_bytes
from reinflect.locks import TakenError, take_in
from reinflect.text import nearest

if TYPE_CHECKING:
    import requests

URL_VARIABLE = "REINFLECT_DATA_URL"
CACHE_VARIABLE = "REINFLECT_CACHE"
DISK_REMEDY = f"check the disk or name another place in the variable {CACHE_VARIABLE}"
EVERY_LANGUAGE = "all"
RETRIES = 2
TIMEOUT_SECONDS = 30
ARRIVING = ".arriving"
"""The file that is being written; only the process that holds the lock writes it."""

Way = Literal["downloaded", "cached", "kept"]
"""How a file got to its place: from the web, from the cache, or it was there before."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a data set, and what identifies its content."""

    name: str
    size: int
    sha256: str
    folder: str = ""
    """Where it is below the address of its data set, such as `surprise/`."""

    @property
    def language(self) -> str:
        return part_of(self.name)[0]

    def matches(self, path: Path) -> bool:
        """Whether the file at `path` is this one, byte for byte."""
        try:
            same_size = path.is_file() and path.stat().st_size == self.size
        except OSError:  # in a folder that may not be opened
            return False
        return same_size and hashlib.sha256(read_bytes(path)).hexdigest() == self.sha256


@dataclass(frozen=True, slots=True)
class DataSet:
    """A known data set. One without a `base_url` comes with the package, or is only described."""

    name: str
    title: str
    description: str
    licence: str
    source: str
    citation: str = ""
    base_url: str = ""
    files: tuple[DataFile, ...] = ()
    described: bool = False
    """Whether its files are not known here."""

    @property
    def bundled(self) -> bool:
        return not self.base_url and not self.described

    @property
    def languages(self) -> list[str]:
        return list(dict.fromkeys(file.language for file in self.files))

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def files_of(self, languages: str = EVERY_LANGUAGE) -> tuple[DataFile, ...]:
        """The files of some languages, given with commas between them, or of `all`."""
        wanted = [name.strip().lower() for name in languages.split(",") if name.strip()]
        if not wanted:
            raise InputError(f"found no language in {quoted(languages)}", f"name some, or {EVERY_LANGUAGE}")
        for name in wanted:
            if name not in (EVERY_LANGUAGE, *self.languages):
                raise unknown_name("language", name, self.languages, f"`reinflect data show {self.name}` lists them")
        if EVERY_LANGUAGE in wanted:
            return self.files
        return tuple(file for file in self.files if file.language in wanted)


@dataclass(frozen=True, slots=True)
class Fetched:
    """Where the files of a data set are now, and how each got there."""

    folder: Path
    files: tuple[DataFile, ...]
    ways: tuple[Way, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def unknown_name(kind: str, name: str, known: Sequence[str], otherwise: str) -> InputError:
    """The error for an unknown name, with the most similar known names."""
    return InputError(f"there is no {kind} {quoted(name)}", nearest(name, known, otherwise))


@cache
def catalog() -> dict[str, DataSet]:
    """Every known data set by its name."""
    import tomllib

    described = tomllib.loads((resources.files("reinflect.data") / "catalog.toml").read_text("utf-8"))
    return {
        name: DataSet(name, **about, files=_listed(name) if "base_url" in about else ())
        for name, about in described.items()
    }


def _listed(name: str) -> tuple[DataFile, ...]:
    """The files of a data set, from the table of their sizes and checksums."""
    _, *lines = (resources.files("reinflect.data") / f"{name}.tsv").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    parts = ((*path.rpartition("/"), size, sha256) for path, size, sha256 in rows)
    return tuple(DataFile(file, int(size), sha256, folder + slash) for folder, slash, file, size, sha256 in parts)


def find(name: str) -> DataSet:
    known = catalog()
    if name not in known:
        raise unknown_name("data set", name, list(known), f"the known data sets are {', '.join(known)}")
    return known[name]


def cache_folder() -> Path:
    """The folder of downloads: the system's cache folder, or the one that the user names."""
    from platformdirs import user_cache_path

    named = os.environ.get(CACHE_VARIABLE)
    try:
        return Path(named).expanduser() if named else user_cache_path("reinflect")
    except RuntimeError:  # which pathlib raises for a ~ without a home
        found = f"found no home folder for {CACHE_VARIABLE} = {quoted(named or '', 80)}"
        raise InputError(found, "write the folder's name in full") from None


def fetch(
    data_set: DataSet,
    languages: str = EVERY_LANGUAGE,
    into: Path | None = None,
    *,
    force: bool = False,
    arrived: Callable[[DataFile, Way], None] = lambda _file, _way: None,
) -> Fetched:
    """Bring a data set's files into a folder (by default the cache), downloading only what is missing.

    A correct file in the folder is kept. Another file of the same name may be the user's own work: it is replaced only
    with `force`, and without it nothing at all is fetched. `arrived` is called for each file.
    """
    import requests

    if data_set.described:
        remedy = f"get them from {data_set.source} into a folder: every command that needs data takes it"
        raise InputError(f"the files of {data_set.name} are not known here", remedy)
    if data_set.bundled:
        raise InputError(f"{data_set.name} comes with reinflect", f"see `reinflect data show {data_set.name}`")
    files = data_set.files_of(languages)
    url = os.environ.get(URL_VARIABLE, "").strip() or data_set.base_url
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise InputError(f"{URL_VARIABLE} is {quoted(url, 80)}", "give an address that starts with https:// or http://")
    cached = cache_folder() / data_set.name
    folder = cached if into is None else into
    present = {file.name for file in files if file.matches(folder / file.name)}
    absent = [file for file in files if file.name not in present]
    if absent:
        _check_folder(folder, CACHE_VARIABLE if into is None else "")
        others = [folder / file.name for file in absent if (folder / file.name).exists()]
        if others and into is not None and not force:
            more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
            found = f"this file exists already and differs from the data set's{more}"
            raise OutputError(others[0], found, "give --force to replace it, or choose another folder")
    ways: list[Way] = []
    downloads = any(not file.matches(cached / file.name) for file in absent)
    with requests.Session() as session, _locked(cached) if downloads else nullcontext():
        for file in files:
            way: Way = "kept" if file.name in present else "cached"
            if way == "cached" and not file.matches(cached / file.name):
                way = "downloaded"
                _download(file, url.rstrip("/") + "/", cached, session)
            if way != "kept" and folder != cached:
                write_bytes(make_folder(folder) / file.name, read_bytes(cached / file.name))
            ways.append(way)
            arrived(file, way)
    return Fetched(folder, files, tuple(ways))


def _check_folder(folder: Path, variable: str) -> None:
    """Raise now what making `folder` and writing in it would raise after the download."""
    remedy = f"name another place in the variable {variable}" if variable else "choose another place"
    place = folder
    try:
        while not place.exists() and place != place.parent:
            place = place.parent
        if not place.is_dir():
            raise OutputError(folder, f"{place} is not a folder", remedy)
    except OSError as error:
        raise OutputError(folder, f"cannot be used ({error.strerror})", remedy) from None
    if not os.access(place, os.W_OK | os.X_OK):
        raise OutputError(folder, f"no permission to write to {place}", f"check its permissions or {remedy}")


@contextmanager
def _locked(cached: Path) -> Iterator[None]:
    """Lock the cache for this process while files arrive; none is left unfinished, not by a killed process either."""
    _check_folder(cached, CACHE_VARIABLE)
    try:
        lock = take_in(cached, ".lock", parents=True)
    except TakenError as taken:
        found, remedy = f"{taken} is fetching this data set", "wait for it, then run the same command again"
        raise OutputError(cached, found, remedy) from None
    except OSError as error:
        raise cannot_write(cached, error, DISK_REMEDY) from None
    try:
        yield
    finally:
        with suppress(OSError):
            (cached / ARRIVING).unlink(missing_ok=True)
            (cached / ".lock").unlink(missing_ok=True)
        os.close(lock)


def _download(file: DataFile, base_url: str, cached: Path, session: "requests.Session") -> None:
    """Bring one file into the cache, which is locked; a file that arrives broken is asked for again."""
    import requests

    url = f"{base_url}{file.folder}{file.name}"
    again = "run the same command again (what has arrived is kept)"
    by_hand = "copy the files into a folder by hand: every command that needs data accepts a plain folder"
    problem = ""
    for attempt in range(1 + RETRIES):
        time.sleep(attempt)
        try:
            response = session.get(url, timeout=TIMEOUT_SECONDS)
        except requests.Timeout:
            problem = f"no answer in {TIMEOUT_SECONDS} seconds; {again}, or {by_hand}"
        except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError):
            problem = f"the connection broke before the file was complete; {again}"
        except requests.ConnectionError:
            problem = f"cannot reach {urlsplit(url).netloc}; check the network and {again}, or {by_hand}"
        except requests.RequestException as error:
            problem = f"could not be downloaded ({type(error).__name__}); {again}, or {by_hand}"
        else:
            reason = f" ({response.reason})" if response.reason else ""
            answer = f"the server answered {response.status_code}{reason}"
            if 400 <= response.status_code < 500:  # asking again does not help
                remedy = f"check the address {base_url} ({URL_VARIABLE} names another one)"
                raise FetchError(f"{url}: {answer}; {remedy}")
            if response.ok and hashlib.sha256(response.content).hexdigest() == file.sha256:
                _keep(response.content, cached / file.name)
                return
            wrong = f"the file has the wrong checksum (expected SHA-256 {file.sha256[:12]}…) and was discarded"
            other = f"{wrong}; {again}, or name another source in {URL_VARIABLE}"
            problem = other if response.ok else f"{answer}; later, {again}"
    raise FetchError(f"{url}: {problem}")


def _keep(content: bytes, path: Path) -> None:
    """Write a file of the cache, whole or not at all."""
    try:
        path.with_name(ARRIVING).write_bytes(content)
        path.with_name(ARRIVING).replace(path)
    except OSError as error:
        raise cannot_write(path, error, DISK_REMEDY) from None
