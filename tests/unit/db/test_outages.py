"""What is tolerated of a database that is away."""

import logging

import pytest
from sqlalchemy.exc import OperationalError

from worker.outages import Outage

UNAVAILABLE = OperationalError("SELECT 1", None, Exception("no answer"))


def test_that_it_is_away_is_said_once_and_so_that_it_is_back(caplog: pytest.LogCaptureFixture) -> None:
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
