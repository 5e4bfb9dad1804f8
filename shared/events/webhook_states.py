"""All changes of a webhook's state: by its owner, by its failures and their end, and after a fault of the service."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, Row, bindparam, exists, func, not_, select, update

from shared.db.expressions import in_constants, is_live
from shared.db.tables.webhooks import delivery, webhook

FAILS_FOR: Final = "5 days"
FAULT = "The service failed to prepare its events. Its operator has been told."
"""Why a webhook is disabled whose events could not be prepared."""

UPDATE_WEBHOOK = update(webhook).where(webhook.c.id == bindparam("webhook"))
CHANGE = UPDATE_WEBHOOK.values(
    failures=0,
    failing_since=None,
    rest_until=None,
    epoch=webhook.c.epoch + 1,
    lease_until=None,
    updated_at=func.clock_timestamp(),
)
DELETE = UPDATE_WEBHOOK.values(state="deleted", epoch=webhook.c.epoch + 1, updated_at=func.clock_timestamp())
DISABLE = (
    UPDATE_WEBHOOK.where(webhook.c.state == "active")
    .values(state="disabled", disabled_reason=bindparam("reason"))
    .returning(webhook.c.id, webhook.c.account_id, webhook.c.url)
)
ENABLE = UPDATE_WEBHOOK.where(webhook.c.state == "disabled", webhook.c.disabled_reason == bindparam("reason")).values(
    state="active", disabled_reason=None, failing_since=None, rest_until=None
)
HAS_RETRIES = exists().where(delivery.c.webhook_id == webhook.c.id, in_constants(delivery.c.state, "pending"))
GAVE_UP = (
    webhook.c.failing_since < func.clock_timestamp() - timedelta(hours=1),
    is_live(webhook.c.lease_until).is_not(True),
    not_(HAS_RETRIES),
)
FORGET_FAILURES = (
    update(webhook)
    .where(webhook.c.id.in_(select(webhook.c.id).where(*GAVE_UP).with_for_update(skip_locked=True).correlate(None)))
    .values(failures=0, failing_since=None)
)
"""Of webhooks for which nothing is left to retry: nobody can tell whether they still fail. Retries that another process
stores meanwhile are not seen, but its lease is."""
STATE_AFTER_POSTS: Final = f"""
           failing_since = CASE WHEN :worked THEN NULL WHEN :failed THEN coalesce(w.failing_since, clock_timestamp())
                                ELSE w.failing_since END,
           state = CASE WHEN :gone OR :failed AND w.failing_since < clock_timestamp() - interval '{FAILS_FOR}'
                        THEN 'disabled' ELSE w.state END,
           disabled_reason = CASE WHEN :gone THEN 'It responded with 410 Gone.'
                                  WHEN :failed AND w.failing_since < clock_timestamp() - interval '{FAILS_FOR}'
                                  THEN 'No post has succeeded for {FAILS_FOR}.' ELSE w.disabled_reason END
"""
"""SQL: what an active webhook `w` becomes when a page of its events has been posted; part of the statement that moves
its position (`worker/webhooks/store.py`), because both happen or neither."""


def change_webhook(connection: Connection, webhook_id: UUID, values: Mapping[str, Any]) -> None:
    """Give the webhook the values that its owner wants, its `state` among them. Its failures are forgotten, and a
    process that posts to it loses its lease."""
    connection.execute(CHANGE.values(values), {"webhook": webhook_id})


def delete_webhook(connection: Connection, webhook_id: UUID) -> None:
    """Hide the webhook from its owner and stop posting to it."""
    connection.execute(DELETE, {"webhook": webhook_id})


def disable_after_fault(connection: Connection, webhook_id: str) -> Row[Any] | None:
    """Disable an active webhook because of a FAULT. Returns its id, account and URL; None if it was not active."""
    return connection.execute(DISABLE, {"webhook": webhook_id, "reason": FAULT}).one_or_none()


def enable_after_fault(connection: Connection, webhook_id: UUID) -> bool:
    """Re-enable a webhook that was disabled because of a FAULT, at its position. False if there is none."""
    return bool(connection.execute(ENABLE, {"webhook": webhook_id, "reason": FAULT}).rowcount)
