"""A furnished account, the console before it on a port, and Chromium."""

import shutil
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from bulksms.local.postgres import Postgres
from tests.harness.console import Console, console_of, serving
from tests.harness.console_demo import furnish, furnish_operation, operator, owner
from tests.harness.database import disposable_database
from tests.harness.patience import long_sessions

MILLISECONDS = 120_000
"""For all that a page is told to do, or expected to show: with other tests beside it, all takes long."""
expect.set_options(timeout=MILLISECONDS)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""


class Stand(NamedTuple):
    """What a browser test uses."""

    console: Console
    browser: Browser
    url: str
    """The console's address."""
    account: str
    """The address of the account's pages."""
    state: dict
    """Cookies of the owner, who is signed in."""
    operator_state: dict
    """Cookies of an administrator of the installation."""

    def operator(self, **options: object) -> BrowserContext:
        """A browser window of the administrator."""
        return self.browser.new_context(storage_state=self.operator_state, **options)

    def context(self, **options: object) -> BrowserContext:
        """A browser window of the owner."""
        return self.browser.new_context(storage_state=self.state, **options)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser" in item.path.as_posix() and not CHROMIUM:
            item.add_marker(pytest.mark.skip(reason="no Chromium is installed"))


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One for all tests here, and it ends with them: Playwright runs an event loop, of which a thread has one."""
    with sync_playwright() as playwright, long_sessions(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Browser, "new_context", patient(Browser.new_context))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=MILLISECONDS)
        yield browser
        browser.close()


def patient(new_context: Callable[..., BrowserContext]) -> Callable[..., BrowserContext]:
    """The same function, whose windows wait for MILLISECONDS."""

    def made(browser: Browser, **options: Any) -> BrowserContext:
        context = new_context(browser, **options)
        context.set_default_timeout(MILLISECONDS)
        return context

    return made


@pytest.fixture(scope="package")
def stand(postgres_server: Postgres, chromium: Browser) -> Iterator[Stand]:
    """One for all tests here: they look, and send what is theirs."""
    with disposable_database(postgres_server) as engine, console_of(engine) as console:
        furnish(console)
        furnish_operation(console)
        people = {"Overview": owner(console), "Accounts": operator(console)}
        with serving(console.app) as url:
            states = [
                _signed_in(chromium, f"{url}/sign-in/link/{console.link(person)}", heading)
                for heading, person in people.items()
            ]
            yield Stand(console, chromium, url, f"{url}/accounts/{console.service.account_id}/live", *states)


def _signed_in(browser: Browser, link: str, heading: str) -> dict:
    """The cookies of a person who has signed in by a link, which leads to a page with this heading."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name=heading).wait_for()
    return dict(context.storage_state())
