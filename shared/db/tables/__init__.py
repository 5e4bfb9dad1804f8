"""The database schema, as left by the migrations.

Amounts are credits, whole numbers: one credit is one segment. Times are UTC. Constraints enforced by the database
(checks, uniqueness, append-only) are next to the table that they protect.
"""

from shared.db.tables import (
    accounts,
    carriers,
    contacts,
    events,
    inbound,
    messages,
    money,
    people,
    prices,
    rules,
    running,
    sends,
    smpp,
    usage,
    verifications,
    webhooks,
)
from shared.db.tables.base import metadata

__all__ = [
    "accounts",
    "carriers",
    "contacts",
    "events",
    "inbound",
    "messages",
    "metadata",
    "money",
    "people",
    "prices",
    "rules",
    "running",
    "sends",
    "smpp",
    "usage",
    "verifications",
    "webhooks",
]
