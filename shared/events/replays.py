"""Readers of an account's events go back, so that what they have delivered is delivered again."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, Update, Uuid, and_, bindparam, literal, select, tuple_, update

from shared.accounts.audit_log import Actor, record
from shared.db.tables.events import event
from shared.db.tables.smpp import smpp_credential
from shared.ids import FIRST_ID, first_id_at

FIRST_XID = (
    select(event.c.xid)
    .where(event.c.account_id == bindparam("account"), event.c.id >= bindparam("first"))
    .order_by(event.c.xid)
    .limit(1)
)


def first_xid(connection: Connection, account_id: int, since: datetime) -> int | None:
    """The transaction of the first event since a time; None if there is none. Call it before the transaction writes:
    readers of events wait for that."""
    return connection.execute(FIRST_XID, {"account": account_id, "first": first_id_at(since)}).scalar()


def go_back(reader: Table) -> Update:
    """Reads the account's events again from those of the transaction `xid_then`, in the order of their commits, and
    takes the reader from the process that has its lease.

    No reader has passed an event that is committed after that one was found (shared/events/stream.py).
    """
    is_earlier = tuple_(bindparam("xid_then", type_=reader.c.xid.type), literal(FIRST_ID, Uuid)) < tuple_(
        reader.c.xid, reader.c.event_id
    )
    position = {"xid": bindparam("xid_then"), "event_id": FIRST_ID}
    return update(reader).where(is_earlier).values(**position, epoch=reader.c.epoch + 1, lease_until=None)


OF = smpp_credential.c
IS_OWN = and_(OF.id == bindparam("credential"), OF.account_id == bindparam("of_account"))
END_LEASE = update(smpp_credential).where(IS_OWN).values(epoch=OF.epoch + 1, lease_until=None)
"""What was delivered, but is not recorded yet, is read again too."""
GO_BACK = go_back(smpp_credential).where(IS_OWN)


def replay_to_credential(
    connection: Connection, own: Mapping[str, Any], since: datetime, xid: int | None, *, by: Actor | None = None
) -> None:
    """Deliver receipts and messages from phones since a time to the binds of a credential again. `xid` is that of
    `first_xid`."""
    owner = own["account_id"]
    values = {"credential": own["id"], "of_account": owner}
    connection.execute(END_LEASE, values)
    if xid is not None:
        connection.execute(GO_BACK, {"xid_then": xid, **values})
    record(connection, by, "smpp.replayed", account_id=owner, subject=own["system_id"], after={"since": since})
