"""Claims the next messages in fair order: one durable commit takes the lease and stores the intent.

A cycle's budget may cover a part of a batch (with a slow carrier), one batch, or many small ones. From this commit on,
only this worker may submit the messages of the intent, up to the watermark.
"""

import logging
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, bindparam, select, text

from shared.accounts.sandbox import SIMULATED
from shared.carriers.smpp.raw_part import RawPart
from shared.crashpoints import crashpoint
from shared.db.connection import UNAVAILABLE, array, transaction, tuples_of, uuids
from shared.db.encryption_keys import texts_of
from shared.db.tables import sends
from shared.encryption import TextKeyMissing, Texts, TextUnreadable
from shared.sends import batch_states, send_states
from shared.sends.batch_prices import PRICE, SEGMENTS
from shared.sends.holding import SendsUnusable, hold_unusable
from shared.sends.requeue import raise_paced
from worker.sending.canary import messages_allowed
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.next_batches import Claimable, ClaimRequest, lock_next
from worker.sending.paced_sends import take_from_rate
from worker.sending.placeholders import PlaceholderTexts, stored_template
from worker.sending.settle_rest import SETTLE_SECONDS, close_intents, settlement_of

SENDS = sends.send.c
LOCK_SEND = select(SENDS.id).where(SENDS.id == bindparam("send")).with_for_update()
LOCK_OTHER_SEND = LOCK_SEND.with_for_update(skip_locked=True)
SUSPECT_CRASHES = 2
"""A batch with this many crashed cycles in a row gets cycles of its own until one succeeds: if it causes the crashes,
no other batch is affected."""


OF_CLAIM = f"""
    b.id AS batch_id, b.send_id, b.account_id, b.epoch, s.kind, s.sender_id, s.message, s.encoding,
    {SEGMENTS} AS segments, {PRICE} AS price, {SIMULATED} AS test, s.lane, s.expires_at, b.size, b.next_index,
    coalesce(b.retry_indexes, '{{}}') AS retry_indexes, b.attempts, b.recipients, b.intent, b.watermark,
    CAST(b.lease_until AS text) AS lease_until, b.postponed AS postponed_before, b.route, s.on_unicode, b.variables,
    s.rules, s.request_id, s.traceparent,
    CASE WHEN b.next_index = 1 AND b.retry_indexes IS NULL
         THEN CAST(extract(epoch FROM clock_timestamp() - b.due_at) AS float8) END AS queue_delay,
    s.smpp -> 'part' AS part, s.smpp -> 'tlvs' AS tlvs
"""
"""SQL: the first fields of `ClaimedBatch`, in their order, of a batch `b` and its send `s`."""

CLAIM = text(
    f"""
    UPDATE batch b
       SET {batch_states.CLAIMED}
      FROM unnest(CAST(:id AS uuid[]), CAST(:intent AS int[]), CAST(:watermark AS int[])) AS c (id, intent, watermark),
           send s
     WHERE b.id = c.id AND s.id = b.send_id
    RETURNING {OF_CLAIM}
    """
)
"""Takes the lease, raises the epoch and stores the intent in one statement: from its commit on, no other worker may
submit these messages. It returns all that the cycle needs, so a claim needs no other read."""
log = logging.getLogger(__name__)

RETRY_SECONDS = 0.5

LOCK = text(
    """
    SELECT b.id, b.state = 'sending' AND b.epoch = c.epoch AND b.lease_until = c.lease_until AS ours
      FROM batch b JOIN unnest(CAST(:id AS uuid[]), CAST(:epoch AS int[]), CAST(:lease_until AS timestamptz[]))
                        AS c (id, epoch, lease_until) ON b.id = c.id
     ORDER BY b.id FOR UPDATE OF b
    """
)
"""Waits for a commit that is still under way, and tells which batches the claim has. The epoch does not tell: if the
claim was rolled back, the next one has the same. But its lease ends later, by at least a microsecond."""


def claim(engine: Engine, request: ClaimRequest) -> list[ClaimedBatch]:
    """Claim the next batches in fair order. Returns an empty list if nothing may be sent now.

    A send whose message cannot be prepared is held. Raises TextKeyMissing, without effect.
    """
    while True:
        batches: list[ClaimedBatch] = []
        try:
            with transaction(engine) as connection:
                batches = _claim(connection, request)
            if batches:
                crashpoint("claim.committed")
            return batches
        except (TextUnreadable, SendsUnusable) as unusable:
            hold_unusable(engine, unusable)
        except UNAVAILABLE:
            if batches:
                undo_claim(engine, batches)
            raise


