"""The catalog lists the right files; fetching, here from a local server, gives complete files or one clear error."""

import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from reinflect.data import catalog
from reinflect.data.catalog import DataFile, DataSet, fetch
from reinflect.data.layouts import SIZES, part_of
from reinflect.errors import FetchError, InputError, OutputError, ReinflectError
from reinflect.files import CACHE_VARIABLE

Fault = int | str
TEXTS = {
    f"{language}-{split}": f"{language}\t{language}{split}\tN;SG\n".encode() * 50
    for language in ("finnish", "german", "lower-sorbian")
    for split in ("train-low", "dev")
}


@dataclass
class Mirror:
    """A web server. Before a file is served, its `faults` happen: an HTTP status, `cut` or `silence`."""

    url: str
    files: dict[str, bytes]
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    connections: set[tuple[str, int]] = field(default_factory=set)
    over: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[Mirror]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            name = self.path.removeprefix("/data/")
            mirror.asked.append(name)
            mirror.connections.add(self.client_address)
            faults = mirror.faults.get(name)
            fault = faults.pop(0) if faults else None
            if fault == "silence":
                mirror.over.wait()
            elif isinstance(fault, int):
                self.send_error(fault)
            else:
                body = mirror.files[name]
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if fault == "cut" else body)
            self.close_connection = isinstance(fault, str)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    mirror: Mirror = Mirror(f"http://127.0.0.1:{server.server_port}/data", files)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield mirror
    finally:
        mirror.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def data_set_of(texts: dict[str, bytes], base_url: str, name: str = "toy") -> DataSet:
    files = tuple(DataFile(file, len(text), hashlib.sha256(text).hexdigest()) for file, text in texts.items())
    return DataSet(name, "Toy", "A toy.", "CC0", "here", base_url=base_url, files=files)


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if not path.is_dir()}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no proxy before the loopback server, and no waiting between attempts."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.delenv(catalog.URL_VARIABLE, raising=False)
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "127.0.0.1")
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    return tmp_path / "cache" / "toy"


@pytest.fixture(name="mirror")
def running_mirror(cache: Path) -> Iterator[Mirror]:  # noqa: ARG001
    with serving(dict(TEXTS)) as mirror:
        yield mirror


@pytest.fixture
def toy(mirror: Mirror) -> DataSet:
    return data_set_of(TEXTS, mirror.url)


@pytest.mark.parametrize("name", ["conll2017", "conll2018", "sigmorphon2023"])
def test_the_list_of_files_is_that_of_the_data(name: str, conll2017: Path, shared_sets: Path) -> None:
    folder = conll2017 if name == "conll2017" else shared_sets / name
    listed = {file.name: file for file in catalog.find(name).files}
    assert sorted(listed) == sorted(path.name for path in folder.iterdir())
    assert all(file.matches(folder / file.name) for file in listed.values())
    assert sum(file.size for file in listed.values()) == sum(path.stat().st_size for path in folder.iterdir())


def test_languages_files_and_their_addresses() -> None:
    data_set = catalog.find("conll2017")
    expected = {(language, split) for language in data_set.languages for split in (*SIZES, "dev", "covered")}
    assert {part_of(file.name) for file in data_set.files} == expected - {("scottish-gaelic", "high")}
    assert (len(data_set.languages), len(data_set.files)) == (52, 259)
    paths = {file.name: file.path for file in catalog.find("conll2018").files}
    assert (paths["turkish-dev"], paths["german-dev"]) == ("all/turkish-dev", "surprise/german-dev")
    assert all(file.path == file.name for file in catalog.find("sigmorphon2023").files)
    assert not any(data_set.files for data_set in catalog.catalog().values() if data_set.described)


@pytest.mark.parametrize(
    ("wanted", "languages"),
    [
        ("german", ["german"]),
        (" German ,lower-sorbian,", ["german", "lower-sorbian"]),
        ("all", ["finnish", "german", "lower-sorbian"]),
        ("german,all", ["finnish", "german", "lower-sorbian"]),
        ("germn,finnish", "no language 'germn'; did you mean german?"),
        ("all,germn", "no language 'germn'; did you mean german?"),
        ("xx", "no language 'xx'; `reinflect data show toy` lists them"),
        (" , ", "found no language in ' , '; name some, or all"),
    ],
)
def test_files_of_some_languages(wanted: str, languages: list[str] | str) -> None:
    toy = data_set_of(TEXTS, "http://nowhere")
    if isinstance(languages, str):
        assert languages in fails(InputError, lambda: toy.files_of(wanted))
    else:
        files = [f"{language}-{split}" for language in languages for split in ("train-low", "dev")]
        assert [file.name for file in toy.files_of(wanted)] == files


