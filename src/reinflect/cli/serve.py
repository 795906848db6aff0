"""`reinflect serve`: a page in the browser for one or several models."""

import importlib.util
import socket
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reinflect.cli.demo import SERVED, served_model
from reinflect.cli.models import model_file
from reinflect.cli.options import argument, command, option, say
from reinflect.errors import InputError, quoted

if TYPE_CHECKING:
    from reinflect.inflector.inflector import Inflector

ABOUT = "the first time, it trains a model of German verbs, which takes a few minutes"
NAMED = 10
"""The models that are named when the server starts."""


@command("reinflect serve --demo", about=ABOUT)
def serve(
    models: tuple[str, ...] = argument(model_file, metavar="[MODEL]...", nargs=-1),
    demo: bool = option("--demo", "Also serve a model of the bundled German verbs, trained once and kept."),
    port: int = option("--port", "Port; 0 chooses a free one.", click.IntRange(0, 65535), default=8000),
    host: str = option("--host", "Address to listen on; 0.0.0.0 means all of them.", default="127.0.0.1"),
    names: tuple[str, ...] = option("--allow-host NAME", "Host name that visitors use.", multiple=True),
    browser: bool = option("--open", "Open the page in your browser."),
) -> None:
    """Serve a page for the browser: type words, choose features, and see forms, confidences and how they are made.

    The page also shows paradigms, takes columns pasted from spreadsheets, and collects corrections to train with. It
    needs no internet and sends nothing to other computers. Programs can use the same API: docs/api-web.md. With neither
    MODEL nor --demo, the page has all pocket models, each loaded when it is chosen.

    By default only this computer can reach the page. There is no password: consider that before you give another
    --host. If visitors use a host name instead of an address, allow it with --allow-host. Ctrl-C ends the server after
    it has answered all open requests.
    """
    from reinflect.inflector.pocket import INSTALL, load, pocket_models

    for module in ("starlette", "uvicorn", "httptools"):
        if importlib.util.find_spec(module) is None:
            finding = f"the page needs {module}, which is not installed"
            raise InputError(finding, "install it: pip install 'reinflect[web]'")

    from reinflect.web.guard import Hosts, host_name, is_address
    from reinflect.web.server import Server

    for name in names:
        if not is_address(name) and (host_name(name) is None or ":" in name):
            raise InputError(f"found --allow-host {quoted(name)}", "give only a host name, such as words.example.org")
    served: dict[str, Inflector | Path] = {} if models or demo else dict(pocket_models())
    if not (models or demo or served):
        raise InputError("found no model to serve", f"name a file, give --demo, or install pocket models: {INSTALL}")
    # The socket first: a port in use should be reported before models are loaded or trained.
    with _listening(host, port) as listener:
        served |= zip(model_names(models), map(load, map(Path, models)), strict=True)
        if demo:
            served = {SERVED if SERVED not in served else f"{SERVED} (demo)": served_model(), **served}
        local, port = listener.getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        hosts = [host, *names]
        if not ip_address(local).is_loopback:
            hosts.append(socket.gethostname())
            reach = "anyone who can reach this computer can use the page and its models"
            say(f"note: {reach}, and read what is sent on the way")
        what = ", ".join(served) if len(served) <= NAMED else f"{len(served)} languages"
        click.echo(f"serving {what} at {address} (press Ctrl-C to stop)")
        if browser:  # in a thread, as some browsers block until they are closed; requests wait, as the socket listens
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        server = Server(served, Hosts.at(local, hosts))
        with suppress(KeyboardInterrupt):  # raised again by the server after it has stopped
            server.run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    try:
        # asyncio turns off the 40 ms delay of Nagle's algorithm only for sockets made with their protocol.
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.create_server(address, family=family) as listener:
            return socket.socket(family, kind, protocol, fileno=listener.detach())
    except OSError as error:
        remedy = "give an address of this computer with --host, and a free port with --port (0 finds one)"
        reason = str(error.strerror).partition(" (while ")[0]
        raise InputError(f"cannot listen on {host}, port {port} ({reason})", remedy) from None


def model_names(paths: Sequence[str]) -> list[str]:
    """The names of models on the page: their files' names without the ending, numbered where they are the same."""
    stems = [Path(path).stem for path in paths]
    before = [stems[:index].count(stem) for index, stem in enumerate(stems)]
    return [f"{stem} ({count + 1})" if count else stem for stem, count in zip(stems, before, strict=True)]
