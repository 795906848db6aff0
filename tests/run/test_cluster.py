"""What is asked of a Dask cluster, and what is done when it does not answer: one that only pretends to be there."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from distributed import KilledWorker

from reinflect.errors import InputError, ReinflectError
from reinflect.run.cluster import Cluster, Where, address_in
from reinflect.run.dispatch import AHEAD, FAILURES_TO_END, run_packs
from reinflect.run.folder import WorkFolder
from reinflect.run.packs import DECIMALS, Pack, PackResult, read_results
from reinflect.run.resources import Resources, Watcher
from reinflect.run.train_pack import Standing
from reinflect.run.worker import train_in, versions
from tests.learn.tiny import pack, small

Reinflect = Callable[..., Result]
LOW = ["--settings", "low"]
PLACE = "tcp://10.0.0.1:8786"
FILES: Mapping[str, Mapping[str, bytes]] = {"parameters": {}, "logs": {}, "packs": {}}


class Future:
    """Does what a pack of that name does."""

    def __init__(self, key: str, status: str, made: object = None, error: BaseException | None = None) -> None:
        self.key, self.status, self.made, self.error = key, status, made, error
        self.heard: Callable[[Future], None] | None = None

    def add_done_callback(self, heard: "Callable[[Future], None]") -> None:
        self.heard = heard
        if self.status != "pending":
            heard(self)

    def exception(self) -> BaseException | None:
        return self.error

    def result(self) -> object:
        return self.made


class Client:
    """In the place of Dask's. `answers` are what workers say of themselves, by their address."""

    save_models, exact = False, False

    def __init__(self, answers: Mapping[str, Any] | None = None, threads: int = 1) -> None:
        two = {"tcp://a": about(), "tcp://b": about()}
        self.answers: dict[str, Any] = two if answers is None else dict(answers)
        self.threads, self.status, self.device = threads, "running", "cpu"
        self.asked: list[str] = []
        self.sent: list[Pack] = []
        self.in_flight: list[Future] = []
        self.cancelled: list[str] = []
        self.retired: list[str] = []
        self.handler: Callable[[Any], None] = lambda _: None
        self.events: list[dict[str, Any]] = []
        """What workers say when the first pack is sent."""

    def nthreads(self) -> dict[str, int]:
        if self.status != "running":
            raise OSError("gone")
        return dict.fromkeys(self.answers, self.threads)

    def wait_for_workers(self, fewest: int, timeout: float) -> None:  # noqa: ARG002
        if len(self.answers) < fewest:
            raise TimeoutError

    def run(self, _function: object, workers: Sequence[str], on_error: str) -> dict[str, Any]:
        assert on_error == "return"
        self.asked += workers
        return {address: self.answers[address] for address in workers}

    def retire_workers(self, workers: Sequence[str]) -> None:
        self.retired += workers

    def subscribe_topic(self, _topic: str, handler: Callable[[Any], None]) -> None:
        self.handler = handler

    def unsubscribe_topic(self, _topic: str) -> None: ...

    def cancel(self, futures: Sequence[Future]) -> None:
        self.cancelled += [future.key for future in futures]

    def submit(
        self, _function: object, whole: Pack, _topic: str, *, key: str, retries: int, pure: bool, **options: object
    ) -> Future:
        kept = {"save_models": self.save_models, "exact": self.exact}
        assert options == {"device": self.device, "seconds_a_report": 1.0} | kept
        assert retries
        assert not pure
        self.sent.append(whole)
        for word in self.events:
            self.handler((0.0, word))
        self.events = []
        future = self.does(whole.name, key)
        self.in_flight.append(future)
        return future

    def does(self, name: str, key: str) -> Future:
        if name == "dies":
            return Future(key, "error", error=KilledWorker(key, None, 3))  # type: ignore[arg-type]
        if name == "errs":
            return Future(key, "error", error=ValueError("found a thing\nsecond line"))
        if name == "too large":
            return Future(key, "finished", done() | {"lost": [name, "memory"]})
        if name == "forgotten":
            return Future(key, "cancelled")
        if name.startswith("waits"):
            return Future(key, "pending")
        made = {"packs": {f"{name}.pack.xz": name.encode()}, "logs": {f"{name}.jsonl": b"{}"}, "parameters": {}}
        return Future(key, "finished", done() | {"retried": [f"{name} was halved"], "files": made})


