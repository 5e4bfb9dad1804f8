"""Assembles a worker process, for Celery and for tests without it."""

import threading
from datetime import UTC, datetime
from pathlib import Path

from redis import Redis
from sqlalchemy import Engine

from shared.db.connection import make_engine
from shared.encryption import Texts
from shared.gc_tuning import collect_less_often
from shared.guard import Witness
from shared.periodic import do_all, repeat
from shared.redis_client import redis_client
from shared.sends.recipient_counts import RecipientSharing
from shared.settings import Settings
from worker.carrier_config.file import Carriers, read_carriers
from worker.carriers.base import Carrier
from worker.carriers.simulator import Simulator
from worker.jobs.auditor import AUDIT_SECONDS, audit_when_due
from worker.jobs.erasure import erase_one
from worker.jobs.export_messages import export_page
from worker.jobs.import_contacts import import_chunk
from worker.jobs.retention import forget
from worker.jobs.spend_thresholds import SPEND_SECONDS, report_spending
from worker.jobs.statements import count_statements
from worker.jobs.usage import CHECK_SECONDS, count_one
from worker.pacing.carrier_status import CarrierStatus
from worker.pacing.circuit_breaker import CircuitBreaker
from worker.pacing.pace import CarrierPace, LiveWorkers, Pacer
from worker.receipts.database_inbox import DatabaseInbox
from worker.routing.carrier_pools import CarrierPools
from worker.routing.queues import LimitedQueues
from worker.routing.routes import Routes
from worker.routing.sorter import Sorter
from worker.sending.cycle_context import CycleContext
from worker.sending.dispatch import Dispatcher
from worker.sending.next_batches import DEFAULT_SHARE
from worker.sending.paced_sends import PacedSends
from worker.sweeper import Sweeper

MAX_POOLED_CARRIERS = 6
"""Carriers whose cycles have database connections reserved; cycles of further carriers may have to wait for one."""
FILE_SECONDS, ERASURE_SECONDS, RETENTION_SECONDS = 1.0, 10.0, 600.0
"""Seconds between two looks for imports and exports; for erasures; for ends of retention, and hours of statements."""
COST_SECONDS = 60.0
"""Seconds after which what carriers cost is read again."""