def fails(kind: type[ReinflectError], call: Callable[[], object]) -> str:
    """The error's message, which is one line and names no class of the machinery below."""
    with pytest.raises(kind) as raised:
        call()
    message = str(raised.value)
    assert "\n" not in message
    assert not re.search(r"\w(Error|Exception)", message)
    return message


def test_everything_arrives_in_the_cache_over_one_connection(
    toy: DataSet, mirror: Mirror, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arrivals: list[tuple[str, str]] = []
    fetched = fetch(toy, arrived=lambda file, way: arrivals.append((file.name, way)))
    assert fetched.folder == cache
    assert files_below(cache) == TEXTS
    assert arrivals == [(name, "downloaded") for name in TEXTS]
    assert mirror.asked == list(TEXTS)
    assert len(mirror.connections) == 1
    assert capfd.readouterr() == ("", "")
    # Labs share caches; a temporary file's permissions would shut the others out.
    (cache / "plain").touch()
    assert len({stat.S_IMODE((cache / name).stat().st_mode) for name in ("german-dev", "plain")}) == 1


def test_a_second_run_downloads_only_what_is_missing(toy: DataSet, mirror: Mirror, cache: Path) -> None:
    fetch(toy, "german")
    mirror.asked.clear()
    assert fetch(toy, "german").ways == ("kept", "kept")
    assert mirror.asked == []
    assert sorted(files_below(cache)) == ["german-dev", "german-train-low"]
    (cache / "german-dev").write_bytes(b"damage")
    fetch(toy)
    assert sorted(mirror.asked) == sorted(name for name in TEXTS if name != "german-train-low")
    assert files_below(cache) == TEXTS


def test_into_a_folder_by_way_of_the_cache(toy: DataSet, mirror: Mirror, cache: Path, tmp_path: Path) -> None:
    into = tmp_path / "new" / "folder"
    assert set(fetch(toy, into=into).ways) == {"downloaded"}
    assert files_below(into) == TEXTS == files_below(cache)
    mirror.asked.clear()
    (into / "german-dev").unlink()
    assert [way for way in fetch(toy, into=into).ways if way != "kept"] == ["cached"]
    assert files_below(into) == TEXTS
    shutil.rmtree(cache)
    assert set(fetch(toy, into=into).ways) == {"kept"}
    assert not cache.exists()
    assert mirror.asked == []


@pytest.mark.parametrize("content", [b"my own work", b"x" * len(TEXTS["german-dev"])])
def test_another_file_of_that_name_is_replaced_only_by_force(
    toy: DataSet, mirror: Mirror, tmp_path: Path, content: bytes
) -> None:
    into = tmp_path / "mine"
    into.mkdir()
    (into / "german-dev").write_bytes(content)
    (into / "german-train-low").write_bytes(TEXTS["german-train-low"])
    message = fails(OutputError, lambda: fetch(toy, into=into))
    assert "german-dev: this file exists already and differs from the data set's; give --force" in message
    assert (into / "german-dev").read_bytes() == content
    assert mirror.asked == []
    assert len(files_below(into)) == 2
    fetch(toy, into=into, force=True)
    assert files_below(into) == TEXTS


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_mirror_may_be_named(toy: DataSet, mirror: Mirror, monkeypatch: pytest.MonkeyPatch, slash: str) -> None:
    monkeypatch.setenv(catalog.URL_VARIABLE, mirror.url + slash)
    fetch(replace(toy, base_url="http://no"), "german")
    assert mirror.asked == ["german-train-low", "german-dev"]


# What goes wrong

EVERY_TIME = 1 + catalog.RETRIES
NO_ADDRESS = f"{catalog.URL_VARIABLE} is '{{}}'; give an address that starts with"
NO_HOME = "found no home folder for REINFLECT_CACHE = '{}'; write the folder's name in full"


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        *(
            (catalog.URL_VARIABLE, address, NO_ADDRESS)
            for address in ("nonsense", "ftp://a/data", "http://", "/a/folder")
        ),
        (CACHE_VARIABLE, "~no-such-user/cache", NO_HOME),
    ],
)
def test_variables_that_cannot_be_used(
    toy: DataSet, mirror: Mirror, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert fails(InputError, lambda: fetch(toy)).startswith(message.format(value))
    assert mirror.asked == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("conl2017", "no data set 'conl2017'; did you mean conll2017 or conll2018?"),
        ("xyz", "no data set 'xyz'; the known data sets are german-verbs, "),
        ("german-verbs", "german-verbs comes with reinflect; see `reinflect data show german-verbs`"),
        ("sigmorphon2020", "sigmorphon2020 are not known here; get them from github.com/sigmorphon2020/"),
    ],
)
def test_data_without_an_address_and_unknown_data_are_not_fetched(name: str, message: str) -> None:
    assert message in fails(InputError, lambda: fetch(catalog.find(name)))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("checksum", "german-dev: the file has the wrong checksum and was discarded; run the same command again"),
        ("cut", "german-dev: the connection broke before the file was complete; run the same command again"),
        ("silence", "german-dev: no answer in 0.1 seconds; run the same command again"),
        (404, "german-dev: the server answered 404 (Not Found); check the address"),
        (500, "german-dev: the server answered 500 (Internal Server Error); check the address"),
    ],
)
def test_a_download_that_fails_keeps_what_has_arrived(
    toy: DataSet, mirror: Mirror, cache: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault, message: str
) -> None:
    monkeypatch.setattr(catalog, "TIMEOUT_SECONDS", 0.1)
    into = cache.parent.parent / "into"
    if fault == "checksum":
        mirror.files["german-dev"] = TEXTS["german-dev"].replace(b"N", b"V")
    else:
        mirror.faults["german-dev"] = [fault] * EVERY_TIME
    assert message in fails(FetchError, lambda: fetch(toy, "german", into))
    assert mirror.asked == ["german-train-low"] + ["german-dev"] * EVERY_TIME
    assert files_below(cache) == files_below(into) == {"german-train-low": TEXTS["german-train-low"]}
    mirror.files["german-dev"] = TEXTS["german-dev"]
    fetch(toy, "german", into)
    assert mirror.asked.count("german-train-low") == 1


