"""A real Chromium, and a server with made-up models."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.web.made_up import german, hebrew
from tests.web.running import running

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One per module: playwright blocks the event loop of this thread while it runs."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        missing = "no Chromium is installed (on Debian: apt install chromium-headless-shell)"
        if os.environ.get("CI") == "true":
            pytest.fail(f"{missing}, and CI must run these tests")
        pytest.skip(missing)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the page."""
    with running({"german": german(), "hebrew": hebrew()}) as here:
        yield f"http://127.0.0.1:{here.port}/"


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page in a new browser context; errors, warnings and requests to other servers fail the test."""
    context = browser.new_context(reduced_motion="reduce")
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None)
    opened.on(
        "request", lambda sent: complaints.append(sent.url) if not sent.url.startswith((address, "blob:")) else None
    )
    opened.goto(f"{address}#word")
    opened.wait_for_selector("#picker .chip")
    yield opened
    context.close()
    assert complaints == []