def _claim(connection: Connection, request: ClaimRequest) -> list[ClaimedBatch]:
    first, candidates = lock_next(connection, request)
    intents, waits = _within_budget(connection, ((first, request.owed), (candidates, request.budget)), request.budget)
    if not intents:
        return []
    started = [
        row.send_id
        for row in (*first, *candidates)
        if row.state == "queued" and row.kind != "single" and row.batch_id in intents
    ]
    if started:
        connection.execute(send_states.BEGIN_SENDING, {"ids": sorted(set(started))})
    for send, lane in {(row.send_id, row.lane) for row in (*first, *candidates) if row.send_id in waits}:
        raise_paced(connection, send, lane)
    watermarks = array(_first_watermarks(list(intents.values()), request.window_size))
    values = {"id": uuids(intents), "intent": array(intents.values()), "watermark": watermarks, "lease": request.lease}
    claimed = {row[0]: row for row in tuples_of(connection, CLAIM, values)}
    texts = texts_of(connection)
    batches = _prepared([claimed[batch] for batch in intents if batch in claimed], texts)
    for batch in batches:
        batch.rate_delay = waits.get(batch.send_id)
    crashpoint("claim.before_commit")
    return batches


def _lock_send(connection: Connection, send: UUID, locked: set[UUID]) -> bool:
    """Lock a send with a canary or a rate of its own, unless it is `locked`. Returns False if another transaction has.

    Only the first one is waited for. While a claim that has locked one waited for another, a settlement of both could
    wait for the claim.
    """
    if send not in locked:
        if connection.execute(LOCK_OTHER_SEND if locked else LOCK_SEND, {"send": send}).first() is None:
            return False
        locked.add(send)
    return True


def _within_budget(
    connection: Connection, queues: Iterable[tuple[Sequence[Claimable], int]], budget: int
) -> tuple[dict[UUID, int], dict[UUID, float]]:
    """The number of messages to claim of each batch: whole batches in order, until the budget is used up.

    `queues` are served one after the other, each up to its own number of segments. Also returns, of each send with a
    rate of its own, the seconds until it may go on.
    """
    intents: dict[UUID, int] = {}
    waits: dict[UUID, float] = {}
    taken: Counter[UUID] = Counter()
    locked: set[UUID] = set()
    for candidates, most in queues:
        left = most = min(most, budget)
        for row in candidates:
            if left < row.segments and intents:
                break
            if row.batch_id in intents or (intents and row.crashes >= SUSPECT_CRASHES):
                continue
            if (row.canary is not None or row.rate) and not _lock_send(connection, row.send_id, locked):
                continue
            messages = min(row.retrying or row.unclaimed, max(1, left // row.segments))
            if row.min_messages is not None or row.canary is not None:
                messages = min(
                    messages,
                    messages_allowed(connection, row.send_id, row.canary, row.min_messages) - taken[row.send_id],
                )
                if messages <= 0:
                    continue  # the results of the first ones decide
                taken[row.send_id] += messages
            if row.rate:
                if row.send_id in waits:
                    continue
                messages, waits[row.send_id] = take_from_rate(connection, row.send_id, messages, row.segments)
                if not messages:
                    continue  # the send's own rate is used up
            intents[row.batch_id] = messages
            left -= messages * row.segments
            if row.crashes >= SUSPECT_CRASHES:
                return intents, waits
        budget -= most - left
    return intents, waits


def _first_watermarks(intents: list[int], window: int) -> list[int]:
    return [
        min(intent, max(0, window - before))
        for intent, before in zip(intents, accumulate(intents, initial=0), strict=False)
    ]


def _prepared(rows: list[tuple[Any, ...]], texts: Texts) -> list[ClaimedBatch]:
    """The claimed batches, decrypted. Raises TextUnreadable, or SendsUnusable for all that are."""
    batches, unusable = [], dict[UUID, Exception]()
    for row in rows:
        send = row[1]
        try:
            batch = ClaimedBatch(*row)
            batch.message, variables = texts.open(batch.message, send), texts.open_json(batch.variables, batch.batch_id)
            if (part := texts.open_json(batch.part, send)) is not None:
                batch.part = RawPart.of_json(part)
            if variables is not None:
                assert batch.on_unicode is not None
                of_intent = [variables[index - 1] for index in batch.indexes]
                batch.placeholder_texts = PlaceholderTexts(stored_template(batch.message), batch.on_unicode, of_intent)
            batches.append(batch)
        except TextUnreadable:
            raise TextUnreadable(send) from None
        except TextKeyMissing:
            raise
        except Exception as error:
            unusable[send] = error
    if unusable:
        raise SendsUnusable(unusable)
    return batches


def undo_claim(engine: Engine, batches: Sequence[ClaimedBatch]) -> None:
    """Queue again what was claimed by a commit that got no response: it may or may not have taken effect.

    The cycle has submitted none of it. Without this, it would be in doubt once the lease is over. While the database is
    unavailable, it is tried for SETTLE_SECONDS.
    """
    parameters = {
        "id": uuids(batch.batch_id for batch in batches),
        "epoch": array(batch.epoch for batch in batches),
        "lease_until": array(batch.lease_until for batch in batches),
    }
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        try:
            with transaction(engine) as connection:
                ours = {row.id for row in connection.execute(LOCK, parameters) if row.ours}
                settlements = [settlement_of(batch, wait=0.0) for batch in batches if batch.batch_id in ours]
                close_intents(connection, settlements, counted={})
            return
        except UNAVAILABLE as error:
            if time.monotonic() > deadline:
                log.warning("a claim may not have been undone, and will be recovered when its lease expires: %s", error)
                return
            time.sleep(RETRY_SECONDS)
