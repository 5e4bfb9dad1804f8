"""`canary`: a part of a send goes first, and the rest when its receipts are good. And the watch over such sends.

While a part is allowed, a claim takes no more of the send than is left of the part, under the lock of the send. When
all of the part is settled the send is held; when enough of it is delivered it goes on by itself.
"""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from shared.db.connection import reading, transaction
from shared.job_failures import FAILURES, RESTS, attempt
from shared.sends.holding import let_go, stop_submitting
from shared.sends.stop_if import stop_failing

ALLOWED_TO_FAIL = 0.1
"""Share of the canary's messages that need not be delivered, where `stop_if` says nothing else."""
LOOK_AGAIN = 1.0
"""Seconds for which a send is left alone whose canary is on its way."""

LOCK_SEND = text("SELECT FROM send WHERE id = :send FOR UPDATE")
LEFT = text(
    """
    SELECT CAST(s.rules ->> 'canary' AS int) - (s.in_doubt + s.sent + s.failed + s.undelivered + s.delivered)
           - (SELECT coalesce(sum(b.intent), 0) FROM batch b WHERE b.send_id = s.id AND b.state = 'sending') AS messages
      FROM send s WHERE s.id = :send
    """
)
WAIT = text("UPDATE send SET paced_until = clock_timestamp() + make_interval(secs => :seconds) WHERE id = :send")

WATCHED = text("SELECT id FROM send WHERE completed_at IS NULL AND (rules ? 'canary' OR rules ? 'stop_if') ORDER BY id")
STANDING = text(
    f"""
    SELECT s.id, s.account_id, {FAILURES.format(kind="canary", subject="s.id")} AS failures, s.state, s.held_by,
           CAST(s.rules ->> 'canary' AS int) AS canary, s.delivered,
           s.failed + s.undelivered AS failed, s.in_doubt,
           s.in_doubt + s.sent + s.failed + s.undelivered + s.delivered AS handed,
           CAST(coalesce(s.rules -> 'stop_if' ->> 'failed_share', :share) AS float8) AS share,
           EXISTS (SELECT FROM batch b WHERE b.send_id = s.id AND b.state = 'sending') AS under_way
      FROM send s WHERE s.id = ANY(:ids) AND s.rules ? 'canary' AND s.completed_at IS NULL
       AND NOT {RESTS.format(kind="canary", subject="s.id")}
    """
)
SAY = text(
    """
    UPDATE send SET held_reason = :reason
     WHERE id = :send AND state = 'held' AND held_by = 'canary' AND held_reason <> :reason
    """
)


def allowed(connection: Connection, send_id: UUID, canary: str | None, over: str | None) -> int:
    """Messages of a send with a canary, or with `stop_if`, that a claim may take.

    A turn of a send with `stop_if` takes no more than it needs to be judged by: `over` so many.
    """
    wanted = over if over is not None else canary
    assert wanted is not None
    most = int(wanted)
    if canary is None:
        return most
    connection.execute(LOCK_SEND, {"send": send_id})
    left = int(connection.execute(LEFT, {"send": send_id}).scalar_one() or 0)
    if left <= 0:
        connection.execute(WAIT, {"send": send_id, "seconds": LOOK_AGAIN})
    return min(most, left)


def watch_sends(engine: Engine) -> None:
    """Hold sends of which too many messages fail, and those whose canary is out; let go on whose canary is good."""
    with transaction(engine) as connection:
        watched = list(connection.execute(WATCHED).scalars())
        stop_failing(connection, watched)
    if not watched:
        return
    with reading(engine) as connection:
        standing = connection.execute(STANDING, {"ids": watched, "share": str(ALLOWED_TO_FAIL)}).all()
    for row in standing:
        with attempt(engine, "canary") as job, transaction(engine) as connection:
            job.begin(row.id, row.account_id, row.failures)
            _judge(connection, row)


def _judge(connection: Connection, row: Row[Any]) -> None:
    if row.state in ("expanding", "queued", "sending") and row.handed >= row.canary and not row.under_way:
        reason = f"The first {row.handed:,} messages are sent; the rest waits until enough of them are delivered."
        stop_submitting(connection, row.id, "canary", reason)
    elif row.held_by == "canary":
        _judge_held(connection, row)


def _judge_held(connection: Connection, row: Row[Any]) -> None:
    if row.delivered >= (1 - row.share) * row.handed:
        let_go(connection, UUID(str(row.id)), "canary")
    elif row.failed + row.in_doubt > row.share * row.handed:
        doubt = f", and whether {row.in_doubt:,} were sent is in doubt" if row.in_doubt else ""
        reason = f"{row.failed:,} of the first {row.handed:,} messages failed{doubt}."
        reason += " `resume` sends the rest all the same."
        connection.execute(SAY, {"send": row.id, "reason": reason})
