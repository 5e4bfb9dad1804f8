"""The schema, one table after the other, as the migrations leave it.

Amounts are credits, whole numbers: one credit is one segment. Times are UTC. Guarantees that the database itself
holds (checks, uniqueness, append-only) stand beside the table they protect.
"""

from shared.db.tables import (
    accounts,
    carriers,
    changes,
    contacts,
    events,
    inbound,
    limits,
    messages,
    money,
    privacy,
    rules,
    running,
    sends,
    text_keys,
    usage,
    webhooks,
)
from shared.db.tables.base import metadata

__all__ = [
    "accounts",
    "carriers",
    "changes",
    "contacts",
    "events",
    "inbound",
    "limits",
    "messages",
    "metadata",
    "money",
    "privacy",
    "rules",
    "running",
    "sends",
    "text_keys",
    "usage",
    "webhooks",
]
