"""Deletes old events and their deliveries, in small steps."""

from datetime import timedelta

from sqlalchemy import Engine, delete, exists, func, not_, or_, select, true, tuple_

from shared.db.connection import transaction
from shared.db.expressions import first_id_at
from shared.db.tables.events import event, listener
from shared.db.tables.webhooks import delivery, webhook
from shared.outbox import KEPT_DAYS

STEP, OF_WEBHOOK = 20_000, 1_000
"""Most rows deleted per statement, and of them deliveries of one webhook."""
KEPT_SINCE = func.clock_timestamp() - timedelta(days=KEPT_DAYS)
OLDEST_KEPT = first_id_at(KEPT_SINCE)

OUTDATED = event.alias("outdated")
OLD_EVENTS = select(OUTDATED.c.id).where(OUTDATED.c.id < OLDEST_KEPT).order_by(OUTDATED.c.id).limit(STEP)
ENDED = delivery.alias("ended")
ENDED_OF_WEBHOOK = (
    select(ENDED.c.webhook_id, ENDED.c.event_id)
    .where(ENDED.c.webhook_id == webhook.c.id, or_(ENDED.c.event_id < OLDEST_KEPT, webhook.c.state == "deleted"))
    .order_by(ENDED.c.event_id)
    .limit(OF_WEBHOOK)
    .lateral()
)
OLD_DELIVERIES = select(*ENDED_OF_WEBHOOK.c).select_from(webhook).join(ENDED_OF_WEBHOOK, true()).limit(STEP)
HAS_DELIVERIES = exists().where(delivery.c.webhook_id == webhook.c.id)
HAS_WEBHOOK = exists().where(webhook.c.account_id == listener.c.account_id, webhook.c.state != "deleted")
PRUNE = (
    delete(event).where(event.c.id.in_(OLD_EVENTS)),
    delete(delivery).where(tuple_(delivery.c.webhook_id, delivery.c.event_id).in_(OLD_DELIVERIES)),
    delete(webhook).where(webhook.c.state == "deleted", not_(HAS_DELIVERIES)),
    delete(listener).where(listener.c.pulled_at < KEPT_SINCE, not_(HAS_WEBHOOK)),
)


def prune(engine: Engine) -> None:
    """Delete rows older than KEPT_DAYS, up to 20,000 per table, and listeners that neither pull nor have a webhook."""
    for statement in PRUNE:
        with transaction(engine, durable=False) as connection:
            connection.execute(statement)
