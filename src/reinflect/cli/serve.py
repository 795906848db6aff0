"""`reinflect serve`: a page in the browser for one or several models."""

import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from reinflect.cli.options import cores
from reinflect.errors import INTERRUPTED, InputError, quoted

if TYPE_CHECKING:
    from reinflect.inflector.inflector import Inflector

EXAMPLE = """\b
Example (the first time it trains a model of German verbs, which takes a few minutes):
  reinflect serve --demo
"""
DEMO = "german-verbs"
DEMO_CHANGES = ("epochs=20", "hidden=100")
"""So that it is over in two minutes; `reinflect train` takes the preset as it is, and five seeds."""
DEMO_SEEDS = 1
WAITING_CONNECTIONS = 128


@click.command("serve", epilog=EXAMPLE)
@click.argument("models", metavar="[MODEL]...", nargs=-1)
@click.option(
    "--demo", is_flag=True, help="Also serve a model of the bundled German verbs; it is trained once and kept."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Where it listens; 0 finds a free one.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Who can reach it: only this computer, unless you give another of its addresses (0.0.0.0 is all of them).",
)
@click.option(
    "--allow-host",
    "names",
    metavar="NAME",
    multiple=True,
    help="A name that others visit it by, besides its addresses; may be given several times.",
)
@click.option("--open", "open_browser", is_flag=True, help="Open the page in your browser.")
def command(
    models: tuple[str, ...], demo: bool, port: int, host: str, names: tuple[str, ...], open_browser: bool
) -> None:
    """Show a page in the browser: type words, pick features, see forms, how sure the models are and how they work.

    Whole paradigms, columns pasted from spreadsheets, and corrections to train with are there as well. The page needs
    no internet, and sends nothing elsewhere. Programs can use what the page uses: see docs/api-web.md.

    Only this computer can reach it, and there is no password: think before you give another --host. Ctrl-C ends it,
    when it has answered what it was asked.
    """
    if not models and not demo:
        raise InputError("found no model to serve", "name one (reinflect serve verbs.reinflect), or give --demo")
    for module in ("starlette", "uvicorn"):
        _check_installed(module)
    _check_names(names)
    with _listening(host, port) as listener:
        served = _loaded(models)
        if demo:
            served = {**_demo_model(taken=served), **served}
        _serve(served, listener, [host, *names], open_browser)


def _check_installed(module: str) -> None:
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise InputError(f"the page needs {module}, which is not installed", "install it: pip install 'reinflect[web]'")


def _check_names(names: Sequence[str]) -> None:
    from reinflect.web.hosts import host_name, is_address

    for name in names:
        if not is_address(name) and (host_name(name) is None or ":" in name):
            raise InputError(f"found --allow-host {quoted(name)}", "give a name only, such as words.example.org")


def _listening(host: str, port: int) -> socket.socket:
    """The socket first: nobody wants to wait for models, and then hear that the port is taken."""
    try:
        # With its protocol: only then does asyncio send the end of an answer at once, and not 40 ms later.
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InputError(f"found --host {host} ({error.strerror})", "give an address of this computer") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(WAITING_CONNECTIONS)
    except OSError as error:
        listener.close()
        raise InputError(
            f"cannot listen at {host}, port {port} ({error.strerror})",
            "choose another with --port, or --port 0 for any that is free",
        ) from None
    return listener


def _loaded(paths: Sequence[str]) -> "dict[str, Inflector]":
    from reinflect.inflector.inflector import Inflector

    return {name: Inflector.load(path) for name, path in zip(model_names(paths), paths, strict=True)}


def model_names(paths: Sequence[str]) -> list[str]:
    """What the page calls models: their files' names without the ending, and numbered where two are the same."""
    names: list[str] = []
    for path in paths:
        stem = Path(path).stem
        same = sum(Path(other).stem == stem for other in paths[: len(names)])
        names.append(f"{stem} ({same + 1})" if same else stem)
    return names


def _demo_model(taken: "dict[str, Inflector]") -> "dict[str, Inflector]":
    """The model of German verbs: from the cache, or trained now and put there."""
    from reinflect import __version__
    from reinflect.data.catalog import cache_folder
    from reinflect.errors import ReinflectError
    from reinflect.inflector.inflector import Inflector

    name = DEMO if DEMO not in taken else f"{DEMO} (demo)"
    path = cache_folder() / "models" / f"{DEMO}-{__version__}.reinflect"
    if path.is_file():
        with suppress(ReinflectError):  # one that cannot be used is made again
            return {name: Inflector.load(path)}
    path.parent.mkdir(parents=True, exist_ok=True)
    return {name: _trained(path)}


def _trained(path: Path) -> "Inflector":
    from reinflect.alignment.cache import default_folder
    from reinflect.cli.progress import display
    from reinflect.data.german import read_split
    from reinflect.inflector.train import train_inflector
    from reinflect.settings import changed, load_preset

    train, dev = read_split("train-medium"), read_split("dev")
    with display() as shown, _ended_by_ctrl_c():
        shown.note(f"training on {len(train)} forms of German verbs, once; the model is kept in {path}")
        outcome = train_inflector(
            train,
            dev,
            settings=changed(load_preset("medium"), DEMO_CHANGES),
            seeds=DEMO_SEEDS,
            workers=cores(),
            out=path,
            watcher=shown,
            alignment_cache=default_folder(),
            source="bundled German verbs",
        )
    if outcome.interrupted:
        path.unlink(missing_ok=True)  # half a model would be served from now on
        click.echo("note: interrupted; the same command goes on from here", err=True)
        raise click.exceptions.Exit(INTERRUPTED)
    click.echo(f"trained: {outcome.accuracy:.0f} % of {outcome.scored} other forms are right", err=True)
    return outcome.inflector


@contextmanager
def _ended_by_ctrl_c() -> Iterator[None]:
    """Being told to end by whatever started us is the same as Ctrl-C: the training stops in good order."""

    def ctrl_c(_: int, frame: FrameType | None) -> None:
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):  # as in the background of a shell, where Ctrl-C is not for us
            raise KeyboardInterrupt
        interrupt(signal.SIGINT, frame)

    before = signal.signal(signal.SIGTERM, ctrl_c)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _serve(models: "dict[str, Inflector]", listener: socket.socket, names: Sequence[str], open_browser: bool) -> None:
    """Serve until the end; the first of the names is the one that was asked for, with --host."""
    from reinflect.web.hosts import Hosts, is_loopback
    from reinflect.web.server import Server

    where, port = listener.getsockname()[:2]
    shown = f"[{names[0]}]" if ":" in names[0] else names[0]
    address = f"http://{shown}:{port}/"
    if not is_loopback(where):
        names = [*names, socket.gethostname()]
        click.echo(
            "note: everybody who can reach this computer can use the page and all of its models, and others on the "
            "way can read what is sent",
            err=True,
        )
    click.echo(f"serving {', '.join(models)} at {address} (Ctrl-C ends it)")
    if open_browser:
        import threading
        import webbrowser

        # The socket listens already, so a browser waits for its answer; some keep `open` waiting until they are closed.
        threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
    server = Server(models, Hosts.at(where, names))
    with suppress(KeyboardInterrupt):  # it has ended in good order, and passes the Ctrl-C on
        server.run(sockets=[listener])
