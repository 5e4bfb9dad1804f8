"""What currently limits a send, and the estimated time at which its last message is submitted."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, text

from shared.lifecycle import OPEN_SENDS, STORED, SendState

REASONS: Final = (
    "send_at",
    "paused",
    "held",
    "carrier_paused",
    "carrier_down",
    "no_worker",
    "send_rate",
    "sender_rate",
    "prefix_rate",
    "canary",
    "quiet_hours",
    "retry",
    "throttled",
    "carrier_rate",
    "queue_turn",
    "window",
)

BATCHES = text(
    """
    SELECT send_id, bool_or(state = 'sending') AS sending, bool_or(state = 'queued') AS queued,
           max(carrier) FILTER (WHERE state = 'waiting') AS waits_for,
           max(carrier) FILTER (WHERE state IN ('queued', 'sending') AND carrier NOT LIKE '%/%') AS sent_by,
           bool_or(state IN ('queued', 'sending') AND (carrier IS NULL OR carrier NOT LIKE '%/%')) AS goes_on,
           max(split_part(carrier, '/', 2)) AS limited,
           min(turn) FILTER (WHERE state = 'queued')
               = (SELECT min(o.turn) FROM batch o WHERE o.state = 'queued') AS next
      FROM batch WHERE send_id = ANY(:ids) AND state IN ('waiting', 'queued', 'sending') GROUP BY send_id
    """
)

CARRIERS = text(
    """
    SELECT carrier, bool_or(state = 'ready') AS ready, bool_and(state = 'paused') AS paused, max(rate) AS rate,
           min(allowed) AS allowed
      FROM carrier_report WHERE reported_at > clock_timestamp() - interval '5 seconds' GROUP BY carrier
    """
)

AHEAD = """
    SELECT coalesce(sum((b.size - b.next_index + 1 + coalesce(cardinality(b.retry), 0)) * s.segments), 0)
               AS segments, coalesce(bool_or(b.carrier LIKE '%/%'), false) AS limited
      FROM batch b JOIN send s ON s.id = b.send_id
     WHERE b.state IN ('queued', 'sending')
       AND b.turn <= (SELECT max(o.turn) FROM batch o WHERE {owner} AND o.state IN ('queued', 'sending'))
"""
AHEAD_OF_SEND = text(AHEAD.format(owner="o.send_id = :owner"))
AHEAD_OF_ACCOUNT = text(AHEAD.format(owner="o.account_id = :owner"))
"""Segments to be submitted up to and including the last queued one of a send or an account, and whether any of them is
subject to a limit other than the carrier's rate."""


def limits_of_sends(connection: Connection, rows: Sequence[Any]) -> dict[UUID, str]:
    """The limiting factor, one of REASONS, of each send that waits. `rows` are rows of `send`."""
    waiting = [row for row in rows if row.state in OPEN_SENDS and messages_left(row)]
    if not waiting:
        return {}
    batches = {row.send_id: row for row in connection.execute(BATCHES, {"ids": [row.id for row in waiting]})}
    carriers = carriers_now(connection)
    return {row.id: _reason(row, batches.get(row.id), carriers) for row in waiting}


def carriers_now(connection: Connection) -> dict[str, Any]:
    """The carriers as the workers report them, by name: ready, paused, rate and allowed."""
    return {row.carrier: row for row in connection.execute(CARRIERS)}


def messages_left(row: Any) -> int:
    """The number of a send's messages without a result."""
    return int(row.accepted - sum(getattr(row, status) for status in STORED))


def _reason(row: Any, batches: Any, carriers: dict[str, Any]) -> str:
    now = datetime.now(UTC)
    if row.state in (SendState.PAUSED, SendState.HELD):
        return str(row.state)
    if row.state == SendState.SCHEDULED:
        return "send_at"
    if not carriers:
        return "no_worker"
    unavailable = _carrier_unavailable(row, batches, carriers)
    if unavailable is not None:
        return unavailable
    if row.paced_until is not None and row.paced_until > now:
        return "send_rate"
    if batches is not None and batches.limited and not batches.goes_on:
        return "sender_rate" if batches.limited.startswith("sender ") else "prefix_rate"
    if batches is not None and (batches.sending or batches.next):
        carrier = carriers.get(batches.sent_by) or next(iter(carriers.values()))
        if batches.sending or carrier.allowed > 0:  # only the carrier itself can limit the send now
            return limit_while_sending(carrier)
    if batches is None or batches.queued:
        return "queue_turn"
    rules = row.rules or {}
    return "canary" if "canary" in rules else "quiet_hours" if "quiet" in rules else "retry"


def _carrier_unavailable(row: Any, batches: Any, carriers: dict[str, Any]) -> str | None:
    """Why the carrier that the send waits for is unavailable; None if it does not wait for a carrier."""
    carrier = carriers.get(batches.waits_for) if batches is not None and batches.waits_for is not None else None
    if carrier is None and not row.test and not any(carrier.ready for carrier in carriers.values()):
        carrier = next(iter(carriers.values()))
    if carrier is None or carrier.ready:
        return None
    return "carrier_paused" if carrier.paused else "carrier_down"


def limit_while_sending(carrier: Any) -> str:
    """What limits a send that a carrier is taking."""
    if 0 < carrier.allowed < carrier.rate or (carrier.rate == 0 and carrier.allowed > 0):
        return "throttled"
    return "carrier_rate" if carrier.rate > 0 else "window"


def eta_of_queue(connection: Connection, *, send: UUID | None = None, account: int | None = None) -> datetime | None:
    """Estimate when the last queued message of the send or account is submitted, from the queue ahead and the rate.

    None if it cannot be estimated: the carrier has no rate, there are several carriers, or other limits apply.
    """
    carriers = connection.execute(CARRIERS).all()
    if len(carriers) != 1 or not carriers[0].ready or carriers[0].allowed <= 0:
        return None
    if send is not None:
        ahead = connection.execute(AHEAD_OF_SEND, {"owner": send}).one()
    else:
        ahead = connection.execute(AHEAD_OF_ACCOUNT, {"owner": account}).one()
    if not ahead.segments or ahead.limited:
        return None
    return datetime.now(UTC) + timedelta(seconds=float(ahead.segments) / carriers[0].allowed)
