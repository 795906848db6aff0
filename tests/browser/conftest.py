"""A real Chromium, and a server with made-up models."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.web.made_up import german, hebrew
from tests.web.running import running

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = """--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update
--disable-sync --no-first-run""".split()


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
        yield here.address


@contextmanager
def opened(browser: Browser, address: str, **options: Any) -> Iterator[Page]:
    """A page in a new browser context."""
    context = browser.new_context(**options)
    page = context.new_page()
    page.goto(address)
    if address.endswith("#word"):
        page.wait_for_selector("#picker .chip")
    yield page
    context.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page of one word; errors, warnings and requests to other servers fail the test."""
    complaints: list[str] = []
    ours = (address, "blob:")
    with opened(browser, "about:blank", reduced_motion="reduce") as page:
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None)
        page.on("request", lambda sent: None if sent.url.startswith(ours) else complaints.append(sent.url))
        page.goto(f"{address}#word")
        page.wait_for_selector("#picker .chip")
        yield page
    assert complaints == []
