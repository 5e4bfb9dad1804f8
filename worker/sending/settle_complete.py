"""The usual end of a cycle: every message has a result, so one statement writes the rows and settles the batches.

It commits durably, and takes locks in the same order as all others: batch, send, account.

Most columns have one value in all rows of a window. Postgres is then sent an array of one element instead of hundreds,
which saves a third of the statement for 200 messages.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Engine, text

from shared.carriers.error_codes import says_opted_out
from shared.carriers.receipts import by_destination
from shared.crashpoints import crashpoint
from shared.db.connection import STARTED, array, durable_statement, texts, uuids
from shared.ids import prefix_of
from shared.ledger.ledger import SETTLE_BATCHES, SETTLED
from shared.lifecycle import MessageStatus
from shared.outbox import listening
from shared.sends import batch_states, send_states
from worker.sending.claimed_batch import ClaimedBatch

SENT = MessageStatus.SENT

Written = list[tuple[ClaimedBatch, list[int]]]
"""Batches, and the positions whose rows are written."""

COLUMNS = "id, phone, submitted_at, finished_at, status, price, attempts, carrier, route, reference, error, answer_ms"

ONE_IF_EQUAL = {
    "number": "int",
    "at": "timestamptz",
    "status": "message_status",
    "price": "bigint",
    "attempts": "smallint",
    "answer_ms": "int",
}
"""Columns whose array has one element if all rows have the same value. None of several values is NULL."""
OWN = {"message": "uuid", "phone": "bigint", "route": "text", "reference": "text", "error": "text"}
"""Columns whose array has an element for each row, or none if all are NULL."""

PARAMETERS = ", ".join(f"CAST(:{name} AS {kind}[])" for name, kind in (OWN | ONE_IF_EQUAL).items())
FILLED = ", ".join(f"coalesce({name}, (CAST(:{name} AS {kind}[]))[1]) AS {name}" for name, kind in ONE_IF_EQUAL.items())

ROWS = f"""
    SELECT u.message, u.phone, u.at,
           CASE WHEN u.status NOT IN ('sent', 'in_doubt') THEN u.at + u.answer_ms * interval '1 millisecond' END,
           u.status, u.price, u.attempts, CAST(:carrier AS text), u.route, u.reference, u.error, u.answer_ms
      FROM (SELECT {", ".join(OWN)}, {FILLED}
              FROM unnest({PARAMETERS}) AS p ({", ".join(OWN | ONE_IF_EQUAL)})) AS u
