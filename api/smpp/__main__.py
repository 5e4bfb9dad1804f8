"""Runs the SMPP server for customers: `python -m api.smpp`. Start it several times on one port to use more cores."""

import asyncio
import logging
import signal
import sys
from uuid import uuid4

import click
import uvloop

from api.app import create_app
from api.database_guard import keep_checking
from api.services import Services
from api.smpp.certificate import Certificate
from api.smpp.server import SmppServer
from shared.gc_tuning import collect_less_often
from shared.guard import Guard
from shared.observability.logs import configure_logging
from shared.observability.metrics_server import serve_metrics
from shared.priority import switch_threads_often
from shared.settings import SIMULATED, SettingsError, service_settings

log = logging.getLogger(__name__)

PORT = 2775
"""Registered for SMPP."""
FILE = click.Path(exists=True, dir_okay=False)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(1, 65535), default=PORT, show_default=True)
@click.option("--certificate", type=FILE, help="PEM file: speak TLS on this port.")
@click.option("--key", type=FILE, help="Its private key.")
def main(host: str, port: int, certificate: str | None, key: str | None) -> None:
    """Run the SMPP server."""
    configure_logging()
    try:
        settings = service_settings()
        services: Services = create_app(settings).extensions["bulksms"]
    except SettingsError as error:
        sys.exit(str(error))
    if settings.simulated:
        log.warning(SIMULATED)
    tls = None if certificate is None else Certificate(certificate, key)
    serve_metrics(settings)
    keep_checking(Guard(services.engine, witness=services.commits.witness, api=str(uuid4())))
    switch_threads_often()
    collect_less_often()
    try:
        uvloop.run(_serve(services, host, port, tls))
    except OSError as error:
        sys.exit(f"Cannot listen on {host} port {port} ({error.strerror}). Stop what uses it, or give another --port.")


async def _serve(services: Services, host: str, port: int, tls: Certificate | None) -> None:
    """Serve until SIGTERM or SIGINT."""
    server, stop = SmppServer(services), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    context = None if tls is None else tls.context
    log.info("SMPP: listening on %s port %d", host, await server.start(host, port, context))
    renewing = None if tls is None else asyncio.create_task(tls.reload_hourly())
    await stop.wait()
    if renewing is not None:
        renewing.cancel()
    await server.stop()


if __name__ == "__main__":
    main()
