"""What the service takes at most, and how much waits at present."""

from typing import Any

from sqlalchemy import text

from api.accept.schemas import MOST_METADATA, MOST_PHONES
from api.auth.tokens import MOST_REVOKED, VALID, Caller
from api.endpoint import endpoint, requests_per_second, services
from api.http.bounded_queries import MOST_EXAMINED, STATEMENT_SECONDS
from api.http.json_body import DEEPEST, LARGE_BODY, MOST_KEYS, MOST_VALUES, SMALL_BODY
from api.http.request_body import MINIMUM_RATE
from api.http.request_head import MOST_HEAD, MOST_LINE
from api.limits.bulkheads import EXPORTS_OF_ACCOUNT, LARGE_OF_ACCOUNT, MOST_OF_ACCOUNT
from api.resources.limits.schemas import LimitsResponse
from api.resources.sends.bottleneck import eta_of_queue, limits_of_sends
from api.schemas.times import MOST_AHEAD
from shared.accounts.limits import limits_of
from shared.contacts.groups import MOST_GROUPS
from shared.db.connection import reading
from shared.ledger.spend_limits import standings
from shared.lifecycle import LANES
from shared.settings import IDEMPOTENCY_DAYS
from shared.sms.segments import MAX_CHARACTERS

BACKLOG = text(
    """
    SELECT coalesce(sum(b.size - b.next_index + 1 + coalesce(cardinality(b.retry), 0)), 0) AS messages
      FROM send s JOIN batch b ON b.send_id = s.id
     WHERE s.account_id = :account AND s.completed_at IS NULL AND b.state NOT IN ('done', 'canceled', 'expired')
    """
)
UNEXPANDED = text(
    "SELECT coalesce(sum(unexpanded), 0) FROM send WHERE account_id = :account AND expanded_to IS NOT NULL"
)

BOUNDS = {
    "header_bytes": MOST_LINE,
    "head_bytes": MOST_HEAD,
    "json_keys": MOST_KEYS,
    "json_values": MOST_VALUES,
    "json_depth": DEEPEST,
    "requests_under_way": MOST_OF_ACCOUNT,
    "large_bodies_under_way": LARGE_OF_ACCOUNT,
    "exports_under_way": EXPORTS_OF_ACCOUNT,
    "body_bytes_per_second": MINIMUM_RATE,
    "revoked_tokens_per_key": MOST_REVOKED,
    "groups": MOST_GROUPS,
    "page_rows_examined": MOST_EXAMINED,
    "page_seconds": STATEMENT_SECONDS,
}
"""Of requests, and of what can be made with them."""

OPEN = text(
    """
    SELECT * FROM send WHERE account_id = :account AND completed_at IS NULL AND state <> 'canceled'
     ORDER BY accepted DESC LIMIT 10
    """
)
"""The largest sends that are not over."""

LIMITS = LimitsResponse()


@endpoint("GET", "/limits", answers=LimitsResponse, scope="")
def limits(caller: Caller) -> Any:
    """Tell every limit, and the account's backlog."""
    work = services()
    with reading(work.engine) as connection:
        waiting = connection.execute(BACKLOG, {"account": caller.account_id}).scalar_one()
        limits, spending = limits_of(connection, caller.account_id), standings(connection, caller.account_id)
        waiting += connection.execute(UNEXPANDED, {"account": caller.account_id}).scalar_one()
        sends = connection.execute(OPEN, {"account": caller.account_id}).all() if waiting else []
        limited = limits_of_sends(connection, sends)
        eta = eta_of_queue(connection, account=caller.account_id) if waiting else None
    requests = requests_per_second(work.settings, limits, caller)
    return LIMITS.dump(
        {
            "message_characters": MAX_CHARACTERS,
            "phones_per_request": MOST_PHONES,
            "body_bytes": SMALL_BODY,
            "bulk_body_bytes": LARGE_BODY,
            "schedule_days_ahead": MOST_AHEAD.days,
            "metadata_bytes": MOST_METADATA,
            "token_seconds": VALID,
            "requests_per_second": min(requests, caller.rate or requests),
            "page_items": 1000,
            "idempotency_days": IDEMPOTENCY_DAYS,
            **BOUNDS,
            "backlog_messages": waiting,
            "backlog_limited_by": next((limited[send.id] for send in sends if send.id in limited), None),
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
                str(category): limits.recipients(lane, work.settings.recipient_limits) or None
                for lane, category in enumerate(LANES)
            },
        }
    )
