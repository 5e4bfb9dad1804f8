"""The command line has the bounds of the operator API."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection

from shared.accounts.administration import Refused
from shared.accounts.category_rules import set_cap
from shared.accounts.change_account import change_account
from shared.accounts.limits import destinations
from shared.accounts.top_ups import adjust, top_up
from shared.db.connection import transaction
from tests.harness.service import Service

CHANGES: dict[str, tuple[int, Callable[[Connection, int, int], Any]]] = {
    "credits": (10**12, lambda made, account, most: top_up(made, account, most, "paid", str(most))),
    "credits taken": (
        10**12,
        lambda made, account, most: (
            change_account(made, account, {"credit_limit": 10**12}),
            adjust(made, account, -most, "corrected", str(most)),
        ),
    ),
    "days": (3650, lambda made, account, most: change_account(made, account, {"retention_days": most})),
    "messages of a cap": (10_000, lambda made, account, most: set_cap(made, account, "marketing", (most, 24))),
    "hours of a cap": (744, lambda made, account, most: set_cap(made, account, "marketing", (1, most))),
    "destinations": (1000, lambda made, account, most: destinations(str(1000 + number) for number in range(most))),
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_maximum_is_accepted_and_one_more_is_refused(service: Service, name: str) -> None:
    most, change = CHANGES[name]
    with transaction(service.engine) as connection:
        change(connection, service.account_id, most)
        with pytest.raises(Refused):
            change(connection, service.account_id, most + 1)
