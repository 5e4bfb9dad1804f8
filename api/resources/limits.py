"""What the service takes at most, and how much waits at present."""

from typing import Any

from sqlalchemy import text

from api.answers.account import LimitsAnswer
from api.body import LARGE_BODY, SMALL_BODY
from api.endpoint import endpoint, services
from api.schemas.sends import MOST_AHEAD, MOST_METADATA, MOST_PHONES
from api.tokens import VALID, Caller
from shared.segments import MAX_CHARACTERS
from shared.settings import IDEMPOTENCY_DAYS

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


@endpoint("GET", "/limits", answers=LimitsAnswer, scope="")
def limits(caller: Caller) -> dict[str, Any]:
    """Tell every limit, and the account's backlog."""
    work = services()
    with work.engine.connect() as connection:
        waiting = connection.execute(BACKLOG, {"account": caller.account_id}).scalar_one()
        waiting += connection.execute(UNEXPANDED, {"account": caller.account_id}).scalar_one()
    return {
        "message_characters": MAX_CHARACTERS,
        "phones_per_request": MOST_PHONES,
        "body_bytes": SMALL_BODY,
        "bulk_body_bytes": LARGE_BODY,
        "schedule_days_ahead": MOST_AHEAD.days,
        "metadata_bytes": MOST_METADATA,
        "token_seconds": VALID,
        "requests_per_second": work.settings.requests_per_second,
        "page_items": 1000,
        "idempotency_days": IDEMPOTENCY_DAYS,
        "backlog_messages": int(waiting),
    }
