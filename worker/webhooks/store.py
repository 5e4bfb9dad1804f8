"""Webhooks in the database: claims those with events to post, reads their events, and records results.

A webhook is claimed under a lease with an epoch. Its position in the stream moves in the commit that records the
results of the events before it. So if a process dies, at most one page is posted again: every event is delivered at
least once, always with the same id.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, bindparam, func, select, text, update

from shared.db.connection import transaction
from shared.db.expressions import in_constants, in_parameter
from shared.db.tables.webhooks import delivery, webhook
from shared.events import stream
from shared.events.deliveries import record_results
from shared.events.stream import LEASE, LEASED, OLDEST_OPEN_XID, UNREAD, Event, Position
from shared.events.webhook_states import STATE_AFTER_POSTS
from shared.job_backoff import failures_of
from shared.job_failures import clear_failures
from shared.lifecycle import EventType
from shared.outbox import add
from worker.webhooks.dlr_reports import is_wanted, report_url
from worker.webhooks.policy import GONE, PostJob, rest, result_of

PAGE = 200
"""Events per page."""
RETRIES = 50
RESTS = "w.rest_until BETWEEN clock_timestamp() AND clock_timestamp() + interval '61 minutes'"
"""SQL: webhook `w` rests. No rest is longer than an hour (MAX_REST in worker/webhooks/client.py), so one that ends
later is from before the clock of the database was set back."""

HOOK = f"""
    w.id, w.account_id, w.url, w.events, w.state, w.secret_version, w.xid, w.event_id, w.failures, w.epoch,
    CASE WHEN w.previous_until > clock_timestamp() THEN coalesce(w.oldest_version, w.secret_version - 1)
         ELSE w.secret_version END AS oldest_version,
    {RESTS} AS rests,
    {failures_of("webhook", "w.id")} AS faults
"""

CLAIM = text(
    f"""
    UPDATE webhook w SET lease_until = clock_timestamp() + interval '{LEASE}', epoch = w.epoch + 1
      FROM (SELECT w.id FROM webhook w
             WHERE w.state = 'active' AND ({RESTS}) IS NOT TRUE AND ({LEASED.format(reader="w")}) IS NOT TRUE
               AND (EXISTS (SELECT FROM event e WHERE {UNREAD.format(reader="w")} AND e.xid < {OLDEST_OPEN_XID})
                    OR EXISTS (SELECT FROM delivery d WHERE d.webhook_id = w.id AND d.state = 'pending'
                                                        AND d.next_at <= statement_timestamp()))
             ORDER BY w.failures, w.lease_until NULLS FIRST LIMIT :limit FOR UPDATE SKIP LOCKED) due
     WHERE w.id = due.id
    RETURNING {HOOK}
    """
)
"""Claims webhooks that have events or retries to post. One statement, so that no two processes claim the same one."""

RENEW = text(
    f"""
    UPDATE webhook w SET lease_until = clock_timestamp() + interval '{LEASE}'
      FROM unnest(CAST(:ids AS uuid[]), CAST(:epochs AS bigint[])) AS held (id, epoch)
     WHERE w.id = held.id AND w.epoch = held.epoch
    """
)
"""Renews leases by their epochs, so that a process that has lost or released one renews nothing."""

RELEASE = (
    update(webhook)
    .where(webhook.c.id == bindparam("webhook"), webhook.c.epoch == bindparam("of_epoch"))
    .values(lease_until=func.clock_timestamp(), epoch=webhook.c.epoch + 1)
)
"""Ends the epoch as well: a renewal that is on its way at this moment would lease the webhook to nobody."""
OF_WEBHOOK = delivery.c.webhook_id == bindparam("id")
DUE = (
    select(*delivery.c["event_id", "type", "attempts"])
    .where(OF_WEBHOOK, in_constants(delivery.c.state, "pending"), delivery.c.next_at <= func.statement_timestamp())
    .order_by(delivery.c.next_at)
    .limit(bindparam("limit"))
)
KNOWN = select(delivery.c.event_id).where(OF_WEBHOOK, in_parameter(delivery.c.event_id, "events"))

MOVE = text(
    f"""
    UPDATE webhook w
       SET xid = :xid, event_id = :event, failures = :failures, lease_until = clock_timestamp() + interval '{LEASE}',
           rest_until = clock_timestamp() + make_interval(secs => CAST(:rest AS float8)),
           {STATE_AFTER_POSTS}
     WHERE w.id = :id AND w.epoch = :epoch AND w.state = 'active'
    RETURNING {HOOK}, w.disabled_reason
    """
)
"""Moves a webhook's position by its epoch, so that a process that has lost its lease moves nothing."""

