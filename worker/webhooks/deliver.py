"""Posts to many webhooks concurrently, several events each, so that none waits for another.

One page of a webhook, step by step:

    read     the retries that are due, and the next events of its account's stream
    post     signed, several at a time; stops for a host after three failures in a row
    record   each result and the new position, in one commit on disk
"""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import Engine

from shared.db.connection import UNAVAILABLE
from shared.events.webhooks import secret, sign
from shared.observability import traces
from shared.observability.metrics import WEBHOOK_POSTS, WEBHOOK_SECONDS
from worker.webhooks import store
from worker.webhooks.client import Client
from worker.webhooks.failures import note_fault
from worker.webhooks.policy import DEAD_AFTER, FIRST_WIDTH, MAX_WIDTH, PostJob
from worker.webhooks.post_trace import begin_post, end_post
from worker.webhooks.store import Hook, Work

log = logging.getLogger(__name__)

MAX_WEBHOOKS = 1_000
"""Most webhooks that one process posts to at the same time."""
POLL_SECONDS = 0.25
RENEW_SECONDS = 3.0
PAGE_SECONDS = 45.0
"""Seconds after which no further post of a page is begun: enough for posts after those that a host lets time out."""
DATABASE_THREADS = 6

T = TypeVar("T")


class Deliverer:
    """Claims webhooks with events to post, and posts these, until it is stopped."""

    def __init__(self, engine: Engine, client: Client, secret_key: str, fallbacks: Sequence[str] = ()) -> None:
        self._engine = engine
        self._client = client
        self._keys = (secret_key, *fallbacks)
        self._threads = ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="database")
        self._renewals = ThreadPoolExecutor(1, thread_name_prefix="renewals")
        """A thread of their own: with many webhooks, the other work may wait longer than a lease lasts."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._widths: dict[UUID, int] = {}
        self._held: dict[UUID, int] = {}
        self.stop = asyncio.Event()

    async def run(self) -> None:
        """Deliver until `stop` is set, then finish the pages in progress."""
        renewing = asyncio.create_task(self._renew())
        while not self.stop.is_set():
            claimed = await self.poll()
            if not claimed:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.stop.wait(), POLL_SECONDS)
        if self._tasks:
            await asyncio.wait(self._tasks)
        renewing.cancel()
        self._renewals.shutdown()
        self._threads.shutdown()

    async def poll(self) -> int:
        """Claim webhooks with events to post, and begin to post. Returns how many were claimed."""
        free = MAX_WEBHOOKS - len(self._tasks)
        try:
            hooks = await self._in_thread(store.claim, self._engine, free) if free else []
        except UNAVAILABLE as error:
            log.warning("the database is unavailable; no events are posted until it is back: %s", error)
            return 0
        for hook in hooks:
            task = asyncio.create_task(self._serve(hook))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return len(hooks)

    async def drain(self) -> None:
        """Deliver until nothing is due."""
        while await self.poll() or self._tasks:
            if self._tasks:
                await asyncio.wait(self._tasks)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            if self._held:
                held = dict(self._held)
                try:
                    await asyncio.get_running_loop().run_in_executor(self._renewals, store.renew, self._engine, held)
                except UNAVAILABLE as error:
                    log.warning("the database is unavailable; leases were not renewed: %s", error)
                except Exception:
                    log.exception("renewing leases failed and will be retried")

    async def _serve(self, hook: Hook) -> None:
        self._held[hook.id] = hook.epoch
        try:
            await self._deliver(hook)
        except UNAVAILABLE as error:
            log.warning("the database is unavailable; webhook %s continues when its lease expires: %s", hook.id, error)
        except Exception as error:
            await self._note_fault(hook, error)
        finally:
            if self._held.get(hook.id) == hook.epoch:  # or this process has claimed it again meanwhile
                del self._held[hook.id]

    async def _note_fault(self, hook: Hook, error: Exception) -> None:
        try:
            await self._in_thread(note_fault, self._engine, hook, error)
        except Exception:
            log.exception("posting to webhook %s failed; it continues when its lease expires", hook.id)

    async def _deliver(self, hook: Hook) -> None:
        """Post page after page, until nothing is due, the webhook rests, or its lease is lost."""
        current: Hook | None = hook
        while current is not None and current.state == "active" and not current.rests and not self.stop.is_set():
            hook = current
            work = await self._in_thread(store.read_work, self._engine, hook)
            if not work.jobs and work.end == (hook.xid, hook.event_id):
                break
            await self._post_all(hook, work)
            current = await self._in_thread(store.record, self._engine, hook, work)
        await self._in_thread(store.release, self._engine, hook)

    async def _post_all(self, hook: Hook, work: Work) -> None:
        """Post the jobs in order, several at a time. A job skipped because its URL fails has no reply."""
        versions = range(hook.secret_version, hook.oldest_version - 1, -1)
        secrets = [secret(key, hook.id, version) for version in versions for key in self._keys]
        waiting, failures = iter(work.jobs), Counter[str]()
        width = self._widths.get(hook.id, FIRST_WIDTH)
        end = time.monotonic() + PAGE_SECONDS

        async def post_next() -> None:
            for job in waiting:
                host = urlsplit(job.url).netloc  # a URL may have a message's id
                if failures[host] >= DEAD_AFTER:
                    job.skipped = "Not tried: other posts to the same host had failed."
                elif time.monotonic() < end and not self.stop.is_set():
                    await self._post(job, secrets)
                    failures[host] = 0 if job.reply and job.reply.error is None else failures[host] + 1

        await asyncio.gather(*(post_next() for _ in range(min(width, len(work.jobs)))))
        succeeded = all(job.reply and job.reply.error is None for job in work.jobs)
        self._widths[hook.id] = min(MAX_WIDTH, width * 2) if succeeded else FIRST_WIDTH

    async def _post(self, job: PostJob, secrets: list[bytes]) -> None:
        timestamp = int(time.time())
        headers = {
            **({"Content-Type": "application/json"} if job.report_url is None else {}),
            "webhook-id": str(job.event_id),
            "webhook-timestamp": str(timestamp),
            "webhook-signature": sign(secrets, job.event_id, timestamp, job.body),
        }
        tracer = traces.tracer
        span = None if tracer is None or job.traceparent is None else begin_post(tracer, job, job.traceparent, headers)
        if job.report_url is None:
            job.reply = await self._client.post(job.url, headers, job.body)
        else:
            job.reply = await self._client.get(job.report_url, headers)
        if tracer is not None and span is not None:
            end_post(tracer, span, job)
        status = job.reply.http_status
        WEBHOOK_POSTS.labels("none" if status is None else f"{status // 100}xx").inc()
        WEBHOOK_SECONDS.observe(job.reply.milliseconds / 1000)

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        """Call a function that blocks on the database, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
