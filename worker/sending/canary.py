"""`canary`: the first messages of a send go out, and the rest once enough of them are delivered. Watches `stop_if` too.

Claims take no more messages than the canary has left, under the lock of the send. When the whole canary is settled, the
send is held; when enough of it is delivered, the send is released.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Interval, Row, bindparam, func, text, update

from shared.db.connection import reading, transaction
from shared.db.tables import sends
from shared.job_backoff import failures_of, is_ready
from shared.job_failures import attempt_each
from shared.lifecycle import SendState
from shared.sends.holding import hold_failing, hold_sends, release_from_rule

ALLOWED_TO_FAIL = "0.1"
"""Share of the canary that need not be delivered, unless `stop_if` sets another."""
RECHECK = timedelta(seconds=1)
"""For how long a send is not claimed while its canary is on its way."""

SENDS = sends.send.c
LEFT = text(
    """
    SELECT CAST(s.rules ->> 'canary' AS int) - (s.in_doubt + s.sent + s.failed + s.undelivered + s.delivered)
           - (SELECT coalesce(sum(b.intent), 0) FROM batch b WHERE b.send_id = s.id AND b.state = 'sending') AS messages
      FROM send s WHERE s.id = :send
    """
)
"""Messages of the canary that no cycle has claimed. Exact, because the send is locked: neither its counters nor the
intents of its batches change meanwhile."""
WAIT = (
    update(sends.send)
    .where(SENDS.id == bindparam("send"))
    .values(paced_until=func.clock_timestamp() + bindparam("wait", type_=Interval))
)

WITH_CANARY_OR_STOP_IF = text(
    "SELECT id FROM send WHERE completed_at IS NULL AND (rules ? 'canary' OR rules ? 'stop_if') ORDER BY id"
)
"""The condition is that of a partial index, word for word: with parameters Postgres would read every open send."""
CANARY_COUNTS = text(
    f"""
    SELECT s.id, s.account_id, {failures_of("canary", "s.id")} AS failures, s.state, s.held_by,
           s.held_reason, CAST(s.rules ->> 'canary' AS int) AS canary, s.delivered,
           s.failed + s.undelivered AS failed, s.in_doubt,
           s.in_doubt + s.sent + s.failed + s.undelivered + s.delivered AS submitted,
           CAST(coalesce(s.rules -> 'stop_if' ->> 'failed_share', :share) AS numeric) AS share,
           EXISTS (SELECT FROM batch b WHERE b.send_id = s.id AND b.state = 'sending') AS under_way
      FROM send s WHERE s.id = ANY(:ids) AND s.rules ? 'canary' AND s.completed_at IS NULL
       AND {is_ready("canary", "s.id")}
     ORDER BY s.id
    """
)
"""The counts of a canary. `under_way` is whether any of its messages may still be submitted, as then it is not
decided. The share is numeric, and so compared as its owner wrote it: 3 of 10 delivered is enough if 0.7 may fail."""
SET_HELD_REASON = (
    update(sends.send)
    .where(SENDS.id == bindparam("send"), SENDS.state == SendState.HELD, SENDS.held_by == "canary")
    .values(held_reason=bindparam("reason"))
)


def messages_allowed(connection: Connection, send_id: UUID, canary: str | None, min_messages: str | None) -> int:
    """The number of messages that a claim may take of a send with `canary`, or with `stop_if`.

    With `stop_if`, a cycle takes no more than the rule needs to decide: `min_messages`. A send with `canary` must be
    locked.
    """
    wanted = min_messages if min_messages is not None else canary
    assert wanted is not None
    limit = int(wanted)
    if canary is None:
        return limit
    left = int(connection.execute(LEFT, {"send": send_id}).scalar_one() or 0)
    if left <= 0:
        connection.execute(WAIT, {"send": send_id, "wait": RECHECK})
    return min(limit, left)


def check_canaries_and_stop_if(engine: Engine) -> None:
    """Hold sends with too many failures and those whose canary is out, and release those whose canary succeeded.

    If that takes long, some are left for the next round (`attempt_each`).
    """
    with transaction(engine) as connection:
        ids = list(connection.execute(WITH_CANARY_OR_STOP_IF).scalars())
        hold_failing(connection, ids)
    if not ids:
        return
    with reading(engine) as connection:
        rows = connection.execute(CANARY_COUNTS, {"ids": ids, "share": ALLOWED_TO_FAIL}).all()

    def change(connection: Connection, row: Row[Any]) -> None:
        if (needed := _change(row)) is not None:
            needed(connection)

    attempt_each(engine, "canary", [row for row in rows if _change(row) is not None], change)


def _change(row: Row[Any]) -> Callable[[Connection], object] | None:
    """What has to be done with a send: hold it, release it, or tell its owner why it stays held. None if nothing."""
    if row.state in ("expanding", "queued", "sending") and row.submitted >= row.canary and not row.under_way:
        reason = f"The first {row.submitted:,} messages are sent; the rest waits until enough of them are delivered."
        return lambda connection: hold_sends(connection, [row.id], "canary", reason)
    if row.state != SendState.HELD or row.held_by != "canary":
        return None
    if row.delivered >= (1 - row.share) * row.submitted:
        return lambda connection: release_from_rule(connection, row.id, "canary")
    if row.failed + row.in_doubt > row.share * row.submitted and (reason := _failed_reason(row)) != row.held_reason:
        return lambda connection: connection.execute(SET_HELD_REASON, {"send": row.id, "reason": reason})
    return None


def _failed_reason(row: Row[Any]) -> str:
    doubt = f", and whether {row.in_doubt:,} were sent is in doubt" if row.in_doubt else ""
    reason = f"{row.failed:,} of the first {row.submitted:,} messages failed{doubt}."
    return f"{reason} `resume` sends the rest all the same."
