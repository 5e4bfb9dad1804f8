"""Start a verification, or send its code again.

The verification and its send are written in one transaction, so a code that counts as sent is sent, whenever a process
dies. An index allows one open verification for an account, phone and purpose.
"""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection, Row, Select, Text, and_, bindparam, cast, extract, select, update
from sqlalchemy.dialects.postgresql import insert

from api.accept.accept import accept
from api.accept.schemas import SingleSend
from api.auth.tokens import Caller
from api.commit.draft import Draft, encode
from api.endpoint import key_of_request, load
from api.http.request import current_request
from api.idempotency import IdempotentResponse, replay_if_refused
from api.limits.pumping_guard import APPROVAL_WINDOW
from api.problems import Problem, invalid
from api.services import Services
from shared.accounts.sandbox import NAME_SUFFIX
from shared.accounts.verification_settings import TEXTS, settings_of
from shared.db.connection import reading
from shared.db.tables.accounts import account
from shared.db.tables.verifications import verification
from shared.ids import new_id, prefix_of
from shared.sms.countries import country_of, country_prefix
from shared.verifications import COLUMNS, IS_EXHAUSTED, IS_OVER, NOW, STATUS, new_code, read_rates

SINGLE_SEND = SingleSend()
OPEN = and_(COLUMNS.approved_at.is_(None), COLUMNS.replaced_at.is_(None))
OF_PHONE = and_(
    COLUMNS.account_id == bindparam("account"),
    COLUMNS.phone == bindparam("of_phone"),
    COLUMNS.purpose == bindparam("of_purpose"),
    OPEN,
)
FIND: Select[Any] = (
    select(
        *account.c["name", "verification"],
        *COLUMNS["id", "code", "sends"],
        IS_EXHAUSTED.label("exhausted"),
        extract("epoch", NOW - COLUMNS.sent_at).label("since_sent"),
        extract("epoch", COLUMNS.expires_at - NOW).label("until_over"),
    )
    .select_from(account.outerjoin(verification, and_(OF_PHONE, COLUMNS.expires_at > NOW)))
    .where(account.c.id == bindparam("account"))
)
REPLACE = update(verification).where(OF_PHONE, IS_OVER).values(replaced_at=NOW)
"""Of two requests at once, one changes the row, and the other waits for it and then changes none."""
SHOWN = (
    *COLUMNS["id", "purpose", "sends", "created_at", "sent_at", "expires_at", "approved_at"],
    cast(COLUMNS.phone, Text).label("phone"),
    (COLUMNS.max_checks - COLUMNS.checks).label("checks_left"),
    STATUS.label("status"),
    IS_OVER.label("over"),
)


class _Changed(Exception):
    """Another request has changed the verification meanwhile."""


def start(services: Services, caller: Caller, body: dict[str, Any]) -> IdempotentResponse:
    """Send a code: the same one while it is valid, or a new one. Raises Problem as the accepting of a send does, and
    if it is too early."""
    request = current_request()
    key = key_of_request(caller, body)
    request_id = request.request_id if request.summary.is_sampled else None
    subject = {"account": caller.account_id, "of_phone": int(body["phone"]), "of_purpose": body["purpose"]}
    _learn_approvals(services, caller)
    while True:  # ends: each time, another request has sent a code, of which there are few until one must wait
        with reading(services.engine) as connection:
            found = connection.execute(FIND, subject).one()
        try:
            message = _message(services, found, body)
        except Problem:
            repeated = replay_if_refused(services.engine, key)
            if repeated is None:
                raise
            return repeated
        also = partial(_write, services, found, subject, message["variables"]["code"])
        try:
            accepted = accept(services, caller, "single", message, key, request_id, request.summary.traceparent, also)
        except _Changed:
            continue
        assert isinstance(accepted, IdempotentResponse)
        return accepted


def _pause(sends: int, settings: dict[str, Any]) -> int:
    """Seconds until a code that was sent so often may be sent again: each pause is twice as long as the last one."""
    return int(settings["pause_seconds"]) << (sends - 1)


