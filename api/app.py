"""Puts the application together: endpoints, errors, headers, health and documents."""

import json
import logging
import re
from pathlib import Path

import psycopg
from celery import Celery
from flask import Flask, Response, request
from redis import Redis
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from werkzeug.exceptions import HTTPException
from werkzeug.routing import BaseConverter

import api.resources  # noqa: F401 - declares the endpoints
from api.documentation import add_documentation
from api.endpoint import ENDPOINTS, PREFIX, answer_json, mount, services
from api.http.event_loop import WaitlessPool
from api.http.headers import REQUEST_ID, StandardHeaders
from api.http.lean_flask import Json, LeanFlask
from api.http.problems import CATALOGUE, Problem
from api.metrics import add_metrics
from api.resources.carrier_callbacks.routes import add_callbacks
from api.schemas.fields import ID_FORM
from api.services import Services
from shared.db.connection import make_engine
from shared.db.encryption_keys import WrongTextKeys, keys_problem
from shared.db.full_disk import is_disk_full, shortage
from shared.db.schema import schema_problem
from shared.encryption import TextKeyMissing, Texts, TextUnreadable
from shared.settings import Settings, service_settings
from shared.task_queue import make_celery

log = logging.getLogger(__name__)

OF_STATUS = {
    404: "not_found",
    405: "method_not_allowed",
    413: "payload_too_large",
    415: "unsupported_media_type",
}


WITH_IDS = [
    re.compile(re.sub(r"<uuid:\w+>", "([^/]+)", PREFIX + operation.path))
    for operation in ENDPOINTS
    if "<uuid:" in operation.path
]
"""Paths that have an id in them, whatever is in its place."""

PATHS = [re.compile(re.sub(r"<[^>]+>", "[^/]+", operation.path)) for operation in ENDPOINTS]
"""Paths without the beginning that all have."""


class PhoneInPath(BaseConverter):
    """What stands for a phone in a path, and is not the name of another path."""

    regex = "(?!import$)[^/]+"


def create_app(
    settings: Settings | None = None, *, engine: Engine | None = None, celery: Celery | None = None
) -> Flask:
    """The API as a WSGI application. Without arguments, as the environment says."""
    settings = settings or service_settings()
    app = LeanFlask(__name__, static_folder=None)
    app.debug = False  # whatever FLASK_DEBUG says
    app.url_map.merge_slashes = False
    app.url_map.strict_slashes = False
    app.extensions["bulksms"] = Services(
        settings,
        engine
        or make_engine(
            settings.database_url,
            settings.database_pool,
            "bulksms-api",
            texts=Texts(settings.text_keys),
            pool_class=WaitlessPool,
        ),
        celery or make_celery(settings),
        None if settings.eager else Redis.from_url(settings.redis_url, socket_timeout=1, socket_connect_timeout=1),
    )
    app.url_map.converters["phone"] = PhoneInPath
    mount(app)
    _add_health(app)
    add_documentation(app)
    add_metrics(app, app.extensions["bulksms"])
    add_callbacks(app, app.extensions["bulksms"])
    _add_errors(app)
    app.wsgi_app = StandardHeaders(app.wsgi_app, settings.requests_per_second)  # type: ignore[method-assign]
    return app


def _add_errors(app: Flask) -> None:
    @app.errorhandler(Problem)
    def refused(problem: Problem) -> Response:
        return _answer(problem)

    @app.errorhandler(HTTPException)
    def http_error(error: HTTPException) -> Response:
        status = error.code or 500
        code = OF_STATUS.get(status, "bad_request" if status < 500 else "internal_error")
        headers = {}
        if status == 405 and getattr(error, "valid_methods", None):
            headers["Allow"] = ", ".join(sorted(error.valid_methods))  # type: ignore[attr-defined]
        hint = (_no_id(request.path) or _without_prefix(request.path)) if status == 404 else None
        detail = hint or CATALOGUE[code].title + "."
        return _answer(Problem(code, detail, headers=headers))

    @app.errorhandler(psycopg.OperationalError)
    @app.errorhandler(psycopg.InterfaceError)
    @app.errorhandler(OperationalError)
    @app.errorhandler(InterfaceError)
    @app.errorhandler(PoolTimeoutError)
    def unavailable(error: Exception) -> Response:
        log.error("unavailable: %s", getattr(error, "orig", error))
        detail = "The database's disk is full." if is_disk_full(error) else "The database does not answer in time."
        if request.method == "GET" and isinstance(getattr(error, "orig", error), psycopg.errors.QueryCanceled):
            detail = "This took too long. Ask for less at once: a shorter period, or a smaller `limit`."
        return _answer(Problem("unavailable", detail, headers={"Retry-After": "2"}))

    @app.errorhandler(WrongTextKeys)
    @app.errorhandler(TextKeyMissing)
    @app.errorhandler(TextUnreadable)
    def unreadable(error: Exception) -> Response:
        log.error("%s", error)
        return _answer(Problem("unavailable", "Texts cannot be read or kept now.", headers={"Retry-After": "60"}))

    @app.errorhandler(Exception)
    def internal_error(error: Exception) -> Response:
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            return unavailable(error)
        log.error("internal error, request %s", request.environ[REQUEST_ID], exc_info=error)
        return _answer(Problem("internal_error", "Something went wrong on our side."))


def _no_id(path: str) -> str | None:
    """What is wrong with a path that is one of ours but for an id in it."""
    for pattern in WITH_IDS:
        found = pattern.fullmatch(path)
        if found:
            return f"{found[1][:40]!r} is no id. Give {ID_FORM}."
    return None


def _without_prefix(path: str) -> str | None:
    """What is wrong with a path that is one of ours but for its beginning."""
    if path.startswith(PREFIX) or not any(pattern.fullmatch(path.rstrip("/")) for pattern in PATHS):
        return None
    return f"All paths begin with {PREFIX}: this one is {PREFIX}{path}."


def _answer(problem: Problem) -> Response:
    made = problem.document(request.path[:500], request.environ[REQUEST_ID])
    response = Response(json.dumps(made), problem.kind.status, mimetype="application/problem+json")
    response.headers["Cache-Control"] = "no-store"
    response.headers.update(problem.headers)
    return response


def _add_health(app: Flask) -> None:
    @app.get("/healthz")
    def healthz() -> Json:
        """The process answers."""
        return answer_json({"status": "ok"})

    @app.get("/readyz")
    def readyz() -> Json:
        """The service can accept sends. Redis is not asked: it is only a doorbell."""
        problem = schema_problem(services().engine) or keys_problem(services().engine)
        if problem is not None:
            problem = " ".join(filter(None, (problem, shortage(Path.cwd()))))
        return answer_json({"status": "ready" if problem is None else problem}, 200 if problem is None else 503)
