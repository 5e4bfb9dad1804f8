"""Flask without what this API does not use: sessions, the host of a request, URLs made of routes, functions that are
called before or after requests, and signals.

URLs would cost each start of a process its share, the others each request.
"""

from collections.abc import Callable, Iterable
from typing import Any

from flask import Flask, Request, Response
from flask.sessions import NullSession, SessionInterface, SessionMixin
from werkzeug.routing import MapAdapter, Rule

from api.loop import Later


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


class Json(Response):
    """An answer of which all is here: nothing of it is computed when it is sent."""

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """As WSGI wants it."""
        if environ["REQUEST_METHOD"] == "HEAD":
            return super().__call__(environ, start_response)
        start_response(self.status, list(self.headers))
        return self.iter_encoded()


class Routes(MapAdapter):
    """The routes for one request. What has been found by path and method alone is found again at once."""

    known: dict[tuple[str, str], Rule]

    def match(self, *given: Any, **options: Any) -> Any:
        """As Werkzeug finds it; what it makes for that would be left to the garbage collector."""
        if given or options != {"return_rule": True}:
            return super().match(*given, **options)
        key = (self.default_method, self.path_info)
        rule = self.known.get(key)
        if rule is not None:
            return rule, {}
        rule, arguments = super().match(return_rule=True)
        if self.path_info == rule.rule:  # other paths that find it are without number: `//healthz`, `///healthz`
            self.known[key] = rule
        return rule, arguments


def _make_none(*_: object) -> tuple[str, str]:
    raise NotImplementedError("No URLs are made of routes here.")


class LeanFlask(Flask):
    """A Flask application whose routes are found by path and method alone."""

    session_interface = NoSessions()
    url_rule_class = FoundOnly

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.known_routes: dict[tuple[str, str], Rule] = {}
        """By method and path: those without variables, as many as there are."""

    def full_dispatch_request(self) -> Response:
        """What a view answers, or the handler of an error."""
        try:
            answer = self.dispatch_request()
        except Exception as error:
            answer = self.handle_user_exception(error)
        if isinstance(answer, Later):
            answer.of_error = self._answer_to
            return answer  # type: ignore[return-value] # which is called as a response is
        return self.make_response(answer)

    def _answer_to(self, environ: dict[str, Any], error: Exception) -> Response:
        """What an error is answered with when its request's context is over."""
        with self.request_context(environ):
            return self.make_response(self.handle_user_exception(error))

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """The function itself: no view is a coroutine."""
        return func

    def do_teardown_request(self, exc: BaseException | None = None) -> None:
        """Nothing is called after a request."""

    def do_teardown_appcontext(self, exc: BaseException | None = None) -> None:
        """Nor after its context."""

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """The routes for one request. No URL with a host in it is ever made, so none is looked for."""
        if request is None:
            return super().create_url_adapter(request)
        environ = request.environ
        path = environ.get("PATH_INFO", "").encode("latin-1").decode(errors="replace")
        query = environ.get("QUERY_STRING", "")
        routes = Routes(self.url_map, "localhost", "/", "", "http", path, environ["REQUEST_METHOD"], query)
        routes.known = self.known_routes
        return routes
