"""The sandbox's play credits."""

from typing import Any

from sqlalchemy import Connection, bindparam, select

from api.auth.tokens import Caller
from api.endpoint import endpoint
from api.problems import Problem
from api.resources.sandbox.schemas import RefillResponse
from shared.accounts.sandbox import refill
from shared.db.tables.accounts import account

BALANCE = select(account.c.available.label("balance"), account.c.reserved).where(account.c.id == bindparam("account"))


@endpoint("POST", "/sandbox/refill", response=RefillResponse, errors=("sandbox_only",), scope="sms:send")
def refill_sandbox(caller: Caller, connection: Connection) -> Any:
    """Refill the sandbox's play credits to 1,000,000. Needs a test key."""
    if not caller.test:
        raise Problem("sandbox_only", "This is a live key, and only the sandbox has play credits.")
    added = refill(connection, caller.account_id)
    balance = connection.execute(BALANCE, {"account": caller.account_id}).one()
    return {"added": added, **balance._mapping}
