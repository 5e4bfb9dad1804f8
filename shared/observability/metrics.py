"""What each process counts for Prometheus. The names follow its conventions: base units, `_total` for counters.

If PROMETHEUS_MULTIPROC_DIR names a directory, every process of the host counts in files there, and whichever of them is
scraped responds with the sums of all. Without it, a process responds with its own counts only. The directory belongs
into memory (/run, /dev/shm): on a full disk, a process would be killed at its next count. A process that starts goes on
where one that has ended left off (`take_slot`). Prometheus takes an emptied directory for a restart.

Sends of test keys are not counted.
"""

import fcntl
import os
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from prometheus_client import (
    GC_COLLECTOR,
    PLATFORM_COLLECTOR,
    PROCESS_COLLECTOR,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    values,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable, as prometheus_client itself reads it."""

PROCESS = REGISTRY
"""What this process counts: prometheus_client's own registry, without what that says of the interpreter."""
for _collector in (GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR):
    PROCESS.unregister(_collector)

LOCK = "slot_{}.lock"

disable_created_metrics()  # type: ignore[no-untyped-call]


def take_slot(directory: Path) -> int:
    """The number, from 1, of the first free slot, which is this process's until it ends. Its processes do not fork.

    prometheus_client would name its files by process ids, and each restart would leave some. A process takes a slot
    instead, and goes on with the counts of the one before it. A slot is free if nobody holds the lock of its file,
    which the system releases with the process.
    """
    return next(number for number in count(1) if _take(directory, number) is not None)


def forget_ended_processes(directory: Path) -> None:
    """Remove the gauges of processes that have ended; what they have counted stays."""
    for path in directory.glob(LOCK.format("*")):
        lock = _take(directory, int(path.stem.rpartition("_")[2]))
        if lock is not None:
            os.close(lock)


def _take(directory: Path, number: int) -> int | None:
    """Lock a slot and remove the gauges in it. Returns the lock's descriptor; None if another process has it."""
    descriptor = os.open(directory / LOCK.format(number), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    mark_process_dead(number, str(directory))  # type: ignore[no-untyped-call]
    return descriptor


def _use_directory() -> None:
    if DIRECTORY in os.environ:
        try:
            Path(os.environ[DIRECTORY]).mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SystemExit(f"{DIRECTORY}={os.environ[DIRECTORY]} cannot be used: {error.strerror}.") from None
        slot = take_slot(Path(os.environ[DIRECTORY]))
        values.ValueClass = values.MultiProcessValue(lambda: slot)  # type: ignore[no-untyped-call]


_use_directory()  # metrics without labels have a file from the start

REQUEST_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
DELAY_BUCKETS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0)
RECEIPT_BUCKETS = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0, 43200.0)
CARRIER_BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
GROUP_BUCKETS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)