"""
"""SQL: `COLUMNS` of the rows; `u.number` is the number of the batch, from 1."""

RECORDED = (MessageStatus.SENT, MessageStatus.REJECTED, MessageStatus.FAILED)
"""Results that are recorded before the intent is closed. A doubt is not."""
SUMS, ADDED = (
    ", ".join(each.format(status) for status in RECORDED) for each in ("sum({0}) AS {0}", "{0} = s.{0} + c.{0}")
)

OWNED = f"b.id = w.id AND b.epoch = CASE WHEN b.intent > 0 AND b.database_started = {STARTED} THEN w.epoch END"
"""SQL: like `IN_CYCLE`, and the database has not restarted since the claim."""

PER_BATCH = ("epoch", *RECORDED, "captured", "released")

SETTLE_COMPLETE = text(
    f"""
    WITH ended AS (
        UPDATE batch b
           SET {batch_states.DONE}
          FROM unnest(CAST(:id AS uuid[]), {", ".join(f"CAST(:{name} AS bigint[])" for name in PER_BATCH)})
               WITH ORDINALITY AS w (id, {", ".join(PER_BATCH)}, number)
         WHERE {OWNED}
        RETURNING b.id, b.send_id, b.account_id, w.number, {", ".join(f"w.{name}" for name in PER_BATCH)}
    ), written AS (
        INSERT INTO message ({COLUMNS}) {ROWS}
         WHERE (SELECT count(*) FROM ended) = :batches OR u.number = ANY(ARRAY(SELECT e.number FROM ended e))
        RETURNING 1
    ), sums AS (
        SELECT send_id, count(*) AS closed, {SUMS} FROM ended GROUP BY send_id ORDER BY send_id
    ), counted AS (
        UPDATE send s SET {ADDED}, {send_states.BATCHES_CLOSED} FROM sums c WHERE s.id = c.send_id
        RETURNING 1
    ), posted AS (
        {SETTLE_BATCHES}
        RETURNING 1
    ), paid AS (
        UPDATE account a
           SET {SETTLED}
          FROM (SELECT account_id, sum(captured) AS captured, sum(released) AS released
                  FROM ended WHERE captured + released > 0 GROUP BY account_id ORDER BY account_id) d
         WHERE a.id = d.account_id AND (SELECT count(*) FROM counted) + (SELECT count(*) FROM written)
                                       + (SELECT count(*) FROM posted) >= 0
    )
    SELECT ARRAY(SELECT number FROM ended)
    """
)
"""`paid` refers to all the others, so that the account's row is locked last: the lock is held until the commit is on
the disk."""


def settle_complete(engine: Engine, batches: list[ClaimedBatch], carrier: str) -> list[ClaimedBatch]:
    """End the cycle in one durable commit if `are_complete` allows it. Returns the batches left to `settle_rest`.

    These are all of them if it does not, if an account listens to events (those are written before its row is locked),
    or if the database has restarted; otherwise those that another worker owns by now.
    """
    if not are_complete(batches):
        return batches
    ordered = sorted(batches, key=lambda batch: batch.batch_id.int)  # the order of locks
    written = [(batch, batch.unrecorded) for batch in ordered]
    with durable_statement(engine) as connection:
        if not listening(connection).isdisjoint(batch.account_id for batch in ordered):
            return batches
        parameters = {
            "id": uuids(batch.batch_id for batch in ordered),
            "epoch": array(batch.epoch for batch in ordered),
            **counts_of(written),
            **_credits(ordered),
            **parameters_of(written, carrier),
            "batches": len(ordered),
        }
        crashpoint("settle_complete.before_commit")
        ended: list[int] = connection.execute(SETTLE_COMPLETE, parameters).scalar_one()
    crashpoint("settle_complete.committed")
    return [ordered[number - 1] for number in sorted({*range(1, len(ordered) + 1)} - {*ended})]


def _credits(batches: list[ClaimedBatch]) -> dict[str, str]:
    """The credits to capture and to release of each batch."""
    charged = [
        [batch.result(position).status for position in range(len(batch.indexes))].count(SENT) for batch in batches
    ]
    return {
        "captured": array(sent * batch.price for batch, sent in zip(batches, charged, strict=True)),
        "released": array((batch.known - sent) * batch.price for batch, sent in zip(batches, charged, strict=True)),
    }


def are_complete(batches: list[ClaimedBatch]) -> bool:
    """Whether every message has a result that is certain, none reports an opt-out, and no send has a rule that might
    stop it."""
    return all(map(_is_complete, batches))


def _is_complete(batch: ClaimedBatch) -> bool:
    return (
        batch.known == len(batch.indexes) == batch.left
        and not (batch.lost or batch.rows_uncertain or batch.failed)
        and not (batch.rules and "stop_if" in batch.rules)
        and all(
            result is not None
            and result.status in RECORDED
            and not (result.status is MessageStatus.REJECTED and says_opted_out(result.error))
            for result in batch.results
        )
    )


def counts_of(written: Written) -> dict[str, str]:
    """The number of results of each batch by status, as parameters."""
    by_batch = [[batch.result(position).status for position in positions] for batch, positions in written]
    return {str(status): array([statuses.count(status) for statuses in by_batch]) for status in RECORDED}


def parameters_of(written: Written, carrier: str) -> dict[str, str]:
    """The parameters of `ROWS`."""
    messages: list[str] = []
    phones: list[str] = []
    routes: list[str | None] = []
    references: list[str | None] = []
    errors: list[str | None] = []
    alike: dict[str, list[Any]] = {name: [] for name in ONE_IF_EQUAL}
    for number, (batch, positions) in enumerate(written, 1):
        if not positions:
            continue
        prefix, indexes = prefix_of(batch.batch_id), batch.indexes
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
        alike["answer_ms"] += batch.response_times(ats)
    own = {"message": array(messages), "phone": array(phones)}
    nullable = {"route": routes, "reference": references, "error": errors}
    return (
        {"carrier": carrier}
        | own
        | {name: texts(() if values.count(None) == len(values) else values) for name, values in nullable.items()}
        | {name: array(_collapsed(values)) for name, values in alike.items()}
    )


def _collapsed(values: Sequence[Any]) -> Iterable[Any]:
    return values[:1] if len(set(values)) == 1 else values


def _reference(carrier_id: str | None, status: MessageStatus, phone: str) -> str | None:
    """The reference of a message that the carrier accepted without an id is its phone."""
    return by_destination(phone) if not carrier_id and status is SENT else carrier_id