def done(worker: str = "tcp://a") -> dict[str, Any]:
    return {"worker": worker, "lost": None, "retried": [], "files": FILES}


def about(gpu: object = None, **other: str) -> dict[str, Any]:
    return {"versions": versions() | other, "gpu": gpu}


def cluster(client: Client, device: str = "auto", **where: Any) -> Cluster:
    return Cluster(client, Where(**{"scheduler": PLACE, **where}), device)  # type: ignore[arg-type]


def packs(*names: str) -> list[Pack]:
    return [pack(name=name, seeds=[1]) for name in names]


class Listener(Watcher):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.begun: list[tuple[list[str], int]] = []
        self.stood: list[Standing] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def begin(self, names: Sequence[str], workers: int) -> None:
        self.begun.append((list(names), workers))

    def standing(self, now: Standing) -> None:
        self.stood.append(now)


@dataclass(frozen=True)
class Kept(WorkFolder):
    """Remembers files by the names of their packs, in the place of writing them."""

    files: dict[str, Any] = field(default_factory=dict)

    def write_files(self, pack: Pack, files: Mapping[str, Mapping[str, bytes]]) -> None:
        self.files[pack.name] = files


def kept(into: dict[str, Any]) -> Kept:
    nowhere = Path("nowhere")
    return Kept(nowhere, nowhere, nowhere, nowhere, None, DECIMALS, into)


def run(
    own: Cluster,
    work: Sequence[Pack],
    folder: WorkFolder,
    *,
    watcher: Watcher | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> list[PackResult | None]:
    return run_packs(own, work, folder, Resources(watcher=watcher or Watcher(), enough=enough))


# Workers


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (about(reinflect="0.0.9"), "has reinflect 0.0.9, not 0.2.0 as here; start workers from the same environment"),
        (about(Python="3.99"), "has Python 3.99, not "),
        (ModuleNotFoundError("No module named 'reinflect'"), "(ModuleNotFoundError: No module named 'reinflect')"),
    ],
)
def test_a_worker_of_another_version_is_refused(answer: object, complaint: str) -> None:
    with pytest.raises(InputError) as raised:
        cluster(Client({"tcp://a": about(), "tcp://b": answer}))
    assert "the Dask worker at tcp://b " in str(raised.value)
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_worker_with_several_threads_is_refused() -> None:
    with pytest.raises(InputError, match=r"has 8 threads, of which only one can train; start workers .* --nthreads 1"):
        cluster(Client(threads=8))


def test_a_worker_that_goes_while_it_is_asked_is_no_mistake() -> None:
    assert cluster(Client({"tcp://a": about(), "tcp://b": OSError("gone")})).device == "cpu"


def test_no_worker_comes() -> None:
    with pytest.raises(InputError, match=f"{PLACE} has had no worker for 7 s; start some.*--wait SECONDS"):
        cluster(Client({}), wait=7)


def gpus(*memories: tuple[str, int]) -> Client:
    return Client({f"tcp://{n}": about({"name": name, "memory": own}) for n, (name, own) in enumerate(memories)})


def test_packs_fit_the_smallest_gpu_and_those_who_share_one_share_its_memory() -> None:
    assert cluster(gpus(("a", 90), ("b", 60))).gpu_memory == 20
    assert cluster(gpus(("a", 60), ("a", 60), ("b", 90))).gpu_memory == 20
    assert cluster(gpus(*[("a", 60)] * 4)).gpu_memory == 15
    assert cluster(gpus(("a", 80))).device == "cuda"
    assert cluster(gpus(("a", 80)), "cpu").device == "cpu"
    assert cluster(Client()).gpu_memory is None


def test_where_some_have_no_gpu_all_train_on_the_cpu() -> None:
    mixed = {"tcp://a": about({"name": "a", "memory": 80}), "tcp://b": about()}
    assert cluster(Client(mixed)).device == "cpu"
    with pytest.raises(InputError, match="found workers without a GPU"):
        cluster(Client(mixed), "cuda")


# Packs


def test_the_files_of_every_pack_are_kept_and_the_longest_are_sent_first() -> None:
    client, files = Client(), dict[str, Any]()
    work = [pack(name=f"{epochs}", settings=small("haem", epochs=epochs), seeds=[1]) for epochs in (2, 7, 5)]
    results = run(cluster(client), work, kept(files))
    assert [one.name for one in client.sent] == ["7", "5", "2"]
    assert files["5"] == {"packs": {"5.pack.xz": b"5"}, "logs": {"5.jsonl": b"{}"}, "parameters": {}}
    assert results == [PackResult(name, [], True, retried=(f"{name} was halved",)) for name in "275"]
    assert client.cancelled == []


