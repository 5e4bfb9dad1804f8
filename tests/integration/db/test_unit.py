"""The database keeps the currency in which its amounts are shown."""

from sqlalchemy import Engine

from shared.prices.kept_unit import unit_problem
from shared.unit import CREDITS, Unit
from tests.harness.own_database import own_database
from tests.harness.service import Service

engine = own_database


def test_another_unit_than_the_first_currency_is_refused(engine: Engine) -> None:
    assert unit_problem(engine, CREDITS) is None
    assert unit_problem(engine, Unit("EUR", 4)) is None
    assert unit_problem(engine, Unit("EUR", 4)) is None
    for other in (CREDITS, Unit("EUR", 2), Unit("USD", 4)):
        assert "UNIT=EUR:4" in str(unit_problem(engine, other))
    ready = Service(engine).client.get("/readyz")
    assert ready.status_code == 503 and "UNIT is sms here" in ready.text
