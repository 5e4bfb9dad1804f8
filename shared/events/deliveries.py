"""All changes of a delivery's state: by the results of its posts, and when its event is to be posted again."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, Double, Uuid, and_, any_, bindparam, column, func, not_, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.db.expressions import in_parameter, parameter_rows, seconds
from shared.db.tables.webhooks import delivery

OF_WEBHOOK: Final = delivery.c.webhook_id == bindparam("webhook")
ONE: Final = OF_WEBHOOK & (delivery.c.event_id == bindparam("event"))
IS_REPLAYED = and_(
    delivery.c.state == "pending", delivery.c.attempts == 0, delivery.c.next_at <= func.statement_timestamp()
)
"""Was replayed, and its event is not yet posted again."""
IS_UNDELIVERED: Final = and_(delivery.c.state.in_(["failed", "pending"]), not_(IS_REPLAYED))
"""Has failed or waits for its next attempt, and was not replayed since: a repeated request goes on with the rest."""
POST_AGAIN = update(delivery).values(
    state="pending", attempts=0, next_at=func.clock_timestamp(), updated_at=func.clock_timestamp()
)
REPLAY = POST_AGAIN.where(ONE)
FREE = (
    select(delivery.c.event_id)
    .where(OF_WEBHOOK, IS_UNDELIVERED, in_parameter(delivery.c.event_id, "events"))
    .with_for_update(skip_locked=True)
)
REPLAY_UNDELIVERED = POST_AGAIN.where(
    OF_WEBHOOK, delivery.c.event_id == any_(func.array(FREE.correlate(None).scalar_subquery()))
)
"""Waits for no delivery, so nothing deadlocks: while the webhook is locked, others only lock deliveries whose events
are too old and no longer stored, in orders of their own (worker/webhooks/prune.py, `_retries` of
worker/webhooks/store.py)."""

COPIED = ("event_id", "type", "state", "attempts", "url", "http_status", "error", "milliseconds")
RESULTS = parameter_rows("results", *delivery.c[COPIED], column("wait", Double))
NEXT_AT = func.clock_timestamp() + seconds(RESULTS.c.wait)
NEW = insert(delivery).from_select(
    ["webhook_id", *COPIED, "next_at"],
    select(bindparam("id", type_=Uuid), *RESULTS.c[COPIED], NEXT_AT),
)
WRITE = NEW.on_conflict_do_update(
    index_elements=["webhook_id", "event_id"],
    set_={
        **{name: NEW.excluded[name] for name in (*COPIED[2:], "next_at")},
        "updated_at": func.clock_timestamp(),
    },
)


def record_results(connection: Connection, webhook_id: UUID, results: Mapping[str, Sequence[Any]]) -> None:
    """Store the results of posts. `results` has a list for each of their columns, and of `wait`: seconds until the next
    attempt, or None."""
    connection.execute(WRITE, {"id": webhook_id, **results})


def replay(connection: Connection, webhook_id: UUID, event_id: UUID) -> bool:
    """Let an event be posted again at once, whatever its state. False if it has no delivery."""
    return bool(connection.execute(REPLAY, {"webhook": webhook_id, "event": event_id}).rowcount)


def replay_undelivered(connection: Connection, webhook_id: UUID, event_ids: Sequence[UUID]) -> None:
    """Let those of the events be posted again at once that have failed, or wait for their next attempt. Lock the
    webhook first."""
    connection.execute(REPLAY_UNDELIVERED, {"webhook": webhook_id, "events": event_ids})
