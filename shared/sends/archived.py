"""Which messages and sends are of weeks that were archived (shared/archive)."""

from typing import Final
from uuid import UUID

from sqlalchemy import Connection, exists, select

from shared.db.tables.messages import archived_week
from shared.db.tables.sends import send

WAS_ARCHIVED = exists().where(send.c.id >= archived_week.c.first_id, send.c.id < archived_week.c.end_id)
"""Whether the week of a send was ever archived."""
ARCHIVED_WEEKS = select(archived_week.c.first_id, archived_week.c.end_id)
IS_ARCHIVED: Final = """EXISTS (SELECT FROM archived_week w
                                 WHERE w.restored_at IS NULL AND b.id >= w.first_id AND b.id < w.end_id)"""
"""SQL: whether the rows of the messages of a batch `b` are in a file."""
USAGE_STAYS: Final = """EXISTS (SELECT FROM archived_week w WHERE s.id >= w.first_id AND s.id < w.end_id
                                                              AND s.forgotten_at >= w.sealed_at)"""
"""SQL: whether a send `s` was forgotten since its week was archived, so that its usage was not moved."""


def without_archived(connection: Connection, sends: list[UUID]) -> list[UUID]:
    """Those of the sends whose week was never archived."""
    weeks = connection.execute(ARCHIVED_WEEKS).all()
    return [each for each in sends if not any(week.first_id <= each < week.end_id for week in weeks)]
