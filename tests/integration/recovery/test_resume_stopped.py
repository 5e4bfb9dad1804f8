"""Batches that processes of 0.2.0 left paused or held although their send goes on."""

import math
from uuid import UUID

import pytest
from sqlalchemy import text

from api.resources.sends.control import pause
from shared.audit.check import audit
from shared.db.connection import transaction
from shared.sends.holding import hold
from tests.harness.service import Service
from tests.harness.times import ahead
from worker.recovery.resume_stopped import resume_stopped

DUE = (
    text("UPDATE send SET state = 'queued', send_at = NULL WHERE id = :send"),
    text("UPDATE batch SET state = 'queued', due_at = clock_timestamp() WHERE send_id = :send"),
)
STOP = text("UPDATE batch SET state = CAST(:state AS batch_state) WHERE send_id = :send")
STATE = text("SELECT state FROM batch WHERE send_id = :send")


@pytest.fixture
def send(service: Service) -> str:
    """A send that is not due."""
    return str(service.send(send_at=ahead()).json["send_id"])


def stop(service: Service, send: str, state: str) -> None:
    """Its batch is left in that state."""
    with service.engine.begin() as connection:
        connection.execute(STOP, {"send": send, "state": state})


def state_of(service: Service, send: str) -> str:
    with service.engine.connect() as connection:
        return str(connection.execute(STATE, {"send": send}).scalar_one())


@pytest.mark.parametrize("state", ["paused", "held"])
def test_they_are_sent(service: Service, send: str, state: str) -> None:
    with service.engine.begin() as connection:
        for change in DUE:
            connection.execute(change, {"send": send})
    stop(service, send, state)
    assert [breach.rule for breach in audit(service.engine, full=True)] == ["stopped_batches"]
    service.worker.sweeper._housekept = -math.inf
    service.sweep()
    assert service.counts(send)["sent"] == 1
    assert audit(service.engine, full=True) == []


def test_those_that_are_not_due_wait(service: Service, send: str) -> None:
    stop(service, send, "paused")
    resume_stopped(service.engine)
    assert state_of(service, send) == "waiting"


def test_a_send_that_is_stopped_stays_so(service: Service, send: str) -> None:
    with transaction(service.engine) as connection:
        pause(connection, UUID(send))
    resume_stopped(service.engine)
    assert state_of(service, send) == "paused"
    with transaction(service.engine) as connection:
        hold(connection, UUID(send), "x")
    resume_stopped(service.engine)
    assert state_of(service, send) == "paused", "as before it was held"
    assert audit(service.engine, full=True) == []
