"""Runs the console: `python -m console --port 8001`."""

import argparse
import resource
import sys

import waitress

from console.app import create_app
from console.load.body_limits import FILE_BYTES
from console.settings import from_environment
from shared.environment import SettingsError
from shared.observability.logs import configure_logging
from shared.priority import lower_priority, switch_threads_often

THREADS = 16
NICENESS = 5
"""The console runs at a lower priority, so that the API and sending go first on a shared machine."""
RECV_BYTES = 512
"""Bytes read at a time. This bounds how many pipelined requests are served before the client reads the responses: ten
for the largest static file make 2 MB. From 16 MB on, a thread would wait for the client indefinitely."""

MOST_CONNECTIONS = 2000
DESCRIPTORS_EACH = 12
"""A connection's socket, the file of a large request, and those of responses that its client has not read yet: as
many as RECV_BYTES of requests ask for."""
OWN_DESCRIPTORS = 100
"""For the log, modules and connections to the API."""


def most_connections() -> int:
    """Open connections at a time, for which there are file descriptors; further ones wait. Raises their limit first."""
    _, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest, highest))
    if highest == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(1, min(MOST_CONNECTIONS, (highest - OWN_DESCRIPTORS) // DESCRIPTORS_EACH))


def main() -> int:
    """Serve until the process is stopped. Returns an exit code."""
    parser = argparse.ArgumentParser(prog="python -m console", description="The web console.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001)
    options = parser.parse_args()
    try:
        settings = from_environment()
    except SettingsError as error:
        print(error, file=sys.stderr)
        return 2
    configure_logging()
    lower_priority(NICENESS)
    switch_threads_often()
    waitress.serve(
        create_app(settings),
        host=options.host,
        port=options.port,
        threads=THREADS,
        connection_limit=most_connections(),
        asyncore_use_poll=True,  # select() ends the process at descriptor 1024
        max_request_body_size=FILE_BYTES,
        channel_timeout=60,
        recv_bytes=RECV_BYTES,
        ident="",
        clear_untrusted_proxy_headers=False,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
