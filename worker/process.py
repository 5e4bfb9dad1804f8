"""What one worker process is made of, put together in one place: for Celery, and for tests without it."""

from pathlib import Path

from redis import Redis
from sqlalchemy import Engine

from shared.carriers.unreadable import Unreadable, keep_unreadable
from shared.db.connection import make_engine, transaction
from shared.encryption import Texts
from shared.gc_tuning import collect_less_often
from shared.guard import Witness
from shared.inbound import Inbound
from shared.inbound import store as store_inbound
from shared.sends.shared_recipient_counts import RecipientSharing
from shared.settings import Settings
from worker.carrier_config.file import Carriers, read_carriers
from worker.carriers.base import Carrier, KeepsUnreadable, LateAnswer, Receipt
from worker.carriers.simulator import Simulator
from worker.jobs.auditor import Auditor
from worker.jobs.import_contacts import Importer
from worker.jobs.privacy import Keeper
from worker.jobs.usage import UsageCounter
from worker.pacing.carrier_status import Board
from worker.pacing.circuit_breaker import Gate
from worker.pacing.pace import CarrierPace, Crowd, Pacer
from worker.receipts import apply as receipts
from worker.receipts.late_responses import record_late
from worker.recovery.sweeper import Sweeper
from worker.routing.carrier_pools import Fleet
from worker.routing.queues import LimitedQueues
from worker.routing.routes import Routes
from worker.routing.sorter import Sorter
from worker.sending.authentication_share import DEFAULT_SHARE
from worker.sending.dispatch import Turns

SEVERAL = 6
"""Carriers for whose turns there are database connections; those of others wait a moment for one."""


class WorkerProcess:
    """A worker's carriers, turns and what works beside them. `start` opens and begins, `stop` ends gracefully."""

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
        told = self._read()
        self.carriers = {carrier.name: carrier for carrier in (*told.carriers, self.simulator)}
        self.crowd = Crowd()
        self.witness = Witness()
        gates = [Gate(carrier, breaks=carrier is not self.simulator) for carrier in told.carriers]
        self._shares = told.shares
        first = self._turns_of(gates[0])
        redis = redis or Redis.from_url(settings.redis_url, socket_timeout=1, socket_connect_timeout=1)
        self.pacer = Pacer(redis, self.crowd, first.stop)
        for carrier in self.carriers.values():
            carrier.pace = CarrierPace(self.pacer, carrier)
        self.board = Board(self.engine, self.pacer, gates, told.routes.limits if told.routes else ())
        first.workers = self._workers
        self.turns = first if told.routes is None else self._fleet(gates, told.routes, first)
        self.sweeper = Sweeper(self.engine, self.turns, settings, self.crowd, self.board)
        self._sharing = RecipientSharing(redis, self.sweeper.recipients.counts, settings.secret_key)
        self.books = make_engine(settings.database_url, 1, "bulksms-audit", texts=texts)
        self.auditor = Auditor(self.books, settings)
        self.usage = UsageCounter(self.books)
        self.keeper = Keeper(self.books, settings)
        self.importer = Importer(self.engine, self.sweeper.outage.tolerated)

    def _read(self) -> Carriers:
        file = self.settings.carriers_file
        if not file:
            return Carriers([self.simulator], None, {})
        return read_carriers(Path(file), self.settings.lease, self.engine)

    def _fleet(self, gates: list[Gate], routes: Routes, first: Turns) -> Fleet:
        """Turns of their own for each carrier, and for the built-in simulator's test messages."""
        turns = {}
        for gate in [*gates, Gate(self.simulator, breaks=False)]:
            name = gate.carrier.name
            turns[name] = self._turns_of(gate, name)
            turns[name].stop, turns[name].workers = first.stop, self._workers
        sorter = Sorter(self.engine, routes, self.board, self.simulator.name)
        ways = {gate.carrier.name: gate for gate in gates}
        limited = LimitedQueues(
            self.engine, self.settings, self.pacer, ways, routes.limits, self.simulator, first, self._shares
        )
        return Fleet(turns, self.simulator, sorter, limited, self.settings, first.stop)

    def _turns_of(self, gate: Gate, queue: str | None = None) -> Turns:
        share = self._shares.get(gate.carrier.name, DEFAULT_SHARE)
        turns = Turns(self.engine, gate.carrier, self.simulator, self.settings, gate, queue, share)
        turns.witness = self.witness
        return turns

    def _workers(self) -> int:
        return self.crowd.workers

    def start(self) -> None:
        """Open the carriers and begin to sweep."""
        for carrier in self.carriers.values():
            self.open(carrier)
        self.sweeper.start()
        self._sharing.start(self.turns.stop)
        self.importer.start()
        self.auditor.start(self.turns.stop)
        self.usage.start(self.turns.stop)
        self.keeper.start(self.turns.stop)
        collect_less_often()

    def open(self, carrier: Carrier) -> None:
        """Open one carrier; its receipts, late answers and messages from phones go to the database."""

        def on_receipts(said: list[Receipt]) -> None:
            receipts.record(self.engine, carrier.name, said)

        def on_late_answers(answers: list[LateAnswer]) -> None:
            record_late(self.engine, answers)

        def on_inbound(messages: list[Inbound]) -> None:
            with transaction(self.engine) as connection:
                store_inbound(connection, carrier.name, messages)

        def on_unreadable(found: list[Unreadable]) -> None:
            with transaction(self.engine) as connection:
                keep_unreadable(connection, carrier.name, found)

        if isinstance(carrier, KeepsUnreadable):
            carrier.on_unreadable = on_unreadable
        carrier.open(on_receipts, on_late_answers, on_inbound)

    def stop(self) -> None:
        """End the turns under way, then close the carriers."""
        self.importer.stop()
        self.sweeper.stop()
        for carrier in self.carriers.values():
            carrier.close()
        self.engine.dispose()
        self.books.dispose()


def _connections(settings: Settings) -> int:
    """At most so many are opened, and each only when it is needed."""
    return settings.turns * (SEVERAL if settings.carriers_file else 1) + 8
