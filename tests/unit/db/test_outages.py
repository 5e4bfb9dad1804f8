"""What is tolerated of a database that is away."""

import logging

import pytest
from sqlalchemy.exc import OperationalError

from bulksms.local.ports import LOOPBACK, free_port
from shared.db.connection import make_engine
from shared.observability.metrics import PROCESS
from worker.outages import Outage

UNAVAILABLE = OperationalError("SELECT 1", None, Exception("no answer"))


def test_an_outage_and_its_end_are_logged_once_each(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    outage = Outage()
    for _ in range(3):
        with outage.tolerated():
            raise UNAVAILABLE
    for _ in range(3):
        with outage.tolerated():
            pass
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


def test_other_errors_are_raised() -> None:
    with pytest.raises(ValueError, match="wrong"), Outage().tolerated():
        raise ValueError("wrong")


def test_a_server_that_cannot_be_reached_is_counted() -> None:
    def failures() -> float:
        return PROCESS.get_sample_value("bulksms_connection_failures_total", {"server": "postgres"}) or 0.0

    before = failures()
    engine = make_engine(f"postgresql+psycopg://bulksms@{LOOPBACK}:{free_port()}/bulksms")
    with pytest.raises(OperationalError):
        engine.connect()
    assert failures() == before + 1
