"""Flask without what this API does not use: sessions, the host of a request, URLs made of routes, functions that are
called before or after requests, and signals.

URLs would cost each start of a process its share, the others each request.
"""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from flask import Flask, Request, Response
from flask.sessions import NullSession, SessionInterface, SessionMixin
from werkzeug.routing import MapAdapter, Rule

from api.http.current_request import ask
from api.http.event_loop import Later
from api.http.wsgi import Environ

STATUS = {each.value: f"{each.value} {each.phrase}" for each in HTTPStatus}


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


class Json:
    """An answer of which all is here, as the WSGI application that it is: a Response would be made of it in vain."""

    __slots__ = ("_body", "_headers", "_status")

    def __init__(self, body: str, status: int = 200, headers: Iterable[tuple[str, str]] = ()) -> None:
        self._body = body.encode()
        self._status = STATUS[status]
        self._headers = headers

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """As WSGI calls an answer."""
        headers = [
            ("Content-Type", "application/json"),
            ("Cache-Control", "no-store"),
            *self._headers,
            ("Content-Length", str(len(self._body))),
        ]
        start_response(self._status, headers)
        return (self._body,) if environ["REQUEST_METHOD"] != "HEAD" else ()


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
        self.direct: dict[tuple[str, str], Callable[[], Any]] = {}
        """Views by method and path that need no context: they ask `api.http.current_request` for what they need of
        the request."""

    def wsgi_app(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request, as WSGI has it."""
        view = self.direct.get((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
        if view is None:
            return super().wsgi_app(environ, start_response)
        try:
            answer = self._callable(ask(self, environ, view))
        except Exception as error:
            answer = self._answer_to(environ, error)
        return answer(environ, start_response)  # type: ignore[no-any-return]

    def full_dispatch_request(self) -> Response:
        """What a view answers, or the handler of an error."""
        try:
            answer = self.dispatch_request()
        except Exception as error:
            answer = self.handle_user_exception(error)
        return self._callable(answer)  # type: ignore[no-any-return]

    def _callable(self, answer: Any) -> Any:
        """What a view has answered as what WSGI can call: a Response, or one of ours."""
        if isinstance(answer, Json):
            return answer
        if isinstance(answer, Later):
            answer.of_error = self._answer_to
            return answer
        return self.make_response(answer)

    def _answer_to(self, environ: Environ, error: Exception) -> Response:
        """What an error is answered with when its request's context is over, or where there was none."""
        with self.request_context(environ):
            try:
                return self.make_response(self.handle_user_exception(error))
            except Exception as another:
                return self.handle_exception(another)

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
