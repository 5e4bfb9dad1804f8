"""Create the Flask application: endpoints, errors, headers, health checks and documentation."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from celery import Celery
from flask import Flask, Response
from sqlalchemy import Engine
from werkzeug.exceptions import NotFound
from werkzeug.routing import BaseConverter, Map, UUIDConverter

import api.operator
import api.resources  # noqa: F401 - both declare their endpoints
from api.documentation import add_documentation
from api.endpoint import CUSTOMERS, OPERATORS, json_response, services
from api.event_loop import ThreadOnlyPool
from api.handlers import handler_of
from api.http.flask_adapter import RequestMiddleware, flask_response, flask_view
from api.http.request import current_request
from api.http.responses import error_response
from api.kannel.sendsms import add_sendsms
from api.metrics.endpoint import add_metrics
from api.resources.carrier_callbacks.routes import add_callbacks
from api.schemas.fields import ID_FORM
from api.services import Services
from shared.db.connection import make_engine
from shared.db.encryption_keys import keys_problem
from shared.db.errors import shortage
from shared.db.replica import Replica
from shared.db.schema import schema_problem
from shared.encryption import Texts
from shared.prices.kept_unit import unit_problem
from shared.redis_client import redis_client
from shared.settings import Settings, service_settings
from shared.task_queue import make_celery

ALL = [*CUSTOMERS.operations, *OPERATORS.operations]
WITH_IDS = [
    re.compile(re.sub(r"<[^>]+>", "[^/]+", re.sub(r"<uuid:\w+>", "([^/]+)", operation.api.prefix + operation.path)))
    for operation in ALL
    if "<uuid:" in operation.path
]
"""Paths with ids, matching any values in their places."""
UUID = re.compile(UUIDConverter.regex)

PATHS = [re.compile(re.sub(r"<[^>]+>", "[^/]+", operation.path)) for operation in CUSTOMERS.operations]
"""All paths of the customers' API, without the common prefix."""


class PhoneInPath(BaseConverter):
    """A phone in a path: any segment except `import`, which is its own path."""

    regex = "(?!import$)[^/]+"


def create_app(
    settings: Settings | None = None, *, engine: Engine | None = None, celery: Celery | None = None
) -> Flask:
    """The API as a WSGI application. Without arguments, it is configured from the environment."""
    settings = settings or service_settings()
    app = Flask(__name__, static_folder=None)
    app.debug = False  # whatever FLASK_DEBUG says
    app.url_map, views = _routes()
    app.view_functions.update(views)
    engine = engine or make_engine(
        settings.database_url,
        settings.database_pool,
        "bulksms-api",
        texts=Texts(settings.text_keys),
        pool_class=ThreadOnlyPool,
    )
    services = Services(
        settings,
        engine,
        celery or make_celery(settings),
        None if settings.eager else redis_client(settings.redis_url, timeout=1),
        _replica(settings, engine),
    )
    app.extensions["bulksms"] = services
    _add_errors(app)
    app.wsgi_app = RequestMiddleware(app.wsgi_app, services)  # type: ignore[method-assign]
    return app


def _replica(settings: Settings, primary: Engine) -> Replica | None:
    """The replica that REPLICA_URL names, checked from now on."""
    if not settings.replica_url:
        return None
    engine = make_engine(
        settings.replica_url,
        settings.database_pool,
        "bulksms-reports",
        texts=Texts(settings.text_keys),
        pool_class=ThreadOnlyPool,
        standby=True,
    )
    replica = Replica(primary, engine, settings.replica_max_lag)
    replica.start()
    return replica


@cache
def _routes() -> tuple[Map, dict[str, Callable[..., Any]]]:
    """The rules of all paths and the functions behind them.

    The applications of a process share them: compiling the rules is most of the work of creating an application.
    """
    app = Flask(__name__, static_folder=None)
    app.url_map.merge_slashes = False
    app.url_map.strict_slashes = False
    app.url_map.converters["phone"] = PhoneInPath
    _add_endpoints(app)
    _add_health(app)
    add_documentation(app)
    add_metrics(app)
    add_callbacks(app)
    add_sendsms(app)
    return app.url_map, app.view_functions


def _add_endpoints(app: Flask) -> None:
    for operation in ALL:
        app.add_url_rule(
            operation.api.prefix + operation.path,
            endpoint=f"{operation.method} {operation.api.prefix}{operation.path}",
            view_func=flask_view(handler_of(operation)),
            methods=[operation.method],
            provide_automatic_options=False,
        )


def _add_errors(app: Flask) -> None:
    @app.errorhandler(Exception)
    def failed(error: Exception) -> Response:
        request = current_request()
        path = request.http.path
        hint = (_invalid_id_hint(path) or _missing_prefix_hint(path)) if isinstance(error, NotFound) else None
        return flask_response(error_response(error, request, hint))


def _invalid_id_hint(path: str) -> str | None:
    """A hint for a path whose id is malformed."""
    for pattern in WITH_IDS:
        match = pattern.fullmatch(path)
        invalid = next((value for value in match.groups() if not UUID.fullmatch(value)), None) if match else None
        if invalid is not None:
            return f"{invalid[:40]!r} is not a valid id. Use {ID_FORM}."
    return None


def _missing_prefix_hint(path: str) -> str | None:
    """A hint for a path that lacks only the prefix."""
    if path.startswith((CUSTOMERS.prefix, OPERATORS.prefix)) or not any(
        pattern.fullmatch(path.rstrip("/")) for pattern in PATHS
    ):
        return None
    return f"All paths begin with {CUSTOMERS.prefix}. Try {CUSTOMERS.prefix}{path}."


def _add_health(app: Flask) -> None:
    @app.get("/healthz")
    def healthz() -> Response:
        """Liveness: the process responds."""
        return flask_response(json_response({"status": "ok"}))

    @app.get("/readyz")
    def readyz() -> Response:
        """Readiness: the service can accept sends. Redis is not checked, because no send depends on it."""
        engine = services().engine
        problem = schema_problem(engine) or keys_problem(engine) or unit_problem(engine, services().settings.unit)
        if problem is not None:
            problem = " ".join(filter(None, (problem, shortage(Path.cwd()))))
        status = 200 if problem is None else 503
        return flask_response(json_response({"status": "ready" if problem is None else problem}, status))
