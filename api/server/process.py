"""One process of the server: uvicorn, an ASGI application, and what both need of the process."""

import gc
import logging
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from api.server.memory import map_large_buffers
from shared.observability.logs import configure_logging
from shared.priority import switch_threads_often

END_SECONDS = 20
"""How long open requests may take after the server is told to stop."""
HUNG_SECONDS = 10
"""A process that gives no sign of life for this long is killed and replaced."""
KEEP_ALIVE_SECONDS = 75
"""How long a connection stays open without a request: longer than a proxy keeps it, which would lose requests."""
BACKLOG = 2048


def serve(application: Callable[[], Any], listening: socket.socket, processes: int = 1) -> None:
    """Serve what `application()` returns in each process, until SIGTERM or SIGINT. With several processes, it must be
    one that can be pickled.
    """
    config = configuration(application, processes)
    if processes > 1:
        hangup = signal.getsignal(signal.SIGHUP)
        supervisor = Multiprocess(config, [listening])
        signal.signal(signal.SIGHUP, hangup)  # the end of a terminal ends what runs in it
        supervisor.run()
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    try:
        uvicorn.Server(config).run([listening])
    except SystemExit as ended:  # uvicorn raises the signal again when it has ended in order
        if ended.code:
            raise


def configuration(application: Callable[[], Any], processes: int = 1) -> uvicorn.Config:
    """How uvicorn serves what `application()` returns."""
    return uvicorn.Config(
        application,
        factory=True,
        workers=processes,
        loop="uvloop",
        http="api.server.protocol:HttpProtocol",
        ws="none",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # the application reads X-Forwarded-For itself
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=END_SECONDS,
        timeout_worker_healthcheck=HUNG_SECONDS,
    )


def load(name: str | None) -> Any:
    """Prepare this process, and load what it is to serve: the ASGI application `module:name`, by default the API."""
    configure_logging()
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # strangers could fill the log with its warnings
    switch_threads_often()  # the event loop waits after each system call, once for every busy thread
    map_large_buffers()
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        threading.Thread(target=_end_with, args=(supervisor,), name="supervisor", daemon=True).start()
    gc.disable()  # what is imported stays
    application = resolve_name("api.server.asgi:make_application")() if name is None else resolve_name(name)
    gc.enable()
    return application


def _end_with(supervisor: Any) -> None:
    """Stop this process when its supervisor has died: nobody else would, and it would keep the port."""
    supervisor.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _end(*_: object) -> None:
    raise SystemExit(0)
