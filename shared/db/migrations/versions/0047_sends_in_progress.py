"""Finds the sends to several recipients that an account has in progress, however many other sends are newer."""

from alembic import op

from shared.db.concurrent_index import build_index

revision = "0047"
down_revision = "0046"

compatible = True
transactional = False


def upgrade() -> None:
    """Add the index. Single sends, which are far more, are not in it."""
    build_index(
        op.get_bind(),
        "send",
        "ix_send_in_progress",
        "(account_id, id) WHERE completed_at IS NULL AND kind <> 'single'"
        " AND state IN ('expanding', 'queued', 'sending', 'paused', 'held')",
    )
