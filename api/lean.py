"""Flask without what this API does not use: sessions, and the host of a request. Both cost each request its share."""

from flask import Flask, Request
from flask.sessions import NullSession, SessionInterface, SessionMixin
from werkzeug.routing import MapAdapter


class NoSessions(SessionInterface):
    """There are no cookies, so there is nothing to open and nothing to keep."""

    _none = NullSession()

    def open_session(self, app: Flask, request: Request) -> SessionMixin | None:
        """The same empty session for every request; whoever writes to it gets an error."""
        return self._none


class LeanFlask(Flask):
    """A Flask application whose routes are found by path and method alone."""

    session_interface = NoSessions()

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """The routes for one request. No URL with a host in it is ever made, so none is looked for."""
        if request is None:
            return super().create_url_adapter(request)
        environ = request.environ
        path = environ.get("PATH_INFO", "").encode("latin-1").decode(errors="replace")
        query = environ.get("QUERY_STRING", "")
        return MapAdapter(self.url_map, "localhost", "/", "", "http", path, environ["REQUEST_METHOD"], query)
