"""Runs the console: `python -m console --port 8001`."""

import argparse
import sys

import waitress

from console.app import create_app
from console.load.body_limits import FILE_BYTES
from console.load.connections import most_connections, raise_descriptor_limit
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
        connection_limit=most_connections(raise_descriptor_limit()),
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
