"""One run: product processes, customers and carriers, and a scheduler that lets them go on in an order of its own.

Everything is decided by the seed. The run has two parts: faults until everything is accepted and a number of steps is
over, then an end without faults, in which everything has to come to rest.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import psycopg
from sqlalchemy.exc import DBAPIError, OperationalError

import worker.sending.dispatch
from shared.lifecycle import MessageStatus
from shared.settings import Settings
from tests.simulation import oracles
from tests.simulation.carrier import Breach, ModelCarrier
from tests.simulation.database import Database
from tests.simulation.processes import Process, new_process
from tests.simulation.seams import seams
from tests.simulation.smpp import SmppCustomer, without_waiting
from tests.simulation.tasks import Task, running
from tests.simulation.traffic import Traffic
from tests.simulation.watch import LIVE, TEST, Watch
from worker.carriers.base import Receipt
from worker.receipts.late_responses import record_late_responses
from worker.receipts.match import record
from worker.sweeper import MESSAGES_WAIT

LEASE = 15.0
GRACE = 60.0
THOROUGH = 8
"""Every so many commits all rules are looked at, otherwise the cheap ones."""
MAX_ROUNDS = 400
"""Of the end. More means that something never comes to rest."""
HAPPENINGS = ("kill", "kill", "pause", "pause", "wake", "wake", "expire", "expire", "stop", "later", "database")
NO_RESPONSE = OperationalError("COMMIT", {}, psycopg.OperationalError("the connection is closed"))
LEASES = "SELECT DISTINCT lease_until FROM batch WHERE state = 'sending' AND lease_until > %s ORDER BY lease_until"
MAY_GO_ON = """
    SELECT 1 FROM batch WHERE state IN ('waiting', 'queued', 'sending')
     UNION ALL SELECT 1 FROM send WHERE state IN ('scheduled', 'expanding') LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """How big a run is, and what may happen in it."""

    sends: int = 8
    most_phones: int = 30
    steps: int = 1000
    database_crashes: int = 0
    """At most."""
    shared_phones: float = 0.0
    """How many sends go to the phones of another send."""
    smpp: int = 0
    """Submits over SMPP, beside the sends."""


