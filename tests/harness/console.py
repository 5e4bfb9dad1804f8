"""The console in front of the real API, inside a test.

    def test_my_page(console):
        owner = console.browser("owner")
        assert "Overview" in owner.get("/").text

The API and the console answer on loopback ports of this process; a browser is Flask's test client, which keeps cookies
and finds the CSRF token of a page as a person's browser does.
"""

import contextlib
import re
import threading
from collections.abc import Iterator
from html import unescape
from ipaddress import ip_network
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Engine
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.test import TestResponse

from bulksms.local.ports import LOOPBACK
from console.app import connect_to_api, create_app
from console.settings import Settings
from shared.people.sign_in_links import make_link
from tests.harness.people import Person, a_person
from tests.harness.service import Service

CONSOLE_KEY = "a-secret-key-of-the-consoles-tests"
TOKENS = re.compile(r'name="(csrf_token)" value="([^"]+)"')


@contextlib.contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve a WSGI application on a free port. Yields its address."""
    server = make_server(LOOPBACK, 0, closing(app), threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def closing(app: Any) -> Any:
    """The application, with responses that are closed even if the browser has gone: the server may not do it."""

    def call(environ: Any, start_response: Any) -> Iterator[bytes]:
        answer = app(environ, start_response)
        try:
            yield from answer
        finally:
            if hasattr(answer, "close"):
                answer.close()

    return call


class Quiet(WSGIRequestHandler):
    """Keeps connections open, and writes no phones into the log."""

    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: Any) -> None:
        """Log nothing."""


class Browser:
    """A person's browser."""

    def __init__(self, app: Flask, account_id: int) -> None:
        self.client: FlaskClient = app.test_client()
        self.account_id = account_id
        self.tokens: dict[str, str] = {}
        """The tokens that the forms of the page that was opened last carry."""

    def path(self, page: str, world: str = "live") -> str:
        """The path of one of the account's pages."""
        return f"/accounts/{self.account_id}/{world}{page}"

    def get(self, page: str, world: str = "live", **more: Any) -> TestResponse:
        """Open one of the account's pages."""
        return self.open(self.path(page, world), **more)

    def open(self, path: str, **more: Any) -> TestResponse:
        """Open a page by its whole path."""
        response = self.client.get(path, **more)
        self._remember(response)
        return response

    def post(self, page: str, world: str = "live", *, follow: bool = False, **fields: Any) -> TestResponse:
        """Send a form of one of the account's pages."""
        return self.submit(self.path(page, world), follow=follow, **fields)

    def submit(self, path: str, *, follow: bool = False, **fields: Any) -> TestResponse:
        """Send a form to a whole path, with the tokens of the page that was opened last."""
        data = {**self.tokens, **fields}
        response = self.client.post(path, data=data, follow_redirects=follow)
        self._remember(response)
        return response

    def sign_in_by_link(self, token: str) -> TestResponse:
        """Sign in by a link."""
        self.open(f"/sign-in/link/{token}")
        response = self.submit(f"/sign-in/link/{token}")
        self.get("/webhooks/")  # a page with tokens that takes little
        return response

    def _remember(self, response: TestResponse) -> None:
        found = TOKENS.findall(response.text) if response.mimetype == "text/html" else []
        if found:
            self.tokens = {name: unescape(token) for name, token in found}


UNUSED: list[Flask] = []
"""Applications that no console is using. Creating one takes longer than most tests."""


class Console:
    """A service with the console in front of it."""

    def __init__(self, service: Service, api_url: str) -> None:
        self.service = service
        self.api_url = api_url
        self.app = UNUSED.pop() if UNUSED else create_app(Settings(secret_key=CONSOLE_KEY))
        connect_to_api(self.app, api_url)

    def close(self) -> None:
        """Close the console's connections to the API."""
        self.app.extensions["bulksms_api"].close()
        UNUSED.append(self.app)

    def lift_session_limits(self) -> None:
        """Let sessions make as many requests as accounts: a test opens pages faster than people do."""
        limits = self.service.flask.extensions["bulksms"].rate_limits
        limits.of_sessions.rate = limits.of_persons.rate = limits.requests.rate

    def person(self, role: str = "owner", account_id: int | None = None) -> Person:
        """A new person of an account, by default of the service's."""
        return a_person(self.service, self.service.account_id if account_id is None else account_id, role)

    def link(self, person: Person) -> str:
        """The token of a link that signs the person in once."""
        return self.service.transact(make_link, person.id)

    def browser(self, role: str = "owner", account_id: int | None = None) -> Browser:
        """The browser of a new person who is signed in."""
        person = self.person(role, account_id)
        browser = Browser(self.app, self.service.account_id if account_id is None else account_id)
        assert browser.sign_in_by_link(self.link(person)).status_code == 302
        return browser

    def operator(self, role: str = "admin") -> Browser:
        """The browser of a person with a role in the installation, and in no account."""
        person = a_person(self.service, None, operator_role=role)
        browser = Browser(self.app, self.service.account_id)
        assert browser.sign_in_by_link(self.link(person)).status_code == 302
        browser.open("/operator/access/")
        return browser

    def stranger(self) -> Browser:
        """A browser in which nobody is signed in."""
        return Browser(self.app, self.service.account_id)


@contextlib.contextmanager
def console_of(engine: Engine, **settings: Any) -> Iterator[Console]:
    """A new account with the whole service and the console in front of it."""
    service = Service(engine, credits=100_000, trusted_proxies=(ip_network("127.0.0.0/8"),), **settings)
    with serving(service.flask.wsgi_app) as address:
        console = Console(service, address)
        try:
            yield console
        finally:
            console.close()
