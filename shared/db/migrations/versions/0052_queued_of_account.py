"""Finds what an account has in the queue, which decides where its next batch begins in fair order."""

from alembic import op

from shared.db.concurrent_index import build_index

revision = "0052"
down_revision = "0051"

compatible = True
transactional = False


def upgrade() -> None:
    """Add the index."""
    build_index(
        op.get_bind(),
        "batch",
        "ix_batch_account",
        "(account_id, lane, turn) WHERE state IN ('queued', 'sending')",
    )
