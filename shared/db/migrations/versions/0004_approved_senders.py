"""Finds the account for which a sender ID was approved last, and what is due beside what waits for a carrier."""

from alembic import op

from shared.db.concurrent_index import build_index

revision = "0004"
down_revision = "0003"
compatible = True
transactional = False


def upgrade() -> None:
    approved = "(lower(subject), id) WHERE action = 'sender.approved'"
    build_index(op.get_bind(), "audit_log", "ix_audit_log_approved_sender", approved)
    unrouted = "(due_at) WHERE state = 'waiting' AND carrier IS NULL"
    build_index(op.get_bind(), "batch", "ix_batch_due_unrouted", unrouted)
