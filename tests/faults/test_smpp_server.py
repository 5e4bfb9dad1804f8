"""Faults of the SMPP server for customers: what it answered is stored and paid for, and every receipt arrives."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from tests.faults.ground import PATIENCE, Fault
from tests.faults.test_postgres import ONE_CRASH
from tests.harness.house import STEADY, wait_until
from tests.harness.smpp_customer import SmppCustomer, new_credential

SENDS = text("SELECT id FROM send WHERE account_id = :account")
IN_DOUBT = text("SELECT message_id FROM doubt")
CREDITS = 100_000


@contextlib.contextmanager
def customer_of(fault: Fault) -> Iterator[SmppCustomer]:
    """A customer who goes on during the block. At its end each key has one message, one id, and a receipt."""
    house = fault.house
    account, credential = new_credential(house.engine, "smpp", CREDITS)
    customer = SmppCustomer([house.start_smpp()], credential, house.phones(100_000))
    customer.start()
    try:
        wait_until(lambda: customer.answered > 20, 60, "the first answers")
        yield customer
        customer.hold()
        house.engine.dispose()
        house.wait_reviving(lambda: customer.is_settled(in_doubt(fault)), PATIENCE, "every answer and receipt")
        customer.repeat_all()
        wait_until(lambda: all(len(each.ids) > 1 for each in customer.wanted), PATIENCE, "the answers to repeats")
    finally:
        customer.stop()
    assert customer.refused == []
    assert all(len(set(each.ids)) == 1 for each in customer.wanted), "each key has the first answer"
    assert {each.ids[0] for each in customer.wanted} - in_doubt(fault) <= set(customer.receipts)
    with house.engine.connect() as connection:
        fault.sends |= {str(each): 1 for each in connection.execute(SENDS, {"account": account}).scalars()}
    assert house.scalar(f"SELECT {CREDITS} - available FROM account WHERE id = {account}") == len(customer.wanted)
    assert any(each.tries > 2 for each in customer.wanted), "no answer was lost or refused"


def in_doubt(fault: Fault) -> set[str]:
    """The messages in doubt, which have no final status yet."""
    with fault.house.engine.connect() as connection:
        return {str(each) for each in connection.execute(IN_DOUBT).scalars()}


@pytest.mark.parametrize("settings", [STEADY])
def test_killed_under_load(fault: Fault) -> None:
    house = fault.house
    with customer_of(fault) as customer, fault.workload():
        for _ in range(3):
            [server] = house.smpp
            assert server.pid is not None
            answered = customer.answered
            os.kill(server.pid, signal.SIGKILL)
            house.wait_reviving(lambda answered=answered: customer.answered > answered + 20, 60, "more answers")
    fault.check()


@pytest.mark.parametrize("settings", [STEADY])
def test_postgres_and_redis_killed(fault: Fault) -> None:
    house = fault.house
    with customer_of(fault) as customer, fault.workload(progress=False):
        for server in (house.postgres, house.redis, house.postgres):
            answered = customer.answered
            server.kill()
            time.sleep(3)
            server.start()
            wait_until(lambda answered=answered: customer.answered > answered + 20, 60, "more answers")
    fault.check(in_doubt=2 * ONE_CRASH)
