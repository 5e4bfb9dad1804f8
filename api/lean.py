"""Flask without what this API does not use: sessions, the host of a request, and URLs made of routes.

The first two would cost each request its share, the last each start of a process.
"""

from collections.abc import Callable

from flask import Flask, Request
from flask.sessions import NullSession, SessionInterface, SessionMixin
from werkzeug.routing import MapAdapter, Rule


class NoSessions(SessionInterface):
    """There are no cookies, so there is nothing to open and nothing to keep."""

    _none = NullSession()

    def open_session(self, app: Flask, request: Request) -> SessionMixin | None:
        """The same empty session for every request; whoever writes to it gets an error."""
        return self._none


class FoundOnly(Rule):
    """A route that requests find, and of which no URL is made."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        return _make_none


def _make_none(*_: object) -> tuple[str, str]:
    raise NotImplementedError("No URLs are made of routes here.")


class LeanFlask(Flask):
    """A Flask application whose routes are found by path and method alone."""

    session_interface = NoSessions()
    url_rule_class = FoundOnly

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """The routes for one request. No URL with a host in it is ever made, so none is looked for."""
        if request is None:
            return super().create_url_adapter(request)
        environ = request.environ
        path = environ.get("PATH_INFO", "").encode("latin-1").decode(errors="replace")
        query = environ.get("QUERY_STRING", "")
        return MapAdapter(self.url_map, "localhost", "/", "", "http", path, environ["REQUEST_METHOD"], query)
