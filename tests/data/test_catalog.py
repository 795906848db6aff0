"""The catalog lists the right files; fetching, here from a local server, gives complete files or one clear error."""

import hashlib
import os
import re
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.data import catalog
from reinflect.data.catalog import DataFile, DataSet, fetch
from reinflect.data.layouts import ENDINGS, SIZES, part_of
from reinflect.errors import FetchError, InputError, OutputError, ReinflectError

Fault = int | Literal["cut", "silence"]
TEXTS = {
    f"{language}-{split}": f"{language}\t{language}{split}\tN;SG\n".encode() * 50
    for language in ("finnish", "german", "lower-sorbian")
    for split in ("train-low", "dev")
}


@dataclass
class Mirror:
    """A web server with some files. `faults` says which go wrong: an HTTP status, `cut` in the middle, or `silence`.

    A fault happens as often as it is listed; then the file is served.
    """

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
                self.close_connection = True
                return
            if isinstance(fault, int) or name not in mirror.files:
                self.send_error(fault if isinstance(fault, int) else 404)
                return
            body = mirror.files[name]
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if fault == "cut" else body)
            self.close_connection = fault == "cut"

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
    return DataSet(
        name, title="Toy", description="A toy.", licence="CC0", source="here", base_url=base_url, files=files
    )


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if not path.is_dir()}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of our own, no proxy between us and the loopback server, and no waiting between attempts."""
    monkeypatch.setenv(catalog.CACHE_VARIABLE, str(tmp_path / "cache"))
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


# The list of files we ship


def test_the_list_of_files_is_that_of_the_data(conll2017: Path) -> None:
    listed = {file.name: file for file in catalog.find("conll2017").files}
    assert sorted(listed) == sorted(path.name for path in conll2017.iterdir())
    for name, file in listed.items():
        content = (conll2017 / name).read_bytes()
        assert (file.size, file.sha256) == (len(content), hashlib.sha256(content).hexdigest()), name


@pytest.mark.parametrize("name", ["conll2018", "sigmorphon2023"])
def test_the_lists_of_other_years_are_those_of_their_files(name: str, shared_sets: Path) -> None:
    listed = {file.name: file for file in catalog.find(name).files}
    assert sorted(listed) == sorted(path.name for path in (shared_sets / name).iterdir())
    assert all(file.matches(shared_sets / name / file.name) for file in listed.values())


def test_files_in_folders_of_their_own_have_addresses_of_their_own() -> None:
    folders = {file.name: file.path.removesuffix(file.name) for file in catalog.find("conll2018").files}
    assert (folders["turkish-dev"], folders["german-dev"]) == ("all/", "surprise/")
    assert {file.path.removesuffix(file.name) for file in catalog.find("sigmorphon2023").files} == {""}
    assert not any(one.files for one in catalog.catalog().values() if one.described)


def test_conll2017_has_every_language_with_every_split_but_one() -> None:
    data_set = catalog.find("conll2017")
    assert len(data_set.languages) == 52
    expected = {(language, split) for language in data_set.languages for split in (*SIZES, "dev", "covered")}
    assert {part_of(file.name) for file in data_set.files} == expected - {("scottish-gaelic", "high")}
    assert len(data_set.files) == 259


@given(st.text("ab-_. é", min_size=1), st.sampled_from(sorted(ENDINGS)))
def test_a_file_name_is_its_language_and_part(language: str, ending: str) -> None:
    file = DataFile(f"{language}{ending}", 0, "")
    assert (file.language, part_of(file.name)[1]) == (language, ENDINGS[ending])


def test_an_unknown_data_set_gets_the_nearest_names() -> None:
    with pytest.raises(InputError, match=r"no data set 'conl2017'; did you mean conll2017 or conll2018\?"):
        catalog.find("conl2017")
    with pytest.raises(InputError, match=r"no data set 'xyz'; the known data sets are german-verbs, "):
        catalog.find("xyz")


# Choosing languages


@pytest.mark.parametrize(
    ("asked", "languages"),
    [
        ("german", {"german"}),
        (" German ,lower-sorbian,", {"german", "lower-sorbian"}),
        ("all", {"finnish", "german", "lower-sorbian"}),
        ("german,all", {"finnish", "german", "lower-sorbian"}),
    ],
)
def test_files_of_some_languages(asked: str, languages: set[str]) -> None:
    chosen = data_set_of(TEXTS, "http://nowhere").files_of(asked)
    assert {file.name for file in chosen} == {
        f"{language}-{split}" for language in languages for split in ("train-low", "dev")
    }


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("germn,finnish", "no language 'germn'; did you mean german?"),
        ("all,germn", "no language 'germn'; did you mean german?"),
        ("xx", "no language 'xx'; `reinflect data show toy` lists them"),
        (" , ", "found no language in ' , '; name some, or all"),
    ],
)
def test_unknown_languages(asked: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        data_set_of(TEXTS, "http://nowhere").files_of(asked)
    assert message in str(raised.value)


# Fetching


def test_everything_arrives_in_the_cache_over_one_connection(toy: DataSet, mirror: Mirror, cache: Path) -> None:
    seen: list[tuple[str, str]] = []
    fetched = fetch(toy, arrived=lambda file, way: seen.append((file.name, way)))
    assert fetched.folder == cache
    assert files_below(cache) == TEXTS
    assert seen == [(name, "downloaded") for name in TEXTS]
    assert mirror.asked == list(TEXTS)
    assert len(mirror.connections) == 1


def test_a_second_run_asks_for_nothing(toy: DataSet, mirror: Mirror, cache: Path) -> None:
    fetch(toy, "german")
    mirror.asked.clear()
    assert fetch(toy, "german").ways == ("kept", "kept")
    assert mirror.asked == []
    assert sorted(files_below(cache)) == ["german-dev", "german-train-low"]
    fetch(toy)
    assert sorted(mirror.asked) == sorted(name for name in TEXTS if not name.startswith("german"))


def test_into_a_folder_by_way_of_the_cache(toy: DataSet, mirror: Mirror, cache: Path, tmp_path: Path) -> None:
    into = tmp_path / "new" / "folder"
    assert set(fetch(toy, into=into).ways) == {"downloaded"}
    assert files_below(into) == TEXTS == files_below(cache)
    mirror.asked.clear()
    assert set(fetch(toy, into=into).ways) == {"kept"}
    (into / "german-dev").unlink()
    assert [way for way in fetch(toy, into=into).ways if way != "kept"] == ["cached"]
    assert files_below(into) == TEXTS
    assert mirror.asked == []


def test_a_good_folder_needs_neither_cache_nor_network(toy: DataSet, mirror: Mirror, cache: Path) -> None:
    for name, text in TEXTS.items():
        (cache.parent.parent / name).write_bytes(text)
    assert set(fetch(toy, into=cache.parent.parent).ways) == {"kept"}
    assert not cache.parent.exists()
    assert mirror.asked == []


def test_another_file_of_that_name_is_replaced_only_by_force(toy: DataSet, mirror: Mirror, tmp_path: Path) -> None:
    into = tmp_path / "mine"
    into.mkdir()
    (into / "german-dev").write_bytes(b"my own work")
    (into / "german-train-low").write_bytes(TEXTS["german-train-low"])
    with pytest.raises(
        OutputError, match="german-dev: this file exists already and differs from the data set's; give --f"
    ):
        fetch(toy, into=into)
    assert (into / "german-dev").read_bytes() == b"my own work"
    assert mirror.asked == []
    assert len(files_below(into)) == 2
    fetch(toy, into=into, force=True)
    assert files_below(into) == TEXTS


def test_a_file_of_the_same_size_is_still_compared(toy: DataSet, tmp_path: Path) -> None:
    (tmp_path / "german-dev").write_bytes(b"x" * len(TEXTS["german-dev"]))
    with pytest.raises(OutputError, match="differs from the data set's"):
        fetch(toy, into=tmp_path)


def test_a_damaged_file_in_the_cache_is_downloaded_again(toy: DataSet, mirror: Mirror, cache: Path) -> None:
    fetch(toy)
    (cache / "german-dev").write_bytes(b"damage")
    mirror.asked.clear()
    fetch(toy)
    assert mirror.asked == ["german-dev"]
    assert files_below(cache) == TEXTS


def test_a_mirror_may_be_named(toy: DataSet, mirror: Mirror, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = DataSet(**{name: getattr(toy, name) for name in toy.__dataclass_fields__} | {"base_url": "http://no"})
    for address in (mirror.url, mirror.url + "/"):
        monkeypatch.setenv(catalog.URL_VARIABLE, address)
        fetch(elsewhere, "german")
        assert mirror.asked == ["german-train-low", "german-dev"]
        mirror.asked.clear()
        for name in files_below(cache):
            (cache / name).unlink()


@pytest.mark.parametrize("address", ["nonsense", "ftp://somewhere/data", "http://", "/a/folder"])
def test_a_mirror_that_is_not_a_web_address(address: str, toy: DataSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalog.URL_VARIABLE, address)
    with pytest.raises(InputError, match=f"{catalog.URL_VARIABLE} is '{address}'; give an address that starts with"):
        fetch(toy)


def test_a_cached_file_is_as_readable_as_any_other(toy: DataSet, cache: Path, tmp_path: Path) -> None:
    """Labs share caches; a temporary file's permissions would shut the others out."""
    fetch(toy, "german")
    (tmp_path / "plain").touch()
    assert stat.S_IMODE((cache / "german-dev").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_bundled_data_is_not_fetched(cache: Path) -> None:  # noqa: ARG001
    with pytest.raises(InputError, match="german-verbs comes with reinflect; see `reinflect data show german-verbs`"):
        fetch(catalog.find("german-verbs"))
    with pytest.raises(
        InputError, match=r"sigmorphon2020 are not known here; get them from github.com/sigmorphon2020/"
    ):
        fetch(catalog.find("sigmorphon2020"))


# What goes wrong


def fails(kind: type[ReinflectError], call: Callable[[], object]) -> str:
    """The error's message, which is one line and names no class of the machinery below."""
    with pytest.raises(kind) as raised:
        call()
    message = str(raised.value)
    assert "\n" not in message
    assert not re.search(r"\w(Error|Exception)", message)
    return message


def test_a_wrong_checksum(toy: DataSet, mirror: Mirror, cache: Path, tmp_path: Path) -> None:
    mirror.files["german-dev"] = TEXTS["german-dev"].replace(b"N", b"V")
    message = fails(FetchError, lambda: fetch(toy, "german", tmp_path / "into"))
    assert "german-dev: the file has the wrong checksum" in message
    assert mirror.asked == ["german-train-low"] + ["german-dev"] * (1 + catalog.RETRIES)
    assert files_below(cache) == files_below(tmp_path / "into") == {"german-train-low": TEXTS["german-train-low"]}


def test_a_cut_connection(toy: DataSet, mirror: Mirror, cache: Path) -> None:
    mirror.faults["german-dev"] = ["cut"] * (1 + catalog.RETRIES)
    message = fails(FetchError, lambda: fetch(toy, "german"))
    assert "german-dev: the connection broke before the file was complete; run the same command again" in message
    assert files_below(cache) == {"german-train-low": TEXTS["german-train-low"]}
    fetch(toy, "german")
    assert mirror.asked.count("german-train-low") == 1


def test_a_server_without_the_file(toy: DataSet, mirror: Mirror, cache: Path) -> None:
    del mirror.files["german-train-low"]
    message = fails(FetchError, lambda: fetch(toy, "german"))
    assert "german-train-low: the server answered 404 (Not Found); check the address" in message
    assert mirror.asked == ["german-train-low"]
    assert files_below(cache) == {}


def test_a_server_in_trouble(toy: DataSet, mirror: Mirror, cache: Path) -> None:
    mirror.faults["german-train-low"] = [500] * (1 + catalog.RETRIES)
    message = fails(FetchError, lambda: fetch(toy, "german"))
    assert "german-train-low: the server answered 500 (Internal Server Error); later, run the same" in message
    assert files_below(cache) == {}


def test_passing_trouble_is_overcome(toy: DataSet, mirror: Mirror, cache: Path) -> None:
    mirror.faults["german-train-low"] = [503, "cut"]
    fetch(toy, "german")
    assert mirror.asked == ["german-train-low"] * 3 + ["german-dev"]
    assert files_below(cache)["german-train-low"] == TEXTS["german-train-low"]


def test_a_server_that_is_down(cache: Path) -> None:
    with serving({}) as gone:
        pass
    message = fails(FetchError, lambda: fetch(data_set_of(TEXTS, gone.url)))
    assert "cannot reach 127.0.0.1" in message
    assert "check the network" in message
    assert "copy the files into a folder by hand" in message
    assert files_below(cache) == {}


def test_an_answer_that_never_comes(toy: DataSet, mirror: Mirror, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "TIMEOUT_SECONDS", 0.05)
    mirror.faults["german-train-low"] = ["silence"] * (1 + catalog.RETRIES)
    assert "german-train-low: no answer in 0.05 seconds" in fails(FetchError, lambda: fetch(toy, "german"))
    assert files_below(cache) == {}


def test_an_interrupted_download_leaves_nothing(toy: DataSet, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def some(_response: object, _size: int) -> Iterator[bytes]:
        yield b"a part"
        raise KeyboardInterrupt

    monkeypatch.setattr("requests.Response.iter_content", some)
    with pytest.raises(KeyboardInterrupt):
        fetch(toy)
    assert files_below(cache) == {}


@pytest.mark.parametrize("below", [".", "deeper/still"])
def test_into_a_file(toy: DataSet, mirror: Mirror, tmp_path: Path, below: str) -> None:
    (tmp_path / "taken").write_text("mine")
    message = fails(OutputError, lambda: fetch(toy, into=tmp_path / "taken" / below))
    assert f"{tmp_path / 'taken'} is not a folder; choose another place" in message
    assert mirror.asked == []


def test_into_a_name_too_long(toy: DataSet, mirror: Mirror, tmp_path: Path) -> None:
    message = fails(OutputError, lambda: fetch(toy, into=tmp_path / ("x" * 300)))
    assert "cannot be used (File name too long); choose another place" in message
    assert mirror.asked == []


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that may not be written; for the superuser, whom permissions do not stop, the system's answer is set."""
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    if os.access(folder, os.W_OK):
        access = os.access
        monkeypatch.setattr(
            "os.access", lambda path, mode: not (Path(path) == folder and mode & os.W_OK) and access(path, mode)
        )
    yield folder
    folder.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such permissions there")
def test_into_a_folder_that_may_not_be_written(toy: DataSet, mirror: Mirror, locked: Path) -> None:
    for into in (locked, locked / "deeper" / "still"):
        message = fails(OutputError, lambda into=into: fetch(toy, into=into))  # type: ignore[misc]
        assert f"{into}: no permission to write to {locked}; check its permissions or choose another place" in message
    assert mirror.asked == []
    assert files_below(locked) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such permissions there")
def test_a_cache_that_may_not_be_written(
    toy: DataSet, mirror: Mirror, locked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(catalog.CACHE_VARIABLE, str(locked))
    for into in (None, tmp_path / "into"):
        message = fails(OutputError, lambda into=into: fetch(toy, into=into))  # type: ignore[misc]
        assert f"no permission to write to {locked}; check its permissions or name another place in" in message
        assert message.endswith("in the variable REINFLECT_CACHE")
    assert mirror.asked == []


def test_a_folder_in_the_place_of_a_cached_file(toy: DataSet, cache: Path) -> None:
    (cache / "german-dev").mkdir(parents=True)
    message = fails(OutputError, lambda: fetch(toy, "german"))
    assert f"{cache / 'german-dev'}: could not be written (Is a directory)" in message


def test_a_cache_in_a_home_that_does_not_exist(toy: DataSet, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalog.CACHE_VARIABLE, "~no-such-user/cache")
    message = fails(InputError, lambda: fetch(toy))
    assert message == (
        "found no home folder for REINFLECT_CACHE = '~no-such-user/cache'; write the folder's name in full"
    )
    assert mirror.asked == []


def test_a_second_fetch_names_the_process_of_the_first(cache: Path) -> None:
    with serving(TEXTS) as mirror:
        toy = data_set_of(TEXTS, mirror.url)
        mirror.faults["german-dev"] = ["silence"]
        first = threading.Thread(target=fetch, args=(toy,))
        first.start()
        while "german-dev" not in mirror.asked:
            pass
        with pytest.raises(OutputError, match=rf"process {os.getpid()} is fetching this data set; wait for"):
            fetch(toy)
        mirror.over.set()
        first.join()
    assert files_below(cache) == TEXTS, "the first one did not notice"


def test_what_a_killed_fetch_left_is_removed_by_the_next(cache: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from tests.data.test_catalog import *\n"
        "fetch(data_set_of(TEXTS, sys.argv[1]), into=Path(sys.argv[2]))"
    )
    with serving(TEXTS) as mirror:
        mirror.faults["german-dev"] = ["silence"]
        process = subprocess.Popen([sys.executable, "-c", code, mirror.url, tmp_path / "into"])
        while "german-dev" not in mirror.asked:
            assert process.poll() is None
        process.kill()
        process.wait()
        (cache / catalog.ARRIVING).write_bytes(b"a part")  # as of one that is killed while it writes
        fetched = fetch(data_set_of(TEXTS, mirror.url), into=tmp_path / "into")
    assert set(fetched.ways) == {"kept", "downloaded"}
    assert files_below(cache) == files_below(tmp_path / "into") == TEXTS
