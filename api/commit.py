"""Accepts sends: the send, its batches, the reserve and the idempotency key, in one durable transaction.

Single sends that arrive together are committed together: one account's row allows one reserve per write to the disk,
and so a group shares it. Nobody waits on purpose; whoever comes while a commit is under way is in the next one.
"""

import json
import threading
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, text

from api import idempotency
from api.draft import Draft
from api.idempotency import Answered
from api.problems import Problem
from shared import fair
from shared.crashpoints import crashpoint
from shared.database import driver_of
from shared.events import EventType, add
from shared.money import NotEnough

MOST_TOGETHER = 256

BATCH_COLUMNS = ("id", "send", "account", "lane", "turn_cost", "state", "due_at", "size", "recipients")

SEND_COLUMNS = (
    "id, account_id, api_key_id, kind, state, test, sender_id, message, encoding, characters, segments, price, lane,"
    " reference, metadata, rate, send_at, expires_at, group_id, group_bound, expanded_to, unexpanded,"
    " open_batches, submitted, accepted, duplicate, invalid, suppressed, created_at"
)

ACCEPT = f"""
WITH new_send AS (
    INSERT INTO send ({SEND_COLUMNS})
    SELECT {SEND_COLUMNS} FROM json_populate_recordset(CAST(NULL AS send), %(sends)s::json)
    RETURNING id, account_id, price, accepted
), queue AS (
    SELECT coalesce((SELECT min(turn) FROM batch WHERE state = 'queued'),
                    extract(epoch FROM clock_timestamp())::bigint * 1000000) AS clock
), numbered AS (
    SELECT i.*, GREATEST(q.clock, a.turns[i.lane + 1])
                + sum(GREATEST(1, i.cost / a.weight)) OVER (PARTITION BY i.account, i.lane ORDER BY i.place) AS turn
      FROM unnest(%(id)s::uuid[], %(send)s::uuid[], %(account)s::bigint[], %(lane)s::int[], %(turn_cost)s::bigint[],
                  %(state)s::batch_state[], %(due_at)s::timestamptz[], %(size)s::smallint[], %(recipients)s::text[])
           WITH ORDINALITY AS i (id, send, account, lane, cost, state, due_at, size, recipients, place)
      JOIN account a ON a.id = i.account CROSS JOIN queue q
), new_batch AS (
    INSERT INTO batch (id, send_id, account_id, state, turn, due_at, size, recipients)
    SELECT id, send, account, state, turn, due_at, size, recipients FROM numbered
), new_entry AS (
    INSERT INTO ledger (account_id, kind, debit, credit, amount, subject_type, subject)
    SELECT account_id, 'reserve', 'available', 'reserved', price * accepted::bigint, 'send', id
      FROM new_send WHERE price > 0 AND accepted > 0
)
UPDATE account a
   SET available = a.available - d.cost, reserved = a.reserved + d.cost, updated_at = clock_timestamp(),
       turns = ARRAY[GREATEST(a.turns[1], t.first), GREATEST(a.turns[2], t.second), GREATEST(a.turns[3], t.third)]
  FROM (SELECT account_id, sum(price * accepted::bigint) AS cost FROM new_send GROUP BY account_id) d
  LEFT JOIN (SELECT account, max(turn) FILTER (WHERE lane = 0) AS first, max(turn) FILTER (WHERE lane = 1) AS second,
                    max(turn) FILTER (WHERE lane = 2) AS third
               FROM numbered GROUP BY account) t ON t.account = d.account_id
 WHERE a.id = d.account_id AND a.available >= d.cost AND a.state = 'active'
RETURNING a.id, a.available, CASE WHEN a.available < a.low_balance_threshold
                                   AND a.available + d.cost >= a.low_balance_threshold THEN a.low_balance_threshold END
"""
"""Accepts sends: each is stored, queued in fair order and paid for, or the statement returns too few accounts and its
transaction must be rolled back. One statement, because the account's row stays locked until the commit is on disk."""

