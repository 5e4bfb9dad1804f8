"""Commits sends that arrive together in one transaction.

One account's row allows one reserve per write to the disk, and so a group of sends shares it. Whoever comes while a
commit is under way is in the next one; only where many come does that wait for more.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock

from sqlalchemy import Connection, Engine, text

from api.commit import idempotency
from api.commit.commit import accept_rows, commit_sends, responses_of
from api.commit.draft import Draft, stamp
from api.commit.idempotency import Answered
from api.http.event_loop import NeedsThread, PendingResponse, complete
from api.http.problems import Problem
from api.http.responses import JsonResponse
from shared.crashpoints import crashpoint
from shared.db.connection import at_once, reading
from shared.guard import Witness
from shared.ledger.ledger import NotEnough
from shared.ledger.spend_limits import OverSpend, Period, Standing, standings
from shared.plurals import counted
from shared.sends.fair_queueing import SeenClock

MAX_GROUP = 256
LARGE_GROUP, GATHER_SECONDS = 8, 0.006
"""After the commit of a group so large the next one begins so many seconds later, or when as many wait for it: those
who were answered come back, and to commit a group costs as much as a dozen of its sends."""
LONGEST_WAIT = 1.0
"""Seconds for an event loop that is busy."""
THREADS = 16
"""Accounts whose groups are committed at the same time."""


@dataclass(slots=True)
class QueuedDraft:
    """A draft on its way into a group. Without an answer or error at the end, it is to be committed by itself."""

    draft: Draft
    waiter: "PendingResponse | Lock"
    """Who waits: the answer to a request on the event loop, or a thread, for a lock that is held until the end."""
    answered: Answered | None = None
    error: Exception | None = None

    def outcome(self) -> Answered | None:
        """The answer; None where certainly nothing has happened. Raises what its group's commit raised."""
        if self.error is not None:
            raise self.error
        return self.answered


@dataclass(slots=True)
class AccountQueue:
    """Who waits for the next group of an account."""

    queued: list[QueuedDraft] = field(default_factory=list)
    enough: int = 0
    """As many begin it before its time."""
    full: Event = field(default_factory=Event)

    def add(self, queued: QueuedDraft) -> None:
        """One more."""
        self.queued.append(queued)
        if len(self.queued) == self.enough:
            self.full.set()

    def take(self) -> list[QueuedDraft]:
        """The next group."""
        group = self.queued[:MAX_GROUP]
        del self.queued[:MAX_GROUP]
        return group

    def expect(self, count: int) -> bool:
        """Have `full` set when so many wait. Returns whether they do already."""
        self.enough = count
        self.full.clear()
        return len(self.queued) >= count


