"""Credentials in the database: claims those with events for their receivers, reads these, and moves their positions.

As with webhooks (worker/webhooks/store.py), a credential is claimed under a lease with an epoch, so one process at a
time delivers its events, and its position moves once they are answered. If a process dies, what is behind the position
is delivered again.
"""

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ARRAY, Engine, Uuid, bindparam, func, text, update

from api.smpp.receipts import TYPES, delivery_of
from shared.accounts.smpp_credentials import OF, Alphabet
from shared.carriers.smpp.pdu import message_body
from shared.crashpoints import crashpoint
from shared.db.connection import transaction
from shared.db.tables.smpp import smpp_credential
from shared.events import stream
from shared.events.stream import LEASE, LEASED, OLDEST_OPEN_XID, UNREAD, Position

PAGE = 1_000
"""Events per page, including those that the credential does not get."""
CLAIM = text(
    f"""
    UPDATE smpp_credential c SET lease_until = clock_timestamp() + interval '{LEASE}', epoch = c.epoch + 1
      FROM (SELECT c.id FROM smpp_credential c
             WHERE c.id = ANY(:ids) AND c.revoked_at IS NULL AND ({LEASED.format(reader="c")}) IS NOT TRUE
               AND EXISTS (SELECT FROM event e WHERE {UNREAD.format(reader="c")} AND e.xid < {OLDEST_OPEN_XID})
             ORDER BY c.id FOR UPDATE SKIP LOCKED) due
     WHERE c.id = due.id
    RETURNING c.id, c.account_id, c.system_id, c.alphabet, c.epoch, c.xid, c.event_id
    """
).bindparams(bindparam("ids", type_=ARRAY(Uuid)))
"""Claims credentials that have events. One statement, so that no two processes claim the same one."""
MOVE = (
    update(smpp_credential)
    .where(OF.id == bindparam("credential"), OF.epoch == bindparam("of_epoch"), OF.revoked_at.is_(None))
    .values(xid=bindparam("to_xid"), event_id=bindparam("to_event"), updated_at=func.clock_timestamp())
    .values(lease_until=func.clock_timestamp() + bindparam("lease"))
)
"""Moves a credential's position by its epoch, so that a process that has lost its lease moves nothing."""


class Claim(NamedTuple):
    """A claimed credential, and where its first page begins."""

    id: UUID
    account_id: int
    system_id: str
    alphabet: Alphabet
    epoch: int
    position: Position


class Page(NamedTuple):
    """Bodies of deliver_sm, each with the position after it, the one after all that was read, and whether there may be
    more."""

    deliveries: list[tuple[bytes, Position]]
    end: Position
    more: bool


def claim(engine: Engine, credentials: Collection[UUID]) -> list[Claim]:
    """Claim those of the credentials that have events and no lease."""
    with transaction(engine, durable=False) as connection:
        rows = connection.execute(CLAIM, {"ids": list(credentials)}).all()
    if rows:
        crashpoint("smpp.claimed")
    return [
        Claim(row.id, row.account_id, row.system_id, row.alphabet, row.epoch, Position(row.xid, row.event_id))
        for row in rows
    ]


def read_page(engine: Engine, claimed: Claim, after: Position) -> Page:
    """The next deliveries. Their events are on disk when it returns: a crash cannot undo one that was delivered."""
    with transaction(engine) as connection:
        found = stream.read_page(connection, claimed.account_id, after, PAGE, TYPES)
        wanted = ((delivery_of(each, claimed.system_id, claimed.alphabet), each.position) for each in found.events)
        deliveries = [(message_body(each), position) for each, position in wanted if each is not None]
        page = Page(deliveries, found.end, found.more)
        if page.deliveries:
            stream.flush(connection)
    return page


def move(engine: Engine, claimed: Claim, position: Position, goes_on: bool) -> bool:
    """Move the position: the events up to it are answered. Renews the lease, or ends it. False if it was lost."""
    values = {"credential": claimed.id, "of_epoch": claimed.epoch, "to_xid": position.xid, "to_event": position.id}
    with transaction(engine) as connection:
        is_moved = bool(connection.execute(MOVE, {**values, "lease": LEASE * goes_on}).rowcount)
        crashpoint("smpp.before_commit")
    return is_moved
