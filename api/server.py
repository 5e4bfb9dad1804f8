"""Runs the API: `python -m api.server`. Processes of one port, each an event loop and its threads."""

import errno
import logging
import sys
from socket import socket
from typing import Any, cast

import click
import uvicorn
from uvicorn.supervisors import Multiprocess

from api.listening import IS_DIVIDED, SharedPort
from shared.logs import configure_logging
from shared.settings import SettingsError, from_environment

log = logging.getLogger(__name__)

API = "api.serving:app"
KEEP_ALIVE_SECONDS = 75
BACKLOG = 2048
END_SECONDS = 20
"""How long requests may go on when the server is told to stop."""


@click.command()
@click.argument("application", default=API)
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@click.option("--processes", type=click.IntRange(1, 64), default=2, show_default=True)
def main(application: str, host: str, port: int, processes: int) -> None:
    """Run the HTTP API, or another APPLICATION in the same way."""
    configure_logging()
    if application == API:
        try:
            from_environment()  # here, where it is said once
        except SettingsError as error:
            sys.exit(str(error))
    options: dict[str, Any] = {
        "loop": "uvloop",
        "http": "api.protocol:Protocol",
        "ws": "none",
        "lifespan": "off",
        "interface": "asgi3",
        "log_config": None,
        "access_log": False,
        "proxy_headers": False,  # TRUSTED_PROXIES says whom we believe
        "server_header": False,
        "backlog": BACKLOG,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": END_SECONDS,
    }
    if processes == 1 or not IS_DIVIDED:
        uvicorn.run(application, host=host, port=port, workers=processes, **options)
        return
    try:
        shared = SharedPort(host, port)
    except OSError as error:
        advice = ": stop who has it, or give another --port" if error.errno == errno.EADDRINUSE else ""
        sys.exit(f"Cannot listen on {host} port {port} ({error.strerror}){advice}.")
    log.info("listening on %s port %d, %d processes", *shared.address, processes)
    config = uvicorn.Config(application, host=host, port=port, workers=processes, **options)
    Multiprocess(config, cast(list[socket], [shared])).run()


if __name__ == "__main__":
    main()
