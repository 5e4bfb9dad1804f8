"""Exchanges the carriers' state between workers and with the operator, every second.

The operator's settings (`carrier_setting`) take effect without dropping connections. Each worker reports the state of
each carrier (`carrier_report`). A carrier is open as long as at least one worker reports it as ready.
"""

from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine, text

from shared.db.connection import transaction
from worker.carriers.base import Carrier, KeepsUnreadable
from worker.pacing.circuit_breaker import CircuitBreaker
from worker.pacing.pace import Pacer
from worker.pacing.rate_limits import Limit

FRESH = 5.0
"""Seconds for which a report is valid."""

SETTINGS = text('SELECT name, rate, "window", paused FROM carrier_setting')

REPORT = text(
    """
    INSERT INTO carrier_report (carrier, worker, state, error, since, rate, allowed, "window", alone, submitted,
                                throttled, failed, unreadable, unknown_answers, reported_at)
    SELECT *, clock_timestamp() FROM unnest(
        CAST(:carrier AS text[]), CAST(:worker AS text[]), CAST(:state AS text[]), CAST(:error AS text[]),
        CAST(:since AS timestamptz[]), CAST(:rate AS float8[]), CAST(:allowed AS float8[]), CAST(:window AS int[]),
        CAST(:alone AS boolean[]), CAST(:submitted AS bigint[]), CAST(:throttled AS bigint[]),
        CAST(:failed AS bigint[]), CAST(:unreadable AS bigint[]), CAST(:unknown_answers AS bigint[]))
    ON CONFLICT (carrier, worker) DO UPDATE SET state = EXCLUDED.state, error = EXCLUDED.error, since = EXCLUDED.since,
        rate = EXCLUDED.rate, allowed = EXCLUDED.allowed, "window" = EXCLUDED."window", alone = EXCLUDED.alone,
        submitted = EXCLUDED.submitted, throttled = EXCLUDED.throttled, failed = EXCLUDED.failed,
        unreadable = EXCLUDED.unreadable, unknown_answers = EXCLUDED.unknown_answers,
        reported_at = EXCLUDED.reported_at
    """
)

REPORT_LIMITS = text(
    """
    INSERT INTO carrier_limit AS l (name, rate, reported_at)
    SELECT name, rate, clock_timestamp() FROM unnest(CAST(:name AS text[]), CAST(:rate AS float8[])) AS t (name, rate)
    ON CONFLICT (name) DO UPDATE SET rate = EXCLUDED.rate, reported_at = EXCLUDED.reported_at
     WHERE l.reported_at < clock_timestamp() - interval '2 seconds' OR l.rate <> EXCLUDED.rate
    """
)

LIMITS = text("SELECT name, changed FROM carrier_limit WHERE name = ANY(:names) AND changed IS NOT NULL")

OTHERS = text(
    """
    SELECT carrier, bool_or(state = 'ready') AS open, bool_or(state = 'probing') AS probing,
           count(*) FILTER (WHERE alone AND worker <> :worker) AS alone
      FROM carrier_report WHERE reported_at > clock_timestamp() - make_interval(secs => :fresh) GROUP BY carrier
    """
)

FORGET = text("DELETE FROM carrier_report WHERE reported_at < now() - interval '1 hour'")


@dataclass(slots=True)
class CarrierStatus:
    """The circuit breakers of one worker, and the state that other workers report."""

    engine: Engine
    pacer: Pacer
    breakers: list[CircuitBreaker]
    limits: tuple[Limit, ...] = ()
    worker: str = ""
    """This worker's unique name."""
    open: frozenset[str] = frozenset()
    """Carriers that at least one worker reports as ready."""
    trying: set[str] = field(default_factory=set)
    """Other carriers that may get one batch as a probe. The sorter that assigns it removes the carrier."""
    _file: dict[str, tuple[float, int]] = field(default_factory=dict)
    _limits: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._file = {breaker.carrier.name: (breaker.carrier.rate, breaker.carrier.window) for breaker in self.breakers}
        self._limits = {limit.name: limit.rate for limit in sorted(self.limits, key=lambda limit: limit.name)}
        self.open = frozenset(self._file)

    def refresh(self) -> None:
        """Apply changed settings, report this worker's state, and read the others'."""
        with transaction(self.engine, durable=False) as connection:
            self._apply_settings(connection)
            if self.limits:
                self._apply_limits(connection)
            connection.execute(REPORT, self._report())
            rows = connection.execute(OTHERS, {"worker": self.worker, "fresh": FRESH}).all()
        self.open = frozenset(row.carrier for row in rows if row.open)
        self.trying = {row.carrier for row in rows if row.probing and not row.open}
        self.pacer.live_workers.alone = max((row.alone for row in rows), default=0)

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
        unreadable_counts = [_unreadable_counts(breaker.carrier) for breaker in breakers]
        return {
            "carrier": [breaker.carrier.name for breaker in breakers],
            "worker": [self.worker] * len(breakers),
            "state": [breaker.state for breaker in breakers],
            "error": [breaker.error for breaker in breakers],
            "since": [breaker.since for breaker in breakers],
            "rate": [float(breaker.carrier.rate) for breaker in breakers],
            "allowed": [float(breaker.carrier.pace.allowed) for breaker in breakers],
            "window": [breaker.carrier.window for breaker in breakers],
            "alone": [self.pacer.alone] * len(breakers),
            "submitted": [breaker.counts.submitted for breaker in breakers],
            "throttled": [breaker.counts.throttled for breaker in breakers],
            "failed": [breaker.counts.failed for breaker in breakers],
            "unreadable": [unreadable for unreadable, _ in unreadable_counts],
            "unknown_answers": [unknown for _, unknown in unreadable_counts],
        }


def _unreadable_counts(carrier: Carrier) -> tuple[int, int]:
    """The carrier's unreadable deliveries, and its responses to no outstanding request."""
    return (carrier.unreadable, carrier.unknown_answers) if isinstance(carrier, KeepsUnreadable) else (0, 0)