def test_what_cannot_be_trained_is_named_in_one_line_and_costs_nothing_else() -> None:
    files = dict[str, Any]()
    with pytest.raises(ReinflectError) as raised:
        run(cluster(Client()), packs("a", "dies", "errs", "too large", "b"), kept(files))
    assert {"a", "b"} <= set(files)
    told = str(raised.value)
    assert "the process that trained dies ended unexpectedly" in told
    assert "errs could not be trained (ValueError: found a thing)" in told
    assert "not enough memory for even one model of too large" in told
    assert "\n" not in told


def test_only_so_many_are_on_their_way_at_once() -> None:
    client = Client()
    names = [f"waits {number}" for number in range(9)]
    turns = 0

    def enough() -> bool:
        nonlocal turns
        turns += 1
        assert sum(future.status == "pending" for future in client.in_flight) <= AHEAD * 2
        for future in client.in_flight:
            if future.status == "pending" and turns > 1:
                future.status, future.made = "finished", done()
                assert future.heard is not None
                future.heard(future)
                break
        return False

    results = run(cluster(client), packs(*names), kept({}), enough=enough)
    assert len(client.sent) == 9
    assert all(one and one.finished for one in results)


def test_when_time_is_up_the_rest_is_cancelled_and_what_is_done_is_kept() -> None:
    client, files = Client(), dict[str, Any]()
    times = iter([False, False, True])
    results = run(cluster(client), packs("waits", "a"), kept(files), enough=lambda: next(times))
    assert set(files) == {"a"}
    assert [one is not None for one in results] == [False, True]
    assert [key.split("-reinflect")[0] for key in client.cancelled] == ["waits"]


def test_what_workers_say_is_passed_on() -> None:
    client, listener = Client(), Listener()
    standing = Standing("a", 1, 1, 3, 9, 50.0, 1.0, 2.0)
    plain = {"pack": "a", "worker": "tcp://a"}
    client.events = [
        plain | {"begun": True},
        plain | {"standing": vars(standing)},
        plain | {"note": "note: something"},
        plain | {"halved": "a"},
        plain | {"halved": "a"},
        plain | {"failed": "OSError: full"},
        plain | {"begun": True},
        plain | {"begun": True, "worker": "tcp://b"},
    ]
    (result,) = run(cluster(client), packs("a"), kept({}), watcher=listener)
    again = ["a failed at the worker tcp://a (OSError: full); trying again"]
    again.append("the worker that trained a ended unexpectedly; tcp://b starts it again")
    assert result is not None
    assert result.retried == (*again, "a was halved")
    assert listener.notes == ["note: something", *(f"note: {text}" for text in again)]
    assert listener.stood == [standing]
    assert listener.begun == [(["a"], 2), (["aa", "ab"], 2)]


@pytest.mark.parametrize("how", ["status", "forgotten"])
def test_a_scheduler_that_goes_is_told_and_what_is_done_is_kept(how: str) -> None:
    client, files = Client(), dict[str, Any]()

    def enough() -> bool:
        if files and how == "status":
            client.status = "connecting"
        return False

    names = ["waits", "a"] if how == "status" else ["a", "forgotten"]
    with pytest.raises(ReinflectError, match=f"lost the Dask scheduler at {PLACE}; finished packs are kept"):
        run(cluster(client), packs(*names), kept(files), enough=enough)
    assert set(files) <= {"a"}


def test_workers_that_come_later_are_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reinflect.run.dispatch.SECONDS_BETWEEN_CHECKS", 0.0)
    client, listener = Client(), Listener()
    own = cluster(client)
    turns = 0

    def enough() -> bool:
        nonlocal turns
        turns += 1
        if turns == 2:
            client.answers |= {"tcp://c": about(reinflect="9.9"), "tcp://d": about()}
        if turns == 3:
            assert client.retired == ["tcp://c"]
            del client.answers["tcp://c"]
        return turns > 4

    run(own, packs("waits"), kept({}), watcher=listener, enough=enough)
    (note,) = listener.notes
    assert note.startswith("note: the Dask worker at tcp://c has reinflect 9.9")
    assert listener.begun[-1] == (["waits"], 3)


