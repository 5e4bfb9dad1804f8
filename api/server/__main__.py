"""Runs the API: `python -m api.server`. Several processes share a port; each has an event loop and threads.

Each of them imports this module before it shows its first sign of life: it loads little.
"""

import errno
import logging
import sys
import threading
from functools import partial

import click

from api.server.process import load, serve
from api.server.reuse_port import IS_DIVIDED, SharedPort, bound_socket
from shared.carriers.http.file import http_carriers
from shared.db.connection import make_engine
from shared.db.schema import schema_problem
from shared.observability.logs import configure_logging
from shared.observability.traces import are_traces_on
from shared.prices.kept_unit import unit_problem
from shared.settings import SIMULATED, Settings, SettingsError, service_settings

log = logging.getLogger(__name__)


@click.command()
@click.argument("application", required=False)
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@click.option("--processes", type=click.IntRange(1, 64), default=2, show_default=True)
def main(application: str | None, host: str, port: int, processes: int) -> None:
    """Run the HTTP API, or another ASGI APPLICATION, given as module:name."""
    configure_logging()
    settings = None
    if application is None:
        settings = _checked_settings()
    elif ":" not in application:
        raise click.BadParameter(f"{application!r} is not of the form module:name.", param_hint="APPLICATION")
    try:
        listening = SharedPort(host, port) if processes > 1 and IS_DIVIDED else bound_socket(host, port)
    except OSError as error:
        advice = ": stop the program that uses it, or give another --port" if error.errno == errno.EADDRINUSE else ""
        sys.exit(f"Cannot listen on {host} port {port} ({error.strerror}){advice}.")
    log.info("listening on %s port %d, processes: %d", host, port, processes)
    if settings is not None:
        threading.Thread(target=_check_database, args=(settings,), name="database-check", daemon=True).start()
    serve(partial(load, application), listening, processes)


def _checked_settings() -> Settings:
    """The settings. Exits with one sentence if they are wrong. Otherwise each child would report it at every start."""
    try:
        settings = service_settings()
        http_carriers(settings.carriers_file)
        are_traces_on()
    except SettingsError as error:
        sys.exit(str(error))
    if settings.simulated:
        log.warning(SIMULATED)
    return settings


def _check_database(settings: Settings) -> None:
    """Log what is wrong with the database. The API starts anyway, and is ready as soon as that is fixed."""
    engine = make_engine(settings.database_url, 1, "bulksms-api")
    problem = schema_problem(engine) or unit_problem(engine, settings.unit)
    engine.dispose()
    if problem is not None:
        log.warning("%s", problem)


if __name__ == "__main__":
    main()