HTTP_REQUESTS = Counter(
    "bulksms_http_requests",
    "Responses of the API, by endpoint (its method and path; empty if there is none) and HTTP status.",
    ["endpoint", "status"],
)
HTTP_REQUEST_SECONDS = Histogram(
    "bulksms_http_request_duration_seconds",
    "From a request's last byte to its response's first, by endpoint.",
    ["endpoint"],
    buckets=REQUEST_BUCKETS,
)
CONSOLE_REQUESTS = Counter(
    "bulksms_console_requests",
    "Responses of the console, by page (its name in the code; empty if there is none) and HTTP status.",
    ["page", "status"],
)
CONSOLE_REQUEST_SECONDS = Histogram(
    "bulksms_console_request_duration_seconds",
    "Time that the console took for a response, by page.",
    ["page"],
    buckets=REQUEST_BUCKETS,
)
ACCEPTED = Counter(
    "bulksms_accepted_messages",
    "Messages of accepted sends, by category and country (empty if unknown, and for groups).",
    ["category", "country"],
)
COMMIT_SENDS = Histogram("bulksms_commit_sends", "Sends accepted in one commit.", buckets=GROUP_BUCKETS)
COMMIT_SECONDS = Histogram(
    "bulksms_commit_duration_seconds",
    "Duration of a commit of accepted sends.",
    buckets=CARRIER_BUCKETS,
)
MESSAGES = Counter(
    "bulksms_messages",
    "Messages by the status they changed to, carrier, category and country (empty if unknown).",
    ["status", "carrier", "category", "country"],
)
SUBMIT_DELAY = Histogram(
    "bulksms_submit_delay_seconds",
    "From when a batch was due until its first messages were submitted, by category. A single send is one batch.",
    ["category"],
    buckets=DELAY_BUCKETS,
)
RECEIPT_DELAY = Histogram(
    "bulksms_receipt_delay_seconds",
    "From the submit of a message to its final receipt, by carrier and category.",
    ["carrier", "category"],
    buckets=RECEIPT_BUCKETS,
)
CARRIER_SEGMENTS = Counter("bulksms_carrier_segments", "Segments submitted, by carrier.", ["carrier"])
CARRIER_RESPONSES = Counter(
    "bulksms_carrier_responses",
    "Submits by carrier and response: accepted, rejected, failed, throttled, postponed (the recipient's queue is full),"
    " in_doubt (none in time).",
    ["carrier", "response"],
)
CARRIER_RESPONSE_SECONDS = Histogram(
    "bulksms_carrier_response_duration_seconds",
    "From the submit of a window of messages to the last response, by carrier.",
    ["carrier"],
    buckets=CARRIER_BUCKETS,
)
BINDS = Gauge(
    "bulksms_smpp_binds",
    "Binds to SMPP carriers, by carrier and command: bind_transceiver, bind_transmitter, bind_receiver.",
    ["carrier", "command"],
    multiprocess_mode="livesum",
)
CUSTOMER_BINDS = Gauge(
    "bulksms_smpp_server_binds",
    "Binds of customers to the SMPP server, by kind: transmitter, receiver, transceiver.",
    ["kind"],
    multiprocess_mode="livesum",
)
CUSTOMER_SUBMIT_SECONDS = Histogram(
    "bulksms_smpp_server_submit_duration_seconds",
    "From a customer's submit to its answer, with the time it was held above a rate.",
    ["status"],
    buckets=REQUEST_BUCKETS,
)
CUSTOMER_DELIVERIES = Counter(
    "bulksms_smpp_server_deliveries",
    "Deliveries of the SMPP server to customers, by result: taken, postponed (not now), refused, unanswered.",
    ["result"],
)
CUSTOMER_UNANSWERED = Gauge(
    "bulksms_smpp_server_deliveries_unanswered",
    "Deliveries of the SMPP server to customers without an answer yet.",
    multiprocess_mode="livesum",
)
REPORTS = Counter(
    "bulksms_reports",
    "Reads of reports and exports that a replica may answer, by the database that answered: replica, primary.",
    ["database"],
)
WEBHOOK_POSTS = Counter(
    "bulksms_webhook_posts",
    "Posts to webhooks, by class of the HTTP status: 2xx, 3xx, 4xx, 5xx, none (no response).",
    ["status"],
)
WEBHOOK_SECONDS = Histogram(
    "bulksms_webhook_post_duration_seconds",
    "Duration of posts to webhooks.",
    buckets=CARRIER_BUCKETS,
)
IMPORTED_ROWS = Counter("bulksms_imported_rows", "Rows of imported files, by result: imported, rejected.", ["result"])
CONNECTION_FAILURES = Counter(
    "bulksms_connection_failures",
    "Failures to reach a server: postgres, redis, broker, replica.",
    ["server"],
)
POOL_CONNECTIONS = Gauge(
    "bulksms_database_connections",
    "Connections to Postgres, by application and state: open, in_use (part of them).",
    ["application", "state"],
    multiprocess_mode="livesum",
)
POOL_WAITS = Counter(
    "bulksms_database_connection_waits",
    "Requests for a connection to Postgres while all of their pool were in use.",
)
for _server in ("postgres", "redis", "broker", "replica"):
    CONNECTION_FAILURES.labels(_server)  # the first failure is an increase, too


def registry_of_host() -> CollectorRegistry:
    """What all processes of this host have counted; without the directory, what this process has."""
    if DIRECTORY not in os.environ:
        return PROCESS
    registry = CollectorRegistry()
    registry.register(HostCollector(os.environ[DIRECTORY]))
    return registry


class HostCollector(Collector):
    """Adds up what the processes of this host have counted. Gauges are those of processes that run."""

    def __init__(self, directory: str) -> None:
        self._directory = Path(directory)
        self._files = MultiProcessCollector(None, directory)  # type: ignore[no-untyped-call]

    def collect(self) -> Iterable[Metric]:
        """Every metric of the host."""
        forget_ended_processes(self._directory)
        return self._files.collect()  # type: ignore[no-any-return, no-untyped-call]
