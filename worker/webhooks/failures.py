"""Handles internal errors that keep a webhook's events from being posted: it rests, and is disabled if they persist."""

from datetime import timedelta

from sqlalchemy import Connection, Engine, Interval, bindparam, func

from shared.db.connection import transaction
from shared.db.tables.webhooks import webhook
from shared.events.webhook_states import FAULT, UPDATE_WEBHOOK, disable_after_fault
from shared.job_failures import Job, failed
from worker.webhooks.policy import FIRST_REST, MAX_REST
from worker.webhooks.store import Hook, tell_disabled

REST = UPDATE_WEBHOOK.where(webhook.c.epoch == bindparam("of_epoch")).values(
    rest_until=func.clock_timestamp() + bindparam("rest", type_=Interval),
    lease_until=func.clock_timestamp(),
    epoch=webhook.c.epoch + 1,
)


def note_fault(engine: Engine, hook: Hook, error: Exception) -> None:
    """Let the webhook rest, longer each time. Finally it is disabled, with an event to its owner."""
    job = Job("webhook")
    job.begin(hook.id, hook.account_id, hook.faults)
    failed(engine, job, error, _disable)
    rest = timedelta(seconds=min(MAX_REST, FIRST_REST * 2.0 ** min(job.failures, 20)))
    with transaction(engine, durable=False) as connection:
        connection.execute(REST, {"webhook": hook.id, "of_epoch": hook.epoch, "rest": rest})


def _disable(connection: Connection, webhook_id: str, _: str) -> None:
    disabled = disable_after_fault(connection, webhook_id)
    if disabled is not None:
        tell_disabled(connection, disabled, FAULT)
