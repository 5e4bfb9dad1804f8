"""A month of an installation: messages, contacts, opt-outs, messages from phones, and accounts for an operator."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import insert, text

from bench.growth import Original, copy, vacuum
from bench.load import single_sends
from bench.measure import bulk
from bench.stand import SECRET_KEY, SENDER, Stand
from shared.accounts.administration import create_account, create_key
from shared.accounts.top_ups import top_up
from shared.db.partitions import make_partitions
from shared.db.tables.accounts import sender_id
from shared.scopes import SCOPES
from shared.senders.sender_ids import request_sender

ACCOUNTS = 4
"""Accounts that send."""
QUIET_ACCOUNTS = 300
"""Accounts that do not, each with a pending sender ID."""
DAYS = 30
PATTERN = 20_000
"""Messages of the bulk send that is copied. The single sends of one second are copied with it."""
CREDITS = 100_000_000

CONTACTS = text(
    """
    INSERT INTO contact (group_id, position, phone)
    SELECT :group, n, 255000000000 + n FROM generate_series(1, 100000) AS n
    """
)
COUNTED = text("UPDATE contact_group SET contact_count = 100000, last_position = 100000 WHERE id = :group")
OPT_OUTS = text(
    """
    INSERT INTO suppression (account_id, phone, reason)
    SELECT :account, 255000000000 + n, 'asked by phone' FROM generate_series(1, 100000) AS n
    """
)
INBOUND = text(
    """
    INSERT INTO inbound (id, account_id, carrier, phone, sender_id, message, segments, missing, received_at)
    SELECT (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - n * 40000), 12, '0')
            || '7' || right(md5(n::text || :account), 19))::uuid,
           :account, 'main', (254700000000 + n % 5000)::text, '254204000009', 'Is it open today?', 1, 0,
           now() - n * interval '40 s'
      FROM generate_series(1, 50000) AS n
    """
)
SENDS = "SELECT id FROM send WHERE account_id = {}"


class Tenant(NamedTuple):
    """An account that sends."""

    account: int
    token: str


def fill(stand: Stand, messages: int) -> list[Tenant]:
    """Fill the database with about that many messages of the last 30 days. Returns the accounts that sent them."""
    with stand.engine.begin() as connection:
        for week in range(1, DAYS // 7 + 2):
            make_partitions(connection, datetime.now(UTC) - timedelta(weeks=week))
    tenants = [Tenant(stand.account, stand.token), *(_tenant(stand, number) for number in range(1, ACCOUNTS))]
    originals = [_original(stand, tenant, min(PATTERN, messages // (5 * ACCOUNTS))) for tenant in tenants]
    number, missing = 0, messages - sum(original.messages for original in originals)
    while missing > 0:
        original = originals[number % ACCOUNTS]
        number += 1
        copy(stand.engine, original, number, timedelta(days=number % DAYS))
        stand.cloned += original.messages
        missing -= original.messages
    _other_things(stand, tenants[0])
    vacuum(stand.engine)
    with stand.engine.begin() as connection:
        connection.execute(text("ANALYZE"))
    return tenants


def _tenant(stand: Stand, number: int) -> Tenant:
    with stand.engine.begin() as connection:
        account = create_account(connection, f"tenant {number}")
        connection.execute(insert(sender_id).values(account_id=account, sender_id=SENDER, state="approved"))
        top_up(connection, account, CREDITS, "measurements", "first")
        key = create_key(connection, account, SECRET_KEY, scopes=SCOPES)
    return Tenant(account, str(stand.post("/auth/token", json.dumps(key._asdict()).encode())["access_token"]))


def _original(stand: Stand, tenant: Tenant, messages: int) -> Original:
    """Sends of the account that are copied: one bulk send, and a second of single ones."""
    before, stand.token = stand.token, tenant.token
    bulk(stand, 1, messages)
    single_sends(stand, 16, 1)
    stand.settle()
    stand.token = before
    with stand.engine.connect() as connection:
        sends: list[UUID] = list(connection.execute(text(SENDS.format(tenant.account))).scalars())
    counted = stand.scalar(f"SELECT sum(accepted) FROM send WHERE account_id = {tenant.account}")
    return Original(tenant.account, sends, int(counted))


def _other_things(stand: Stand, tenant: Tenant) -> None:
    group = stand.group(1)
    with stand.engine.begin() as connection:
        connection.execute(text("DELETE FROM contact WHERE group_id = :group"), {"group": group})
        connection.execute(CONTACTS, {"group": group})
        connection.execute(COUNTED, {"group": group})
        connection.execute(OPT_OUTS, {"account": tenant.account})
        connection.execute(INBOUND, {"account": tenant.account})
        for name in _names(QUIET_ACCOUNTS):
            account = create_account(connection, name)
            request_sender(connection, account, name.replace(" ", "")[:11].upper())
            top_up(connection, account, 1_000, "measurements", "first")


def _names(count: int) -> Iterator[str]:
    yield from (f"Shop {number}" for number in range(count))
