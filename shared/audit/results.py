"""The results of audits, of the hourly ones and of `bulksms audit`."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from shared.audit.check import Breach
from shared.db.tables.running import audit_result
from shared.ids import LAST_NUMBER

KEPT = 1_000
"""Results that are kept: those of about forty days."""
RECENT_BREACHES = select(func.coalesce(func.max(func.jsonb_array_length(audit_result.c.breaches)), 0)).where(
    audit_result.c.completed_at > func.clock_timestamp() - timedelta(days=1)
)
"""The most breaches that one audit of the last day found: each audit finds again what has not been repaired."""


def record_audit(
    connection: Connection, began_at: datetime, full: bool, breaches: Sequence[Breach], frozen: Sequence[int]
) -> None:
    """Store the result of an audit, and delete the oldest results."""
    values = {"began_at": began_at, "full": full, "breaches": [asdict(each) for each in breaches], "frozen": [*frozen]}
    connection.execute(insert(audit_result).values(completed_at=func.clock_timestamp(), **values))
    last_kept = select(audit_result.c.id).order_by(audit_result.c.id.desc()).offset(KEPT).limit(1).scalar_subquery()
    connection.execute(delete(audit_result).where(audit_result.c.id <= last_kept))


def list_audits(connection: Connection, *, before: int = LAST_NUMBER, limit: int = 50) -> list[dict[str, Any]]:
    """The results of audits, newest first."""
    chosen = select(audit_result).where(audit_result.c.id < before).order_by(audit_result.c.id.desc()).limit(limit)
    return [dict(row) for row in connection.execute(chosen).mappings()]
