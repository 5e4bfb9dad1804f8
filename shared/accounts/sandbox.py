"""Sandboxes, in which an account's test keys work, with play credits and a simulated carrier.

A sandbox is a separate account whose `account.sandbox_of` is the live one. Test keys belong to it, so they see, change
and spend only what belongs to the sandbox. Settings by the operator for the live account (state, country, retention,
limits, rules, approved sender IDs) also apply to its sandbox.
"""

from typing import Final

from sqlalchemy import BigInteger, Connection, and_, bindparam, func, or_, select, text
from sqlalchemy.dialects.postgresql import insert

from shared.accounts.audit_log import Actor, record
from shared.db.tables import accounts
from shared.db.tables.rules import account_limit, category_rule
from shared.ids import new_id
from shared.ledger.ledger import Entry, post

PLAY_CREDITS = 1_000_000
NAME_SUFFIX = " (sandbox)"
"""Suffix of a sandbox's name after the name of its account; not allowed for new live accounts."""
CARRIER_TEST = "carrier-test"
"""Name of the account that pays for test messages of carriers."""

WITH_SANDBOX: Final = or_(
    accounts.account.c.id == bindparam("account"), accounts.account.c.sandbox_of == bindparam("account")
)
"""Whether a row of `account` is the account or its sandbox; for a sandbox, only its own."""
OWNS_SENDER_IDS: Final = and_(accounts.account.c.sandbox_of.is_(None), accounts.account.c.name != CARRIER_TEST)
"""Whether a row of `account` keeps others from its sender IDs, and gets what is sent to them. Sandboxes and tests of
carriers do not: they use the sender IDs of any account."""
IDS_WITH_SANDBOX: Final = select(accounts.account.c.id).where(WITH_SANDBOX)
SIMULATED: Final = """(s.test OR EXISTS (SELECT FROM account sa WHERE sa.id = s.account_id
                                                              AND sa.sandbox_of IS NOT NULL))"""
"""SQL: whether a send `s` may only use the simulated carrier.

The account is checked besides the send's own flag, so that no mistake in that flag lets a sandbox use a live carrier.
"""

ACCOUNTS, LIMITS, RULES, SENDERS = accounts.account.c, account_limit.c, category_rule.c, accounts.sender_id.c
FIND = select(ACCOUNTS.id).where(ACCOUNTS.sandbox_of == bindparam("account")).with_for_update(key_share=True)
OWNS = select(OWNS_SENDER_IDS).where(ACCOUNTS.id == bindparam("account"))
IS_SANDBOX = select(ACCOUNTS.sandbox_of.is_not(None)).where(ACCOUNTS.id == bindparam("account"))
CREATE = text(
    """
    INSERT INTO account (name, sandbox_of, state, low_balance_threshold, country, spend_day, spend_month,
                         retention_days, authentication, verification)
    SELECT name || CASE WHEN EXISTS (SELECT FROM account o WHERE o.name = a.name || :suffix)
                        THEN ' (sandbox of ' || id || ')' ELSE :suffix END,
           id, state, low_balance_threshold, country, spend_day, spend_month, retention_days,
           authentication, verification
      FROM account a WHERE id = :account
    RETURNING id
    """
)
"""Copies the account's settings in the database, so none is missed that it holds. Its name may be taken: then the id,
which no other account has, is in it."""
COPIED_LIMITS = LIMITS[
    "requests_per_second",
    "destinations",
    "recipient_authentication",
    "recipient_transactional",
    "recipient_marketing",
]
COPY_LIMITS = insert(account_limit).from_select(
    [LIMITS.account_id, *COPIED_LIMITS],
    select(bindparam("sandbox", type_=BigInteger), *COPIED_LIMITS).where(LIMITS.account_id == bindparam("account")),
)
COPIED_RULES = RULES["category", "quiet_from", "quiet_until", "cap_messages", "cap_hours"]
COPY_RULES = insert(category_rule).from_select(
    [RULES.account_id, *COPIED_RULES],
    select(bindparam("sandbox", type_=BigInteger), *COPIED_RULES).where(RULES.account_id == bindparam("account")),
)
APPROVED = (
    select(SENDERS.sender_id, SENDERS.authentication)
    .where(SENDERS.account_id == bindparam("account"), SENDERS.state == "approved")
    .order_by(SENDERS.sender_id)
)
APPROVE = (
    insert(accounts.sender_id)
    .values(state="approved", decided_at=func.clock_timestamp())
    .on_conflict_do_nothing(index_elements=[SENDERS.account_id, SENDERS.sender_id])
)
AVAILABLE = select(ACCOUNTS.available).where(ACCOUNTS.id == bindparam("sandbox")).with_for_update(key_share=True)


def is_sandbox(connection: Connection, account_id: int) -> bool:
    """Whether the account is a sandbox."""
    return bool(connection.execute(IS_SANDBOX, {"account": account_id}).scalar())


def owns_sender_ids(connection: Connection, account_id: int) -> bool:
    """Whether no other account may have the account's sender IDs; False for sandboxes and tests of carriers."""
    return bool(connection.execute(OWNS, {"account": account_id}).scalar())


def find_sandbox(connection: Connection, account_id: int) -> int | None:
    """The account's sandbox, with its row locked; None if it has none."""
    sandbox = connection.execute(FIND, {"account": account_id}).scalar()
    return None if sandbox is None else int(sandbox)


def ensure_sandbox(connection: Connection, account_id: int, *, by: Actor | None = None) -> int:
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


def approve_in_sandbox(connection: Connection, sandbox: int, sender: str, authentication: bool) -> None:
    """Approve a sender ID of the account in its sandbox too, unless it is there already."""
    values = {"id": new_id(), "account_id": sandbox, "sender_id": sender, "authentication": authentication}
    connection.execute(APPROVE, values)


def refill(connection: Connection, sandbox: int) -> int:
    """Refill the play credits. Returns the number of credits added."""
    missing = PLAY_CREDITS - int(connection.execute(AVAILABLE, {"sandbox": sandbox}).scalar_one())
    if missing <= 0:
        return 0
    post(connection, [Entry(sandbox, "topup", missing, "topup", new_id(), reason="play credits")])
    return missing