class World:
    """A run of one seed."""

    def __init__(self, database: Database, seed: int, plan: Plan) -> None:
        self.rng = random.Random(seed)
        self.plan = plan
        self.database = database
        self.engine = database.engine
        self.counts: Counter[str] = Counter()
        self.trace: list[str] = []
        self.traffic = Traffic(database.customers, self.rng, self._now, plan.shared_phones)
        self.smpp = SmppCustomer(database.engine, random.Random(f"smpp {seed}"), self._now, plan.smpp)
        self.batch_size = self.rng.randint(12, 30)
        window = self.rng.randint(2, 6)
        self.watch = Watch(self.traffic, self.counts, window)
        budget = self.rng.choice((8, 15, 30, 60))
        self.settings = Settings("", "", "", "", concurrency=2, lease=LEASE, doubt_grace=GRACE)
        make: Callable[..., ModelCarrier] = partial(
            ModelCarrier,
            rate=budget / worker.sending.dispatch.CYCLE_RATE_SECONDS * self.settings.concurrency,
            window=window * self.settings.concurrency,
            rng=self.rng,
            now=self._now,
            on_submit=self.watch.submitted,
            doubted=self.watch.unanswered,
        )
        self.live, self.simulator = make(LIVE), make(TEST)
        self.others: list[Task] = []
        """Tasks of no worker process: receivers of receipts and late responses."""
        self._failures: dict[Task, Callable[[], None]] = {}
        self.processes: list[Process] = []
        self._written = False
        """Whether something was committed that no oracle has checked."""
        self._unflushed = False
        """Whether the last commit did not wait for the disk."""

    def run(self) -> Counter[str]:
        """The whole run. Returns what happened in it; raises Breach."""
        self.database.reset()
        with (
            seams(self.rng, self._now, self._wrote, self.batch_size),
            self.watch.on(),
            without_waiting(),
        ):
            try:
                self.processes = [self._process() for _ in range(3)]
                self.traffic.open_accounts(3)
                if self.plan.smpp:
                    self.smpp.open(self.traffic.accounts[0])
                self._storm()
                self._calm()
            except DBAPIError as error:
                raise Breach(f"error: {error!r}") from error
            finally:
                for task in self._tasks():
                    task.kill()
            end = oracles.End(self.database, self.traffic, [self.live, self.simulator], GRACE)
            end.check()
            self.smpp.check(self.database)
        self.counts["messages"] = len(end.rows)
        handed = [*self.live.messages.values(), *self.simulator.messages.values()]
        self.counts["duplicates"] = sum(max(0, message.taken - 1) for message in handed)
        self.counts["submitted"] = len(self.live.messages) + len(self.simulator.messages)
        self.counts["in doubt at the end"] = end.count(MessageStatus.IN_DOUBT)
        return self.counts

    def _storm(self) -> None:
        """Everything at once, and faults."""
        for number in range(self.plan.steps):
            if not number % 20 and self._is_over():
                break
            ready = self._ready()
            choice = self.rng.random()
            if choice < 0.8 and ready:
                self._step(self.rng.choice(ready))
            elif choice < 0.93:
                self._something_begins()
            else:
                self._something_happens()
            if self.rng.random() < 0.3:
                self._tick(self.rng.choice((0.01, 0.1, 0.5)))
        self.counts["steps of faults"] = self.counts["steps"]

    def _calm(self) -> None:
        """No more faults: time goes by until nothing is open; in every other run until no doubt is left either."""
        self.smpp.faults = False
        for process in self.processes:
            process.paused = False
        expire_doubts = self.rng.random() < 0.5
        for number in range(MAX_ROUNDS):
            while ready := self._ready():
                self._step(self.rng.choice(ready))
            if not number:
                self.traffic.go_on()
            if self._rests():
                if not expire_doubts:
                    self._sweep_once_more()
                    return
                expire_doubts = False
                self._tick(3600 + GRACE + 1)
            self._tick(self.rng.choice((1.0, 3.0, LEASE + 1)))
            if number > 50:  # what is still open is for full phones, and waits for the end of its validity
                self._tick(60.0)
            if number > 5:
                self.traffic.go_on()
            process = self.processes[number % len(self.processes)]
            self._begin(process, "sweep", process.sweeper.recover_and_wake)
            if process.count("work") < self.settings.concurrency:
                self._begin(process, "work", process.sweeper.work)
            for _ in range(8):
                self._deliver_receipts()
                self._begin_over_smpp(process)
            self._deliver_late_answers()
        raise Breach(f"ended: after {MAX_ROUNDS} rounds something is still under way")

    def _sweep_once_more(self) -> None:
        """The next sweep comes within a second: it matches a receipt whose message was recorded during the last one."""
        self._begin(self.processes[0], "sweep", self.processes[0].sweeper.recover_and_wake)
        self._begin(self.processes[0], "housekeeping", self.processes[0].sweeper.keep_house)
        while ready := self._ready():
            self._step(self.rng.choice(ready))

    def _is_over(self) -> bool:
        return len(self.traffic.sends) == self.plan.sends and not self.database.run(MAY_GO_ON)

    def _rests(self) -> bool:
        if self.live.receipts or self.simulator.receipts or not self.smpp.rests(self.database):
            return False
        return not self.database.run("SELECT 1 FROM send WHERE completed_at IS NULL LIMIT 1")

    def _step(self, task: Task) -> None:
        """Let a task run to where others may run: never inside a transaction, whose locks they would wait for."""
        task.step()
        self._note(task)
        while task.inside:
            throw = self.rng.random()
            if self._faults() and throw < 0.01:
                self.counts["crashes"] += 1
                task.kill()
                break
            if self._may_crash() and throw < 0.03:
                self._crash_database()
                continue
            if task.where == "claim.before_commit":
                self.watch.claiming(task)
            task.step()
            self._note(task)
        self._after(task)
        self.counts["steps"] += 1
        if self._unflushed and task.where == "submit.window" and self._may_crash() and self.rng.random() < 0.1:
            self._crash_database()
        if self._written:
            self._written = False
            self.counts["checks"] += 1
            oracles.check(self.database, thorough=not self.counts["checks"] % THOROUGH)

    def _note(self, task: Task) -> None:
        self.counts[task.where] += 1
        self._say(f"{task.name} {'ended' if task.done else task.where}")

    def _say(self, line: str) -> None:
        self.trace.append(f"{self.counts['steps']:5} {self.database.now:%H:%M:%S.%f} {line}")

    def _something_begins(self) -> None:
        process = self.rng.choice([process for process in self.processes if not process.paused] or self.processes)
        if self.plan.smpp and self.rng.random() < 0.3:
            self._begin_over_smpp(process)
            return
        what = self.rng.random()
        if len(self.traffic.sends) < self.plan.sends and what < 0.5:
            self.traffic.send(self.plan.most_phones)
        elif what < 0.6:
            if process.count("work") < self.settings.concurrency and self.database.run(str(MESSAGES_WAIT))[0][0]:
                self._begin(process, "work", process.sweeper.work)
        elif what < 0.7:
            if not process.count("sweep"):
                self._begin(process, "sweep", process.sweeper.recover_and_wake)
            elif not process.count("housekeeping"):
                self._begin(process, "housekeeping", process.sweeper.keep_house)
        elif what < 0.85:
            self._deliver_receipts()
        elif what < 0.9:
            self._deliver_late_answers()
        else:
            self._say(self.traffic.change_something())
            self._written = True

    def _something_happens(self) -> None:
        what = self.rng.choice(HAPPENINGS)
        process = self.rng.choice(self.processes)
        self._say(f"{what}: {[task.name for task in process.tasks]}")
        if what == "kill":
            self._kill(process)
        elif what == "pause" and process.tasks and not process.paused:
            process.paused = True
            self.counts["pauses"] += 1
            if self.rng.random() < 0.3:
                self._tick(LEASE + 1)
        elif what == "wake" and process.paused:
            process.paused = False
        elif what == "expire":
            self._expire_a_lease()
        elif what == "stop" and not process.paused:
            process.stop.set()
            self.counts["stops"] += 1
        elif what == "later" and self.rng.random() < 0.3:
            self._tick(LEASE + 1)
        elif what == "database" and self._may_crash():
            self._crash_database()

    def _kill(self, process: Process) -> None:
        self.counts["crashes"] += 1
        self.processes[self.processes.index(process)] = self._process()
        for task in process.tasks:
            task.kill()

    def _expire_a_lease(self) -> None:
        """The batches of one turn have their leases renewed together, and so these end together."""
        held = self.database.run(LEASES, (self.database.now,))
        if held:
            ended = (self.database.now - timedelta(seconds=1), self.rng.choice(held)[0])
            self.database.run("UPDATE batch SET lease_until = %s WHERE lease_until = %s", ended)
            self.counts["leases expired"] += 1

    def _crash_database(self) -> None:
        self.counts["database crashes"] += 1
        self._say("the database crashes")
        self._unflushed = False
        self.database.crash(whole=self.rng.random() < 0.5, stale=self.rng.random() < 0.3)
        self._tick(1e-6)  # a start takes time: no claim after it has the end of lease of one that was undone
        if self.rng.random() < 0.3:  # the whole machine, or the network to it
            for process in list(self.processes):
                self._kill(process)

    def _faults(self) -> bool:
        return self.counts["steps of faults"] == 0

    def _may_crash(self) -> bool:
        return self._faults() and self.counts["database crashes"] < self.plan.database_crashes

    def _tick(self, seconds: float) -> None:
        self.database.set_clock(self.database.now + timedelta(seconds=seconds))

    def _process(self) -> Process:
        return new_process(self.engine, self.live, self.simulator, self.settings)

    def _begin(self, process: Process, name: str, work: Callable[[], object]) -> None:
        process.tasks.append(self._task(name, work))

    def _begin_over_smpp(self, process: Process) -> None:
        """A turn of an SMPP server on the machine of a worker, which dies with it."""
        if self.plan.smpp and (task := self.smpp.begin(self._task, partial(self._wrote, True))) is not None:
            process.tasks.append(task)

    def _deliver_receipts(self) -> None:
        carrier = self.rng.choice((self.live, self.live, self.simulator))
        receipts = carrier.some_receipts()
        if receipts:
            self._receive(partial(self._record, carrier, receipts), partial(carrier.receipts.extend, receipts))

    def _deliver_late_answers(self) -> None:
        for carrier in (self.live, self.simulator):
            responses, carrier.late = carrier.late, []
            if responses:
                self._receive(partial(record_late_responses, self.engine, responses), lambda: None)

    def _receive(self, work: Callable[[], object], failed: Callable[[], None]) -> None:
        task = self._task("receive", work)
        self.others.append(task)
        self._failures[task] = failed

    def _task(self, name: str, work: Callable[[], object]) -> Task:
        self.counts["tasks"] += 1
        return Task(f"{name}-{self.counts['tasks']}", work)

    def _record(self, carrier: ModelCarrier, receipts: list[Receipt]) -> None:
        record(self.engine, carrier.name, receipts)
        carrier.stored(receipts)
        task = running()
        if task is not None:
            self._failures[task] = lambda: None

    def _ready(self) -> list[Task]:
        return [task for process in self.processes if not process.paused for task in process.tasks] + self.others

    def _tasks(self) -> list[Task]:
        return [task for process in self.processes for task in process.tasks] + self.others

    def _after(self, task: Task) -> None:
        """Put away a task that has ended. Only a crash of the database may have made it fail."""
        if not task.done:
            return
        if task in self.others:
            self.others.remove(task)
            self._failures.pop(task)()
        for process in [process for process in self.processes if task in process.tasks]:
            process.tasks.remove(task)
            if process.stop.is_set() and not process.tasks:  # it has ended as asked, and is started again
                self.processes[self.processes.index(process)] = self._process()
        if isinstance(task.error, Breach):
            raise task.error
        if task.error is not None:
            lost = isinstance(task.error, DBAPIError) and task.error.connection_invalidated
            if task.error is not NO_RESPONSE and not (lost and self.counts["database crashes"]):
                raise Breach(f"error: a {task.name} failed: {task.error!r}") from task.error
            self.counts["failed by the database"] += task.error is not NO_RESPONSE

    def _now(self) -> datetime:
        return self.database.now

    def _wrote(self, durable: bool) -> None:
        self._written = True
        self._unflushed = not durable
        task = running()
        if task and task.where == "claim.before_commit" and self._faults() and self.rng.random() < 0.03:
            self.counts["claims without response"] += 1
            raise NO_RESPONSE
