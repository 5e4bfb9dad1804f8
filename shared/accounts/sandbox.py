"""Sandboxes, in which an account's test keys work, with play credits and a simulated carrier.

A sandbox is a separate account whose `account.sandbox_of` is the live one. Test keys belong to it, so they see, change
and spend only what belongs to the sandbox. Settings by the operator for the live account (state, country, retention,
limits, rules, approved sender IDs) also apply to its sandbox.
"""

from typing import Final

from sqlalchemy import Connection, text

from shared.accounts.audit_log import By, record
from shared.ids import new_id
from shared.ledger.ledger import Entry, post

PLAY_CREDITS = 1_000_000
NAME_SUFFIX = " (sandbox)"
"""Suffix of a sandbox's name after the name of its account; not allowed for new live accounts."""

WITH_SANDBOX: Final = "(SELECT f.id FROM account f WHERE f.id = :account OR f.sandbox_of = :account)"
"""SQL: the ids of the account and its sandbox; for a sandbox, only its own."""
SIMULATED: Final = """(s.test OR EXISTS (SELECT FROM account sa WHERE sa.id = s.account_id
                                                              AND sa.sandbox_of IS NOT NULL))"""
"""SQL: whether a send `s` may only use the simulated carrier.

The account is checked besides the send's own flag, so that no mistake in that flag lets a sandbox use a live carrier.
"""

FIND = text("SELECT id FROM account WHERE sandbox_of = :account FOR NO KEY UPDATE")
IS_SANDBOX = text("SELECT sandbox_of IS NOT NULL FROM account WHERE id = :account")
CREATE = text(
    """
    INSERT INTO account (name, sandbox_of, state, low_balance_threshold, country, spend_day, spend_month,
                         retention_days, authentication)
    SELECT name || CASE WHEN EXISTS (SELECT FROM account o WHERE o.name = a.name || :suffix)
                        THEN ' (sandbox of ' || id || ')' ELSE :suffix END,
           id, state, low_balance_threshold, country, spend_day, spend_month, retention_days,
           authentication
      FROM account a WHERE id = :account
    RETURNING id
    """
)
COPY_LIMITS = text(
    """
    INSERT INTO account_limit (account_id, requests_per_second, destinations, recipient_authentication,
                               recipient_transactional, recipient_marketing)
    SELECT :sandbox, requests_per_second, destinations, recipient_authentication, recipient_transactional,
           recipient_marketing
      FROM account_limit WHERE account_id = :account
    """
)
COPY_RULES = text(
    """
    INSERT INTO category_rule (account_id, category, quiet_from, quiet_until, cap_most, cap_hours)
    SELECT :sandbox, category, quiet_from, quiet_until, cap_most, cap_hours
      FROM category_rule WHERE account_id = :account
    """
)
APPROVED = text(
    "SELECT sender_id, authentication FROM sender_id WHERE account_id = :account AND state = 'approved' ORDER BY 1"
)
APPROVE = text(
    """
    INSERT INTO sender_id (id, account_id, sender_id, state, decided_at, authentication)
    VALUES (:id, :sandbox, :sender, 'approved', clock_timestamp(), :authentication)
    ON CONFLICT (account_id, sender_id) DO NOTHING
    """
)
AVAILABLE = text("SELECT available FROM account WHERE id = :sandbox FOR NO KEY UPDATE")


def is_sandbox(connection: Connection, account_id: int) -> bool:
    """Whether the account is a sandbox."""
    return bool(connection.execute(IS_SANDBOX, {"account": account_id}).scalar())


def find_sandbox(connection: Connection, account_id: int) -> int | None:
    """The account's sandbox, with its row locked; None if it has none."""
    sandbox = connection.execute(FIND, {"account": account_id}).scalar()
    return None if sandbox is None else int(sandbox)


def ensure_sandbox(connection: Connection, account_id: int, *, by: By | None = None) -> int:
    """The account's sandbox, created if it has none; a sandbox returns itself. The account's row must be locked."""
    if is_sandbox(connection, account_id):
        return account_id
    existing = find_sandbox(connection, account_id)
    if existing is not None:
        return existing
    sandbox = int(connection.execute(CREATE, {"account": account_id, "suffix": NAME_SUFFIX}).scalar_one())
    ids = {"account": account_id, "sandbox": sandbox}
    connection.execute(COPY_LIMITS, ids)
    connection.execute(COPY_RULES, ids)
    for sender, authentication in connection.execute(APPROVED, {"account": account_id}).all():
        approve_in_sandbox(connection, sandbox, sender, authentication)
    record(connection, by, "sandbox.created", account_id=account_id, subject=sandbox)
    refill(connection, sandbox)
    return sandbox


def approve_in_sandbox(connection: Connection, sandbox: int, sender: str, authentication: bool = False) -> None:
    """Approve a sender ID of the account in its sandbox too, unless it is there already."""
    values = {"id": new_id(), "sandbox": sandbox, "sender": sender, "authentication": authentication}
    connection.execute(APPROVE, values)


def refill(connection: Connection, sandbox: int) -> int:
    """Refill the play credits. Returns the number of credits added."""
    missing = PLAY_CREDITS - int(connection.execute(AVAILABLE, {"sandbox": sandbox}).scalar_one())
    if missing <= 0:
        return 0
    post(connection, [Entry(sandbox, "topup", missing, "topup", new_id(), reason="play credits")])
    return missing
