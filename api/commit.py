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
from shared.money import Entry, NotEnough, post

MOST_TOGETHER = 256

ACCOUNTS = text("SELECT id, available, turns, weight FROM account WHERE id = ANY(:ids)")

SET_TURNS = text(
    """
    UPDATE account a SET turns[t.lane + 1] = GREATEST(a.turns[t.lane + 1], t.turn)
      FROM unnest(CAST(:account AS bigint[]), CAST(:lane AS int[]), CAST(:turn AS bigint[])) AS t (account, lane, turn)
     WHERE a.id = t.account
    """
)

SEND_COLUMNS = (
    "id, account_id, api_key_id, kind, state, test, sender_id, message, encoding, characters, segments, price, lane,"
    " reference, metadata, rate, send_at, expires_at, group_id, group_bound, expanded_to, unexpanded,"
    " open_batches, submitted, accepted, duplicate, invalid, suppressed, created_at"
)
INSERT_SENDS = text(
    f"INSERT INTO send ({SEND_COLUMNS}) SELECT {SEND_COLUMNS}"
    " FROM json_populate_recordset(CAST(NULL AS send), CAST(:rows AS json))"
)
INSERT_REJECTIONS = text("INSERT INTO send_rejection (send_id, entries) VALUES (:send, CAST(:entries AS jsonb))")
INSERT_BATCHES = text(
    """
    INSERT INTO batch (id, send_id, account_id, state, turn, due_at, size, recipients)
    SELECT * FROM unnest(CAST(:id AS uuid[]), CAST(:send AS uuid[]), CAST(:account AS bigint[]),
                         CAST(:state AS batch_state[]), CAST(:turn AS bigint[]), CAST(:due_at AS timestamptz[]),
                         CAST(:size AS smallint[]), CAST(:recipients AS text[]))
    """
)


def commit_sends(connection: Connection, drafts: list[Draft], clock: int) -> list[str]:
    """Write the drafts and reserve their cost, in the connection's transaction. Returns their answers.

    The account's row is changed last, because it stays locked until the commit is on the disk. Raises NotEnough
    where an account cannot pay for all of its drafts: the transaction must be rolled back.
    """
    accounts = {row.id: row for row in connection.execute(ACCOUNTS, {"ids": sorted({d.account_id for d in drafts})})}
    last_turns = {(account, lane): turn for account, row in accounts.items() for lane, turn in enumerate(row.turns)}
    batches = _batch_columns(drafts, last_turns, {account: row.weight for account, row in accounts.items()}, clock)
    connection.execute(INSERT_SENDS, {"rows": json.dumps([_send_row(draft) for draft in drafts])})
    for draft in drafts:
        if draft.rejected:
            connection.execute(INSERT_REJECTIONS, {"send": draft.id, "entries": json.dumps(draft.rejected)})
    if batches["id"]:
        connection.execute(INSERT_BATCHES, batches)
    left = post(connection, [Entry(draft.account_id, "reserve", draft.cost, "send", draft.id) for draft in drafts])
    changed = {place: turn for place, turn in last_turns.items() if turn > accounts[place[0]].turns[place[1]]}
    if changed:
        connection.execute(
            SET_TURNS,
            {
                "account": [account for account, _ in changed],
                "lane": [lane for _, lane in changed],
                "turn": list(changed.values()),
            },
        )
    return _answers(connection, drafts, {account: row.available for account, row in accounts.items()} | left)


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
    counts = draft.counts()
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
        **counts,
        "created_at": draft.created_at.isoformat(),
    }


def _batch_columns(
    drafts: list[Draft], last_turns: dict[tuple[int, int], int], weights: dict[int, int], clock: int
) -> dict[str, list[Any]]:
    """The batches of all drafts, column by column. Moves `last_turns` (by account and lane) on."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("id", "send", "account", "state", "turn", "due_at", "size", "recipients")
    }
    for draft in drafts:
        place = (draft.account_id, draft.lane)
        turn = max(clock, last_turns[place])
        for batch, phones in zip(draft.batches, draft.slices(), strict=True):
            turn += fair.cost(len(phones) * draft.segmentation.count, draft.lane, weights[draft.account_id])
            columns["id"].append(batch)
            columns["send"].append(draft.id)
            columns["account"].append(draft.account_id)
            columns["state"].append("waiting" if draft.send_at else "queued")
            columns["turn"].append(turn)
            columns["due_at"].append(draft.send_at or draft.created_at)
            columns["size"].append(len(phones))
            columns["recipients"].append("\n".join(phones))
        last_turns[place] = turn
    return columns


@dataclass(slots=True)
class Waiting:
    """A draft on its way into a group. Without an answer or error at the end, it is to be committed by itself."""

    draft: Draft
    clock: int
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

    def together(self, draft: Draft, clock: int) -> Answered:
        """Commit the draft with whatever else is waiting. Returns after its commit; raises Problem without effect."""
        waiting = Waiting(draft, clock)
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
        return waiting.answered or self.alone(draft, clock)

    def alone(self, draft: Draft, clock: int) -> Answered:
        """Commit one draft. Waits for a twin with the same key."""
        try:
            with self._engine.begin() as connection:
                if draft.key is not None:
                    idempotency.wait_for(connection, draft.key)
                    before = idempotency.stored(connection, [draft.key]).get(draft.key.lock)
                    if before is not None:
                        return idempotency.replay(draft.key, *before)
                return Answered(commit_sends(connection, [draft], clock)[0])
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
            answers = commit_sends(connection, [waiting.draft for waiting in free], max(w.clock for w in free))
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
