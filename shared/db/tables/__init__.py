"""The database schema, as left by the migrations.

Amounts are credits, whole numbers: one credit is one segment. Times are UTC. Constraints enforced by the database
(checks, uniqueness, append-only) are next to the table that they protect.
"""

from shared.db.tables import (
    accounts,
    archives,
    audit_log,
    carriers,
    contacts,
    events,
    inbound,
    limits,
    messages,
    money,
    people,
    prices,
    privacy,
    rules,
    running,
    sends,
    smpp,
    text_keys,
    usage,
    verifications,
    webhooks,
)
from shared.db.tables.base import metadata

__all__ = [
    "accounts",
    "archives",
    "audit_log",
    "carriers",
    "contacts",
    "events",
    "inbound",
    "limits",
    "messages",
    "metadata",
    "money",
    "people",
    "prices",
    "privacy",
    "rules",
    "running",
    "sends",
    "smpp",
    "text_keys",
    "usage",
    "verifications",
    "webhooks",
]
