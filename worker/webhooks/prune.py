"""Deletes old events and their deliveries, in small steps."""

from sqlalchemy import Engine, text

from shared.db.connection import transaction
from shared.outbox import KEPT_DAYS

OLD = f"""
    CAST(lpad(to_hex(CAST(1000 * extract(epoch FROM clock_timestamp() - interval '{KEPT_DAYS} days') AS bigint)),
              12, '0') || repeat('0', 20) AS uuid)
"""
"""SQL: the smallest id of an event that is kept."""

PRUNE = (
    text(f"DELETE FROM event WHERE id IN (SELECT id FROM event WHERE id < {OLD} ORDER BY id LIMIT 20000)"),
    text(
        f"""
        DELETE FROM delivery WHERE (webhook_id, event_id) IN (
            SELECT d.webhook_id, d.event_id FROM webhook w, LATERAL (
                SELECT webhook_id, event_id FROM delivery
                 WHERE webhook_id = w.id AND (event_id < {OLD} OR w.state = 'deleted') ORDER BY event_id LIMIT 1000) d
             LIMIT 20000)
        """
    ),
    text("DELETE FROM webhook w WHERE state = 'deleted' AND NOT EXISTS (SELECT FROM delivery WHERE webhook_id = w.id)"),
    text(
        f"""
        DELETE FROM listener l WHERE pulled_at < clock_timestamp() - interval '{KEPT_DAYS} days'
           AND NOT EXISTS (SELECT FROM webhook w WHERE w.account_id = l.account_id AND w.state <> 'deleted')
        """
    ),
)


def prune(engine: Engine) -> None:
    """Delete rows older than KEPT_DAYS, up to 20,000 per table, and listeners that neither pull nor have a webhook."""
    for statement in PRUNE:
        with transaction(engine, durable=False) as connection:
            connection.execute(statement)
