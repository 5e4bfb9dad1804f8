"""Checks an installation from outside: finds problems and says how to fix them."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, Engine, Interval, Select, bindparam, func, select, text
from sqlalchemy.exc import DBAPIError

from shared.audit.results import RECENT_BREACHES
from shared.db.connection import is_outage, reading
from shared.db.errors import is_disk_full, shortage
from shared.db.expressions import is_live
from shared.db.partitions import weeks_of_messages
from shared.db.schema import schema_problem
from shared.db.sessions import REASON, REMEDY, SessionNotKept
from shared.db.tables.messages import doubt, receipt
from shared.db.tables.running import job_failure, lease
from shared.db.tables.sends import send
from shared.db.tables.webhooks import webhook
from shared.health.brokers import check_brokers
from shared.health.carriers import check_carriers
from shared.health.events import events_finding
from shared.health.finding import Finding, Installation, first_line
from shared.health.inbound import destinations_finding, keywords_finding
from shared.health.oidc import check_oidc
from shared.health.postgres import DISK_FULL, check_server, check_writing
from shared.health.prices import check_prices
from shared.health.receipts import check_receipts
from shared.health.replica import check_replica
from shared.health.restore_guard import WORKERS, check_guard
from shared.health.secret_key import check_secret_key
from shared.health.smpp import check_smpp
from shared.plurals import counted
from shared.prices.kept_unit import unit_problem
from shared.senders.similarity import likenesses
from shared.sends.holding import AWAITS_OPERATOR
from shared.sends.sendable import (
    AWAITED_SINCE,
    AWAITS_CARRIER,
    AWAITS_ONLY_CARRIER,
    MESSAGES_LEFT,
    SENDABLE,
    UNAVAILABLE_ONLY_CARRIER,
)

LOW_DISK_BYTES = 1 << 30
LOCAL = "@127.0.0.1:"
"""In the DATABASE_URL of `make run`."""
PARTITION_WEEKS = 2
MAX_WAIT = 60
"""Seconds that a batch may wait while no worker sends anything."""

IN_DEFAULT_PARTITION = text("SELECT EXISTS (SELECT FROM message_default)")
"""The default partition is no table of its own for SQLAlchemy."""
LIVE = is_live(lease.c.held_until)
WORKER = lease.c.name.like("worker:%")
CLOCKS = (
    select(lease.c.holder, lease.c.clock_offset)
    .where(WORKER, LIVE, func.abs(lease.c.clock_offset) > bindparam("seconds"))
    .order_by(lease.c.holder)
)
MAX_CLOCK_OFFSET = 10
"""Seconds."""
FAILING_SECONDS = 600
"""How long no delivery of a webhook has succeeded before it is reported."""
ACTIVE = select(func.count()).where(webhook.c.state == "active")
FAILING = ACTIVE.where(webhook.c.failing_since < func.clock_timestamp() - bindparam("failing", type_=Interval))
PROCESSES = select(func.count()).where(lease.c.name.like("webhooks:%"), LIVE)
WEBHOOKS = select(
    ACTIVE.scalar_subquery().label("webhooks"),
    FAILING.scalar_subquery().label("failing"),
    PROCESSES.scalar_subquery().label("processes"),
)
WAITING = text(
    f"""
    SELECT count(*) AS batches, coalesce(extract(epoch FROM clock_timestamp() - min(b.due_at))::int, 0) AS seconds,
           EXISTS (SELECT FROM batch WHERE state = 'sending' AND lease_until > clock_timestamp()) AS sending
      FROM batch b JOIN send s ON s.id = b.send_id
     WHERE b.state = 'queued' AND {SENDABLE}
    """
)
"""Uses the claim's own condition of what may be sent, so a send that is paused or held is no finding."""
AWAITING = text(
    f"""
    SELECT count(*) AS batches, sum({MESSAGES_LEFT}) AS messages,
           string_agg(DISTINCT coalesce(split_part(b.carrier, '/', 1), ({UNAVAILABLE_ONLY_CARRIER})), ', ') AS carriers,
           coalesce(extract(epoch FROM clock_timestamp()
                        - min(CASE b.state WHEN 'queued' THEN b.due_at ELSE {AWAITED_SINCE} END))::int, 0) AS seconds
      FROM batch b JOIN send s ON s.id = b.send_id
     WHERE ({AWAITS_CARRIER} OR ({AWAITS_ONLY_CARRIER})) AND {SENDABLE}
    """
)
"""The same condition, of batches whose carriers are all closed."""
DOUBTS = select(func.count().label("messages"), func.min(doubt.c.submitted_at).label("oldest"))
SET_ASIDE = select(func.count()).where(job_failure.c.set_aside_at.is_not(None))
HELD = select(func.count()).select_from(send).where(AWAITS_OPERATOR)
RECEIPTS = select(func.count()).where(receipt.c.received_at < func.clock_timestamp() - timedelta(minutes=10))


