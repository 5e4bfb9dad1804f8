"""Who stops in the middle of a COPY holds its locks until its session is ended; nobody else's session is."""

import contextlib
from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import text

from shared.db.connection import driver_of, make_engine
from tests.harness.house import wait_until
from tests.harness.service import Service
from worker.recovery.stalled_sessions import StalledSessions

LOCK = "SELECT FROM account WHERE id = %s FOR UPDATE"
LOCK_AT_ONCE = text("SELECT FROM account WHERE id = :id FOR UPDATE NOWAIT")
COPY = "COPY revoked_token (id, api_key_id, expires_at) FROM STDIN"
UNREAD = "SET tcp_user_timeout = '10min'"
"""What the client does not read may stay so for as long; with less, the system would end the connection."""
LONG_ANSWER = b"SELECT repeat('x', 1000) FROM generate_series(1, 100000)"
WAITS = text("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = :pid AND wait_event = :event)")


@contextlib.contextmanager
def session(service: Service, application: str) -> Iterator[psycopg.Cursor]:
    """A session in a transaction that has locked the account."""
    engine = make_engine(service.settings.database_url, 1, application)
    try:
        with engine.connect() as connection:
            driver = driver_of(connection)
            driver.execute(LOCK, (service.account_id,))
            yield driver.cursor()
            connection.invalidate()
    finally:
        engine.dispose()


def is_locked(service: Service) -> bool:
    try:
        service.execute(LOCK_AT_ONCE, id=service.account_id)
    except Exception as error:
        assert "could not obtain lock" in str(error)
        return True
    return False


def wait_for_the_client(service: Service, cursor: psycopg.Cursor, event: str = "ClientRead") -> None:
    """Return when Postgres waits for the session."""
    session = {"pid": cursor.connection.info.backend_pid, "event": event}
    wait_until(lambda: service.scalar(WAITS, **session), 60, event)


def ended_sessions(service: Service) -> tuple[int, int]:
    """How many sessions each of two passes ends."""
    stalled = StalledSessions(service.engine, 0.0)
    return stalled.terminate(), stalled.terminate()


def test_a_stalled_copy_is_terminated_and_its_locks_are_free(service: Service) -> None:
    with session(service, "bulksms-worker") as cursor, contextlib.suppress(psycopg.OperationalError):
        with cursor.copy(COPY):
            wait_for_the_client(service, cursor)
            patient, stalled = StalledSessions(service.engine, 60.0), StalledSessions(service.engine, 0.0)
            assert (patient.terminate(), patient.terminate()) == (0, 0), "it has not waited for a minute"
            assert stalled.terminate() == 0, "it was not seen before"
            assert is_locked(service)
            assert stalled.terminate() == 1
            wait_until(lambda: not is_locked(service), 60, "the lock")
        pytest.fail("the process gets no error")


def test_a_session_that_does_not_read_the_response_is_ended_too(service: Service) -> None:
    with session(service, "bulksms-worker") as cursor:
        cursor.execute(UNREAD)
        cursor.connection.pgconn.send_query(LONG_ANSWER)
        wait_for_the_client(service, cursor, "ClientWrite")
        assert ended_sessions(service) == (0, 1)
        wait_until(lambda: not is_locked(service), 60, "the lock")


def test_a_session_that_goes_on_to_another_statement_is_left_alone(service: Service) -> None:
    stalled = StalledSessions(service.engine, 0.0)
    with session(service, "bulksms-worker") as cursor:
        for token in ("a", "b"):
            with cursor.copy(COPY) as copy:
                wait_for_the_client(service, cursor)
                assert stalled.terminate() == 0
                copy.write(f"{token}\tkey\t2026-01-01\n")


def test_a_session_of_another_program_is_left_alone(service: Service) -> None:
    with session(service, "pg_dump") as cursor, cursor.copy(COPY):
        wait_for_the_client(service, cursor)
        assert ended_sessions(service) == (0, 0)
        assert is_locked(service)
