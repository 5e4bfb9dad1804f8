"""Mistakes that the protocol could have, put into the running code one at a time. Each must be found by an oracle."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from unittest.mock import patch

from sqlalchemy import Connection, Engine, TextClause, text

import api.idempotency
import api.smpp.deliveries
import shared.carriers.receipts
import shared.doubts.resolution
import shared.sends.batch_states
import worker.receipts.match
import worker.receipts.match_doubts
import worker.recovery.recover
import worker.sending.claim
import worker.sending.next_batches
import worker.sending.record
import worker.sending.results
import worker.sending.settle_complete
import worker.sending.settle_rest
from api.smpp.deliveries import CredentialQueue
from shared.db.connection import STARTED
from shared.doubts.candidates import MessageCandidate
from shared.ledger.ledger import Entry
from shared.lifecycle import MessageStatus
from shared.sends.sendable import MAY_CONTINUE
from tests.simulation.seams import TRANSACTION
from tests.simulation.tasks import stand
from worker.receipts.match import MOVES
from worker.sending.claimed_batch import ClaimedBatch

Change = tuple[ModuleType | type, str, Any]

MAY_HAVE_LEFT = f"CASE WHEN b.database_started = {STARTED} THEN b.watermark ELSE b.intent END"
IN_ITS_CYCLE = "b.epoch = CASE WHEN b.intent > 0 THEN w.epoch END"
RECEIPT_MOVES = f"(f.before, f.status) IN ({MOVES})"
IN_ANY_ORDER = "f.before IN ('sent', 'undelivered') AND f.before <> f.status"
HAS_SQL: tuple[tuple[ModuleType, str], ...] = (
    (worker.sending.claim, "CLAIM"),
    (worker.sending.record, "RECORD_RESULTS"),
    (worker.sending.results, "FENCE"),
    (worker.sending.settle_complete, "SETTLE_COMPLETE"),
    (worker.recovery.recover, "ABANDONED_BATCHES"),
)


@dataclass(frozen=True, slots=True)
class Mutation:
    """One mistake."""

    name: str
    changes: Callable[[], list[Change]]
    database_crashes: bool = False
    """Whether it can be found only where the database crashes."""
    shared_phones: float = 0.0
    """How many sends must go to the phones of another send, for it to be found."""
    smpp: int = 0
    """How many submits over SMPP there must be, for it to be found."""
    seed: int = 0
    """One that has found it. The short form begins there; after a change of the code it may be another."""

    @contextmanager
    def made(self) -> Iterator[None]:
        """The code has the mistake for as long as the block lasts."""
        with ExitStack() as patches:
            for module, name, value in self.changes():
                patches.enter_context(patch.object(module, name, value))
            yield


def sql(module: ModuleType, name: str, old: str, new: str) -> Change:
    """A statement of which a part is another."""
    statement: TextClause = getattr(module, name)
    assert old in statement.text, f"{name} has no {old!r} any more"
    return module, name, text(statement.text.replace(old, new))


def nothing(*_: object, **__: object) -> dict[int, int]:
    """What does nothing."""
    return {}


def capture_twice() -> list[Change]:
    """The step of an entry does not name its cycle."""
    entries = worker.sending.settle_rest._entries

    def twice(*arguments: Any) -> list[Entry]:
        made = entries(*arguments)
        return made + [entry._replace(step=entry.step + 1000) for entry in made if entry.kind == "capture"]

    return [(worker.sending.settle_rest, "_entries", twice)]


def take_all_as_complete(batches: list[ClaimedBatch]) -> bool:
    """A cycle ends its batches though some of their messages have no result."""
    return all(batch.known == len(batch.indexes) and not batch.lost for batch in batches)


def doubts_written_early() -> list[Change]:
    """A message without a response has its row before its intent is closed."""
    return [(worker.sending.record, "now_and_later", lambda batch: (batch.unrecorded, []))]


def watermark_by_count() -> list[Change]:
    """The watermark counts the results, wherever in the intent they are."""

    def ahead_of(batches: list[ClaimedBatch], ahead: int) -> list[int]:
        return [max(batch.watermark, min(len(batch.indexes), batch.known + ahead)) for batch in batches]

    return [(worker.sending.record, "watermarks_ahead", ahead_of)]


def intent_not_durable() -> list[Change]:
    """The claim's commit does not wait for the disk."""

    def careless(engine: Engine) -> AbstractContextManager[Connection]:
        stand("transaction")
        return TRANSACTION(engine, durable=False)

    return [(worker.sending.claim, "transaction", careless)]


def postmaster_start_only() -> list[Change]:
    """A crash of one of the database's processes is taken for nothing."""
    return [sql(module, name, STARTED, "pg_postmaster_start_time()") for module, name in HAS_SQL]


