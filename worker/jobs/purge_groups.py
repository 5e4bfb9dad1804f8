"""Deletes the contacts of deleted groups, once no send needs them."""

from sqlalchemy import Engine, text

from shared.db.connection import transaction

PAGE = 10_000
MAX_PAGES = 50
"""Most pages per run: a few seconds of work."""

REMOVE_PAGE = text(
    """
    WITH gone AS (
        SELECT g.id FROM contact_group g
         WHERE g.deleted_at IS NOT NULL AND g.contact_count > 0
           AND NOT EXISTS (SELECT FROM send s WHERE s.group_id = g.id AND s.expanded_to IS NOT NULL)
         ORDER BY g.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
    ), page AS (
        SELECT c.group_id, c.position FROM gone g
         CROSS JOIN LATERAL (SELECT group_id, position FROM contact WHERE group_id = g.id
                              ORDER BY position LIMIT :page) AS c
    ), removed AS (
        DELETE FROM contact c USING page p WHERE c.group_id = p.group_id AND c.position = p.position RETURNING 1
    )
    UPDATE contact_group g SET contact_count = g.contact_count - (SELECT count(*) FROM removed)
      FROM gone WHERE g.id = gone.id
    """
)
"""Deletes one page of one group and updates its count, in one statement. Skips groups that are still being expanded."""


def purge_deleted_groups(engine: Engine) -> int:
    """Delete contacts of deleted groups, page by page. Returns the number of pages."""
    pages = 0
    while pages < MAX_PAGES:
        with transaction(engine) as connection:
            if not connection.execute(REMOVE_PAGE, {"page": PAGE}).rowcount:
                break
        pages += 1
    return pages
