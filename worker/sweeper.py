"""Runs the periodic work of every worker once a second, without Redis.

One worker at a time, under a lease, does the work that is needed once: recovers abandoned batches, wakes sends and
batches that are due, ends expired sends, expires doubts, retries unmatched receipts. Every worker checks whether
messages wait, and runs cycles even if no task woke it. Every ten minutes one worker keeps house. Each of these has a
thread of its own, so that none delays another.
"""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

from sqlalchemy import Engine, bindparam, delete, func, select, text

from shared.db.connection import is_outage, reading, transaction
from shared.db.expressions import is_live
from shared.db.tables.running import lease
from shared.doubts.resolution import expire_doubts
from shared.lifecycle import SendState
from shared.periodic import repeat
from shared.sends import batch_states, fair_queueing, send_states
from shared.sends.holding import hold_newly_refused
from shared.sends.publish_batches import publish_batches
from shared.sends.recipient_counts import RecipientCounts
from shared.sends.requeue import requeue_batches
from shared.sends.sendable import SENDABLE
from shared.settings import Settings
from worker.jobs.housekeeping import housekeeping
from worker.jobs.recipient_limits import RecipientLimits
from worker.leases import take_lease
from worker.pacing.carrier_status import CarrierStatus
from worker.pacing.pace import LiveWorkers
from worker.receipts.match import match_unmatched
from worker.receipts.match_doubts import resolve_by_receipts
from worker.recovery.close_ended_sends import close_ended_sends
from worker.recovery.recover import recover
from worker.recovery.stalled_sessions import StalledSessions
from worker.routing.carrier_pools import CarrierPools
from worker.sending.canary import check_canaries_and_stop_if
from worker.sending.dispatch import Dispatcher
from worker.sending.settle_rest import SETTLE_SECONDS
from worker.tasks import ExpandAndSend

log = logging.getLogger(__name__)

SWEEP_SECONDS = 1.0
HOUSEKEEPING_SECONDS, HOUSEKEEPING_CHECK_SECONDS = 600.0, 10.0
RECENTLY = 60.0
"""Seconds for which an unmatched receipt is retried every second; after that, with each housekeeping."""

HEARTBEAT = text(
    """
    INSERT INTO lease (name, holder, held_until, clock_offset)
    VALUES (:name, :holder, clock_timestamp() + interval '5 seconds',
            :clock - extract(epoch FROM clock_timestamp())::float8)
    ON CONFLICT (name) DO UPDATE SET held_until = EXCLUDED.held_until, clock_offset = EXCLUDED.clock_offset
    """
)
"""Compares the worker's clock with the database's in the statement itself, so no round trip adds to the difference."""
LEAVE = delete(lease).where(lease.c.name == bindparam("name"))

WORKERS = select(func.count()).select_from(lease).where(lease.c.name.like("worker:%"), is_live(lease.c.held_until))

MESSAGES_WAIT = text(
    f"""
    SELECT EXISTS (SELECT FROM batch b JOIN send s ON s.id = b.send_id WHERE b.state = 'queued' AND {SENDABLE})
        OR EXISTS (SELECT FROM send s WHERE s.expanded_to IS NOT NULL AND s.state = 'expanding' AND {SENDABLE})
    """
)
"""Every worker asks this every second: two EXISTS end at the first row that the claim would find, with the claim's own
condition."""

GROWN_TABLES = text(
    """
    SELECT c.oid::regclass::text FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
       AND (pg_relation_size(c.oid) > 10 * 8192 * GREATEST(c.relpages, 4)
            OR c.reltuples = 0 AND pg_stat_get_live_tuples(c.oid) > 100)
    """
)
"""Tables that have grown tenfold since their last ANALYZE, or whose first rows came with a transaction that was open
then: the plans are still made for a small table. Autovacuum checks only once a minute, in which a million messages may
be sent, or an import may compare all contacts with each other."""