def test_a_worker_without_a_gpu_that_comes_later_gets_no_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reinflect.run.dispatch.SECONDS_BETWEEN_CHECKS", 0.0)
    client, listener = gpus(("a", 80)), Listener()
    client.device = "cuda"
    own = cluster(client, "cuda")
    client.answers["tcp://bare"] = about()
    run(own, packs("waits"), kept({}), watcher=listener, enough=lambda: bool(client.retired))
    assert listener.notes == [
        "note: the Dask worker at tcp://bare has no GPU, which these packs need; it is not used any more"
    ]
    assert client.retired == ["tcp://bare"]


def test_a_worker_that_could_not_answer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reinflect.run.dispatch.SECONDS_BETWEEN_CHECKS", 0.0)
    client = Client()
    own = cluster(client)
    client.answers["tcp://c"] = OSError("busy")
    times = iter(range(9))

    def enough() -> bool:
        if next(times) == 1:
            client.answers["tcp://c"] = about(reinflect="9.9")
        return bool(client.retired)

    run(own, packs("waits"), kept({}), enough=enough)
    assert client.retired == ["tcp://c"]


# Packs that fail at a worker, which says so


def failing(client: Client, *said: tuple[str, str]) -> tuple[list[str], list[str]]:
    """The workers dismissed when packs fail at these, one after the other, and the notes about it."""
    client.events = [{"pack": name, "worker": worker, "failed": "OSError: full"} for name, worker in said]
    listener, turns = Listener(), iter([False, False, True])
    run(cluster(client), packs("waits"), kept({}), watcher=listener, enough=lambda: next(turns))
    return client.retired, [note for note in listener.notes if "not used any more" in note]


def test_a_worker_at_which_one_pack_after_the_other_fails_is_sent_away() -> None:
    retired, (note,) = failing(Client(), ("1", "tcp://b"), ("1", "tcp://b"), ("2", "tcp://b"), ("3", "tcp://b"))
    assert retired == ["tcp://b"]
    told = "1 and 2 failed one after the other at the Dask worker at tcp://b (OSError: full)"
    assert note == f"note: {told}; it is not used any more"


@pytest.mark.parametrize(
    "said",
    [
        [("1", "tcp://a"), ("1", "tcp://a"), ("1", "tcp://b")],  # one bad pack
        [("1", "tcp://a"), ("2", "tcp://b")],  # two, at different workers
        [("1", "tcp://a"), ("1", "tcp://b"), ("2", "tcp://b")],  # the first had failed elsewhere
    ],
)
def test_a_worker_is_not_sent_away_for_a_pack_that_fails_everywhere(said: list[tuple[str, str]]) -> None:
    assert failing(Client(), *said) == ([], [])


def test_packs_that_cost_a_worker_cost_no_other() -> None:
    workers = {f"tcp://{letter}": about() for letter in "abc"}
    said = [(pack, worker) for worker in workers for pack in ("1", "2")]
    retired, _ = failing(Client(workers), *said)
    assert retired == ["tcp://a"]


@pytest.mark.parametrize(("trained_by", "cost"), [("tcp://a", []), ("tcp://b", ["tcp://a"])])
def test_a_worker_that_trains_packs_in_between_stays(trained_by: str, cost: list[str]) -> None:
    class Moody(Client):
        def does(self, name: str, key: str) -> Future:
            self.handler((0.0, {"pack": f"not {name}", "worker": "tcp://a", "failed": "OSError: full"}))
            return Future(key, "finished", done(trained_by))

    client = Moody()
    run(cluster(client), packs("1", "2", "3"), kept({}))
    assert client.retired == cost


def test_the_last_worker_is_not_sent_away_but_the_run_ends_and_says_why() -> None:
    client = Client({"tcp://a": about()})
    said = [(str(number), "tcp://a") for number in range(FAILURES_TO_END)]
    assert failing(client, *said[:-1]) == ([], [])
    with pytest.raises(ReinflectError) as raised:
        failing(Client({"tcp://a": about()}), *said)
    assert str(raised.value) == (
        f"{FAILURES_TO_END} packs in a row failed at tcp://a, the last Dask worker (OSError: full); "
        "correct that and run the same command again: finished packs are kept"
    )


def test_when_all_workers_are_gone_it_waits_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reinflect.run.dispatch.SECONDS_BETWEEN_CHECKS", 0.0)
    client = Client()
    own = cluster(client, wait=0.1)
    client.answers.clear()
    with pytest.raises(ReinflectError, match=r"has had no worker for 0.1 s"):
        run(own, packs("a"), kept({}))
    assert client.sent == []


