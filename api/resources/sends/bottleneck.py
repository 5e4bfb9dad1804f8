"""What currently limits a send, and the estimated time at which its last message is submitted."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Column, Connection, Select, and_, bindparam, func, not_, or_, select

from shared.db.expressions import in_constants, in_parameter
from shared.db.tables import sends as tables
from shared.db.tables.carriers import carrier_report
from shared.lifecycle import OPEN_SENDS, STORED_STATUSES, BatchState, SendState
from shared.sends.sendable import MAX_REPORT_AGE, MESSAGES_LEFT_OF_BATCH

REASONS: Final = {
    "send_at": "it is scheduled for later",
    "paused": "you have paused it",
    "held": "it is held, and `held_by` says by what",
    "carrier_paused": "the operator has paused the carrier",
    "carrier_down": "the carrier is unavailable",
    "no_worker": "no worker is running",
    "send_rate": "its own rate",
    "sender_rate": "the rate limit of its sender ID",
    "prefix_rate": "the rate limit of the numbers that it goes to",
    "canary": "the outcome of its canary",
    "quiet_hours": "quiet hours of its recipients",
    "retry": "it is about to be tried again",
    "throttled": "the carrier has asked for a lower rate",
    "carrier_rate": "the carrier's rate, as is usual for a large send",
    "queue_turn": "other sends go first",
    "window": "the carrier has yet to respond to earlier messages",
}
"""What can limit a send, and what each means."""
MAX_ESTIMATE = timedelta(days=365)
"""Later than any message can expire."""

BATCH, SEND = tables.batch.c, tables.send.c
WAITING = in_constants(BATCH.state, BatchState.WAITING)
QUEUED = in_constants(BATCH.state, BatchState.QUEUED)
SENDING = in_constants(BATCH.state, BatchState.SENDING)
QUEUED_OR_SENDING = or_(QUEUED, SENDING)
"""Each of the two has an index of its own, which Postgres does not use for both in one list of states."""
IN_LIMITED_QUEUE = BATCH.carrier.like("%/%")
OTHER = tables.batch.alias("other")
NEXT_TURN = select(func.min(OTHER.c.turn)).where(in_constants(OTHER.c.state, BatchState.QUEUED)).scalar_subquery()
BATCHES = (
    select(
        BATCH.send_id,
        func.bool_or(SENDING).label("sending"),
        func.bool_or(QUEUED).label("queued"),
        func.max(BATCH.carrier).filter(WAITING).label("waits_for"),
        func.max(BATCH.carrier).filter(QUEUED_OR_SENDING, not_(IN_LIMITED_QUEUE)).label("sent_by"),
        func.bool_or(and_(QUEUED_OR_SENDING, or_(BATCH.carrier.is_(None), not_(IN_LIMITED_QUEUE)))).label("goes_on"),
        func.max(func.split_part(BATCH.carrier, "/", 2)).label("limited"),
        func.sum(BATCH.intent).label("in_flight"),
        (func.min(BATCH.turn).filter(QUEUED) == NEXT_TURN).label("next"),
    )
    .where(in_parameter(BATCH.send_id, "ids"), or_(WAITING, QUEUED_OR_SENDING))
    .group_by(BATCH.send_id)
)
CARRIERS = (
    select(
        carrier_report.c.carrier,
        func.bool_or(carrier_report.c.state == "ready").label("ready"),
        func.bool_and(carrier_report.c.state == "paused").label("paused"),
        func.max(carrier_report.c.rate).label("rate"),
        func.min(carrier_report.c.allowed).label("allowed"),
    )
    .where(carrier_report.c.reported_at > func.clock_timestamp() - timedelta(seconds=MAX_REPORT_AGE))
    .group_by(carrier_report.c.carrier)
)


def _ahead_of(owner: Column[Any]) -> Select[*tuple[Any, ...]]:
    """Segments to be submitted up to and including the last queued one of a send or an account, and whether any of
    them is subject to a limit other than the carrier's rate. `owner` is the column of OTHER that names either."""
    last_turn = select(func.max(OTHER.c.turn)).where(
        owner == bindparam("owner"),
        or_(in_constants(OTHER.c.state, BatchState.QUEUED), in_constants(OTHER.c.state, BatchState.SENDING)),
    )
    return (
        select(
            func.coalesce(func.sum(MESSAGES_LEFT_OF_BATCH * SEND.segments), 0).label("segments"),
            func.coalesce(func.bool_or(IN_LIMITED_QUEUE), False).label("limited"),
        )
        .join_from(tables.batch, tables.send, SEND.id == BATCH.send_id)
        .where(QUEUED_OR_SENDING, BATCH.turn <= last_turn.scalar_subquery())
    )


