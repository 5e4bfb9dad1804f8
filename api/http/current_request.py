"""The request that a view answers: in Flask's context, or without one where it is asked directly
(api/http/lean_flask.py)."""

import threading
from collections.abc import Callable
from typing import TypeVar

from flask import Flask, Request, current_app, request

from api.http.wsgi import Environ

Answer = TypeVar("Answer")

_here = threading.local()
"""`app` and `environ` of the view that is asked directly, in its thread."""


def ask(app: Flask, environ: Environ, view: Callable[[], Answer]) -> Answer:
    """What a view answers to a request without Flask's context."""
    _here.app, _here.environ = app, environ
    try:
        return view()
    finally:
        _here.app = _here.environ = None


def environ_asked() -> Environ:
    """The request's environment, by PEP 3333."""
    environ: Environ | None = getattr(_here, "environ", None)
    return request.environ if environ is None else environ


def app_asked() -> Flask:
    """The application."""
    app: Flask | None = getattr(_here, "app", None)
    return current_app if app is None else app


def request_asked() -> Request:
    """The request as Werkzeug reads it: where it is asked directly made anew each time, so its body is read once."""
    environ = getattr(_here, "environ", None)
    return request if environ is None else Request(environ, populate_request=False)