def examine(target: Installation, engine: Engine) -> Iterator[Finding]:
    """Check everything but CARRIERS_FILE, one finding at a time. Skips what depends on an unavailable part."""
    try:
        with reading(engine) as connection:
            yield from check_server(connection)
    except DBAPIError as error:
        yield _unusable(error, target)
    else:
        problem = schema_problem(engine)
        if problem:
            yield Finding("schema", "wrong", problem, "bulksms migrate")
        else:
            yield Finding("schema", "ok", "up to date")
            yield check_writing(engine)
            try:
                with reading(engine) as connection:
                    yield from _contents(connection, target)
            except DBAPIError as error:
                yield _unusable(error, target)
            if target.settings.replica_url:
                yield check_replica(target.settings, engine)
    yield from check_brokers(target, _start("Redis", target, "REDIS_URL"), _start("the broker", target, "BROKER_URL"))
    yield from check_oidc(target.settings)
    yield _disk(target.data or Path.cwd())


def _unusable(error: DBAPIError, target: Installation) -> Finding:
    if isinstance(error.orig, SessionNotKept):
        return Finding("sessions", "wrong", REASON, REMEDY)
    full = DISK_FULL if is_disk_full(error) else shortage(target.data or Path.cwd())
    return Finding("postgres", "wrong", first_line(error), full or _start("Postgres", target, "DATABASE_URL"))


def _contents(connection: Connection, target: Installation) -> Iterator[Finding]:
    settings = target.settings
    held = "bulksms send list --open shows why; then bulksms send release or cancel."
    unmatched = "They belong to messages that this service did not send, or the carrier changes its references."
    aside = "bulksms job list shows what failed; then bulksms job retry."
    checks: dict[str, Callable[[], Iterable[Finding]]] = {
        "partitions": lambda: [_partitions(connection)],
        "workers": lambda: [_workers(connection, target)],
        "clocks": lambda: clock_findings(connection),
        "carriers": lambda: check_carriers(connection),
        "webhooks": lambda: [webhook_finding(connection, target)],
        "events": lambda: [events_finding(connection)],
        "restore guard": lambda: [check_guard(connection, settings.guard_file)],
        "secret key": lambda: [check_secret_key(connection, settings.secret_key, settings.secret_key_fallbacks)],
        "queue": lambda: [check_queue(connection)],
        "in doubt": lambda: [_doubts(connection, settings.doubt_grace)],
        "held for operators": lambda: [_count(connection, "held for operators", HELD, held)],
        "audit": lambda: [audit_finding(connection)],
        "jobs set aside": lambda: [_count(connection, "jobs set aside", SET_ASIDE, aside)],
        "sender IDs": lambda: [_sender_ids(connection)],
        "receipts": lambda: check_receipts(connection),
        "STOP and START": lambda: [keywords_finding(connection), destinations_finding(connection)],
        "unit": lambda: [_unit(connection, target)],
        "prices": lambda: check_prices(connection),
        "SMPP": lambda: check_smpp(connection),
        "unmatched receipts": lambda: [_count(connection, "unmatched receipts", RECEIPTS, unmatched)],
    }
    for name, check in checks.items():
        try:
            yield from check()
        except DBAPIError as error:
            if is_outage(error):
                raise
            remedy = "Run `bulksms doctor` again when the database is less busy; the Postgres log may say more."
            yield Finding(name, "wrong", f"not checked: {first_line(error)}", remedy)


def _unit(connection: Connection, target: Installation) -> Finding:
    problem = unit_problem(connection.engine, target.settings.unit)
    if problem:
        return Finding("unit", "wrong", problem, "UNIT stays as it is, as balances would mean other amounts.")
    return Finding("unit", "ok", f"amounts are in {target.settings.unit}")


def _partitions(connection: Connection) -> Finding:
    today = datetime.now(UTC).date()
    ahead = sum(week > today for week in weeks_of_messages(connection))
    if ahead < PARTITION_WEEKS or connection.execute(IN_DEFAULT_PARTITION).scalar_one():
        detail = f"{counted(ahead, 'week')} ahead" if ahead < PARTITION_WEEKS else "messages in the default partition"
        return Finding("partitions", "wrong", detail, "bulksms migrate; a running worker also creates them.")
    return Finding("partitions", "ok", f"{ahead} weeks ahead")


def _workers(connection: Connection, target: Installation) -> Finding:
    workers = connection.execute(WORKERS).scalar_one()
    if not workers:
        return Finding(
            "workers", "wrong", "none is running; nothing is sent", _start("the workers", target, "Procfile")
        )
    return Finding("workers", "ok", f"{workers} running")


