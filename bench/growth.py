"""Measures the cost of a message while the message table grows."""

import statistics
import time
import urllib.request
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from bench.measure import bulk, conclude, measured
from bench.result import Case, Result
from bench.stand import METRICS_TOKEN, Stand
from bulksms.local.ports import LOOPBACK

SCRAPES = 30
MOST_MILLISECONDS = 20.0
"""What a scrape may take with 5 million messages."""
PATTERN = 100_000
"""Messages in the send that is copied."""

# Copies all rows of sends under new ids and times: the time of each id is `back` milliseconds earlier, four digits of
# its random part are replaced, and so is its version, so that no copy has the id of an original. The ledger stays
# balanced, so the audit covers the copies too.
COPIES = (
    """
    CREATE FUNCTION pg_temp.other(id uuid, digits text, back bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS
    $$ SELECT (lpad(to_hex(('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint - back), 12, '0')
               || overlay(overlay(substr(id::text, 15) PLACING 'f' FROM 1 FOR 1) PLACING digits FROM 11 FOR 4))::uuid $$
    """,
    """
    INSERT INTO send SELECT (jsonb_populate_record(s, jsonb_build_object(
           'id', pg_temp.other(s.id, :digits, :back), 'created_at', s.created_at - :back * interval '1 ms',
           'completed_at', s.completed_at - :back * interval '1 ms',
           'expires_at', s.expires_at - :back * interval '1 ms'))).*
      FROM send s WHERE s.id = ANY(:sends)
    """,
    """
    INSERT INTO batch SELECT (jsonb_populate_record(b, jsonb_build_object(
           'id', pg_temp.other(b.id, :digits, :back), 'send_id', pg_temp.other(b.send_id, :digits, :back)))).*
      FROM batch b WHERE b.send_id = ANY(:sends)
    """,
    """
    INSERT INTO message (id, phone, submitted_at, finished_at, status, price, attempts, carrier, reference, error)
    SELECT pg_temp.other(m.id, :digits, :back), m.phone, m.submitted_at - :back * interval '1 ms',
           m.finished_at - :back * interval '1 ms', m.status, m.price, m.attempts, m.carrier, m.reference || :digits,
           m.error
      FROM batch b
      JOIN message m ON m.id BETWEEN b.id AND overlay(b.id::text PLACING 'ffff' FROM 33)::uuid
     WHERE b.send_id = ANY(:sends)
    """,
    """
    INSERT INTO ledger (account_id, kind, debit, credit, amount, subject_type, subject, step, reason)
    SELECT l.account_id, l.kind, l.debit, l.credit, l.amount, l.subject_type, pg_temp.other(l.subject, :digits, :back),
           l.step, l.reason
      FROM ledger l
     WHERE l.subject = ANY(:sends) OR l.subject IN (SELECT id FROM batch WHERE send_id = ANY(:sends))
     ORDER BY l.id
    """,
    "UPDATE account SET available = available - :messages WHERE id = :account",
    "DROP FUNCTION pg_temp.other(uuid, text, bigint)",
)


class Original(NamedTuple):
    """Sends of one account that are copied, and how many messages they have."""

    account: int
    sends: list[UUID]
    messages: int


def copy(engine: Engine, original: Original, number: int, back: timedelta = timedelta()) -> None:
    """Insert copy `number` of the sends, as if they had been made `back` earlier."""
    values = {**original._asdict(), "digits": f"{number:04x}", "back": round(back.total_seconds() * 1000)}
    with engine.begin() as connection:
        for statement in COPIES:
            connection.execute(text(statement), values)


def run(result: Result) -> None:
    """Measure a bulk send with receipts at 10 thousand, 1 million and, without --short, 5 million messages."""
    sizes = (10_000, 1_000_000) if result.short else (10_000, 1_000_000, 5_000_000)
    with Stand(receipts=True) as stand:
        conclude(result, stand, (_case(stand, size, 30_000 if result.short else 100_000) for size in sizes))


def _case(stand: Stand, size: int, phones: int) -> Case:
    fill(stand, size)
    case = measured(stand, f"{size:,} messages before", lambda: bulk(stand, 1, phones))
    case.figures["ms per scrape of /metrics"] = scrape(stand)
    case.figures["ms per scrape, at most"] = MOST_MILLISECONDS
    return case


def scrape(stand: Stand) -> float:
    """The median time of a scrape of /metrics, in milliseconds."""
    times = []
    for _ in range(SCRAPES):
        request = urllib.request.Request(
            f"http://{LOOPBACK}:{stand.port}/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"}
        )
        begun = time.perf_counter()
        with urllib.request.urlopen(request, timeout=10) as response:
            response.read()
        times.append(time.perf_counter() - begun)
    return round(1000 * statistics.median(times), 1)


def fill(stand: Stand, size: int) -> None:
    """Fill the table up to about `size` messages, with copies of one send."""
    missing = size - int(stand.scalar("SELECT count(*) FROM message"))
    if missing < PATTERN:
        bulk(stand, 1, missing)
        return
    bulk(stand, 1, PATTERN)
    original = Original(stand.account, [stand.scalar("SELECT id FROM send ORDER BY id DESC LIMIT 1")], PATTERN)
    for number in range(1, missing // PATTERN):
        copy(stand.engine, original, number)
        stand.cloned += PATTERN
    vacuum(stand.engine)


def vacuum(engine: Engine) -> None:
    """Clean up and analyze the tables that have grown."""
    with engine.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("SET statement_timeout = 0"))
        for table in ("message", "batch", "send", "ledger"):
            connection.execute(text(f"VACUUM ANALYZE {table}"))
        connection.execute(text("RESET statement_timeout"))