AHEAD_OF_SEND, AHEAD_OF_ACCOUNT = _ahead_of(OTHER.c.send_id), _ahead_of(OTHER.c.account_id)


def limits_of_sends(connection: Connection, rows: Sequence[Any]) -> dict[UUID, str]:
    """The limiting factor, one of REASONS, of each send that waits. `rows` are rows of `send`."""
    waiting = [row for row in rows if row.state in OPEN_SENDS and unfinished_messages(row)]
    if not waiting:
        return {}
    batches = {row.send_id: row for row in connection.execute(BATCHES, {"ids": [row.id for row in waiting]})}
    carriers = carriers_now(connection)
    return {row.id: _reason(row, batches.get(row.id), carriers) for row in waiting}


def carriers_now(connection: Connection) -> dict[str, Any]:
    """The carriers as the workers report them, by name: ready, paused, rate and allowed."""
    return {row.carrier: row for row in connection.execute(CARRIERS)}


def unfinished_messages(row: Any) -> int:
    """The number of a send's messages without a result."""
    return int(row.accepted - sum(getattr(row, status) for status in STORED_STATUSES))


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
    if _canary_is_out(row, batches):
        return "canary"
    if row.paced_until is not None and row.paced_until > now:
        return "send_rate"
    if batches is not None and batches.limited and not batches.goes_on:
        return rate_limit_kind(batches.limited)
    if batches is not None and (batches.sending or batches.next):
        carrier = carriers.get(batches.sent_by) or next(iter(carriers.values()))
        if batches.sending or carrier.allowed > 0:  # only the carrier itself can limit the send now
            return limit_while_sending(carrier)
    if batches is None or batches.queued:
        return "queue_turn"
    return "quiet_hours" if "quiet" in (row.rules or {}) else "retry"


def _canary_is_out(row: Any, batches: Any) -> bool:
    """Whether the send's whole canary is submitted or claimed, so that its outcome decides on the rest."""
    canary = (row.rules or {}).get("canary")
    if canary is None or canary >= row.accepted:
        return False
    submitted = row.in_doubt + row.sent + row.failed + row.undelivered + row.delivered
    return bool(submitted + (batches.in_flight if batches is not None else 0) >= canary)


def _carrier_unavailable(row: Any, batches: Any, carriers: dict[str, Any]) -> str | None:
    """Why the carrier that the send waits for is unavailable; None if it does not wait for a carrier."""
    carrier = carriers.get(batches.waits_for) if batches is not None and batches.waits_for is not None else None
    if carrier is None and not row.test and not any(carrier.ready for carrier in carriers.values()):
        carrier = next(iter(carriers.values()))
    if carrier is None or carrier.ready:
        return None
    return unavailability(carrier)


def unavailability(carrier: Any) -> str:
    """Why a carrier that is not ready is unavailable."""
    return "carrier_paused" if carrier.paused else "carrier_down"


def rate_limit_kind(limit: str) -> str:
    """The kind of a `[[limits]]` entry of the carriers' file, such as `sender ACME`."""
    return "sender_rate" if limit.startswith("sender ") else "prefix_rate"


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
    return estimate(datetime.now(UTC), float(ahead.segments) / carriers[0].allowed)


def estimate(begin: datetime, seconds: float) -> datetime | None:
    """The time so many seconds later. None if it is too far away to mean anything."""
    return begin + timedelta(seconds=seconds) if seconds < MAX_ESTIMATE.total_seconds() else None
