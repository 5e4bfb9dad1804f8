"""Group commit: sends that arrive together are committed in one transaction.

An account's row allows one reserve per fsync, so a group of sends shares one. Sends that arrive during a commit go into
the next group; only under load does a group wait for more sends.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Lock

from sqlalchemy import Connection, Engine

from api import idempotency
from api.commit.commit import accept_rows, commit_sends, responses_of
from api.commit.commit_trace import trace_commit
from api.commit.draft import Draft
from api.commit.lost_commit import commit_once, responses_of_stored
from api.commit.low_balance import low_balance_or_spend_limit
from api.event_loop import complete
from api.idempotency import IdempotentResponse
from shared.crashpoints import crashpoint
from shared.db.connection import autocommit
from shared.guard import Witness
from shared.ledger.ledger import ReserveRefused
from shared.observability import traces
from shared.observability.metrics import ACCEPTED, COMMIT_SECONDS, COMMIT_SENDS
from shared.sends.fair_queueing import CachedClock
from shared.sms.countries import country_of, country_prefix

MAX_GROUP = 256
LARGE_GROUP, WHOLE_GROUP, GATHER_SECONDS = 8, 32, 0.006
"""After a group of at least LARGE_GROUP sends, the next one waits up to GATHER_SECONDS to reach the same size: clients
send again after their responses, and the overhead of a commit equals a dozen sends. After one of more than WHOLE_GROUP
it waits for half of its size, and if more than twice WHOLE_GROUP wait, it takes half of them: the window of one bind
would else be committed at once, while nothing is checked."""
MAX_WAIT_SECONDS = 1.0
"""Seconds to wait for a busy event loop."""
THREADS = 16
"""Accounts whose groups are committed concurrently."""


@dataclass(slots=True)
class QueuedDraft:
    """A draft waiting for a group. If it ends with neither a response nor an error, it must be committed alone."""

    draft: Draft
    waiter: "asyncio.Future[None] | Lock"
    """Completed when the commit is over, or a lock that the waiting thread blocks on until then."""
    response: IdempotentResponse | None = None
    error: Exception | None = None

    def outcome(self) -> IdempotentResponse | None:
        """The response; None if the draft was certainly not committed. Raises the error of its group's commit."""
        if self.error is not None:
            raise self.error
        return self.response