class GroupCommit:
    """Commits drafts, those of one account that arrive together in one transaction.

    The groups of an account are committed one after the other, by a thread that goes on until nobody waits. Accounts do
    not wait for each other: somebody may hold the lock of one's row.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.witness = Witness()
        """Remembers the last accepted sends, for the guard."""
        self._clock = SeenClock()
        self._queues: dict[int, AccountQueue] = {}
        """By account; one without a queue has nobody whose group is being committed."""
        self._lock = Lock()
        self._threads = ThreadPoolExecutor(THREADS, "commit")

    def together(self, draft: Draft) -> Answered:
        """Commit the draft with whatever else is queued. Returns after its commit; raises Problem without effect."""
        held = Lock()
        with held:
            queued = QueuedDraft(draft, held)
            self._add(queued)
            held.acquire()  # until `_notify` has released it
        return queued.outcome() or self.alone(draft)

    def later(self, draft: Draft, finish: Callable[[Answered], JsonResponse]) -> PendingResponse:
        """The same on the event loop, where the answer is made when the draft is committed."""

        def make() -> "Callable[[], JsonResponse]":  # in quotes, or it would be made anew at each call
            answered = queued.outcome()
            if answered is None:
                raise NeedsThread
            return lambda: finish(answered)

        answer = PendingResponse(make)
        queued = QueuedDraft(draft, answer)
        self._add(queued)
        return answer

    def alone(self, draft: Draft) -> Answered:
        """Commit one draft. NeedsThread for a twin with the same key."""
        try:
            with self._engine.begin() as connection:
                if draft.key is not None:
                    idempotency.wait_for(connection, draft.key)
                    before = idempotency.stored(connection, [draft.key]).get(draft.key.lock)
                    if before is not None:
                        return idempotency.replay(draft.key, before)
                answer = commit_sends(connection, [draft], self._clock)[0]
        except NotEnough as error:
            raise self._not_enough(draft, error) from None
        self.witness.accepted(draft.id)
        return Answered(answer)

    def _add(self, queued: QueuedDraft) -> None:
        account = queued.draft.account_id
        with self._lock:
            if account in self._queues:
                self._queues[account].add(queued)
                return
            self._queues[account] = AccountQueue([queued])
        self._threads.submit(self._commit_groups, account)

    def _commit_groups(self, account: int) -> None:
        """Commit who waits, group after group. Whom a group could not include is left without an answer."""
        queue = self._queues[account]
        while True:
            with self._lock:
                group = queue.take()
                if not group:
                    del self._queues[account]
                    return
            try:
                self._try_group(group)
            except NotEnough:
                pass  # there is not enough for all of the group: each is asked by itself
            except Exception as error:
                for queued in group:
                    queued.error = error
            finally:
                gathered_at = time.monotonic() + GATHER_SECONDS
                _notify(queued.waiter for queued in group)
            if len(group) >= LARGE_GROUP:
                with self._lock:
                    full = queue.expect(len(group))
                if not full:
                    queue.full.wait(max(0.0, gathered_at - time.monotonic()))

    def _try_group(self, group: list[QueuedDraft]) -> None:
        """Commit those of the group that nothing stands against."""
        if all(queued.draft.key is None for queued in group):
            self._at_once(group)
            return
        with self._engine.begin() as connection:
            free = self._free(connection, group)
            if not free:
                return
            responses = commit_sends(connection, [queued.draft for queued in free], self._clock)
        self.witness.accepted(free[-1].draft.id)
        for queued, answer in zip(free, responses, strict=True):
            queued.answered = Answered(answer)

    def _at_once(self, group: list[QueuedDraft]) -> None:
        """Commit a group without keys: one statement that is its own transaction."""
        drafts = [queued.draft for queued in group]
        crashpoint("accept.before_commit")
        with at_once(self._engine) as driver:
            left = accept_rows(driver, drafts, self._clock)
        self.witness.accepted(drafts[-1].id)
        for queued, answer in zip(group, responses_of(drafts, left), strict=True):
            queued.answered = Answered(answer)

    @staticmethod
    def _free(connection: Connection, group: list[QueuedDraft]) -> list[QueuedDraft]:
        """The members without a key, and the first with each key that is new and that no twin holds."""
        first: dict[str, QueuedDraft] = {}
        for queued in group:
            if queued.draft.key is not None:
                first.setdefault(queued.draft.key.lock, queued)
        keys = [queued.draft.key for queued in first.values() if queued.draft.key is not None]
        taken = idempotency.try_locks(connection, keys) if keys else set()
        used = set(idempotency.stored(connection, keys)) if keys else set()
        return [
            queued
            for queued in group
            if (key := queued.draft.key) is None
            or (key.lock in taken and key.lock not in used and first[key.lock] is queued)
        ]

    def _not_enough(self, draft: Draft, error: NotEnough) -> Problem:
        with reading(self._engine) as connection:
            if isinstance(error, OverSpend):
                return spend_limit_reached(draft.cost, standings(connection, draft.account_id))
            row = connection.execute(
                text("SELECT available, state FROM account WHERE id = :id"), {"id": draft.account_id}
            ).one()
        if row.state != "active":
            return Problem("account_suspended", "This account may not send at the moment.")
        return low_balance(draft.cost, row.available)


def spend_limit_reached(required: int, standings: dict[Period, Standing]) -> Problem:
    """A 402: of the limit that is reached; where both are, of the month's."""
    day, month = standings["day"], standings["month"]
    of = month if month.most is not None and (day.most is None or month.credits + required > month.most) else day
    most = of.most or 0
    return Problem(
        "spend_limit_reached",
        f"This send needs {counted(required, 'credit')}; of the {most:,} of a {of.period}, {of.credits:,} are spent.",
        required=required,
        period=of.period,
        spend_limit=most,
        spent=of.credits,
        resets_at=stamp(of.ends),
    )


def low_balance(required: int, balance: int) -> Problem:
    """A 402."""
    return Problem(
        "low_balance",
        f"This send needs {counted(required, 'credit')}; {balance:,} {'is' if balance == 1 else 'are'} left.",
        required=required,
        balance=balance,
    )


def _notify(queued: "Iterable[PendingResponse | Lock]") -> None:
    """Let those who waited go on. Returns when they have: who comes meanwhile makes the next group larger."""
    responses: list[PendingResponse] = []
    for each in queued:
        if isinstance(each, PendingResponse):
            responses.append(each)
        else:
            each.release()
    if responses:
        reached = Event()
        complete(responses, reached.set)
        reached.wait(LONGEST_WAIT)
