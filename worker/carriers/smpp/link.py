"""One bind, kept up for the life of the process: connects, binds, serves, and reconnects."""

import logging
import math
import random
import threading
import time
from collections.abc import Callable
from typing import Literal

from shared.carriers.smpp.constants import Command, status_name
from shared.observability.metrics import BINDS
from worker.carriers.smpp.config import SmppConfig
from worker.carriers.smpp.session import Lost, Refused, Session
from worker.carriers.smpp.status import credentials_refused
from worker.carriers.smpp.wire import Wire, connect

log = logging.getLogger(__name__)

State = Literal["closed", "connecting", "bound", "suspended"]
"""`suspended`: the carrier refuses our credentials."""

FIRST_WAIT, MAX_WAIT = 0.5, 30.0
"""Seconds between connection attempts: doubles each time, with up to half taken off at random."""
SUSPENDED_WAIT = 30.0
"""Minimum wait in seconds after refused credentials. Carriers may lock an account after too many attempts."""
STEADY = 10.0
"""Seconds since the bind after which a connection counts as stable, which resets the backoff."""


class Link:
    """A bind of one type. `start` returns at once; `session` is the connection while it is bound."""

    def __init__(self, config: SmppConfig, command: Command, make: Callable[[Wire], Session]) -> None:
        self._config = config
        self._command = command
        self._make = make
        self._context = config.tls_context()
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self._session: Session | None = None
        self._state: State = "closed"
        self._error: str | None = None
        self._bound_at = math.inf
        """When the last connection was bound (monotonic); infinity if it was not."""
        self._thread = threading.Thread(target=self._run, name=f"{config.name}-{command.name.lower()}", daemon=True)

    def start(self) -> None:
        """Begin to connect."""
        self._become("connecting")
        self._thread.start()

    def session(self, patience: float) -> Session | None:
        """The bound connection; waits up to `patience` seconds for it. None if there is none."""
        session = self._session
        if session is not None:
            return session
        with self._changed:
            self._changed.wait_for(lambda: self._session is not None or self._stop.is_set(), patience)
            return self._session

    @property
    def trouble(self) -> str | None:
        """The state and last error; None while bound."""
        return None if self._state == "bound" else f"{self._state}: {self._error or 'no answer yet'}"

    def close(self) -> None:
        """Unbind and close the connection."""
        self._stop.set()
        session = self._session
        if session is not None:
            session.part()
        self._thread.join(1)
        session = self._session or session
        if session is not None:
            session.end()
        with self._changed:
            self._changed.notify_all()
        self._thread.join(self._config.connect_timeout + 1)
        self._become("closed")

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            self._bound_at = math.inf
            suspended = self._connection()
            failures = 1 if time.monotonic() - self._bound_at > STEADY else failures + 1
            self._stop.wait(back_off(failures, suspended))

    def _connection(self) -> bool:
        """Open one connection and serve it until it ends. Returns whether our credentials were refused."""
        session = None
        try:
            wire = connect(self._config.host, self._config.port, self._config.connect_timeout, self._context)
            session = self._make(wire)
            session.bind(self._command)
            self._bound_at = time.monotonic()
            self._become("bound", session=session)
            if self._stop.is_set():  # while we were connecting, when `close` had no session to unbind
                session.part()
            log.info("%s: bound as %s", self._config.name, self._command.name.lower())
            session.serve()
        except Refused as refused:
            suspended = credentials_refused(refused.status)
            self._fail("suspended" if suspended else "connecting", status_name(refused.status))
            return suspended
        except (Lost, OSError) as error:
            self._fail("connecting", str(error))
        except Exception as error:  # a bug in our parser; the error's text may contain message content
            self._fail("connecting", f"{type(error).__name__} while reading the carrier's data")
        finally:
            if session is not None:
                session.end()
        return False

    def _fail(self, state: State, error: str) -> None:
        if not self._stop.is_set():
            log.warning("%s: not bound as %s: %s", self._config.name, self._command.name.lower(), error)
        self._become(state, error)

    def _become(self, state: State, error: str | None = None, session: Session | None = None) -> None:
        with self._changed:
            BINDS.labels(self._config.name, self._command.name.lower()).inc(
                (session is not None) - (self._session is not None)
            )
            self._state, self._error, self._session = state, error, session
            self._changed.notify_all()


def back_off(failures: int, suspended: bool) -> float:
    """Seconds to wait after this many failures in a row. Randomized, so that workers do not reconnect all at once."""
    wait: float = min(MAX_WAIT, FIRST_WAIT * 2 ** min(failures - 1, 10)) * random.uniform(0.5, 1)
    return SUSPENDED_WAIT + wait if suspended else wait
