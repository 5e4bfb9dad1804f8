"""Credentials in the database: claims those with events for their receivers, reads these, and moves their positions.

As with webhooks (worker/webhooks/store.py), a credential is claimed under a lease with an epoch, so one process at a
time delivers its events, and its position moves once they are answered. If a process dies, at most one page is
delivered again.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ARRAY, Connection, Engine, Uuid, bindparam, func, select, text, update

from api.smpp.receipts import TYPES, Delivery, Submitted, delivery_of
from shared.accounts.smpp_credentials import KEY_PREFIX, Alphabet
from shared.crashpoints import crashpoint
from shared.db.connection import transaction
from shared.db.expressions import in_parameter
from shared.db.tables.sends import send
from shared.db.tables.smpp import smpp_credential
from shared.events import stream
from shared.events.stream import LEASE, LEASED, OLDEST_OPEN_XID, UNREAD, Position

PAGE = 1_000
"""Events per page, including those that the credential does not get."""
CLAIMED = "c.id, c.account_id, c.system_id, c.alphabet, c.xid, c.event_id, c.epoch"

CLAIM = text(
    f"""
    UPDATE smpp_credential c SET lease_until = clock_timestamp() + interval '{LEASE}', epoch = c.epoch + 1
      FROM (SELECT c.id FROM smpp_credential c
             WHERE c.id = ANY(:ids) AND c.revoked_at IS NULL AND ({LEASED.format(reader="c")}) IS NOT TRUE
               AND EXISTS (SELECT FROM event e WHERE {UNREAD.format(reader="c")} AND e.xid < {OLDEST_OPEN_XID})
             ORDER BY c.id FOR UPDATE SKIP LOCKED) due
     WHERE c.id = due.id
    RETURNING {CLAIMED}
    """
).bindparams(bindparam("ids", type_=ARRAY(Uuid)))
"""Claims credentials that have events. One statement, so that no two processes claim the same one."""
MOVE = text(
    f"""
    UPDATE smpp_credential c
       SET xid = :xid, event_id = :event, updated_at = clock_timestamp(),
           lease_until = clock_timestamp() + interval '{LEASE}'
     WHERE c.id = :id AND c.epoch = :epoch AND c.revoked_at IS NULL
    RETURNING {CLAIMED}
    """
)
"""Moves a credential's position by its epoch, so that a process that has lost its lease moves nothing."""
RELEASE = (
    update(smpp_credential)
    .where(smpp_credential.c.id == bindparam("credential"), smpp_credential.c.epoch == bindparam("of_epoch"))
    .values(lease_until=func.clock_timestamp(), epoch=smpp_credential.c.epoch + 1)
)
SENDS = select(*send.c["id", "api_key_id", "smpp", "created_at"]).where(
    in_parameter(send.c.id, "ids"), send.c.smpp.is_not(None)
)


class Claim(NamedTuple):
    """A claimed credential, with the columns of CLAIMED."""

    id: UUID
    account_id: int
    system_id: str
    alphabet: Alphabet
    xid: int
    event_id: UUID
    epoch: int

    @property
    def position(self) -> Position:
        """Where its next page begins."""
        return Position(self.xid, self.event_id)


@dataclass(slots=True)
class Page:
    """What to deliver now, in order, and the position after everything that was read."""

    deliveries: list[Delivery] = field(default_factory=list)
    end: Position = stream.START


def claim(engine: Engine, credentials: Collection[UUID]) -> list[Claim]:
    """Claim those of the credentials that have events and no lease."""
    with transaction(engine, durable=False) as connection:
        claimed = [Claim(*row) for row in connection.execute(CLAIM, {"ids": list(credentials)})]
    if claimed:
        crashpoint("smpp.claimed")
    return claimed


def release(engine: Engine, claimed: Claim) -> None:
    """Release a lease: there is nothing to deliver, or nobody to deliver to."""
    with transaction(engine, durable=False) as connection:
        connection.execute(RELEASE, {"credential": claimed.id, "of_epoch": claimed.epoch})


def read_page(engine: Engine, claimed: Claim) -> Page:
    """The next deliveries. Their events are on disk when it returns: a crash cannot undo one that was delivered."""
    with transaction(engine) as connection:
        found = stream.read_page(connection, claimed.account_id, claimed.position, PAGE, TYPES)
        submitted = _submitted(
            connection, {UUID(each.data["send_id"]) for each in found.events if "status" in each.data}
        )
        wanted = (delivery_of(each, submitted, claimed.system_id, claimed.alphabet) for each in found.events)
        page = Page([each for each in wanted if each is not None], found.end)
        if page.deliveries:
            stream.flush(connection)
    return page


def _submitted(connection: Connection, sends: set[UUID]) -> dict[UUID, Submitted]:
    """Of the sends, those that came over SMPP."""
    if not sends:
        return {}
    return {
        row.id: Submitted(
            row.api_key_id.removeprefix(KEY_PREFIX), row.smpp["registered"], row.smpp.get("reference"), row.created_at
        )
        for row in connection.execute(SENDS, {"ids": list(sends)})
    }


def move(engine: Engine, claimed: Claim, position: Position) -> Claim | None:
    """Move the position: the events up to it are answered. Returns the credential; None if its lease was lost."""
    values = {"id": claimed.id, "epoch": claimed.epoch, "xid": position.xid, "event": position.id}
    with transaction(engine) as connection:
        row = connection.execute(MOVE, values).one_or_none()
        crashpoint("smpp.before_commit")
    return None if row is None else Claim._make(row)
