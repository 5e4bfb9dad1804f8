"""Exchanges the carriers' state between workers and with the operator, every second.

The operator's settings (`carrier_setting`) take effect without dropping connections. Each worker reports the state of
each carrier (`carrier_report`). A carrier is available as long as at least one worker reports it as ready.
"""

from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import Connection, Engine, and_, bindparam, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from shared.db.connection import transaction
from shared.db.expressions import in_parameter, parameter_rows
from shared.db.tables.carriers import carrier_limit, carrier_report, carrier_setting
from shared.observability.metrics import CARRIER_RESPONSE_SECONDS, RECEIPT_DELAY
from shared.sends.counters import initialize_delays
from shared.sends.sendable import MAX_REPORT_AGE, REPORT_AHEAD
from worker.pacing.circuit_breaker import CircuitBreaker
from worker.pacing.pace import Pacer
from worker.pacing.recent_delays import RecentDelays
from worker.pacing.sender_and_prefix_limits import Limit

SETTINGS = select(*carrier_setting.c["name", "rate", "window", "paused"])

KEY = ("carrier", "worker")
STATE = tuple(column.name for column in carrier_report.c if column.name not in (*KEY, "reported_at"))
REPORTS = parameter_rows("reports", *carrier_report.c[KEY + STATE])
NEW_REPORT = insert(carrier_report).from_select(
    [*KEY, *STATE, "reported_at"], select(*REPORTS.c, func.clock_timestamp())
)
REPORT = NEW_REPORT.on_conflict_do_update(
    index_elements=KEY, set_={name: NEW_REPORT.excluded[name] for name in (*STATE, "reported_at")}
)

RATES = parameter_rows("rates", *carrier_limit.c["name", "rate"])
NEW_LIMIT = insert(carrier_limit).from_select(["name", "rate", "reported_at"], select(*RATES.c, func.clock_timestamp()))
REPORT_LIMITS = NEW_LIMIT.on_conflict_do_update(
    index_elements=["name"],
    set_={"rate": NEW_LIMIT.excluded.rate, "reported_at": NEW_LIMIT.excluded.reported_at},
    where=or_(
        carrier_limit.c.reported_at < func.clock_timestamp() - timedelta(seconds=2),
        carrier_limit.c.rate != NEW_LIMIT.excluded.rate,
    ),
)
LIMITS = select(carrier_limit.c.name, carrier_limit.c.changed).where(
    in_parameter(carrier_limit.c.name, "names"), carrier_limit.c.changed.is_not(None)
)

OTHER_WITHOUT_REDIS = and_(carrier_report.c.alone, carrier_report.c.worker != bindparam("worker"))
OTHERS = (
    select(
        carrier_report.c.carrier,
        func.bool_or(carrier_report.c.state == "ready").label("available"),
        func.bool_or(carrier_report.c.state == "probing").label("probing"),
        func.count().filter(OTHER_WITHOUT_REDIS).label("without_redis"),
    )
    .where(
        carrier_report.c.reported_at > func.clock_timestamp() - timedelta(seconds=MAX_REPORT_AGE),
        carrier_report.c.reported_at <= func.clock_timestamp() + timedelta(seconds=REPORT_AHEAD),
    )
    .group_by(carrier_report.c.carrier)
)