class Sweeper:
    """The sweep of one worker process: what one worker does for all, and what each does for itself."""

    def __init__(
        self,
        engine: Engine,
        dispatcher: Dispatcher | CarrierPools,
        settings: Settings,
        live_workers: LiveWorkers | None = None,
        carrier_status: CarrierStatus | None = None,
    ) -> None:
        self._engine = engine
        self._dispatcher = dispatcher
        self._settings = settings
        self._live_workers = live_workers or LiveWorkers()
        self._carrier_status = carrier_status
        recipients = RecipientLimits(RecipientCounts(), settings.recipient_limits)
        self.work = ExpandAndSend(engine, dispatcher, recipients)
        self.worker = str(uuid4())
        """This worker's unique name."""
        if carrier_status is not None:
            carrier_status.worker = self.worker
        self._pool = ThreadPoolExecutor(settings.concurrency, thread_name_prefix="cycle")
        self._running: set[Future[int]] = set()
        self._doubts_due = 0.0
        self._stalled_sessions = StalledSessions(engine)
        self._threads: list[threading.Thread] = []
        self.outage = dispatcher.outage

    def start(self) -> None:
        """Sweep every SWEEP_SECONDS in background threads, until `stop` is called."""
        for step, seconds, name in (
            (self._work_for_all, SWEEP_SECONDS, "sweeper"),
            (self._keep_sending, SWEEP_SECONDS, "keep-sending"),
            (self._keep_house_when_due, HOUSEKEEPING_CHECK_SECONDS, "housekeeping"),
        ):
            self._threads.append(repeat(self.outage.tolerated()(step), seconds, name, self._dispatcher.stop))

    def stop(self) -> None:
        """Stop sweeping, and wait for the cycles that it started."""
        self._dispatcher.stop.set()
        for thread in self._threads:
            thread.join(5)
        self._pool.shutdown(wait=True)
        if isinstance(self._dispatcher, CarrierPools):
            self._dispatcher.close()
        self._leave()

    def _work_for_all(self) -> None:
        if self._take_lease("sweeper", self.worker, 3):
            self.recover_and_wake()
            if isinstance(self._dispatcher, CarrierPools):
                self._dispatcher.follow()

    def _keep_house_when_due(self) -> None:
        """Keep house unless a worker has begun to within HOUSEKEEPING_SECONDS: this time's lease is never renewed."""
        if self._take_lease("housekeeping", str(uuid4()), HOUSEKEEPING_SECONDS):
            self.keep_house()

    def _keep_sending(self) -> None:
        self.send_heartbeat()
        if self._carrier_status is not None:
            self._carrier_status.refresh()
        self._running = {cycle for cycle in self._running if not cycle.done()}
        if len(self._running) < self._settings.concurrency and self._messages_wait():
            self._running.add(self._pool.submit(self.run_cycles))

    def run_cycles(self) -> int:
        """Do `work`. Raises nothing: an error is logged."""
        with self.outage.tolerated_in_cycle():
            return self.work()
        return 0

    def recover_and_wake(self) -> None:
        """Run the steps that one worker does for all. A step that fails does not prevent the others."""
        self._run_steps(
            self._terminate_stalled_sessions,
            self._recover,
            self._wake,
            self._raise_idle_clock,
            self._hold_newly_refused,
            lambda: check_canaries_and_stop_if(self._engine),
            lambda: close_ended_sends(self._engine),
            lambda: expire_doubts(self._engine, self._settings.doubt_grace),
            lambda: self._resolve_doubts(RECENTLY),
            lambda: match_unmatched(self._engine, newest=RECENTLY),
            self._analyze_grown,
        )

    def keep_house(self) -> None:
        """Run the steps of housekeeping. One that fails does not prevent the others."""
        self._run_steps(*housekeeping(self._engine))

    def _run_steps(self, *steps: Callable[[], object]) -> None:
        for step in steps:
            try:
                step()
            except Exception as error:
                if is_outage(error):
                    raise
                log.exception("a step of the sweep failed and will be retried")

    def _terminate_stalled_sessions(self) -> None:
        terminated = self._stalled_sessions.terminate()
        if terminated:
            log.warning("terminated %d database sessions whose client had stalled in a statement", terminated)

    def _recover(self) -> None:
        settling = self.outage.is_recent(self._settings.lease)  # workers could not renew their leases meanwhile
        recovered = recover(
            self._engine,
            lambda test: self._dispatcher.carrier_of(test).name,
            resend_lanes=self._settings.resend_lanes,
            grace=timedelta(seconds=SETTLE_SECONDS if settling else 0),
        )
        if recovered:
            log.warning("recovered %d batches whose worker had not renewed its lease", len(recovered))
            if self.work.tasks is not None:
                self.work.tasks.publish(recovered)

    def _wake(self) -> None:
        with transaction(self._engine) as connection:
            sends = connection.execute(send_states.START_DUE).all()
        with transaction(self._engine) as connection:
            clock = fair_queueing.clock(connection)
            batches = connection.execute(batch_states.WAKE_DUE).all()
            if batches:
                requeue_batches(connection, (batch.id for batch in batches), clock)
        if self.work.tasks is not None:
            self.work.tasks.publish(send.id for send in sends if send.state == SendState.EXPANDING)
            publish_batches(self.work.tasks, ((batch.id, batch.size) for batch in batches))

    def _raise_idle_clock(self) -> None:
        with transaction(self._engine, durable=False) as connection:
            connection.execute(fair_queueing.RAISE_IDLE_CLOCK)

    def _hold_newly_refused(self) -> None:
        with transaction(self._engine) as connection:
            hold_newly_refused(connection)

    def _resolve_doubts(self, newest: float) -> None:
        """Resolve doubts by receipts of the last `newest` seconds. It reads all messages of several days, so it is
        limited to 2 % of the time."""
        began = time.monotonic()
        if began >= self._doubts_due:
            try:
                resolve_by_receipts(self._engine, newest)
            finally:  # a scan that took too long is not begun again at once either
                self._doubts_due = time.monotonic() + 50 * (time.monotonic() - began)

    def _analyze_grown(self) -> None:
        with reading(self._engine) as connection:
            grown = connection.execute(GROWN_TABLES).scalars().all()
        for table in grown:
            with transaction(self._engine, durable=False) as connection:
                connection.execute(text(f"ANALYZE {table}"))

    def send_heartbeat(self) -> None:
        """Renew this worker's lease, with what its clock says."""
        with transaction(self._engine, durable=False) as connection:
            name = f"worker:{self.worker}"
            connection.execute(HEARTBEAT, {"name": name, "holder": self.worker, "clock": time.time()})
            workers = max(1, connection.execute(WORKERS).scalar_one())
        if not self._live_workers.workers:
            self._live_workers.since = time.monotonic()
        self._live_workers.workers = workers

    def _leave(self) -> None:
        """Remove this worker's lease. Only after the last cycle: without a lease it cannot report lost commits."""
        with self.outage.tolerated(), transaction(self._engine) as connection:
            connection.execute(LEAVE, {"name": f"worker:{self.worker}"})

    def _take_lease(self, name: str, holder: str, seconds: float) -> bool:
        with transaction(self._engine, durable=False) as connection:
            return take_lease(connection, name, holder, timedelta(seconds=seconds))

    def _messages_wait(self) -> bool:
        with reading(self._engine) as connection:
            return bool(connection.execute(MESSAGES_WAIT).scalar())
