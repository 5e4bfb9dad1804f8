"""What one worker process is made of, put together in one place: for Celery, and for tests without it."""

from pathlib import Path

from redis import Redis
from sqlalchemy import Engine

from shared.database import make_engine, transaction
from shared.garbage import collect_less_often
from shared.inbound import Inbound
from shared.inbound import store as store_inbound
from shared.settings import Settings
from worker import receipts
from worker.auditor import Auditor
from worker.carriers.base import Carrier, LateAnswer, Receipt
from worker.carriers.file import read_carrier
from worker.carriers.simulator import Simulator
from worker.late import record_late
from worker.pacing import Pacer
from worker.sweeper import Sweeper
from worker.turn import Turns


class WorkerProcess:
    """A worker's carriers, turns, sweeper and auditor. `start` opens them, `stop` ends them gracefully."""

    def __init__(self, settings: Settings, engine: Engine | None = None, redis: "Redis | None" = None) -> None:
        self.engine = engine or make_engine(settings.database_url, settings.turns + 8, "bulksms-worker", by_key=True)
        client = redis or Redis.from_url(settings.redis_url, socket_timeout=1, socket_connect_timeout=1)
        self.simulator = Simulator(
            self.engine,
            settings.simulator_rate,
            settings.simulator_window,
            settings.simulator_receipt_delay,
            settings.simulator_round_trip,
        )
        file = settings.carriers_file
        self.live: Carrier = read_carrier(Path(file), settings.lease) if file else self.simulator
        pacer = Pacer(client, lambda: self.sweeper.workers)
        self.turns = Turns(self.engine, self.live, self.simulator, pacer, settings)
        self.sweeper = Sweeper(self.engine, self.turns, settings)
        self.books = make_engine(settings.database_url, 1, "bulksms-audit")
        self.auditor = Auditor(self.books, settings)

    def start(self) -> None:
        """Open the carriers and begin to sweep."""
        for carrier in {id(carrier): carrier for carrier in (self.live, self.simulator)}.values():
            self.open(carrier)
        self.sweeper.start()
        self.auditor.start(self.turns.stop)
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

        carrier.open(on_receipts, on_late_answers, on_inbound)

    def stop(self) -> None:
        """End the turns under way, then close the carriers."""
        self.sweeper.stop()
        self.live.close()
        self.simulator.close()
        self.engine.dispose()
        self.books.dispose()
