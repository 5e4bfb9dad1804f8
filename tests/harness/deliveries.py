"""What the process of webhooks does, once: post the events that are due."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sqlalchemy import text

from tests.harness.house import wait_until
from tests.harness.service import Service
from worker.webhooks.client import Client
from worker.webhooks.deliver import Deliverer

SECONDS = 60
NEXT = text("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
OLDEST_OPEN = text("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")


def deliver(service: Service, *, among_others: bool = False) -> None:
    """Post what is due now, to this machine too. In a thread of its own: Playwright has this one's event loop.

    `among_others`: at once, although other transactions are open.
    """

    async def run() -> None:
        client, settings = Client(loopback=True), service.settings
        try:
            await Deliverer(service.engine, client, settings.secret_key, settings.secret_key_fallbacks).drain()
        finally:
            await client.close()

    if not among_others:
        wait_for_others(service)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, run()).result(SECONDS)


def wait_for_others(service: Service) -> None:
    """Wait for the transactions that are open on the server, in any database: later events are read after them."""
    with service.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        now = connection.execute(NEXT).scalar_one()
        wait_until(
            lambda: connection.execute(OLDEST_OPEN).scalar_one() >= now, SECONDS, "the end of other transactions"
        )


def settled_events(service: Service, query: str = "") -> list[dict[str, Any]]:
    """The first page of the account's events so far."""
    wait_for_others(service)
    listed: list[dict[str, Any]] = service.get(f"/events{query}").json["data"]
    return listed
