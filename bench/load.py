"""How many requests a second the server answers, and what becomes of those it cannot: `python -m bench.load`.

A server of its own, in another process and on this computer only, with a small model of the bundled German verbs
(or `--model FILE`), is asked for 50,000 words, with a look at its memory now and then. Then another one is asked for
words by more and more clients at once, each of which asks again as soon as it has an answer; and then by more clients
than may wait, for work that takes longer. Every form is compared with the one that the same question got when it was
asked alone. Linux only, for the memory.
"""

import argparse
import asyncio
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from reinflect.assemble import Keep
from reinflect.data.german import read_split
from reinflect.run.resources import Resources
from reinflect.systems.kind import PAPER_SYSTEMS, Wish
from reinflect.text import Side, table
from reinflect.train import train_model

CLIENTS = (1, 2, 4, 8, 16, 32, 64, 128)
TOO_MANY = (64, 128, 256)
SMALL = ("hidden=50", "embedding=50", "history_hidden=25", "epochs=20")
WORDS = 200
LOOK_EVERY = 5_000
OK, BUSY = 200, 503


@dataclass
class Server:
    """The program, as users run it."""

    process: "subprocess.Popen[str]"
    port: int

    def memory(self) -> float:
        """What it has in memory, in MB."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024 / 1_000_000
        raise ValueError("the system does not say")


@contextmanager
def served(model: Path) -> Iterator[Server]:
    call = [sys.executable, "-u", "-m", "reinflect", "serve", str(model), "--port", "0"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split(" at ")[1].split()[0]
            yield Server(process, int(address.strip("/").rsplit(":", 1)[1]))
        finally:
            process.terminate()


class Client:
    """One connection, one request at a time."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """The status and the content of the answer."""
        reader, writer = self._streams = self._streams or await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0])
        body = await reader.readexactly(length)
        if b"connection: close" in head:
            await self.close()
        return int(head.split(b" ", 2)[1]), body

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            await self._streams[1].wait_closed()
            self._streams = None


@dataclass
class Stage:
    """What so many clients met with."""

    clients: int
    seconds: float = 0.0
    took: dict[int, list[float]] = field(default_factory=dict)
    """By the status of the answer: how long each took."""
    wrong: int = 0
    """Answers with other forms than those given to a single client."""

    def of(self, status: int) -> list[float]:
        return sorted(self.took.get(status, []))

    def milliseconds(self, status: int, share: float) -> str:
        found = self.of(status)
        return f"{1000 * found[min(len(found) - 1, int(share * len(found)))]:.1f}" if found else "–"


def requests(what: str, **more: object) -> list[bytes]:
    """A request for each of some words."""
    items = read_split("test")[:WORDS]
    return [post(what, {"lemma": item.lemma, "features": item.features.spelling, **more}) for item in items]


def post(what: str, body: object) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST /api/{what} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


async def alone(port: int, asked: Sequence[bytes]) -> list[bytes]:
    """The answers that a single client gets."""
    client, answers = Client(port), []
    for request in asked:
        status, body = await client.ask(request)
        assert status == OK, body
        answers.append(body)
    await client.close()
    return answers


async def stage(
    port: int,
    clients: int,
    asked: Sequence[bytes],
    right: Sequence[bytes],
    go_on: Callable[[int], bool],
    rest: float = 0,
) -> Stage:
    """Clients that ask on and on, for as long as `go_on` says of the number of requests begun.

    Who is sent away asks again after so many seconds of rest.
    """
    found, numbers = Stage(clients), count()

    async def one() -> None:
        client = Client(port)
        while go_on(number := next(numbers)):
            place = number % len(asked)
            start = time.perf_counter()
            status, body = await client.ask(asked[place])
            found.took.setdefault(status, []).append(time.perf_counter() - start)
            found.wrong += status == OK and forms(body) != forms(right[place])
            if status == BUSY:
                await asyncio.sleep(rest)
        await client.close()

    start = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(clients)))
    found.seconds = time.perf_counter() - start
    return found


def forms(body: bytes) -> list[bytes]:
    """The forms in an answer; of how sure the models are, the last decimal depends on what else is asked for."""
    return re.findall(rb'"form":"[^"]*"', body)


def lasting(seconds: float) -> Callable[[int], bool]:
    end = time.perf_counter() + seconds
    return lambda _number: time.perf_counter() < end


def print_stages(found: Sequence[Stage]) -> None:
    header = (
        "clients",
        "answered/s",
        "p50 ms",
        "p99 ms",
        "longest",
        "503/s",
        "503 p50 ms",
        "503 p99 ms",
        "others",
        "wrong",
    )
    rows = [
        (
            str(one.clients),
            f"{len(one.of(OK)) / one.seconds:.0f}",
            *(one.milliseconds(OK, share) for share in (0.5, 0.99, 1)),
            f"{len(one.of(BUSY)) / one.seconds:.0f}",
            *(one.milliseconds(BUSY, share) for share in (0.5, 0.99)),
            str(sum(len(took) for status, took in one.took.items() if status not in (OK, BUSY))),
            str(one.wrong),
        )
        for one in found
    ]
    right: Side = "right"
    print(table(header, rows, sides=[right] * len(header)), flush=True)


async def measure(server: Server, given: argparse.Namespace) -> None:
    for what, more, numbers, rest in (
        ("inflect", {}, CLIENTS, 0),
        ("nbest", {"n": 5}, TOO_MANY, 0),
        ("nbest", {"n": 5}, TOO_MANY, 1),
    ):
        asked = requests(what, **more)
        right = await alone(server.port, asked)
        print(f"{what}, {given.seconds:g} s for each number of clients; who is sent away asks again after {rest} s")
        print_stages(
            [await stage(server.port, clients, asked, right, lasting(given.seconds), rest) for clients in numbers]
        )


async def among_idlers(server: Server, idle: int, slow: int) -> None:
    """How long one client waits while others keep their connections open, and others send bodies without end."""

    async def hold(first: bytes) -> None:
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
                writer.write(first)
                if first:
                    for _ in range(8):
                        await asyncio.sleep(1)
                        writer.write(b" ")
                        await writer.drain()
                await reader.read()  # until the server has enough of it
                writer.close()
            await asyncio.sleep(0.5)

    lines = ("POST /api/inflect HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", "Content-Length: 99")
    begun = "\r\n".join([*lines, "", "{"]).encode()
    others = [asyncio.create_task(hold(first)) for first in [b""] * idle + [begun] * slow]
    asked = requests("inflect")
    took = []
    try:
        await asyncio.sleep(3)
        for place in range(100):
            start = time.perf_counter()
            client = Client(server.port)
            status, _ = await client.ask(asked[place % len(asked)])
            await client.close()
            took.append(time.perf_counter() - start if status == OK else math.inf)
            await asyncio.sleep(0.05)
    finally:
        for other in others:
            other.cancel()
    took.sort()
    print(
        f"one client beside {idle:,} idle and {slow:,} slow connections: median {1000 * took[50]:.0f} ms, "
        f"longest {1000 * took[-1]:.0f} ms of {len(took)}",
        flush=True,
    )


async def watch_memory(server: Server, number: int) -> None:
    """A server that has done nothing before: what heavier work leaves free, a slow leak could fill unseen."""
    asked = requests("inflect")
    right = await alone(server.port, asked)
    print(f"memory of the server, over {number:,} requests of 32 clients", flush=True)
    rows, done = [("0", f"{server.memory():.2f}", "0")], 0
    while done < number:
        size = min(LOOK_EVERY, number - done)
        found = await stage(server.port, 32, asked, right, lambda begun, size=size: begun < size)  # type: ignore[misc]
        done += len(found.of(OK))
        rows.append((f"{done:,}", f"{server.memory():.2f}", str(found.wrong)))
        assert len(found.of(OK)) == size, "a request was not answered"
    right_side: Side = "right"
    print(table(("requests", "MB", "wrong"), rows, sides=[right_side] * 3), flush=True)


def small_model(path: Path) -> None:
    train, dev = read_split("train-low"), read_split("dev")[:50]
    wish = Wish(systems=PAPER_SYSTEMS, preset="low", changes=SMALL, seeds=1, strategy="vote")
    keep = Keep(attested=False)  # every word asks the models
    train_model(train, dev, wish, keep, Resources()).inflector.save(path)


def by_ab(server: Server, folder: Path, requests: int, clients: int) -> None:
    """What ApacheBench, a client that is not ours, measures, and the server's memory before and after."""
    item = read_split("dev")[0]
    body = folder / "body.json"
    body.write_text(json.dumps({"lemma": item.lemma, "features": item.features.spelling}), encoding="utf-8")
    url, before = f"http://127.0.0.1:{server.port}/api/inflect", server.memory()
    call = ["ab", "-q", "-n", str(requests), "-c", str(clients), "-p", str(body), "-T", "application/json", url]
    said = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    wanted = ("Complete", "Failed", "Non-2xx", "Requests per second", "  50%", "  99%", " 100%")
    print("\n".join(line for line in said.splitlines() if line.startswith(wanted)))
    print(f"memory: {before:.0f} MB before, {server.memory():.0f} MB after")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.load", description="Load a server, on this computer.")
    parser.add_argument("--model", type=Path, help="a model file; a small one of German verbs is made without it")
    parser.add_argument("--seconds", type=float, default=10, help="for each number of clients (%(default)s)")
    parser.add_argument("--idlers", action="store_true", help="only measure one client beside idle and slow ones")
    parser.add_argument("--requests", type=int, default=50_000, help="while memory is watched (%(default)s)")
    parser.add_argument(
        "--ab", type=int, metavar="CLIENTS", help="only measure with ApacheBench (ab, which must be here)"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or Path(folder) / "verbs.reinflect"
        if given.model is None:
            small_model(model)
        if given.ab:
            with served(model) as server:
                by_ab(server, Path(folder), given.requests, given.ab)
            return
        if given.idlers:
            with served(model) as server:
                asyncio.run(among_idlers(server, 1300, 300))
            return
        with served(model) as server:
            asyncio.run(watch_memory(server, given.requests))
        with served(model) as server:
            asyncio.run(measure(server, given))


if __name__ == "__main__":
    main()