def forgets_rows_above_the_watermark() -> list[Change]:
    """A row of a recipient who opted out, beyond the watermark, is not seen by the recovery."""
    unseen = r"""
        SELECT m.id, m.status FROM message m JOIN batch b ON b.id = batch_of(m.id)
         WHERE m.id = ANY(:ids) AND (b.retry_indexes IS NOT NULL OR
               CAST(CAST('x' || right(CAST(m.id AS text), 4) AS bit(16)) AS int) < b.next_index + b.watermark)
    """
    return [(worker.recovery.recover, "KNOWN", text(unseen))]


def only_doubts_are_candidates() -> list[Change]:
    """A receipt resolves the one doubt that fits, whatever else went to its phone."""
    may_be_for = worker.receipts.match_doubts._may_be_for

    def doubts_alone(receipt: Any, candidate: MessageCandidate) -> bool:
        return candidate.status == MessageStatus.IN_DOUBT and may_be_for(receipt, candidate)

    return [(worker.receipts.match_doubts, "_may_be_for", doubts_alone)]


MUTATIONS = (
    Mutation(
        "unfenced watermark",
        lambda: [sql(worker.sending.record, "RECORD_RESULTS", IN_ITS_CYCLE, "b.intent > 0")],
        seed=118,
    ),
    Mutation(
        "watermark not moved before submit",
        lambda: [
            sql(
                worker.sending.record,
                "RECORD_RESULTS",
                "GREATEST(b.watermark, LEAST(w.watermark, b.intent))",
                "b.watermark",
            ),
        ],
        seed=6,
    ),
    Mutation("watermark by count", watermark_by_count, seed=6),
    Mutation(
        "cycles go on with a stopped send",
        lambda: [sql(worker.sending.record, "RECORD_RESULTS", MAY_CONTINUE, "true")],
        seed=45,
    ),
    Mutation(
        "give-back without the watermark",
        lambda: [sql(worker.recovery.recover, "ABANDONED_BATCHES", MAY_HAVE_LEFT, "0")],
    ),
    Mutation(
        "watermark trusted over a crash of the database",
        lambda: [sql(worker.recovery.recover, "ABANDONED_BATCHES", MAY_HAVE_LEFT, "b.watermark")],
        database_crashes=True,
        seed=4,
    ),
    Mutation("crash of a backend not noticed", postmaster_start_only, database_crashes=True, seed=9),
    Mutation("intent not durable", intent_not_durable, database_crashes=True, seed=2),
    Mutation("captured twice", capture_twice),
    Mutation(
        "unfenced settlement",
        lambda: [sql(worker.sending.results, "FENCE", f"AND {IN_ITS_CYCLE}", "")],
        seed=1,
    ),
    Mutation(
        "an end without credits",
        lambda: [sql(worker.sending.settle_complete, "SETTLE_COMPLETE", "p.amount > 0", "p.amount > 1")],
    ),
    Mutation(
        "an end of more than there is", lambda: [(worker.sending.settle_complete, "are_complete", take_all_as_complete)]
    ),
    Mutation("late evidence without money", lambda: [(shared.doubts.resolution, "post", nothing)], seed=1),
    Mutation("doubt written before the intent is closed", doubts_written_early, seed=2),
    Mutation("rows above the watermark forgotten", forgets_rows_above_the_watermark, seed=55),
    Mutation("counters not moved", lambda: [(worker.receipts.match, "add_to_sends", nothing)]),
    Mutation(
        "receipts applied twice",
        lambda: [sql(worker.receipts.match, "APPLY", RECEIPT_MOVES, "true")],
    ),
    Mutation(
        "receipts in any order",
        lambda: [sql(worker.receipts.match, "APPLY", RECEIPT_MOVES, IN_ANY_ORDER)],
    ),
    Mutation(
        "usual receipts move what is not sent",
        lambda: [sql(worker.receipts.match, "APPLY_FAST_PATH", "m.status = 'sent' AND ", "")],
    ),
    Mutation("a receipt for another message resolves a doubt", only_doubts_are_candidates, shared_phones=0.8, seed=120),
    Mutation("early receipts dropped", lambda: [(shared.carriers.receipts, "KEEP", text("SELECT 1"))]),
    Mutation(
        "claim without a lease",
        lambda: [
            sql(worker.sending.next_batches, "CANDIDATE", "b.state = 'queued'", "b.state IN ('queued', 'sending')")
        ],
    ),
    Mutation(
        "cancel closes what is being sent",
        lambda: [
            sql(shared.sends.batch_states, "CLOSE_UNSENT", "('waiting', 'queued',", "('waiting', 'queued', 'sending',")
        ],
        seed=3008,
    ),
    Mutation("keys forgotten", lambda: [(api.idempotency, "store", nothing)], smpp=20),
    Mutation("refused deliveries not repeated", lambda: [(api.smpp.deliveries, "NOT_NOW", ())], smpp=20),
    Mutation(
        "positions before answers",
        lambda: [(CredentialQueue, "position", property(lambda each: each.read_to))],
        smpp=20,
    ),
)
"""The mistakes."""
