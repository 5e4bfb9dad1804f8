"""The bare path: submit, COPY the rows, commit on disk. It has no queue, ledger or order: a limit, not a service."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg

from bench.bind import Bind
from shared.ids import new_batch_id, prefix_of

BATCH, RECEIPTS_AT_ONCE = 1_000, 500
COLUMNS = "id, phone, submitted_at, status, price, attempts, carrier, reference"
BY_KEY = """
    UPDATE bench_message m SET status = 'delivered', finished_at = clock_timestamp()
      FROM unnest(%s::uuid[]) AS w (id) WHERE m.id = w.id
"""
APPEND = "COPY bench_receipt (message_id, status) FROM STDIN"
TABLES = """
    CREATE TABLE bench_message (LIKE message INCLUDING ALL);
    CREATE TABLE bench_receipt (message_id uuid, status message_status, at timestamptz DEFAULT clock_timestamp())
"""

Rows = psycopg.Connection[Any]


def rows(batch: UUID, phones: range, references: list[str]) -> Iterator[str]:
    """The rows of a batch in COPY format, with the columns that the service records."""
    prefix, at = prefix_of(batch), datetime.now(UTC)
    for index, (phone, reference) in enumerate(zip(phones, references, strict=True), 1):
        yield f"{prefix}{index:04x}\t{phone}\t{at}\tsent\t1\t1\tmain\t{reference}\n"


def copy(connection: Rows, lines: str) -> None:
    """COPY the lines, and commit."""
    with connection.cursor() as cursor, cursor.copy(f"COPY bench_message ({COLUMNS}) FROM STDIN") as target:
        target.write(lines)
    connection.commit()


class BarePath:
    """Submits batches, and commits their rows to disk. With `receipts`, stores receipts before acknowledging them."""

    def __init__(self, bind: Bind, connection: Rows, receipts: str = "") -> None:
        self._bind = bind
        self._connection = connection
        self._how = receipts
        self._keys: dict[str, str] = {}
        self._delivered = 0

    def run(self, phones: range) -> dict[str, float]:
        """Send to all phones. Returns the messages per second that were submitted and, with receipts, delivered."""
        begun = time.monotonic()
        for first in range(0, len(phones), BATCH):
            part = phones[first : first + BATCH]
            batch = new_batch_id()
            references = self._bind.submit(part)
            copy(self._connection, "".join(rows(batch, part, references)))
            if self._how:
                prefix = prefix_of(batch)
                self._keys.update((each, f"{prefix}{index:04x}") for index, each in enumerate(references, 1))
                self._store(RECEIPTS_AT_ONCE)
        figures = {"submitted/s": len(phones) / (time.monotonic() - begun)}
        if self._how:
            while self._delivered < len(phones):
                self._bind.read()
                self._store(min(RECEIPTS_AT_ONCE, len(phones) - self._delivered))
            figures["delivered/s"] = len(phones) / (time.monotonic() - begun)
        return figures

    def _store(self, minimum: int) -> None:
        """Store and acknowledge the receipts, if there are at least `minimum`."""
        receipts = self._bind.receipts
        if len(receipts) < minimum:
            return
        if self._how == "by key":
            self._connection.execute(BY_KEY, ([self._keys.pop(reference) for _, reference in receipts],))
        else:
            with self._connection.cursor() as cursor, cursor.copy(APPEND) as target:
                target.write("".join(f"{self._keys.pop(reference)}\tdelivered\n" for _, reference in receipts))
        self._connection.commit()
        self._delivered += len(receipts)
        self._bind.answer_receipts()
