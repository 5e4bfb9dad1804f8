"""Handles internal errors that keep a webhook's events from being posted: it rests, and is disabled if they persist."""

from uuid import UUID

from sqlalchemy import Connection, Engine, text

from shared.db.connection import transaction
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
ENABLE = text(
    """
    UPDATE webhook SET state = 'active', disabled_reason = NULL, failing_since = NULL, rest_until = NULL
     WHERE id = :id AND state = 'disabled' AND disabled_reason = :reason
    """
)
FAULT = "The service failed to prepare its events. Its operator has been told."


def note_fault(engine: Engine, hook: Hook, error: Exception) -> None:
    """Let the webhook rest, longer each time. Finally it is disabled, with an event to its owner."""
    job = Job("webhook")
    job.begin(hook.id, hook.account_id, hook.faults)
    failed(engine, job, error, _disable)
    seconds = min(LONGEST_REST, FIRST_REST * 2.0 ** min(job.failures, 20))
    with transaction(engine, durable=False) as connection:
        connection.execute(REST, {"id": hook.id, "epoch": hook.epoch, "seconds": seconds})


def enable_again(connection: Connection, webhook: UUID) -> bool:
    """Re-enable a webhook that `note_fault` disabled, at its position. Returns False if there is none."""
    return bool(connection.execute(ENABLE, {"id": webhook, "reason": FAULT}).rowcount)


def _disable(connection: Connection, webhook: str, _: str) -> None:
    disabled = connection.execute(SET_ASIDE, {"id": webhook, "reason": FAULT}).one_or_none()
    if disabled is not None:
        tell_disabled(connection, disabled, FAULT)