class WorkerProcess:
    """A worker's carriers, dispatchers and background threads. `start` starts them, `stop` stops them gracefully."""

    def __init__(self, settings: Settings, engine: Engine | None = None, redis: "Redis | None" = None) -> None:
        self.settings = settings
        texts = Texts(settings.text_keys)
        self.engine = engine or make_engine(
            settings.database_url, _connections(settings), "bulksms-worker", by_key=True, texts=texts
        )
        self.simulator = Simulator(
            self.engine,
            settings.simulator_rate,
            settings.simulator_window,
            settings.simulator_receipt_delay,
            settings.simulator_round_trip,
        )
        config = self._read()
        self.carriers = {carrier.name: carrier for carrier in (*config.carriers, self.simulator)}
        self.live_workers = LiveWorkers()
        self.witness = Witness(settings.guard_file)
        self.paced_sends = PacedSends()
        self._context = CycleContext(threading.Event(), self.live_workers, self.witness, self.paced_sends)
        breakers = [CircuitBreaker(carrier, breaks=carrier is not self.simulator) for carrier in config.carriers]
        self._shares = config.shares
        redis = redis or redis_client(settings.redis_url, timeout=1)
        self.pacer = Pacer(redis, self.live_workers, self._context.stop)
        for carrier in self.carriers.values():
            carrier.pace = CarrierPace(self.pacer, carrier)
        self.carrier_status = CarrierStatus(
            self.engine, self.pacer, breakers, config.routes.limits if config.routes else ()
        )
        routes = self._routes = config.routes
        self.dispatcher = self._carrier_pools(breakers, routes) if routes else self._dispatcher_of(breakers[0])
        self.sweeper = Sweeper(self.engine, self.dispatcher, settings, self.live_workers, self.carrier_status)
        self._prices = self.sweeper.work.prices
        self._sharing = RecipientSharing(redis, self.sweeper.work.recipients.counts, settings.secret_key)
        self.audit_engine = make_engine(settings.database_url, 1, "bulksms-audit", texts=texts)
        self._paced: threading.Thread | None = None

    def _read(self) -> Carriers:
        file = self.settings.carriers_file
        if not file:
            return Carriers([self.simulator], None, {})
        return read_carriers(Path(file), self.settings.lease, self.engine)

    def _carrier_pools(self, breakers: list[CircuitBreaker], routes: Routes) -> CarrierPools:
        """A dispatcher for each carrier, and one for the built-in simulator's test messages."""
        all_breakers = [*breakers, CircuitBreaker(self.simulator, breaks=False)]
        dispatchers = {
            breaker.carrier.name: self._dispatcher_of(breaker, breaker.carrier.name) for breaker in all_breakers
        }
        sorter = Sorter(self.engine, routes, self.carrier_status, self.simulator.name)
        breaker_of = {breaker.carrier.name: breaker for breaker in breakers}
        context, limits = self._context, routes.limits
        limited_queues = LimitedQueues(
            self.engine, self.settings, self.pacer, breaker_of, limits, self.simulator, self._shares, context
        )
        return CarrierPools(dispatchers, self.simulator, sorter, limited_queues, self.settings, context)

    def _dispatcher_of(self, breaker: CircuitBreaker, queue: str | None = None) -> Dispatcher:
        share = self._shares.get(breaker.carrier.name, DEFAULT_SHARE)
        carrier, simulator, context = breaker.carrier, self.simulator, self._context
        return Dispatcher(self.engine, carrier, simulator, self.settings, breaker, queue, share, context)

    def start(self) -> None:
        """Open the carriers and start the background threads."""
        self.read_costs()
        stop = self.dispatcher.stop
        for carrier in self.carriers.values():
            self.open(carrier)
        self.sweeper.start()
        self._paced = threading.Thread(
            target=self.paced_sends.run, args=(self._go_on,), name="paced-sends", daemon=True
        )
        self._paced.start()
        self._sharing.start(stop)
        engine, days, prices = self.audit_engine, self.settings.retention_days, self._prices
        grace = self.settings.doubt_grace
        repeat(lambda: audit_when_due(engine, grace), AUDIT_SECONDS, "auditor", stop, at_once=True)
        imports = self.sweeper.outage.tolerated()(import_chunk)
        repeat(lambda: do_all(lambda: imports(self.engine), stop), FILE_SECONDS, "import", stop)
        repeat(lambda: do_all(lambda: count_one(engine, prices), stop), CHECK_SECONDS, "usage", stop)
        repeat(lambda: report_spending(engine), SPEND_SECONDS, "spend thresholds", stop)
        repeat(lambda: count_statements(engine), RETENTION_SECONDS, "statements", stop)
        repeat(lambda: do_all(lambda: erase_one(engine), stop), ERASURE_SECONDS, "erasure", stop)
        repeat(lambda: do_all(lambda: export_page(engine), stop), FILE_SECONDS, "export", stop)
        repeat(lambda: forget(engine, days, prices=prices), RETENTION_SECONDS, "retention", stop, at_once=True)
        repeat(self.read_costs, COST_SECONDS, "costs", stop)
        collect_less_often()

    def open(self, carrier: Carrier) -> None:
        """Open one carrier; what it delivers is stored in the database."""
        carrier.open(DatabaseInbox(self.engine, carrier.name, self.settings.resend_lanes))

    def read_costs(self) -> None:
        """Let routes choose by what carriers cost now. Nothing that sends waits for it."""
        if self._routes is not None and any(route.cheapest for route in self._routes.routes):
            self._routes.costs = self._prices.costs_at(datetime.now(UTC))

    def _go_on(self) -> None:
        with self.sweeper.outage.tolerated():
            self.sweeper.work()

    def stop(self) -> None:
        """Finish the cycles in progress, then close the carriers."""
        self.paced_sends.stop()
        self.dispatcher.stop.set()
        if self._paced is not None:
            self._paced.join()
        self.sweeper.stop()
        for carrier in self.carriers.values():
            carrier.close()
        self.engine.dispose()
        self.audit_engine.dispose()


def _connections(settings: Settings) -> int:
    """The pool's size. Each connection is opened only when needed, and OVERFLOW more when all are in use."""
    return settings.concurrency * (MAX_POOLED_CARRIERS if settings.carriers_file else 1) + 8