def test_a_server_that_is_down(cache: Path) -> None:
    with serving({}) as gone:
        pass
    message = fails(FetchError, lambda: fetch(data_set_of(TEXTS, gone.url)))
    for words in ("cannot reach 127.0.0.1", "check the network", "copy the files into a folder by hand"):
        assert words in message
    assert files_below(cache) == {}


@pytest.mark.parametrize(
    ("into", "message"),
    [
        ("taken", "taken: could not be written (File exists)"),
        ("taken/deeper/still", "still: could not be written (Not a directory)"),
        ("x" * 300, "could not be written (File name too long)"),
        ("locked", "no permission to write here"),
    ],
)
def test_a_folder_that_cannot_be_made_or_written(
    toy: DataSet, mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: str, message: str
) -> None:
    (tmp_path / "taken").write_text("mine")
    monkeypatch.setattr("os.access", lambda *_: False)  # permissions do not stop the superuser
    assert message in fails(OutputError, lambda: fetch(toy, into=tmp_path / into))
    assert mirror.asked == []


@pytest.mark.parametrize("below", ["", "german-dev"])
def test_a_cache_that_cannot_be_written(toy: DataSet, mirror: Mirror, cache: Path, below: str) -> None:
    if below:
        (cache / below).mkdir(parents=True)
    else:
        cache.parent.write_text("mine")
    message = fails(OutputError, lambda: fetch(toy, "german"))
    assert f"{cache}{os.sep}german-" in message
    assert "could not be written" in message
    assert message.endswith("check the disk or name another place in the variable REINFLECT_CACHE")
    assert mirror.asked == ["german-train-low"][: bool(below)]


def test_two_fetches_at_a_time_and_one_that_is_killed(cache: Path, tmp_path: Path) -> None:
    call = "fetch(data_set_of(TEXTS, sys.argv[1]), into=Path(sys.argv[2]))"
    code = f"import sys; from tests.data.test_catalog import *; {call}"
    with serving(TEXTS) as mirror:
        mirror.faults["german-dev"] = ["silence"]
        first = subprocess.Popen([sys.executable, "-c", code, mirror.url, tmp_path / "first"])
        while "german-dev" not in mirror.asked:
            assert first.poll() is None
        fetched = fetch(data_set_of(TEXTS, mirror.url), into=tmp_path / "second")
        first.kill()
        first.wait()
        again = fetch(data_set_of(TEXTS, mirror.url), into=tmp_path / "first")
    assert set(fetched.ways) == {"cached", "downloaded"}
    assert set(again.ways) == {"kept", "cached"}
    assert files_below(tmp_path / "first") == files_below(tmp_path / "second") == TEXTS
    assert TEXTS.items() <= files_below(cache).items()
