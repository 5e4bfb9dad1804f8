"""The request that a view answers: in Flask's context, or without one where it is asked directly (api/lean.py)."""

import threading
from collections.abc import Callable
from typing import TypeVar

from flask import Flask, Request, current_app, request

from api.from_asgi import Environ

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
    return getattr(_here, "environ", None) or request.environ


def app_asked() -> Flask:
    """The application."""
    app: Flask = getattr(_here, "app", None) or current_app
    return app


def request_asked() -> Request:
    """The request as Werkzeug reads it, which takes a while where it is asked directly."""
    environ = getattr(_here, "environ", None)
    return request if environ is None else Request(environ, populate_request=False)
