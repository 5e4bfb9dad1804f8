"""The sandbox of a test key: its play credits."""

from typing import Any

from sqlalchemy import text

from api.auth.tokens import Caller
from api.commit.draft import encode
from api.commit.idempotency import key_of_request, once
from api.endpoint import endpoint, services
from api.http.problems import Problem
from api.http.responses import JsonResponse
from api.resources.sandbox.schemas import RefillResponse
from shared.accounts.sandbox import refill

BALANCE = text("SELECT available AS balance, reserved FROM account WHERE id = :account")

REFILL = RefillResponse()


@endpoint("POST", "/sandbox/refill", answers=RefillResponse, fails=("sandbox_only",), scope="sms:send")
def refill_sandbox(caller: Caller) -> JsonResponse:
    """Fill the play credits of the sandbox up to 1,000,000 again. Only test keys have play credits."""
    if not caller.test:
        raise Problem("sandbox_only", "This is a live key; only a sandbox has play credits.")
    key = key_of_request(caller, None)
    with services().engine.begin() as connection:

        def act() -> str:
            added = refill(connection, caller.account_id)
            left: dict[str, Any] = dict(connection.execute(BALANCE, {"account": caller.account_id}).mappings().one())
            return encode(REFILL.dump({"added": added, **left}))

        return once(connection, key, act).response()