LOCK_ACCOUNTS = "SELECT FROM account WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
"""Not FOR UPDATE, which would wait for every row that refers to the account, and so for who waits for this."""
INSERT_REJECTIONS = "INSERT INTO send_rejection (send_id, entries) VALUES (%s, %s::jsonb)"


def commit_sends(connection: Connection, drafts: list[Draft]) -> list[str]:
    """Write the drafts and reserve their cost, in the connection's transaction. Returns their answers.

    Raises NotEnough where an account cannot pay for all of its drafts: the transaction must be rolled back.
    """
    driver = driver_of(connection)
    accounts = sorted({draft.account_id for draft in drafts})
    if len(accounts) > 1:
        driver.execute(LOCK_ACCOUNTS, (accounts,))
    parameters = {"sends": json.dumps([_send_row(draft) for draft in drafts]), **_batch_columns(drafts)}
    reserved = driver.execute(ACCEPT, parameters, prepare=True).fetchall()
    left = {account: available for account, available, _ in reserved}
    if len(left) != len(accounts):
        raise NotEnough(sorted(set(accounts) - set(left)))
    for draft in drafts:
        if draft.rejected:
            driver.execute(INSERT_REJECTIONS, (draft.id, json.dumps(draft.rejected)))
    for account, available, crossed in reserved:
        if crossed is not None:
            add(connection, account, EventType.BALANCE_LOW, {"balance": available, "low_balance_threshold": crossed})
    answers = _answers(connection, drafts, left)
    crashpoint("accept.before_commit")
    return answers


def _answers(connection: Connection, drafts: list[Draft], left: dict[int, int]) -> list[str]:
    """Each draft's answer, with the balance as it was after that draft; keys are stored with it."""
    answers: list[str] = []
    for draft in reversed(drafts):
        answers.append(draft.answer(left[draft.account_id]))
        left[draft.account_id] += draft.cost
    answers.reverse()
    keyed = [(draft.key, answer) for draft, answer in zip(drafts, answers, strict=True) if draft.key is not None]
    if keyed:
        idempotency.store(connection, keyed)
    return answers


def _send_row(draft: Draft) -> dict[str, Any]:
    return {
        "id": str(draft.id),
        "account_id": draft.account_id,
        "api_key_id": draft.api_key_id,
        "kind": draft.kind,
        "state": draft.state,
        "test": draft.test,
        "sender_id": draft.sender_id,
        "message": draft.message,
        "encoding": draft.segmentation.encoding,
        "characters": draft.segmentation.characters,
        "segments": draft.segmentation.count,
        "price": draft.price,
        "lane": draft.lane,
        "reference": draft.reference,
        "metadata": draft.metadata,
        "rate": draft.rate,
        "send_at": draft.send_at and draft.send_at.isoformat(),
        "expires_at": draft.expires_at.isoformat(),
        "group_id": draft.group_id and str(draft.group_id),
        "group_bound": draft.group_bound,
        "expanded_to": None if draft.group_id is None else 0,
        "unexpanded": 0 if draft.group_id is None else draft.submitted,
        "open_batches": len(draft.batches),
        **draft.counts(),
        "created_at": draft.created_at.isoformat(),
    }


def _batch_columns(drafts: list[Draft]) -> dict[str, list[Any]]:
    """The batches of all drafts, column by column."""
    columns: dict[str, list[Any]] = {name: [] for name in BATCH_COLUMNS}
    for draft in drafts:
        for batch, phones in zip(draft.batches, draft.slices(), strict=True):
            columns["id"].append(batch)
            columns["send"].append(draft.id)
            columns["account"].append(draft.account_id)
            columns["lane"].append(draft.lane)
            columns["turn_cost"].append(fair.cost(len(phones) * draft.segmentation.count, draft.lane))
            columns["state"].append("waiting" if draft.send_at else "queued")
            columns["due_at"].append(draft.send_at or draft.created_at)
            columns["size"].append(len(phones))
            columns["recipients"].append("\n".join(phones))
    return columns