Hook = Row[Any]


@dataclass(slots=True)
class Work:
    """What to post to a webhook now: retries first, then new events. `ends` are the positions after the new events."""

    retries: list[PostJob] = field(default_factory=list)
    fresh: list[PostJob] = field(default_factory=list)
    ends: list[Position] = field(default_factory=list)
    end: Position = stream.START
    """The position after everything that was read."""

    @property
    def jobs(self) -> list[PostJob]:
        """All jobs, in order."""
        return [*self.retries, *self.fresh]


def claim(engine: Engine, limit: int) -> list[Hook]:
    """Claim up to `limit` webhooks with events to post, under a lease."""
    with transaction(engine, durable=False) as connection:
        return list(connection.execute(CLAIM, {"limit": limit}).all())


def renew(engine: Engine, held: dict[UUID, int]) -> None:
    """Renew the leases of webhooks, given with their epochs."""
    with transaction(engine, durable=False) as connection:
        connection.execute(RENEW, {"ids": list(held), "epochs": list(held.values())})


def release(engine: Engine, hook: Hook) -> None:
    """Release a webhook's lease: there is nothing to post now."""
    with transaction(engine, durable=False) as connection:
        connection.execute(RELEASE, {"webhook": hook.id, "of_epoch": hook.epoch})


def read_work(engine: Engine, hook: Hook) -> Work:
    """The jobs that are due: if the last page failed, one retry and one new event, of which either may succeed.

    Their events are on disk when it returns: a database crash cannot undo a posted event.
    """
    at = Position(hook.xid, hook.event_id)
    with transaction(engine) as connection:
        work = Work(retries=_retries(connection, hook, 1 if hook.failures else RETRIES), end=at)
        types = None if hook.events is None else [*hook.events, EventType.WEBHOOK_TEST]
        page = stream.read_page(connection, hook.account_id, at, 1 if hook.failures else PAGE, types)
        events = [event for event in page.events if _is_for(hook, event)]
        recorded = _recorded(connection, hook, events)
        for event in events:
            if event.id not in recorded:
                work.fresh.append(_job(hook, event, 0))
                work.ends.append(event.position)
        work.end = page.end
        if page.events:
            stream.flush(connection)
    return work


def _is_for(hook: Hook, event: Event) -> bool:
    if event.type == EventType.WEBHOOK_TEST:
        return event.data.get("webhook_id") == str(hook.id) and hook.url is not None
    send = event.send
    is_own = send is not None and send.callback_url is not None and (send.dlr_mask is None or is_wanted(event))
    return hook.url is not None or is_own


def _retries(connection: Connection, hook: Hook, limit: int) -> list[PostJob]:
    due = {row.event_id: row for row in connection.execute(DUE, {"id": hook.id, "limit": limit})}
    if not due:
        return []
    kept = stream.read_events(connection, hook.account_id, list(due))
    events = {event.id: event for event in kept if _is_for(hook, event)}
    jobs = [_job(hook, events[event], row.attempts) for event, row in due.items() if event in events]
    _write(connection, hook, [_pruned(row) for event, row in due.items() if event not in events])
    return jobs


def _pruned(row: Row[Any]) -> PostJob:
    skipped = "The event or its URL is no longer kept."
    return PostJob(row.event_id, row.type, "", b"", row.attempts, float("inf"), skipped=skipped)


