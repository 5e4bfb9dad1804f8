"""Posts to many webhooks at a time, several events of each, so that none waits for another.

One page of a webhook, top to bottom:

    read     the retries that are due, and the next events of its account's stream
    post     signed, several at a time; after three failures in a row its address is left alone
    record   what became of each, and how far it is now         one commit on disk
"""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Engine

from shared.db.connection import AWAY
from shared.events.webhooks import secret, sign
from worker.webhooks import store as books
from worker.webhooks.client import Client
from worker.webhooks.failures import note_fault
from worker.webhooks.policy import DEAD_AFTER, FIRST_WIDTH, MAX_WIDTH, Job
from worker.webhooks.store import Hook, Work

log = logging.getLogger(__name__)

MAX_WEBHOOKS = 1_000
"""Webhooks that one process posts to at the same time."""
POLL_SECONDS = 0.25
RENEW_SECONDS = 3.0
PAGE_SECONDS = 15.0
"""After so long no post of a page is begun."""
DATABASE_THREADS = 6

T = TypeVar("T")


class Deliverer:
    """Looks whose events are to be posted, and posts them, until it is told to stop."""

    def __init__(self, engine: Engine, client: Client, secret_key: str, fallbacks: Sequence[str] = ()) -> None:
        self._engine = engine
        self._client = client
        self._keys = (secret_key, *fallbacks)
        self._threads = ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="database")
        self._tasks: set[asyncio.Task[None]] = set()
        self._widths: dict[UUID, int] = {}
        self._held: dict[UUID, int] = {}
        self.stop = asyncio.Event()

    async def run(self) -> None:
        """Deliver until `stop` is set; pages under way are ended first."""
        renewing = asyncio.create_task(self._renew())
        while not self.stop.is_set():
            found = await self.poll()
            if not found:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.stop.wait(), POLL_SECONDS)
        if self._tasks:
            await asyncio.wait(self._tasks)
        renewing.cancel()
        self._threads.shutdown()

    async def poll(self) -> int:
        """Begin to post to each webhook that has something to be posted. Returns how many were found."""
        free = MAX_WEBHOOKS - len(self._tasks)
        try:
            hooks = await self._ask(books.claim, self._engine, free) if free else []
        except AWAY as error:
            log.warning("the database is away, nothing is posted meanwhile: %s", error)
            return 0
        for hook in hooks:
            task = asyncio.create_task(self._serve(hook))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return len(hooks)

    async def drain(self) -> None:
        """Deliver until nothing is due now."""
        while await self.poll() or self._tasks:
            if self._tasks:
                await asyncio.wait(self._tasks)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            if self._held:
                try:
                    await self._ask(books.renew, self._engine, dict(self._held))
                except AWAY as error:
                    log.warning("the database is away, leases are not renewed: %s", error)
                except Exception:
                    log.exception("leases were not renewed; it is tried again")

    async def _serve(self, hook: Hook) -> None:
        self._held[hook.id] = hook.epoch
        try:
            await self._deliver(hook)
        except AWAY as error:
            log.warning("the database is away, a webhook goes on when its lease has run out: %s", error)
        except Exception as error:
            await self._note_fault(hook, error)
        finally:
            self._held.pop(hook.id, None)

    async def _note_fault(self, hook: Hook, error: Exception) -> None:
        try:
            await self._ask(note_fault, self._engine, hook, error)
        except Exception:
            log.exception("posting to the webhook %s failed, and goes on when its lease has run out", hook.id)

    async def _deliver(self, hook: Hook) -> None:
        """Page after page, until nothing is due, the webhook is to rest, or it is another's."""
        current: Hook | None = hook
        while current is not None and current.state == "active" and not current.rests and not self.stop.is_set():
            hook = current
            work = await self._ask(books.read_work, self._engine, hook)
            if not work.jobs and work.end == (hook.xid, hook.event_id):
                break
            await self._post_all(hook, work)
            current = await self._ask(books.record, self._engine, hook, work)
        await self._ask(books.release, self._engine, hook)

    async def _post_all(self, hook: Hook, work: Work) -> None:
        """Post the jobs in order, several at a time. What is left out, because its address fails, has no reply."""
        versions = range(hook.secret_version, hook.oldest_version - 1, -1)
        secrets = [secret(key, hook.id, version) for version in versions for key in self._keys]
        waiting, failures = iter(work.jobs), Counter[str]()
        width = self._widths.get(hook.id, FIRST_WIDTH)
        end = time.monotonic() + PAGE_SECONDS

        async def post_some() -> None:
            for job in waiting:
                if failures[job.url] >= DEAD_AFTER:
                    job.skipped = "It was not tried: its address had failed."
                elif time.monotonic() < end and not self.stop.is_set():
                    await self._post(job, secrets)
                    failures[job.url] = 0 if job.reply and job.reply.error is None else failures[job.url] + 1

        await asyncio.gather(*(post_some() for _ in range(min(width, len(work.jobs)))))
        well = all(job.reply and job.reply.error is None for job in work.jobs)
        self._widths[hook.id] = min(MAX_WIDTH, width * 2) if well else FIRST_WIDTH

    async def _post(self, job: Job, secrets: list[bytes]) -> None:
        timestamp = int(time.time())
        headers = {
            "Content-Type": "application/json",
            "webhook-id": str(job.event_id),
            "webhook-timestamp": str(timestamp),
            "webhook-signature": sign(secrets, job.event_id, timestamp, job.body),
        }
        job.reply = await self._client.post(job.url, headers, job.body)

    async def _ask(self, function: Callable[..., T], *arguments: object) -> T:
        """Call something that waits for the database, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
