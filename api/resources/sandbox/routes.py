"""The sandbox's play credits."""

from typing import Any

from sqlalchemy import bindparam, select

from api.auth.tokens import Caller
from api.commit.draft import encode
from api.endpoint import endpoint, key_of_request, services
from api.idempotency import IdempotentResponse, once
from api.problems import Problem
from api.resources.sandbox.schemas import RefillResponse
from shared.accounts.sandbox import refill
from shared.db.tables.accounts import account

BALANCE = select(account.c.available.label("balance"), account.c.reserved).where(account.c.id == bindparam("account"))

REFILL = RefillResponse()


@endpoint("POST", "/sandbox/refill", response=RefillResponse, errors=("sandbox_only",), scope="sms:send")
def refill_sandbox(caller: Caller) -> IdempotentResponse:
    """Refill the sandbox's play credits to 1,000,000. Needs a test key."""
    if not caller.test:
        raise Problem("sandbox_only", "This is a live key, and only the sandbox has play credits.")
    key = key_of_request(caller, None)
    with services().engine.begin() as connection:

        def act() -> str:
            added = refill(connection, caller.account_id)
            balance: dict[str, Any] = dict(connection.execute(BALANCE, {"account": caller.account_id}).mappings().one())
            return encode(REFILL.dump({"added": added, **balance}))

        return once(connection, key, act)
