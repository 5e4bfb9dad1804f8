"""Endpoints as Flask views, and the middleware that sets the current request and the standard headers."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import flask

from api.http.request import Environ, Request, handling
from api.http.responses import CsvResponse, Response, standard_headers
from api.http.wsgi import Wsgi


class RequestMiddleware:
    """WSGI middleware that sets `current_request` and adds the standard headers to every response."""

    def __init__(self, app: Wsgi, services: Any) -> None:
        self._app = app
        self._services = services

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        request = Request(environ, self._services)

        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            return start_response(status, [*headers, *standard_headers(request)], *error)

        with handling(request):
            return self._app(environ, start)


def flask_view(endpoint: Callable[..., Response | CsvResponse]) -> Callable[..., flask.Response]:
    """Wrap an endpoint as a Flask view."""

    @wraps(endpoint)
    def view(**arguments: Any) -> flask.Response:
        return flask_response(endpoint(**arguments))

    return view


def flask_response(response: Response | CsvResponse) -> flask.Response:
    """Convert a response to Flask's."""
    if isinstance(response, CsvResponse):
        return flask.Response(response.lines, headers=response.headers)
    return flask.Response(response.body, response.status, response.headers)
