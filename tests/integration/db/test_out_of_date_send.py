"""A send goes on after a migration has changed the type of a column that its prepared statement returns."""

from tests.harness.service import Service

SENDS = 12
"""Enough that the statement is prepared."""
POOLS = 2
"""Of the API: for requests on the event loop, and for those in threads."""


def keyed(number: int) -> dict[str, str]:
    return {"Idempotency-Key": f"out-of-date-{number}"}


def test_sends_fail_once_at_most_in_each_pool(service: Service) -> None:
    assert {service.send().status_code for _ in range(SENDS)} == {200}
    assert {service.send(headers=keyed(number)).status_code for number in range(SENDS)} == {200}
    service.execute("ALTER TABLE account ALTER low_balance_threshold TYPE numeric")
    statuses = [service.send(headers=keyed(SENDS + number)).status_code for number in range(6)]
    statuses += [service.send().status_code for _ in range(6)]
    assert set(statuses) <= {200, 503} and statuses[-1] == 200
    assert statuses.count(503) <= POOLS
