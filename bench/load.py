"""How many requests a second the server answers, and how long one client waits beside others: `python -m bench.load`.

A server on this computer, with a small model of German verbs or `--model FILE`, is asked for words by more and more
clients at once; every form is compared with the one that the same question got alone. With `--idlers`, `--slow`,
`--chunks` or `--segments`, one client asks, alone and then beside so many others, in a third process, that try to keep
the server busy. Linux only, for the memory.
"""

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context
from pathlib import Path

from reinflect.data.german import read_split
from reinflect.inflector.train import Plan, train_inflector
from reinflect.settings import changed
from reinflect.systems.symbols import load_preset
from reinflect.text import table

CLIENTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SMALL = ("hidden=50", "embedding=50", "history_hidden=25", "epochs=20")
HEAD = b"POST /api/inflect HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
OTHERS = {
    "idlers": (b"", b"", 100, 0.1),
    "slow": (HEAD + b"Content-Length: 999\r\n\r\n", b" ", 10, 1.0),
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n{\r\n" * 40_000, 100, 0.0),
    "segments": (HEAD + b"Content-Length: 999999\r\n\r\n", b" ", 100_000, 0.0),
}
"""What others send first, what they send next, how often, and the seconds after it; then they connect again."""
HEADER = ("clients", "answered/s", "median ms", "99 % ms", "longest ms", "busy", "wrong")


@dataclass
class Server:
    """The program, as users run it."""

    process: "subprocess.Popen[str]"
    port: int

    def memory(self) -> float:
        """What it has in memory, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.split("VmRSS:")[1].split()[0]) * 1024 / 1_000_000

    async def ask(self, request: bytes) -> tuple[int, list[bytes]]:
        """The status of the answer, on a new connection, and the forms; further numbers depend on other questions."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        body = await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
        writer.close()
        return int(head.split(b" ", 2)[1]), re.findall(rb'"form":"[^"]*"', body)


@contextmanager
def served(model: Path) -> Iterator[Server]:
    call = [sys.executable, "-u", "-m", "reinflect", "serve", str(model), "--port", "0"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Server(process, int(process.stdout.readline().split(" at ")[1].split("/")[2].rsplit(":", 1)[1]))
        finally:
            process.terminate()


def words(number: int) -> list[bytes]:
    contents = [{"lemma": item.lemma, "features": item.features.spelling} for item in read_split("test")[:number]]
    bodies = [json.dumps(content).encode() for content in contents]
    return [HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body for body in bodies]


async def measure(
    server: Server, requests: Sequence[bytes], clients: int, seconds: float, rest: float = 0.0
) -> list[str]:
    """A row of the table: clients that ask on and on, each `rest` seconds after an answer."""
    alone = {request: (await server.ask(request))[1] for request in requests}
    numbers, seen, times = count(), Counter[int](), []
    start = time.perf_counter()

    async def client() -> None:
        while (begun := time.perf_counter()) < start + seconds:
            request = requests[next(numbers) % len(requests)]
            status, forms = await server.ask(request)
            seen[status if status != 200 or forms == alone[request] else 0] += 1
            if status == 200:
                times.append(1000 * (time.perf_counter() - begun))
            await asyncio.sleep(rest)

    await asyncio.gather(*(client() for _ in range(clients)))
    times.sort()
    shares = [f"{times[int(share * (len(times) - 1))]:.1f}" if times else "–" for share in (0.5, 0.99, 1)]
    wrong = seen.total() - seen[200] - seen[503]
    return [str(clients), f"{seen[200] / (time.perf_counter() - start):.0f}", *shares, str(seen[503]), str(wrong)]


def disturb(port: int, numbers: Mapping[str, int]) -> None:
    """Be clients that hold connections open, or send without end, and come again when they are cut off."""

    async def other(first: bytes, piece: bytes, times: int, rest: float) -> None:
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(first)
                for _ in range(times):
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(rest)
                writer.close()
            await asyncio.sleep(0.01)

    async def others() -> None:
        await asyncio.gather(*(other(*OTHERS[name]) for name, number in numbers.items() for _ in range(number)))

    asyncio.run(others())


def by_ab(server: Server, body: Path, clients: int) -> None:
    """What ApacheBench, a client that is not ours, measures."""
    body.write_bytes(words(1)[0].split(b"\r\n\r\n")[1])
    url = f"http://127.0.0.1:{server.port}/api/inflect"
    call = ["ab", "-q", "-n", "10000", "-c", str(clients), "-p", str(body), "-T", "application/json", url]
    subprocess.run(call, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.load", description="Load a server, on this computer.")
    parser.add_argument("--model", type=Path, help="a model file; without it, a small model of German verbs is trained")
    parser.add_argument("--seconds", type=float, default=10, help="for each row (%(default)s)")
    for name in OTHERS:
        parser.add_argument(f"--{name}", type=int, default=0, metavar="N", help="only measure one client beside these")
    parser.add_argument("--ab", type=int, metavar="CLIENTS", help="only measure with ApacheBench (ab, not ours)")
    options = parser.parse_args()
    others = {name: number for name in OTHERS if (number := getattr(options, name))}
    with tempfile.TemporaryDirectory() as folder:
        if (model := options.model) is None:
            plan = Plan(settings=changed(load_preset("low"), SMALL), seeds=1, strategy="vote")
            inflector = train_inflector(read_split("train-low"), read_split("dev")[:50], plan, attested=False).inflector
            inflector.save(model := Path(folder) / "verbs.reinflect")  # no attested forms: every word asks the models
        with served(model) as server:
            before, rest, rows = server.memory(), 0.05 if others else 0.0, []
            if options.ab:
                by_ab(server, Path(folder) / "body.json", options.ab)
            for clients in () if options.ab else (1,) if others else CLIENTS:
                rows.append(asyncio.run(measure(server, words(100), clients, options.seconds, rest)))
            if others:
                process = get_context("spawn").Process(target=disturb, args=(server.port, others), daemon=True)
                process.start()
                time.sleep(3)
                rows.append(asyncio.run(measure(server, words(100), 1, options.seconds, rest)))
                process.kill()
            print(table(HEADER, rows, sides=["right"] * len(HEADER)))
            print(f"last row beside {others or 'none'}; {before:.0f} MB before, {server.memory():.0f} MB after")


if __name__ == "__main__":
    main()