def _message(services: Services, found: Row[Any], body: dict[str, Any]) -> dict[str, Any]:
    """The send of the code. Raises Problem if none may be sent now, or for an unknown language."""
    settings = settings_of(found.verification)
    code = new_code(settings["code_digits"])
    if found.id is not None:
        is_last = found.exhausted or found.sends >= settings["max_sends"]
        wait = min(found.until_over, found.until_over if is_last else _pause(found.sends, settings) - found.since_sent)
        if wait > 0:
            detail = "A code that was sent to this phone number is still valid, and cannot be sent again yet."
            headers = {"Retry-After": str(int(wait) + 1)}
            raise Problem("verification_limit", detail, headers=headers, verification_id=str(found.id))
        code = services.codes.open(found.code, found.id)
    texts = TEXTS | settings["texts"]
    text = texts.get(body["language"])
    if text is None:
        detail = f"There is no text in this language. Use one of {', '.join(sorted(texts))}."
        raise invalid([{"pointer": "/language", "code": "invalid", "detail": detail}])
    if "web_otp_domain" in body:
        text = f"{text}\n\n@{body['web_otp_domain']} #{{{{code}}}}"
    if "sms_retriever_hash" in body:
        text = f"<#> {text}\n{body['sms_retriever_hash']}"
    variables = {"code": code, "name": found.name.removesuffix(NAME_SUFFIX)}
    to = {"sender_id": body["sender_id"], "phone": body["phone"], "category": "authentication"}
    expires_at = datetime.now(UTC) + timedelta(minutes=settings["valid_minutes"])
    return load(SINGLE_SEND, {**to, "message": text, "variables": variables}) | {"expires_at": expires_at}


def _write(
    services: Services, found: Row[Any], subject: dict[str, Any], code: str, connection: Connection, draft: Draft
) -> str:
    """Add the verification, or count another send of its code, which is valid again from now. Returns the response.

    Raises _Changed if another request has done so.
    """
    settings = settings_of(found.verification)
    expires_at = NOW + timedelta(minutes=settings["valid_minutes"])
    if found.id is None:
        connection.execute(REPLACE, subject)
        identifier = new_id()
        values = {
            "id": identifier,
            "account_id": draft.account_id,
            "phone": subject["of_phone"],
            "purpose": subject["of_purpose"],
            "country": country_of(country_prefix(draft.phones[0])),
            "code": services.codes.seal(code, identifier),
            "max_checks": settings["max_checks"],
            "expires_at": expires_at,
        }
        statement: Any = insert(verification).values(values).on_conflict_do_nothing()
    else:
        same = (COLUMNS.id == found.id, COLUMNS.account_id == draft.account_id, COLUMNS.sends == found.sends)
        changes = {"sends": COLUMNS.sends + 1, "sent_at": NOW, "expires_at": expires_at}
        statement = update(verification).where(*same, OPEN, ~IS_OVER, ~IS_EXHAUSTED).values(changes)
    row = connection.execute(statement.returning(*SHOWN)).one_or_none()
    if row is None:
        raise _Changed
    draft.verification_id = row.id
    send = {"send_id": draft.id, "message_id": f"{prefix_of(draft.batch_ids[0])}0001", "cost": draft.cost}
    is_last = row.sends >= settings["max_sends"]
    pause = timedelta(seconds=_pause(row.sends, settings))
    resend_at = row.expires_at if is_last else min(row.sent_at + pause, row.expires_at)
    return encode(current_request().show({**row._mapping, **send, "resend_at": resend_at}))


def _learn_approvals(services: Services, caller: Caller) -> None:
    """Tell the pumping guard, once a minute, how many codes of the last hour were entered, by prefix."""
    guard, account_id = services.pumping, caller.account_id
    if services.tokens.limits_of(account_id).pumping == "off" or not guard.wants_approvals(account_id):
        return
    now = datetime.now(UTC)
    with reading(services.engine) as connection:
        rows = read_rates(connection, account_id, now - APPROVAL_WINDOW, now, "prefix")
    approvals = {row.group: (row.approved + row.exhausted + row.expired, row.approved) for row in rows}
    guard.learn_approvals(account_id, approvals)