def _recorded(connection: Connection, hook: Hook, events: list[Event]) -> set[UUID]:
    if not events:
        return set()
    parameters = {"id": hook.id, "events": [event.id for event in events]}
    return set(connection.execute(KNOWN, parameters).scalars())


def _job(hook: Hook, event: Event, attempts: int) -> PostJob:
    age = (datetime.now(UTC) - event.at).total_seconds()
    url = hook.url or (event.send and event.send.callback_url) or ""
    if hook.url is None and event.send is not None and event.send.dlr_mask is not None:
        job = PostJob(event.id, event.type, url, b"", attempts, age, report_url=report_url(event, url))
    else:
        job = PostJob(event.id, event.type, url, stream.encode(event.as_dict()), attempts, age)
    job.traceparent = event.send and event.send.traceparent
    return job


def record(engine: Engine, hook: Hook, work: Work) -> Hook | None:
    """Record the results of the posts, and move the position. Returns the webhook; None if its lease was lost.

    Events skipped because their URL failed are tried later: the position stops before them, or, if events go to
    different URLs, they are recorded as pending.
    """
    posted = [job for job in work.jobs if job.reply is not None]
    written, end = _progress(hook, work)
    worked = any(job.reply and job.reply.error is None for job in posted)
    failed = bool(posted) and not worked and hook.url is not None
    gone = hook.url is not None and any(job.reply and job.reply.http_status == GONE for job in posted)
    failures = hook.failures + 1 if failed else 0 if worked else hook.failures
    with transaction(engine) as connection:
        moved = connection.execute(
            MOVE,
            {
                "id": hook.id,
                "epoch": hook.epoch,
                "xid": end.xid,
                "event": end.id,
                "failures": failures,
                "rest": rest(failures, posted) if failed else None,
                "worked": worked,
                "failed": failed,
                "gone": gone,
            },
        ).one_or_none()
        if moved is None:
            return None
        _write(connection, hook, written)
        if moved.faults:
            clear_failures(connection, "webhook", hook.id)
        if moved.state == "disabled":
            tell_disabled(connection, moved, moved.disabled_reason)
    return moved


def tell_disabled(connection: Connection, hook: Hook, reason: str) -> None:
    """Add an event: the webhook was disabled."""
    data = {"webhook_id": str(hook.id), "url": hook.url, "reason": reason}
    add(connection, hook.account_id, EventType.WEBHOOK_DISABLED, data)


def _progress(hook: Hook, work: Work) -> tuple[list[PostJob], Position]:
    """The jobs to record, and the position where the next page begins."""
    end = Position(hook.xid, hook.event_id)
    done = [job for job in work.retries if _is_done(hook, job)]
    for job, next_position in zip(work.fresh, work.ends, strict=True):
        if not _is_done(hook, job):
            return done, end
        end = next_position
        done.append(job)
    return done, work.end


def _is_done(hook: Hook, job: PostJob) -> bool:
    """Whether the job is done for now. If all events go to one URL, a skipped one is simply read again."""
    return job.reply is not None or (job.skipped is not None and hook.url is None)


def _write(connection: Connection, hook: Hook, jobs: list[PostJob]) -> None:
    if not jobs:
        return
    verdicts = [result_of(job) for job in jobs]
    replies = [job.reply for job in jobs]
    record_results(
        connection,
        hook.id,
        {
            "event_id": [job.event_id for job in jobs],
            "type": [job.type for job in jobs],
            "state": [each.state for each in verdicts],
            "attempts": [each.attempts for each in verdicts],
            "wait": [each.wait for each in verdicts],
            "url": [job.url for job in jobs],
            "http_status": [reply and reply.http_status for reply in replies],
            "error": [job.reply.error if job.reply else job.skipped for job in jobs],
            "milliseconds": [reply and reply.milliseconds for reply in replies],
        },
    )