@dataclass(slots=True)
class Waiting:
    """A draft on its way into a group. Without an answer or error at the end, it is to be committed by itself."""

    draft: Draft
    leads: bool = False
    """Whether its thread is to commit the next group."""
    answered: Answered | None = None
    error: Exception | None = None
    turn: threading.Event = field(default_factory=threading.Event)


class GroupCommit:
    """Commits drafts, those that arrive together in one transaction.

    The first to come leads: its thread commits all who wait, and hands the lead to one who came meanwhile. Each waits
    for an event of its own, because threads that queue for one lock wake one after the other.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: list[Waiting] = []
        self._led = False
        self._lock = threading.Lock()

    def together(self, draft: Draft) -> Answered:
        """Commit the draft with whatever else is waiting. Returns after its commit; raises Problem without effect."""
        waiting = Waiting(draft)
        with self._lock:
            waiting.leads, self._led = not self._led, True
            if not waiting.leads:
                self._queue.append(waiting)
        if not waiting.leads:
            waiting.turn.wait()
        if waiting.leads:
            self._lead(waiting)
        if waiting.error is not None:
            raise waiting.error
        return waiting.answered or self.alone(draft)

    def alone(self, draft: Draft) -> Answered:
        """Commit one draft. Waits for a twin with the same key."""
        try:
            with self._engine.begin() as connection:
                if draft.key is not None:
                    idempotency.wait_for(connection, draft.key)
                    before = idempotency.stored(connection, [draft.key]).get(draft.key.lock)
                    if before is not None:
                        return idempotency.replay(draft.key, *before)
                return Answered(commit_sends(connection, [draft])[0])
        except NotEnough:
            raise self._not_enough(draft) from None

    def _lead(self, leader: Waiting) -> None:
        """Commit the group that has gathered. Whom it could not include is left without an answer."""
        with self._lock:
            group = [leader, *self._queue[: MOST_TOGETHER - 1]]
            self._queue = self._queue[MOST_TOGETHER - 1 :]
        try:
            self._try_group(group)
        except NotEnough:
            pass  # somebody in the group cannot pay: each is asked by itself
        except Exception as error:
            for waiting in group:
                waiting.error = error
        finally:
            self._hand_over()
            for waiting in group[1:]:
                waiting.turn.set()

    def _hand_over(self) -> None:
        with self._lock:
            following = self._queue.pop(0) if self._queue else None
            self._led = following is not None
        if following is not None:
            following.leads = True
            following.turn.set()

    def _try_group(self, group: list[Waiting]) -> None:
        """Commit those of the group that nothing stands against."""
        with self._engine.begin() as connection:
            free = self._free(connection, group)
            if not free:
                return
            answers = commit_sends(connection, [waiting.draft for waiting in free])
        for waiting, answer in zip(free, answers, strict=True):
            waiting.answered = Answered(answer)

    @staticmethod
    def _free(connection: Connection, group: list[Waiting]) -> list[Waiting]:
        """The members without a key, and the first with each key that is new and that no twin holds."""
        first: dict[str, Waiting] = {}
        for waiting in group:
            if waiting.draft.key is not None:
                first.setdefault(waiting.draft.key.lock, waiting)
        keys = [waiting.draft.key for waiting in first.values() if waiting.draft.key is not None]
        taken = idempotency.try_locks(connection, keys) if keys else set()
        used = set(idempotency.stored(connection, keys)) if keys else set()
        return [
            waiting
            for waiting in group
            if (key := waiting.draft.key) is None
            or (key.lock in taken and key.lock not in used and first[key.lock] is waiting)
        ]

    def _not_enough(self, draft: Draft) -> Problem:
        with self._engine.connect() as connection:
            row = connection.execute(
                text("SELECT available, state FROM account WHERE id = :id"), {"id": draft.account_id}
            ).one()
        if row.state != "active":
            return Problem("account_suspended", "This account may not send at present.")
        return low_balance(draft.cost, row.available)


def low_balance(required: int, balance: int) -> Problem:
    """A 402."""
    return Problem(
        "low_balance",
        f"This send needs {required:,} credits; {balance:,} are left.",
        required=required,
        balance=balance,
    )
