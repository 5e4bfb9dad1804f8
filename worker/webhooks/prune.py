"""Deletes old events and their deliveries, in small steps, and forgets failures of webhooks.

The rows are found before the first is deleted, because readers of events wait for whoever has written
(shared/db/delete_rows.py).
"""

import time
from datetime import timedelta

from sqlalchemy import Delete, Engine, Update, case, delete, exists, func, not_, select, true

from shared.db.connection import transaction
from shared.db.delete_rows import ROW, delete_found
from shared.db.expressions import first_id_at
from shared.db.tables.events import event, listener
from shared.db.tables.smpp import smpp_credential
from shared.db.tables.webhooks import delivery, webhook
from shared.events.webhook_states import FORGET_FAILURES
from shared.ids import LAST_ID
from shared.outbox import KEPT_DAYS

STEP, OF_WEBHOOK = 20_000, 1_000
"""Most rows deleted per statement, and of them deliveries of one webhook. If it deletes fewer, there are no more."""
SECONDS = 3.0
"""After this long, the rest is left for the next time: the process must also report that it is alive."""
KEPT_SINCE = func.now() - timedelta(days=KEPT_DAYS)
OLDEST_KEPT = first_id_at(KEPT_SINCE)

OLD_EVENTS = select(ROW).select_from(event).where(event.c.id < OLDEST_KEPT).order_by(event.c.id).limit(STEP)
OLD_OF_WEBHOOK = (
    select(ROW.label("row"))
    .select_from(delivery)
    .where(
        delivery.c.webhook_id == webhook.c.id,
        delivery.c.event_id < case((webhook.c.state == "deleted", LAST_ID), else_=OLDEST_KEPT),
    )
    .order_by(delivery.c.event_id)
    .limit(OF_WEBHOOK)
    .lateral()
)
OLD_DELIVERIES = select(OLD_OF_WEBHOOK.c.row).select_from(webhook).join(OLD_OF_WEBHOOK, true()).limit(STEP)
HAS_DELIVERIES = exists().where(delivery.c.webhook_id == webhook.c.id)
HAS_WEBHOOK = exists().where(webhook.c.account_id == listener.c.account_id, webhook.c.state != "deleted")
HAS_SMPP = exists().where(smpp_credential.c.account_id == listener.c.account_id, smpp_credential.c.revoked_at.is_(None))
PRUNE = (
    delete_found(event, OLD_EVENTS),
    delete_found(delivery, OLD_DELIVERIES),
    delete(webhook).where(webhook.c.state == "deleted", not_(HAS_DELIVERIES)),
    FORGET_FAILURES,
    delete(listener).where(listener.c.pulled_at < KEPT_SINCE, not_(HAS_WEBHOOK), not_(HAS_SMPP)),
)
"""The last one keeps the listener of a webhook that is stored meanwhile: `listen` has renewed it."""


def prune(engine: Engine) -> None:
    """Delete rows older than KEPT_DAYS for about SECONDS, and listeners that neither pull nor have a webhook; forget
    the failures of webhooks that have nothing to retry."""
    end = time.monotonic() + SECONDS
    for statement in PRUNE:
        while _execute(engine, statement) >= OF_WEBHOOK and time.monotonic() < end:
            pass


def _execute(engine: Engine, statement: Delete | Update) -> int:
    with transaction(engine, durable=False) as connection:
        return connection.execute(statement).rowcount