def test_files_are_written_where_they_belong_and_nowhere_else(tmp_path: Path) -> None:
    folder, own = WorkFolder.inside(tmp_path / "out", save_models=True), pack(name="a")
    files = {"packs": {"../a.xz": b"1"}, "logs": {"a/a.jsonl": b"2"}, "parameters": {"/x/b": b"3"}}
    with folder.held():
        folder.checkpoint(own).path.touch()
        folder.write_files(own, files)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {"out/packs/a.xz", "out/logs/a.jsonl", "out/parameters/b"}


def test_a_model_trained_on_a_cluster_has_exact_scores_and_its_log(tmp_path: Path) -> None:
    class Trains(Client):
        """One worker, which is here."""

        save_models, exact = True, True

        def does(self, name: str, key: str) -> Future:
            assert self.sent[-1].name == name
            train_in(tmp_path / "there", self.sent[-1], lambda **_: None, lambda: False, device="cpu", save_models=True)
            files = {
                kind: {path.name: path.read_bytes() for path in (tmp_path / "there" / kind).iterdir()} for kind in FILES
            }
            return Future(key, "finished", done() | {"files": files})

    folder, own = WorkFolder.beside(tmp_path / "model"), pack(seeds=[1, 2])
    with folder.held():
        run(cluster(Trains()), [own], folder)
        (result,) = read_results(folder.packs)
        assert [model.key for model in result.models] == [spec.digest for spec in own.specs]
        assert all(folder.with_parameters(model).parameters for model in result.models)
        folder.join_logs([spec.digest for spec in own.specs], [result], [own])
        log = (tmp_path / "there" / "logs" / f"{own.stem}.jsonl").read_bytes()
        assert (tmp_path / "model.log.jsonl").read_bytes() == log
        assert log.count(b"\n") == 6
        folder.remove()
    assert not folder.state.exists()


# The command


def command(tmp_path: Path, *more: object) -> list[object]:
    return ["benchmark", "--data", tmp_path, "--out", tmp_path / "out", "--device", "cpu", *more]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--scheduler", "a:1"], "found --scheduler without --engine dask"),
        (["--scheduler-file", "a"], "found --scheduler-file without --engine dask"),
        (["--engine", "dask", "--scheduler", "a:1", "--scheduler-file", "b"], "found both --scheduler and --sched"),
        (["--engine", "dask", "--scheduler-file", "b", "--workers", 2], "found both --scheduler-file and --workers"),
        (["--engine", "dask", "--scheduler-file", "none.json"], "none.json: there is no such file"),
    ],
)
def test_mistakes_are_told_in_one_line(
    tmp_path: Path, reinflect: Reinflect, arguments: list[object], complaint: str
) -> None:
    result = reinflect(*command(tmp_path, *arguments))
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"id": "x"}', '{"address": 3}'])
def test_the_file_of_a_scheduler_has_its_address(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scheduler.json"
    path.write_text('{"type": "Scheduler", "address": "tcp://127.0.0.1:8786"}')
    assert address_in(path) == "tcp://127.0.0.1:8786"
    path.write_text(text)
    with pytest.raises(InputError, match="give the file that dask scheduler --scheduler-file wrote"):
        address_in(path)


@pytest.mark.parametrize("address", ["", "host", "tcp://host", "udp://host:1", "host:port", "tcp://host:1/x"])
def test_what_cannot_be_an_address_is_refused(
    tmp_path: Path, conll_like: Path, reinflect: Reinflect, address: str
) -> None:
    result = reinflect(
        "benchmark", "--data", conll_like, "--out", tmp_path / "out", "--engine", "dask", f"--scheduler={address}"
    )
    assert result.exit_code == 2
    assert f"found '{address}', not the address of a scheduler" in result.stderr


def test_without_dask_it_says_how_to_install_it(
    tmp_path: Path, conll_like: Path, reinflect: Reinflect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = reinflect("benchmark", "--data", conll_like, "--out", tmp_path / "out", "--engine", "dask", *LOW)
    assert result.exit_code == 2
    assert "pip install 'reinflect[cluster]'" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.fixture
def conll_like(tmp_path: Path) -> Path:
    for name in ("german-train-low", "german-dev"):
        (tmp_path / name).write_text("gehen\tging\tV;PST\n", encoding="utf-8")
    return tmp_path
