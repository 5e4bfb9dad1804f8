"""The database keeps the currency in which its amounts are shown."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from bulksms.local.postgres import Postgres
from shared.prices.kept_unit import unit_problem
from shared.unit import CREDITS, Unit
from tests.harness.database import disposable_database
from tests.harness.service import Service


@pytest.fixture(name="engine")
def _engine(postgres_server: Postgres) -> Iterator[Engine]:
    with disposable_database(postgres_server) as engine:
        yield engine


def test_another_unit_than_the_first_currency_is_refused(engine: Engine) -> None:
    assert unit_problem(engine, CREDITS) is None
    assert unit_problem(engine, Unit("EUR", 4)) is None
    assert unit_problem(engine, Unit("EUR", 4)) is None
    for other in (CREDITS, Unit("EUR", 2), Unit("USD", 4)):
        assert "UNIT=EUR:4" in str(unit_problem(engine, other))
    ready = Service(engine).client.get("/readyz")
    assert ready.status_code == 503 and "UNIT is sms here" in ready.text
