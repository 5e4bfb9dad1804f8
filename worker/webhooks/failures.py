"""Handles internal errors that keep a webhook's events from being posted: it rests, and is disabled if they persist."""

from datetime import timedelta

from sqlalchemy import Connection, Engine, Interval, bindparam, func

from shared.db.connection import transaction
from shared.db.tables.webhooks import webhook
from shared.events.webhooks import FAULT, UPDATE_WEBHOOK
from shared.job_failures import Job, failed
from worker.webhooks.policy import FIRST_REST, LONGEST_REST
from worker.webhooks.store import Hook, tell_disabled

REST = UPDATE_WEBHOOK.where(webhook.c.epoch == bindparam("of_epoch")).values(
    rest_until=func.clock_timestamp() + bindparam("rest", type_=Interval),
    lease_until=func.clock_timestamp(),
    epoch=webhook.c.epoch + 1,
)
SET_ASIDE = (
    UPDATE_WEBHOOK.where(webhook.c.state == "active")
    .values(state="disabled", disabled_reason=bindparam("reason"))
    .returning(webhook.c.id, webhook.c.account_id, webhook.c.url)
)


def note_fault(engine: Engine, hook: Hook, error: Exception) -> None:
    """Let the webhook rest, longer each time. Finally it is disabled, with an event to its owner."""
    job = Job("webhook")
    job.begin(hook.id, hook.account_id, hook.faults)
    failed(engine, job, error, _disable)
    rest = timedelta(seconds=min(LONGEST_REST, FIRST_REST * 2.0 ** min(job.failures, 20)))
    with transaction(engine, durable=False) as connection:
        connection.execute(REST, {"webhook": hook.id, "of_epoch": hook.epoch, "rest": rest})


def _disable(connection: Connection, webhook_id: str, _: str) -> None:
    disabled = connection.execute(SET_ASIDE, {"webhook": webhook_id, "reason": FAULT}).one_or_none()
    if disabled is not None:
        tell_disabled(connection, disabled, FAULT)
