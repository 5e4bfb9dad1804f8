"""The limits of the service and the account, and the account's backlog."""

from typing import Any

from sqlalchemy import bindparam, func, select

from api.accept.recipients import hourly_limit
from api.accept.schemas import MAX_METADATA_BYTES, MAX_PHONES
from api.auth.revocations import MAX_REVOKED
from api.auth.tokens import VALID, Caller
from api.endpoint import endpoint, services
from api.http.bounded_queries import MAX_ROWS_EXAMINED, STATEMENT_SECONDS
from api.http.json_body import DEEPEST, LARGE_BODY, MAX_KEYS, MAX_VALUES, SMALL_BODY
from api.http.receive import MINIMUM_RATE
from api.http.request import MAX_HEAD_BYTES, MAX_LINE_BYTES
from api.limits.bulkheads import EXPORTS_OF_ACCOUNT, LARGE_OF_ACCOUNT, MAX_PER_ACCOUNT
from api.limits.rate_limits import MAX_DEBT
from api.request_cost import BYTES_PER_REQUEST, RECIPIENTS_PER_REQUEST, ROWS_PER_REQUEST
from api.resources.limits.schemas import LimitsResponse
from api.resources.sends.bottleneck import eta_of_queue, limits_of_sends
from api.schemas.times import MAX_TIME_AHEAD
from shared.accounts.limits import limits_of
from shared.contacts.groups import MAX_GROUPS
from shared.db.connection import reading
from shared.db.tables.sends import batch, send
from shared.ledger.spend_limits import standings
from shared.lifecycle import LANES
from shared.settings import IDEMPOTENCY_DAYS
from shared.sms.segments import MAX_CHARACTERS

UNSENT = batch.c.size - batch.c.next_index + 1 + func.coalesce(func.cardinality(batch.c.retry), 0)
BACKLOG = (
    select(func.coalesce(func.sum(UNSENT), 0))
    .join_from(send, batch, batch.c.send_id == send.c.id)
    .where(
        send.c.account_id == bindparam("account"),
        send.c.completed_at.is_(None),
        batch.c.state.not_in(["done", "canceled", "expired"]),
    )
)
UNEXPANDED = select(func.coalesce(func.sum(send.c.unexpanded), 0)).where(
    send.c.account_id == bindparam("account"), send.c.expanded_to.is_not(None)
)

BOUNDS = {
    "header_bytes": MAX_LINE_BYTES,
    "head_bytes": MAX_HEAD_BYTES,
    "json_keys": MAX_KEYS,
    "json_values": MAX_VALUES,
    "json_depth": DEEPEST,
    "requests_under_way": MAX_PER_ACCOUNT,
    "large_bodies_under_way": LARGE_OF_ACCOUNT,
    "exports_under_way": EXPORTS_OF_ACCOUNT,
    "body_bytes_per_second": MINIMUM_RATE,
    "revoked_tokens_per_key": MAX_REVOKED,
    "groups": MAX_GROUPS,
    "page_rows_examined": MAX_ROWS_EXAMINED,
    "page_seconds": STATEMENT_SECONDS,
}
"""Limits of requests and of the objects that they create."""

OPEN = (
    select(send)
    .where(send.c.account_id == bindparam("account"), send.c.completed_at.is_(None), send.c.state != "canceled")
    .order_by(send.c.accepted.desc())
    .limit(10)
)
"""The largest unfinished sends."""

LIMITS = LimitsResponse()


@endpoint("GET", "/limits", response=LimitsResponse, scope="")
def limits(caller: Caller) -> Any:
    """Show all limits, and the account's backlog."""
    work = services()
    with reading(work.engine) as connection:
        waiting = connection.execute(BACKLOG, {"account": caller.account_id}).scalar_one()
        limits, spending = limits_of(connection, caller.account_id), standings(connection, caller.account_id)
        waiting += connection.execute(UNEXPANDED, {"account": caller.account_id}).scalar_one()
        sends = connection.execute(OPEN, {"account": caller.account_id}).all() if waiting else []
        limited_by = limits_of_sends(connection, sends)
        eta = eta_of_queue(connection, account=caller.account_id) if waiting else None
    requests = work.rate_limits.rate_of(caller, limits)
    return LIMITS.dump(
        {
            "message_characters": MAX_CHARACTERS,
            "phones_per_request": MAX_PHONES,
            "body_bytes": SMALL_BODY,
            "bulk_body_bytes": LARGE_BODY,
            "schedule_days_ahead": MAX_TIME_AHEAD.days,
            "metadata_bytes": MAX_METADATA_BYTES,
            "token_seconds": VALID,
            "requests_per_second": min(requests, caller.rate or requests),
            "request_cost": {
                "rows": ROWS_PER_REQUEST,
                "recipients": RECIPIENTS_PER_REQUEST,
                "body_bytes": BYTES_PER_REQUEST,
                "debt_seconds": MAX_DEBT,
            },
            "page_items": 1000,
            "idempotency_days": IDEMPOTENCY_DAYS,
            **BOUNDS,
            "backlog_messages": waiting,
            "backlog_limited_by": next((limited_by[send.id] for send in sends if send.id in limited_by), None),
            "backlog_eta": eta,
            "spending": {
                "day": limits.spend_day,
                "month": limits.spend_month,
                "spent_of_day": spending["day"].credits,
                "spent_of_month": spending["month"].credits,
            },
            "destinations": limits.destinations,
            "pumping_guard": limits.pumping,
            "messages_per_phone_hour": {
                str(category): hourly_limit(limits, lane, work.settings.recipient_limits) or None
                for lane, category in enumerate(LANES)
            },
        }
    )