@dataclass(slots=True)
class AccountQueue:
    """The drafts waiting for an account's next group."""

    queued: list[QueuedDraft] = field(default_factory=list)
    enough: int = 0
    """Number of drafts at which the group starts without waiting longer."""
    full: Event = field(default_factory=Event)

    def add(self, queued: QueuedDraft) -> None:
        """Add a draft, and set `full` if there are enough."""
        self.queued.append(queued)
        if len(self.queued) == self.enough:
            self.full.set()

    def take(self) -> list[QueuedDraft]:
        """Remove and return the next group."""
        waiting = len(self.queued)
        size = min(MAX_GROUP, waiting // 2 if waiting > 2 * WHOLE_GROUP else waiting)
        group = self.queued[:size]
        del self.queued[:size]
        return group

    def expect(self, count: int) -> bool:
        """Have `full` set once `count` drafts wait. Returns whether they do already."""
        self.enough = count
        self.full.clear()
        return len(self.queued) >= count


class GroupCommit:
    """Commits drafts; drafts of one account that arrive together share a transaction.

    One thread commits an account's groups one after the other until no draft waits. Accounts are independent: a lock on
    one account's row delays only that account.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.witness = Witness()
        """Records the latest accepted sends, to detect lost commits."""
        self._clock = CachedClock()
        self._queues: dict[int, AccountQueue] = {}
        """Queues by account. An account has one only while a thread commits its groups."""
        self._lock = Lock()
        self._threads = ThreadPoolExecutor(THREADS, "commit")

    def commit(self, draft: Draft) -> IdempotentResponse:
        """Commit the draft with others that are queued. Returns after the commit; a Problem means it had no effect."""
        held = Lock()
        with held:
            queued = QueuedDraft(draft, held)
            self._add(queued)
            held.acquire()  # blocks until `_notify` releases it
        return queued.outcome() or self.commit_alone(draft)

    def commit_async(self, draft: Draft) -> "tuple[asyncio.Future[None], QueuedDraft]":
        """Like `commit` for the event loop: the queued draft has its outcome when the future completes."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queued = QueuedDraft(draft, ready)
        self._add(queued)
        return ready, queued

    def commit_alone(self, draft: Draft) -> IdempotentResponse:
        """Commit one draft in its own transaction, waiting for a concurrent request with the same idempotency key."""
        stored = partial(responses_of_stored, self._engine, [draft])
        return commit_once(partial(self._commit_alone, draft), lambda: stored().get(draft.id))

    def _commit_alone(self, draft: Draft) -> IdempotentResponse:
        began = time.monotonic()
        try:
            with self._engine.begin() as connection:
                if draft.key is not None:
                    idempotency.wait_for(connection, draft.key)
                    repeated = idempotency.replay_if_repeated(connection, draft.key)
                    if repeated is not None:
                        return repeated
                body = commit_sends(connection, [draft], self._clock)[0]
        except ReserveRefused as error:
            raise low_balance_or_spend_limit(self._engine, draft, error) from None
        _count_and_trace([draft], began)
        self.witness.accepted(draft.id)
        return IdempotentResponse(body)

    def _add(self, queued: QueuedDraft) -> None:
        account = queued.draft.account_id
        with self._lock:
            if account in self._queues:
                self._queues[account].add(queued)
                return
            self._queues[account] = AccountQueue([queued])
        self._threads.submit(self._commit_groups, account)

    def _commit_groups(self, account: int) -> None:
        """Commit the waiting drafts, group after group. Drafts that a group must leave out get no response."""
        queue = self._queues[account]
        while True:
            with self._lock:
                group = queue.take()
                if not group:
                    del self._queues[account]
                    return
            try:
                commit_once(partial(self._try_group, group), partial(self._read_stored, group))
            except ReserveRefused:
                pass  # the balance does not cover the whole group: its drafts are committed one by one
            except Exception as error:
                for queued in group:
                    queued.error = error
            finally:
                gathered_at = time.monotonic() + GATHER_SECONDS
                _notify(queued.waiter for queued in group)
            if len(group) >= LARGE_GROUP:
                with self._lock:
                    full = queue.expect(len(group) if len(group) <= WHOLE_GROUP else len(group) // 2)
                if not full:
                    queue.full.wait(max(0.0, gathered_at - time.monotonic()))

    def _try_group(self, group: list[QueuedDraft]) -> bool:
        """Commit the drafts of the group that do not conflict over an idempotency key. Returns whether any do not."""
        if all(queued.draft.key is None for queued in group):
            self._at_once(group)
            return True
        began = time.monotonic()
        with self._engine.begin() as connection:
            free = self._free(connection, group)
            if not free:
                return False
            responses = commit_sends(connection, [queued.draft for queued in free], self._clock)
        _count_and_trace([queued.draft for queued in free], began)
        self.witness.accepted(free[-1].draft.id)
        for queued, body in zip(free, responses, strict=True):
            queued.response = IdempotentResponse(body)
        return True

    def _at_once(self, group: list[QueuedDraft]) -> None:
        """Commit a group without idempotency keys as a single statement in autocommit."""
        began, drafts = time.monotonic(), [queued.draft for queued in group]
        crashpoint("accept.before_commit")
        with autocommit(self._engine) as driver:
            left = accept_rows(driver, drafts, self._clock)
        _count_and_trace(drafts, began)
        self.witness.accepted(drafts[-1].id)
        for queued, body in zip(group, responses_of(drafts, left), strict=True):
            queued.response = IdempotentResponse(body)

    def _read_stored(self, group: list[QueuedDraft]) -> bool:
        """Give the drafts of the group that are stored their responses. One with a key reads its own when it is alone.
        Returns whether there are any."""
        stored = responses_of_stored(self._engine, [queued.draft for queued in group])
        for queued in group:
            if queued.draft.key is None:
                queued.response = stored.get(queued.draft.id)
        return bool(stored)

    @staticmethod
    def _free(connection: Connection, group: list[QueuedDraft]) -> list[QueuedDraft]:
        """The drafts without a key, and the first draft of each key that is new and not locked by another request."""
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


def _count_and_trace(drafts: list[Draft], began: float) -> None:
    """Count a commit for `GET /metrics`, and trace it if traces are on."""
    COMMIT_SENDS.observe(len(drafts))
    COMMIT_SECONDS.observe(time.monotonic() - began)
    phones: defaultdict[str, list[str]] = defaultdict(list)
    for draft in drafts:
        if draft.test:
            continue
        if draft.group_id is not None:
            ACCEPTED.labels(draft.category, "").inc(draft.accepted)
        phones[draft.category] += draft.phones
    for category, sent_to in phones.items():
        for prefix, messages in Counter(map(country_prefix, sent_to)).items():
            ACCEPTED.labels(category, country_of(prefix) or "").inc(messages)
    if traces.tracer is not None:
        trace_commit(traces.tracer, drafts, began)


def _notify(waiters: "Iterable[asyncio.Future[None] | Lock]") -> None:
    """Wake the waiting requests. Returns after their responses are built, so that the next group can grow meanwhile."""
    futures: list[asyncio.Future[None]] = []
    for waiter in waiters:
        if isinstance(waiter, asyncio.Future):
            futures.append(waiter)
        else:
            waiter.release()
    if futures:
        reached = Event()
        complete(futures, reached.set)
        reached.wait(MAX_WAIT_SECONDS)