@dataclass(slots=True)
class CarrierStatus:
    """The circuit breakers of one worker, and the state that other workers report."""

    engine: Engine
    pacer: Pacer
    breakers: list[CircuitBreaker]
    limits: tuple[Limit, ...] = ()
    worker: str = ""
    """This worker's unique name."""
    available: frozenset[str] = frozenset()
    """Carriers that at least one worker reports as ready."""
    probing: set[str] = field(default_factory=set)
    """Other carriers that may get one batch as a probe. The sorter that assigns it removes the carrier."""
    _file: dict[str, tuple[float, int]] = field(default_factory=dict)
    _limits: dict[str, float] = field(default_factory=dict)
    _response_delays: RecentDelays = field(init=False)
    _receipt_delays: RecentDelays = field(init=False)

    def __post_init__(self) -> None:
        self._file = {breaker.carrier.name: (breaker.carrier.rate, breaker.carrier.window) for breaker in self.breakers}
        self._limits = {limit.name: limit.rate for limit in sorted(self.limits, key=lambda limit: limit.name)}
        self.available = frozenset(self._file)
        for carrier in self._file:  # what an earlier process has counted is not recent
            CARRIER_RESPONSE_SECONDS.labels(carrier)
            initialize_delays(carrier)
        self._response_delays = RecentDelays(CARRIER_RESPONSE_SECONDS)
        self._receipt_delays = RecentDelays(RECEIPT_DELAY)

    @property
    def usable(self) -> frozenset[str]:
        """Carriers that may get a batch now: available ones, and those that may get a probe."""
        return self.available | self.probing

    def refresh(self) -> None:
        """Apply changed settings, report this worker's state, and read the others'."""
        with transaction(self.engine, durable=False) as connection:
            self._apply_settings(connection)
            if self.limits:
                self._apply_limits(connection)
            connection.execute(REPORT, self._report())
            rows = connection.execute(OTHERS, {"worker": self.worker}).all()
        self.available = frozenset(row.carrier for row in rows if row.available)
        self.probing = {row.carrier for row in rows if row.probing and not row.available}
        self.pacer.live_workers.without_redis = max((row.without_redis for row in rows), default=0)

    def _apply_settings(self, connection: Connection) -> None:
        changed = {row.name: row for row in connection.execute(SETTINGS)}
        for breaker in self.breakers:
            carrier = breaker.carrier
            rate, window = self._file[carrier.name]
            setting = changed.get(carrier.name)
            breaker.paused = setting is not None and setting.paused
            rate = setting.rate if setting is not None and setting.rate is not None else rate
            window = setting.window if setting is not None and setting.window is not None else window
            if carrier.rate != rate:
                carrier.rate = rate
            if carrier.window != window:
                carrier.window = window

    def _apply_limits(self, connection: Connection) -> None:
        """Report the limits in CARRIERS_FILE, and apply the operator's changes to them."""
        names, rates = list(self._limits), list(self._limits.values())
        connection.execute(REPORT_LIMITS, {"name": names, "rate": rates})
        changed = {row.name: row.changed for row in connection.execute(LIMITS, {"names": names})}
        for limit in self.limits:
            rate = changed.get(limit.name)
            limit.rate = self._limits[limit.name] if rate is None else rate

    def _report(self) -> dict[str, object]:
        breakers = self.breakers
        response_delays, receipt_delays = self._response_delays.counts(), self._receipt_delays.counts()
        return {
            "carrier": [breaker.carrier.name for breaker in breakers],
            "worker": [self.worker] * len(breakers),
            "state": [breaker.state for breaker in breakers],
            "error": [breaker.error for breaker in breakers],
            "since": [breaker.since for breaker in breakers],
            "rate": [float(breaker.carrier.rate) for breaker in breakers],
            "allowed": [float(breaker.carrier.pace.allowed) for breaker in breakers],
            "window": [breaker.carrier.window for breaker in breakers],
            "alone": [self.pacer.is_without_redis] * len(breakers),
            "submitted": [breaker.counts.submitted for breaker in breakers],
            "throttled": [breaker.counts.throttled for breaker in breakers],
            "failed": [breaker.counts.failed for breaker in breakers],
            "unreadable": [breaker.carrier.unreadable for breaker in breakers],
            "unknown_answers": [breaker.carrier.unmatched_responses for breaker in breakers],
            "answer_times": [response_delays.get(breaker.carrier.name, {}) for breaker in breakers],
            "receipt_delays": [receipt_delays.get(breaker.carrier.name, {}) for breaker in breakers],
        }
