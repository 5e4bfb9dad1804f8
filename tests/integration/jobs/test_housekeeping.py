"""When workers keep house."""

import math

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

import worker.sweeper
from tests.harness.service import Service


def test_housekeeping_is_not_put_off_by_an_outage_before_it(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Engine] = []
    sweeper = service.worker.sweeper
    sweeper._housekept = -math.inf
    monkeypatch.setattr(worker.sweeper, "housekeeping", lambda engine: [lambda: kept.append(engine)])

    def fails(_: Engine) -> None:
        raise OperationalError("SELECT 1", None, Exception("no answer"))

    with monkeypatch.context() as outage, pytest.raises(OperationalError):
        outage.setattr(worker.sweeper, "check_canaries_and_stop_if", fails)
        sweeper.recover_and_wake()
    assert kept == []
    sweeper.recover_and_wake()
    sweeper.recover_and_wake()
    assert kept == [service.engine], "as soon as the database is back, and only once"
