"""Handles internal errors that keep a webhook's events from being posted: it rests, and is disabled if they persist."""

from sqlalchemy import Connection, Engine, text

from shared.db.connection import transaction
from shared.events.webhooks import FAULT
from shared.job_failures import Job, failed
from worker.webhooks.policy import FIRST_REST, LONGEST_REST
from worker.webhooks.store import Hook, tell_disabled

REST = text(
    """
    UPDATE webhook SET rest_until = clock_timestamp() + make_interval(secs => :seconds), lease_until = clock_timestamp()
     WHERE id = :id AND epoch = :epoch
    """
)
SET_ASIDE = text(
    """
    UPDATE webhook SET state = 'disabled', disabled_reason = :reason WHERE id = :id AND state = 'active'
    RETURNING id, account_id, url
    """
)


def note_fault(engine: Engine, hook: Hook, error: Exception) -> None:
    """Let the webhook rest, longer each time. Finally it is disabled, with an event to its owner."""
    job = Job("webhook")
    job.begin(hook.id, hook.account_id, hook.faults)
    failed(engine, job, error, _disable)
    seconds = min(LONGEST_REST, FIRST_REST * 2.0 ** min(job.failures, 20))
    with transaction(engine, durable=False) as connection:
        connection.execute(REST, {"id": hook.id, "epoch": hook.epoch, "seconds": seconds})


def _disable(connection: Connection, webhook: str, _: str) -> None:
    disabled = connection.execute(SET_ASIDE, {"id": webhook, "reason": FAULT}).one_or_none()
    if disabled is not None:
        tell_disabled(connection, disabled, FAULT)
