"""One-time passwords: send a code to a phone, and check what a person has entered."""

from datetime import UTC, datetime, time, timedelta
from hmac import compare_digest, digest
from typing import Any
from uuid import UUID

from sqlalchemy import Boolean, Connection, bindparam, case, func, select, update

from api.act_once import act_once
from api.auth.tokens import Caller
from api.endpoint import endpoint, services
from api.idempotency import IdempotentResponse
from api.problems import Problem
from api.resources.sms.routes import SINGLE_ERRORS
from api.resources.verifications import schemas
from api.resources.verifications.start import SHOWN, start
from api.schemas.paging import list_of, newest_id
from shared import outbox
from shared.db.tables.verifications import verification
from shared.encryption import derive_key
from shared.lifecycle import EventType
from shared.verifications import COLUMNS, IS_EXHAUSTED, IS_OVER, KEPT, NOW, Status, as_digits, read_rates

ONE = select(*SHOWN).where(COLUMNS.account_id == bindparam("account"), COLUMNS.id == bindparam("of_id"))
COUNT_CHECK = (
    update(verification)
    .where(COLUMNS.account_id == bindparam("account"), COLUMNS.id == bindparam("of_id"))
    .where(~IS_EXHAUSTED, ~IS_OVER, COLUMNS.replaced_at.is_(None))
    .values(checks=COLUMNS.checks + 1)
    .returning(*COLUMNS["id", "code", "purpose", "approved_at"])
)
"""Counts a check before its code is compared. It locks the row until the check is over, so however many come at once,
no more than `max_checks` are compared."""
IS_RIGHT = case((bindparam("right", type_=Boolean), 1), else_=0)
END_CHECK = (
    update(verification)
    .where(COLUMNS.account_id == bindparam("account"), COLUMNS.id == bindparam("of_id"))
    .values(
        checks=COLUMNS.checks - IS_RIGHT,
        approved_at=func.coalesce(COLUMNS.approved_at, case((IS_RIGHT == 1, NOW))),
    )
    .returning(COLUMNS.max_checks - COLUMNS.checks)
)
"""Approves the verification if the check was right, which then does not count. Returns how many are left. It is
executed in either case, so that both take as long."""
NOBODY = 0
"""An account without events."""


@endpoint(
    "POST",
    "/verifications",
    body=schemas.NewVerification,
    response=schemas.StartedResponse,
    errors=(*(code for code in SINGLE_ERRORS if not code.startswith("quote_")), "verification_limit"),
    scope="sms:send",
)
def start_verification(caller: Caller, body: dict[str, Any]) -> IdempotentResponse:
    """Send a code to a phone number, in the category `authentication`.

    While a verification of the phone number and purpose is open, the same code is sent again, after a growing pause,
    and is valid again from then on.
    """
    return start(services(), caller, body)


@endpoint(
    "POST",
    "/verifications/<uuid:verification_id>/check",
    body=schemas.EnteredCode,
    response=schemas.CheckResponse,
    scope="sms:send",
)
def check_verification(caller: Caller, verification_id: UUID, body: dict[str, Any]) -> IdempotentResponse:
    """Check a code that a person has entered. The response is always 200: `status` says whether the code is right.

    While it is valid, the right code is approved each time; a wrong one is `pending` even after that.
    """
    subject = {"account": caller.account_id, "of_id": verification_id}
    given = as_digits(body["code"])
    key = derive_key(services().settings.secret_key, b"entered codes")
    fingerprinted = {"code": digest(key, given, "sha256").hex()}  # without a key, all codes could be tried on it

    def act(connection: Connection) -> dict[str, Any]:
        counted = connection.execute(COUNT_CHECK, subject).one_or_none()
        if counted is None:
            found = _read(connection, caller, verification_id)
            over = Status.EXPIRED if found["over"] else Status.EXHAUSTED
            status = Status.REPLACED if found["status"] == Status.REPLACED else over
            return {"id": verification_id, "status": status, "checks_left": 0}
        right = compare_digest(services().codes.open(counted.code, counted.id).encode(), given)
        left = connection.execute(END_CHECK, {**subject, "right": right}).scalar_one()
        told = caller.account_id if right and counted.approved_at is None else NOBODY
        data = {"verification_id": verification_id, "purpose": counted.purpose}
        outbox.add(connection, told, EventType.VERIFICATION_APPROVED, data)
        status = Status.APPROVED if right else Status.PENDING if left else Status.EXHAUSTED
        return {"id": verification_id, "status": status, "checks_left": left}

    return act_once(caller, fingerprinted, act)


@endpoint(
    "GET",
    "/verifications",
    query=schemas.VerificationPaging,
    pages=newest_id(schemas.VerificationResponse),
    scope="sms:read",
)
def list_verifications(caller: Caller, connection: Connection, query: dict[str, Any], before: UUID, limit: int) -> Any:
    """List the account's verifications, newest first. They are deleted 30 days after they have expired."""
    listed = select(*SHOWN).where(COLUMNS.account_id == caller.account_id, COLUMNS.id < before)
    if "phone" in query:
        listed = listed.where(COLUMNS.phone == int(query["phone"]))
    return connection.execute(listed.order_by(COLUMNS.id.desc()).limit(limit)).all()


@endpoint("GET", "/verifications/<uuid:verification_id>", response=schemas.VerificationResponse, scope="sms:read")
def get_verification(caller: Caller, connection: Connection, verification_id: UUID) -> Any:
    """Show one verification, without its code."""
    return _read(connection, caller, verification_id)


@endpoint(
    "GET", "/verifications/rates", query=schemas.RatesQuery, response=list_of(schemas.RateResponse), scope="sms:read"
)
def get_verification_rates(caller: Caller, connection: Connection, query: dict[str, Any]) -> Any:
    """Count verifications by country or prefix, the most frequent first: how many codes were sent and entered."""
    today = datetime.now(UTC).date()
    days = query.get("since", today - KEPT), query.get("until", today)
    since, until = (datetime.combine(day, time.min, UTC) for day in days)
    return {"data": read_rates(connection, caller.account_id, since, until + timedelta(days=1), query["by"])}


def _read(connection: Connection, caller: Caller, verification_id: UUID) -> Any:
    subject = {"account": caller.account_id, "of_id": verification_id}
    row = connection.execute(ONE, subject).mappings().one_or_none()
    if row is None:
        raise Problem("verification_not_found", f"Your account has no verification {verification_id}.")
    return row