def clock_findings(connection: Connection) -> Iterator[Finding]:
    """A finding for each worker whose clock is wrong."""
    for holder, offset in connection.execute(CLOCKS, {"seconds": MAX_CLOCK_OFFSET}):
        detail = f"{holder}'s is {abs(offset):,.0f} s {'ahead of' if offset > 0 else 'behind'} the database's"
        remedy = "Synchronize all clocks by NTP: with a wrong one, receipts are not matched and quiet hours shift."
        yield Finding("clocks", "wrong", detail, remedy)


def webhook_finding(connection: Connection, target: Installation) -> Finding:
    """Whether webhooks are posted to, and succeed."""
    row = connection.execute(WEBHOOKS, {"failing": timedelta(seconds=FAILING_SECONDS)}).one()
    if row.webhooks and not row.processes:
        detail = f"{row.webhooks} active, and no process posts to them"
        return Finding("webhooks", "wrong", detail, _start("`python -m worker.webhooks`", target, "Procfile"))
    if row.failing:
        detail = f"{row.failing} of {row.webhooks} failing for more than {FAILING_SECONDS // 60} minutes"
        remedy = "GET /api/v1/webhooks/{id}/deliveries of their accounts shows what the receivers answered."
        return Finding("webhooks", "notice", detail, remedy)
    return Finding(
        "webhooks", "ok", f"{row.webhooks} active, posted to by {counted(row.processes, 'process', 'processes')}"
    )


def check_queue(connection: Connection) -> Finding:
    """Check the queue: batches that wait for a worker, and batches that wait for unavailable carriers."""
    awaiting = connection.execute(AWAITING).one()
    if awaiting.batches:
        waiting = f"{counted(awaiting.messages, 'message')} in {counted(awaiting.batches, 'batch', 'batches')}"
        detail = f"{waiting} for unavailable carriers ({awaiting.carriers}), the longest for {awaiting.seconds:,} s"
        remedy = "They are sent when one of their carriers is available again. See the carriers' findings."
        return Finding("queue", "wrong" if awaiting.seconds > MAX_WAIT else "notice", detail, remedy)
    row = connection.execute(WAITING).one()
    if not row.batches:
        return Finding("queue", "ok", "nothing waits")
    detail = f"{counted(row.batches, 'batch waits', 'batches wait')}, the longest for {row.seconds:,} s"
    if row.seconds > MAX_WAIT and not row.sending:
        return Finding("queue", "wrong", f"{detail}, and no worker sends", "Check the worker logs.")
    return Finding("queue", "ok", detail)


def audit_finding(connection: Connection) -> Finding:
    """Whether audits of the last day found breaches."""
    if breaches := connection.execute(RECENT_BREACHES).scalar_one():
        detail = f"one of the last day found {counted(breaches, 'breach', 'breaches')}"
        return Finding("audit", "wrong", detail, "Back up the database as it is, then: bulksms audit --full")
    return Finding("audit", "ok", "no breach in the last day")


def _sender_ids(connection: Connection) -> Finding:
    alike = [(pending, others[0]) for pending, others in likenesses(connection).items() if pending.state == "pending"]
    if not alike:
        return Finding("sender IDs", "ok", "no pending sender ID looks like another account's")
    pending, other = alike[0]
    look = counted(len(alike), "pending sender ID looks", "pending sender IDs look")
    detail = f"{look} like another account's: {pending.sender_id!r} like {other.sender_id!r}"
    return Finding(
        "sender IDs", "notice", detail, "bulksms sender list --status pending shows them; approve or reject."
    )


def _doubts(connection: Connection, grace: float) -> Finding:
    row = connection.execute(DOUBTS).one()
    if not row.messages:
        return Finding("in doubt", "ok", "none")
    remedy = (
        "Ask the carrier: bulksms doubt list, then bulksms doubt resolve. They are not resent automatically. If still"
        f" in doubt {grace / 3600:g} h after their validity ends, they expire and their credits are released."
    )
    detail = f"{counted(row.messages, 'message')}, the oldest since {row.oldest:%Y-%m-%d %H:%M:%S}Z"
    return Finding("in doubt", "notice", detail, remedy)


def _disk(data: Path) -> Finding:
    free = shutil.disk_usage(data).free
    detail = f"{free / (1 << 30):.1f} GiB free in {data.absolute()}"
    if free < LOW_DISK_BYTES:
        return Finding("disk", "wrong", detail, "Make room: at least 1 GiB, or Postgres stops when the disk is full.")
    return Finding("disk", "ok", detail)


def _count(connection: Connection, name: str, statement: Select[int], remedy: str) -> Finding:
    count = connection.execute(statement).scalar_one()
    return Finding(name, "notice", f"{count:,}", remedy) if count else Finding(name, "ok", "none")


def _start(what: str, target: Installation, setting: str) -> str:
    if target.data is not None:
        return "Start the service in this folder: make run"
    if setting == "Procfile":
        return f"Start {what}; see Procfile for their command."
    again = f" If {setting} is from var/env, source that again: the ports change with each `make run`."
    return f"Start {what}; check {setting}.{again if LOCAL in target.settings.database_url else ''}"
