"""The rows of messages as parameters of one statement, an array for each column.

Most columns have one value in all rows of a window. Postgres is then sent an array of one element instead of hundreds,
which saves a third of the statement for 200 messages.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, text

from shared.carriers.receipts import by_destination
from shared.db.connection import array, texts
from shared.ids import short_prefix_of
from shared.lifecycle import MessageStatus
from worker.sending.claimed_batch import ClaimedBatch

SENT, IN_DOUBT = MessageStatus.SENT, MessageStatus.IN_DOUBT

Written = list[tuple[ClaimedBatch, list[int]]]
"""Batches, and the positions whose rows are written."""

COLUMNS = "id, phone, submitted_at, finished_at, status, price, attempts, carrier, route, reference, error, answer_ms"

ALIKE = {
    "number": "int",
    "at": "timestamptz",
    "status": "message_status",
    "price": "smallint",
    "attempts": "smallint",
    "answer_ms": "int",
}
"""Columns whose array has one element if all rows have the same value. They are never NULL."""
OWN = {"message": "uuid", "phone": "bigint", "route": "text", "reference": "text", "error": "text"}
"""Columns whose array has an element for each row, or none if all are NULL."""

PARAMETERS = ", ".join(f"CAST(:{name} AS {kind}[])" for name, kind in (OWN | ALIKE).items())
FILLED = ", ".join(f"coalesce({name}, (CAST(:{name} AS {kind}[]))[1]) AS {name}" for name, kind in ALIKE.items())

ROWS = f"""
    SELECT u.message, u.phone, u.at,
           CASE WHEN u.status NOT IN ('sent', 'in_doubt') THEN u.at + u.answer_ms * interval '1 millisecond' END,
           u.status, u.price, u.attempts, CAST(:carrier AS text), u.route, u.reference, u.error, u.answer_ms
      FROM (SELECT {", ".join(OWN)}, {FILLED}
              FROM unnest({PARAMETERS}) AS p ({", ".join(OWN | ALIKE)})) AS u
"""
"""SQL: `COLUMNS` of the rows; `u.number` is the number of the batch, from 1."""

INSERT = text(f"INSERT INTO message ({COLUMNS}) {ROWS}")


def insert_rows(connection: Connection, written: Written, carrier: str) -> None:
    """Insert the rows, in the connection's transaction."""
    connection.execute(INSERT, parameters_of(written, carrier))


def parameters_of(written: Written, carrier: str) -> dict[str, str]:
    """The parameters of `ROWS`."""
    messages: list[str] = []
    phones: list[str] = []
    routes: list[str | None] = []
    references: list[str | None] = []
    errors: list[str | None] = []
    alike: dict[str, list[Any]] = {name: [] for name in ALIKE}
    for number, (batch, positions) in enumerate(written, 1):
        if not positions:
            continue
        prefix, indexes = short_prefix_of(batch.batch_id), batch.indexes
        batch_phones = [batch.phones[position] for position in positions]
        statuses, carrier_ids, errors_of_batch, ats, attempts = zip(*map(batch.result, positions), strict=True)
        messages += [f"{prefix}{indexes[position]:04x}" for position in positions]
        phones += batch_phones
        routes += [batch.route] * len(positions)
        references += carrier_ids if all(carrier_ids) else map(_reference, carrier_ids, statuses, batch_phones)
        errors += errors_of_batch
        alike["number"] += [number] * len(positions)
        alike["at"] += ats
        alike["status"] += statuses
        alike["price"] += [batch.price] * len(positions)
        alike["attempts"] += attempts
        alike["answer_ms"] += batch.answer_times(ats)
    own = {"message": array(messages), "phone": array(phones)}
    nullable = {"route": routes, "reference": references, "error": errors}
    return (
        {"carrier": carrier}
        | own
        | {name: texts(() if values.count(None) == len(values) else values) for name, values in nullable.items()}
        | {name: array(_once(values)) for name, values in alike.items()}
    )


def _once(values: Sequence[Any]) -> Iterable[Any]:
    return values[:1] if len(set(values)) == 1 else values


def _reference(carrier_ids: str | None, status: MessageStatus, phone: str) -> str | None:
    """The reference of a message that the carrier accepted without an id is its phone."""
    return by_destination(phone) if not carrier_ids and status is SENT else carrier_ids
