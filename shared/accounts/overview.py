"""Accounts as operators see them: state, credits, what they have, and today's traffic."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, Text, and_, cast, func, or_, select, true
from sqlalchemy.dialects.postgresql import array

from shared.db.tables.accounts import TO_SPEND, account, api_key, sender_id
from shared.db.tables.contacts import contact_group
from shared.db.tables.money import ledger
from shared.db.tables.sends import send
from shared.db.tables.usage import usage
from shared.ids import LAST_NUMBER
from shared.lifecycle import MessageStatus

SANDBOX = account.alias("sandbox")
REVERSAL = ledger.alias("reversal")
COLUMNS = (
    *account.c["id", "name", "state", "available", "reserved", "weight", "low_balance_threshold", "country"],
    *account.c["retention_days", "authentication", "created_at", "credit_limit", "spend_threshold", "verification"],
    TO_SPEND.label("balance"),
)
FAILED = (MessageStatus.UNDELIVERED, MessageStatus.FAILED, MessageStatus.REJECTED, MessageStatus.EXPIRED)
TODAY = (
    select(
        func.coalesce(func.sum(usage.c.messages), 0).label("messages_today"),
        func.coalesce(func.sum(usage.c.messages).filter(usage.c.status == MessageStatus.DELIVERED), 0).label(
            "delivered_today"
        ),
        func.coalesce(func.sum(usage.c.messages).filter(usage.c.status.in_(FAILED)), 0).label("failed_today"),
        func.coalesce(func.sum(usage.c.credits), 0).label("credits_today"),
    )
    .where(usage.c.account_id == account.c.id, usage.c.began_at >= func.date_trunc("day", func.now(), "UTC"))
    .lateral("today")
)
"""An account's messages with a result that were accepted since midnight (UTC). Workers count every ten seconds."""
TOP_UPS = (
    select(
        ledger.c.id.label("position"),
        ledger.c.subject.label("id"),
        ledger.c.amount,
        REVERSAL.c.amount.label("reversed"),
        ledger.c.reason,
        REVERSAL.c.reason.label("reversal_reason"),
        ledger.c.created_at,
    )
    .outerjoin(REVERSAL, and_(REVERSAL.c.subject == ledger.c.subject, REVERSAL.c.kind == "reversal"))
    .where(ledger.c.kind == "topup")
    .order_by(ledger.c.id.desc())
)


def _count(table: Table, condition: ColumnElement[bool]) -> ColumnElement[int]:
    """How many rows of a table belong to the account and fulfil the condition."""
    return (
        select(func.count()).select_from(table).where(table.c.account_id == account.c.id, condition).scalar_subquery()
    )


SENDER_IDS = (
    select(func.array_agg(sender_id.c.sender_id))
    .where(sender_id.c.account_id == account.c.id, sender_id.c.state == "approved")
    .scalar_subquery()
)
LIST = select(*COLUMNS, TODAY).select_from(account.join(TODAY, true()))
SHOW = select(
    *COLUMNS,
    SANDBOX.c.name.label("sandbox"),
    SANDBOX.c.available.label("test_credits"),
    _count(api_key, api_key.c.revoked_at.is_(None)).label("api_keys"),
    func.coalesce(SENDER_IDS, cast(array([], type_=Text), SENDER_IDS.type)).label("sender_ids"),
    _count(contact_group, contact_group.c.deleted_at.is_(None)).label("groups"),
    _count(send, send.c.completed_at.is_(None)).label("open_sends"),
    TODAY,
).select_from(account.join(TODAY, true()).outerjoin(SANDBOX, SANDBOX.c.sandbox_of == account.c.id))


def list_accounts(
    connection: Connection,
    *,
    search: str | None = None,
    state: str | None = None,
    after: int = 0,
    limit: int | None = None,
) -> list[dict[str, Any]]:
    """Live accounts in the order of their ids, with their traffic today. `search` is a part of the name, or the id."""
    chosen = LIST.where(account.c.sandbox_of.is_(None), account.c.id > after)
    if search is not None:
        named = account.c.name.icontains(search, autoescape=True)
        is_id = search.isascii() and search.isdigit() and int(search) <= LAST_NUMBER
        chosen = chosen.where(or_(named, account.c.id == int(search)) if is_id else named)
    if state is not None:
        chosen = chosen.where(account.c.state == state)
    return [dict(row) for row in connection.execute(chosen.order_by(account.c.id).limit(limit)).mappings()]


def show_account(connection: Connection, account_id: int, *, live: bool = False) -> dict[str, Any] | None:
    """One account with what it has, its sandbox and its traffic today; None if there is none.

    With `live`, a sandbox is none.
    """
    if not 0 < account_id <= LAST_NUMBER:
        return None
    chosen = SHOW.where(account.c.id == account_id)
    row = connection.execute(chosen.where(account.c.sandbox_of.is_(None)) if live else chosen).mappings().one_or_none()
    return None if row is None else {**row, "sender_ids": sorted(row["sender_ids"])}


def is_live_account(connection: Connection, account_id: int) -> bool:
    """Whether there is a live account with this id."""
    if not 0 < account_id <= LAST_NUMBER:
        return False
    found = select(account.c.id).where(account.c.id == account_id, account.c.sandbox_of.is_(None))
    return connection.execute(found).scalar() is not None


def list_top_ups(
    connection: Connection, account_id: int, *, before: int = LAST_NUMBER, limit: int = 100
) -> list[dict[str, Any]]:
    """The account's top-ups, newest first, each with what was reversed; `position` orders them."""
    chosen = TOP_UPS.where(ledger.c.account_id == account_id, ledger.c.id < before).limit(limit)
    return [dict(row) for row in connection.execute(chosen).mappings()]
